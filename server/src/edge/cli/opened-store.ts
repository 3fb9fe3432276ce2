/** The store of the deployment, for a command: beside a service that may be running on it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { assertCompatible, findIncompatibility, type SchemaHistory } from '@inlay/database/schema-history';
import { type Config, readConfig, type Secrets } from '../../kernel/config/config.ts';
import { noData, openDataDir } from '../../kernel/config/data-dir.ts';
import { openSealer } from '../../kernel/config/encryption-keys.ts';
import { readSchemaHistory } from '../../kernel/db/migrations.ts';
import type { Store } from '../../kernel/db/open.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { version } from '../../kernel/version.ts';
import { listOrganizations } from '../../tenancy/organizations/organizations.ts';
import { assertKeyOpens } from '../../tenancy/tokens/signing-keys.ts';
import { upgrade } from '../deployment/upgrade.ts';
import { openStore } from '../open-store.ts';
import { meansService } from './api-client.ts';

type Work = (store: Store) => Promise<void>;

/** Opens the store, which is made if there is none, but not on the machine of somebody who means a service elsewhere. */
export async function withNewStore(work: Work): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  if (meansService(process.env) && !mayHaveStore(config, secrets)) throw noData(config.dataDir);
  const store = openStore(config, secrets, { runtime: systemRuntime, busyTimeoutMs: 10_000 });
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

/** Whether there is a file of the service's own database, or a server that may have it. */
export function mayHaveStore({ dataDir }: Config, { databaseUrl }: Secrets): boolean {
  return databaseUrl !== undefined || existsSync(join(dataDir, 'inlay.db'));
}

/** A command in the wrong folder, or with another database, must not make a new deployment there. */
async function withFoundStore(work: (store: Store, history: SchemaHistory) => Promise<void>): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  if (!mayHaveStore(config, secrets)) throw noData(config.dataDir);
  await withNewStore(async (store) => {
    const history = await readSchemaHistory(store);
    if (history.applied.length === 0) {
      if (store.kind === 'sqlite') throw noData(config.dataDir);
      throw new OperatorError('No Inlay data at this database. Check INLAY_DATABASE_URL.');
    }
    await work(store, history);
  });
}

/** For commands that write: refuses another encryption key, and migrates the store first. */
export const withStore = (work: Work) =>
  withFoundStore(async (store) => {
    await openOwnSealer(store);
    await upgradeFor(readConfig(process.env), store);
    await work(store);
  });

/** For a command with output of its own. */
export const upgradeFor = (read: { config: Config; secrets: Secrets }, store: Store | undefined) =>
  upgrade({ ...read, store, runtime: systemRuntime, tell: (line) => process.stderr.write(`${line}\n`) });

/** Refuses a key that does not open what is stored: what this command seals or allows could not be used by the service. */
export async function openOwnSealer(store: Store): Promise<Sealer> {
  const { config, secrets } = readConfig(process.env);
  const sealer = openSealer(secrets, openDataDir(config.dataDir));
  const history = await readSchemaHistory(store);
  // A database that needs a later version is refused as such by the code that migrates it.
  if (history.applied.length > 0 && findIncompatibility(history, version) === undefined)
    await assertKeyOpens(store.db, sealer);
  return sealer;
}

/** For commands that only look: they leave a database of another version alone. */
export const withStoreAsItIs = (work: Work) =>
  withFoundStore(async (store, history) => {
    assertCompatible(history, version);
    if (history.pending.length > 0) {
      throw new OperatorError(
        'The database has pending migrations. Run: inlay upgrade (or inlay start, which upgrades first)',
      );
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
  if (all.length === 0) throw new OperatorError('No organizations yet. Start the service to create one: inlay start');
  const list = all.map((row) => `  ${row.id}  ${row.name}`).join('\n');
  throw new OperatorError(
    `${chosen ? `Organization ${chosen} not found.` : 'There are several organizations.'} Choose one with --organization:\n${list}`,
  );
}
