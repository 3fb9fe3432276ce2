// A trail of an organization in a database of its own, with what the service does with it, and what its owner can do to it.

import { randomBytes, randomUUID } from 'node:crypto';
import { databaseTime } from '@inlay/database/open-database';
import { pino } from 'pino';
import { byWorker, type Cause } from '../../src/kernel/cause.ts';
import type { Db, Store } from '../../src/kernel/db/open.ts';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { createSealer } from '../../src/kernel/sealing.ts';
import { signNow } from '../../src/log/audit/signing.ts';
import { readTrail } from '../../src/log/audit/trail.ts';
import { verifyDatabase } from '../../src/log/audit/verify-database.ts';
import type { Entry } from '../../src/log/events/catalogue.ts';
import { createJournal } from '../../src/log/events/journal.ts';
import { createSequencer } from '../../src/log/events/sequencer.worker.ts';
import { listOrganizationIds } from '../../src/tenancy/organizations/organizations.ts';
import type { TestDatabaseKind } from './databases.ts';
import { openTestStore } from './test-store.ts';
import { withoutGuards } from './unguarded.ts';

export const tag = (name: string): Entry => ({
  type: 'tag.renamed',
  data: { tag: { id: randomUUID(), name }, previous_name: 'before' },
  change: { before: { name: 'before' }, after: { name } },
});

export const from = (address: string): Cause => ({
  actor: { kind: 'operator_token', id: `token of ${address}`, name: 'backend' },
  requestId: 'request',
  traceId: null,
  where: () => ({ address, userAgent: 'curl/8.5.0' }),
});

export async function openTrail(kind: TestDatabaseKind) {
  const store = await openTestStore(kind);
  const journal = createJournal({ runtime: systemRuntime, cause: byWorker });
  const ctx = { store, journal, sealer: createSealer(randomBytes(32)), listOrganizationIds };
  const sequencer = () =>
    createSequencer({ store, runtime: systemRuntime, log: pino({ level: 'silent' }), onSequenced: () => {} });
  const own = sequencer();
  const organization = async () => {
    const id = randomUUID();
    await store.db
      .insertInto('organizations')
      .values({ id, name: 'one', platform_organization_id: id, created_at: 0 })
      .execute();
    return id;
  };
  const organizationId = await organization();
  const reader = { organizationId, workspaceId: undefined, isCustomer: false };
  const verify = (kept: Parameters<typeof verifyDatabase>[2] = [], id = organizationId) =>
    verifyDatabase(ctx, id, kept);
  return {
    ...{ store, ctx, organizationId, organization, sequencer, reader, verify },
    sequence: () => own.pass(),
    record: (cause: Cause, ...entries: Entry[]) =>
      store.transaction((tx) => journal.by(cause).record(tx, organizationId, ...entries)),
    read: (more: Partial<Parameters<typeof readTrail>[1]> = {}) =>
      readTrail(ctx, { ...reader, ...more }, { after: undefined, limit: 500 }),
    signed: async () => {
      const checkpoint = await signNow(ctx, organizationId);
      await own.pass();
      return checkpoint;
    },
    /** What the work finds in a database that its owner has changed. Everything is as before afterwards. */
    async tampered<T>(change: (db: Db) => Promise<unknown>, work: (inside: typeof ctx) => Promise<T>): Promise<T> {
      const undo = new Error('everything is as before');
      let found: { value: T } | undefined;
      await store
        .transaction(async (tx) => {
          await withoutGuards(store.kind, tx);
          await change(tx);
          const inside: Store = { ...store, db: tx, now: () => databaseTime(tx), transaction: (inner) => inner(tx) };
          found = { value: await work({ ...ctx, store: inside }) };
          throw undo;
        })
        .catch((error: unknown) => {
          if (error !== undo) throw error;
        });
      return (found as { value: T }).value;
    },
  };
}

export type Trail = Awaited<ReturnType<typeof openTrail>>;
