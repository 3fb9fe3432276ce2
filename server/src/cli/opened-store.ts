/** The store of the deployment, for a command: beside a service that may be running on it. */
import { readConfig } from '../config.ts';
import { compareMigrations, migrate } from '../db/migrations.ts';
import type { Store } from '../db/open.ts';
import { OperatorError } from '../errors.ts';
import { openStore } from '../open-store.ts';
import { listOrganizations } from '../organizations/organizations.ts';
import { systemRuntime } from '../runtime.ts';

/** Opens the store, and closes it whatever happens. */
export async function withOpenStore(work: (store: Store) => Promise<void>): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  const store = openStore(config, secrets, { runtime: systemRuntime, busyTimeoutMs: 10_000 });
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

/** Opens the store and migrates it first. */
export const withStore = (work: (store: Store) => Promise<void>) =>
  withOpenStore(async (store) => {
    await migrate(store);
    await work(store);
  });

/** For commands that only look: they leave a database of another version alone. */
export const withStoreAsItIs = (work: (store: Store) => Promise<void>) =>
  withOpenStore(async (store) => {
    const { pending, unknown } = await compareMigrations(store.db);
    if (unknown.length > 0) {
      throw new OperatorError(
        'The database was migrated by a newer version of Inlay. Use that version or a later one.',
      );
    }
    if (pending.length > 0) {
      throw new OperatorError('The database is not up to date. Run: inlay migrate (start does it, too)');
    }
    await work(store);
  });

export async function chosenOrganization(
  store: Store,
  { organization: chosen }: { organization?: string },
): Promise<string> {
  const all = await listOrganizations(store);
  const id = chosen ?? (all.length === 1 ? all[0]?.id : undefined);
  if (id !== undefined && all.some((row) => row.id === id)) return id;
  if (all.length === 0) throw new OperatorError('There is no organization yet. Start the service once: inlay start');
  const list = all.map((row) => `  ${row.id}  ${row.name}`).join('\n');
  throw new OperatorError(
    `${chosen ? `There is no organization ${chosen}.` : 'There are several organizations.'} Choose one with --organization:\n${list}`,
  );
}
