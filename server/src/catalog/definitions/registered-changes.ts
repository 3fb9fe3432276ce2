/**
 * Logs connectors that the command line added to the bundled platform or removed from it. This is an outbox: the
 * platform has its own database, so the log entry cannot be written in the transaction of the change. The platform
 * notes the change in that transaction. The entry is written together with a row that marks it as logged, and then the
 * platform deletes its note.
 *
 * Invariant: a change has exactly one entry in the log of every organization, whichever process is killed when. The
 * command logs immediately. A service logs what a killed command left, at startup and every minute.
 */
import { byCommandLine } from '../../kernel/cause.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { Entry } from '../../log/events/catalogue.ts';
import type { Journal } from '../../log/events/journal.ts';
import { listOrganizationIds } from '../../tenancy/organizations/organizations.ts';
import * as told from './registered-changes.store.ts';

/** What the platform has noted. */
export interface NotedChanges {
  /** Oldest first. */
  list(): Promise<NotedChange[]>;
  forget(changeId: string): Promise<void>;
}

export interface NotedChange {
  id: string;
  action: 'created' | 'deleted';
  definition: {
    id: string;
    kind: 'source' | 'destination';
    name: string;
    image: string | null;
    command: string[] | null;
    manifest_hash: string | null;
    components_file: string | null;
  };
}

interface TellingContext {
  store: Store;
  sealer: Sealer;
  journal: Journal;
}

export async function tellOfRegistered(ctx: TellingContext, noted: NotedChanges): Promise<void> {
  for (const change of await noted.list()) {
    const entry = entryOf(ctx, change);
    const isTold = await ctx.store.transaction(async (tx) => {
      // Connectors belong to the machine, so they are logged for every organization.
      const organizationIds = await listOrganizationIds(tx);
      // The first start of the service creates the first organization and then logs.
      if (organizationIds.length === 0) return false;
      if (!(await told.insertTold(tx, change.id))) return true;
      for (const id of organizationIds) await ctx.journal.by(byCommandLine).record(tx, id, entry);
      return true;
    });
    if (!isTold) return;
    await noted.forget(change.id);
  }
}

/** For the housekeeping of a service that runs the bundled platform. */
export function createTellingOfRegistered(ctx: TellingContext, noted: NotedChanges | undefined): () => Promise<void> {
  return async () => {
    if (noted) await tellOfRegistered(ctx, noted);
  };
}

/** Program arguments may be secret, so the command is logged as a fingerprint. Image names are logged as they are. */
function entryOf({ sealer }: TellingContext, { action, definition }: NotedChange): Entry {
  const { id, kind, name, image, command, manifest_hash, components_file } = definition;
  const fingerprint = (text: string) => `fingerprint:${sealer.fingerprint(text, id)}`;
  const settings = {
    kind,
    name,
    ...(image !== null && { image }),
    ...(command && { command: fingerprint(JSON.stringify(command)) }),
    ...(manifest_hash !== null && { manifest: fingerprint(manifest_hash), components_file }),
  };
  const data = { definition: { id, kind, name } };
  return action === 'created'
    ? { type: 'definition.created', data, change: { before: undefined, after: settings } }
    : { type: 'definition.deleted', data, change: { before: settings, after: undefined } };
}
