/** The audit trail in both databases: what the sequencers chain, what is signed, erased and cut, and what verification finds. */
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { describeOnBothDatabases } from '../../test/support/databases.ts';
import { openTestStore } from '../../test/support/test-store.ts';
import { unguarded } from '../../test/support/unguarded.ts';
import { byWorker, type Cause } from '../cause.ts';
import type { Store } from '../db/open.ts';
import type { Entry } from '../events/catalogue.ts';
import { createJournal } from '../events/journal.ts';
import { createLogRetention, createSequencer } from '../events/sequencer.worker.ts';
import { listOrganizationIds } from '../organizations/organizations.ts';
import { systemRuntime } from '../runtime.ts';
import { createSealer } from '../sealing.ts';
import { ownKeySet, rotateAuditKey } from './audit-keys.ts';
import { createCheckpoints } from './checkpoints.worker.ts';
import { signNow } from './signing.ts';
import { erase, exportTrail, listCheckpoints, readTrail } from './trail.ts';
import { createVerifier } from './verify.ts';
import { verifyDatabase } from './verify-database.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const tag = (name: string): Entry => ({
  type: 'tag.renamed',
  data: { tag: { id: randomUUID(), name }, previous_name: 'before' },
  change: { before: { name: 'before' }, after: { name } },
});
const from = (address: string): Cause => ({
  actor: { kind: 'operator_token', id: `token of ${address}`, name: 'backend' },
  requestId: 'request',
  traceId: null,
  where: () => ({ address, userAgent: 'curl/8.5.0' }),
});

async function openTrail(kind: 'sqlite' | 'postgres') {
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
  return {
    ...{ store, ctx, organizationId, organization, sequencer, reader },
    sequence: () => own.pass(),
    record: (cause: Cause, ...entries: Entry[]) =>
      store.transaction((tx) => journal.by(cause).record(tx, organizationId, ...entries)),
    verify: async (id = organizationId) =>
      await verifyDatabase(store, id, await ownKeySet(store.db, ctx.sealer), { checkpoints: [], keys: new Map() }),
    read: (more: Partial<Parameters<typeof readTrail>[1]> = {}) =>
      readTrail(ctx, { ...reader, ...more }, { after: undefined, limit: 500 }),
    signed: async () => {
      const checkpoint = await signNow(ctx, organizationId);
      await own.pass();
      return checkpoint;
    },
  };
}

const age = (store: Store, until: number) =>
  unguarded(store, () =>
    store.db
      .updateTable('log_entries')
      .set({ sequenced_at: sql<number>`sequenced_at - 1000000` })
      .where('trail_position', '<=', until)
      .execute(),
  );

describeOnBothDatabases('The audit trail', (kind) => {
  it('is one chain, whichever of three sequencers gives the positions', async () => {
    const trail = await openTrail(kind);
    const { store } = trail;
    const other = await trail.organization();
    let isWriting = true;
    const sequencing = upTo(3).map(async () => {
      const sequencer = trail.sequencer();
      while (isWriting) {
        await sequencer.pass();
        await store.db.updateTable('log_sequencer').set({ lease_until: 0 }).execute();
      }
    });
    await Promise.all(
      upTo(3).map(async (writer) => {
        for (const index of upTo(15)) {
          await trail.record(from(`192.0.2.${writer}`), tag(`${writer}.${index}`));
          await store.transaction((tx) => trail.ctx.journal.record(tx, other, tag('theirs')));
          if (index === 8) await signNow(trail.ctx, trail.organizationId);
        }
      }),
    );
    isWriting = false;
    await Promise.all(sequencing);
    await store.db.updateTable('log_sequencer').set({ lease_until: 0 }).execute();
    await trail.sequence();
    const result = await trail.verify();
    expect(result).toMatchObject({ faults: [], withheld: 0, uncheckedSignatures: 0 });
    expect(result.entries).toBeGreaterThan(46);
    expect(result.coveredUntil).toBeGreaterThan(0);
    expect((await trail.verify(other)).faults).toEqual([]);

    const { data } = await trail.read({ types: 'tag.*' });
    expect(data).toHaveLength(45);
    expect(data[0]).toMatchObject({
      actor: { kind: 'operator_token', name: 'backend' },
      outcome: 'done',
      user_agent: 'curl/8.5.0',
      patch: [
        { op: 'test', path: '/name', value: 'before' },
        { op: 'replace', path: '/name' },
      ],
    });
    expect(data.every(({ organization_id }) => organization_id === trail.organizationId)).toBe(true);
    // Each filter gives what it names, and nothing of the other organization.
    expect((await trail.read({ actor: 'token of 192.0.2.2' })).data).toHaveLength(15);
    expect((await trail.read({ actor: 'command_line' })).data).toEqual([]);
    expect((await trail.read({ outcome: 'refused' })).data).toEqual([]);
    expect((await trail.read({ workspaceId: randomUUID() })).data).toEqual([]);
    expect((await trail.read({ since: new Date(Date.now() + 3_600_000).toISOString() })).data).toEqual([]);
  });

  it('shows every change that somebody makes who owns the database', async () => {
    const trail = await openTrail(kind);
    const { store } = trail;
    const { db } = store;
    await trail.record(from('192.0.2.1'), ...upTo(10).map((index) => tag(`t${index}`)));
    await trail.sequence();
    await trail.signed();
    const whole = await trail.verify();
    expect(whole.faults).toEqual([]);
    const { data } = await trail.read();
    const id = (position: number) => data[position - 1]?.id;

    /** Changes something as the owner of the database, verifies, and puts it back. */
    const tampered = async (change: () => Promise<unknown>, table: 'log_entries' | 'log_personal' | 'log_heads') => {
      const rows = await db.selectFrom(table).selectAll().execute();
      await unguarded(store, change);
      const result = await trail.verify();
      await unguarded(store, async () => {
        await db.deleteFrom(table).execute();
        for (const row of rows)
          await db
            .insertInto(table)
            .values(row as never)
            .execute();
      });
      return result.faults;
    };
    const at = (position: number) => db.updateTable('log_entries').where('trail_position', '=', position);
    for (const change of [
      { data: '{"tag":{}}' },
      { recorded_at: 1 },
      { actor_name: 'somebody else' },
      { type: 'tag.created' },
      { outcome: 'refused' as const },
      { hash: '0'.repeat(64) },
      { commitments: null },
    ]) {
      const faults = await tampered(() => at(4).set(change).execute(), 'log_entries');
      expect(faults[0], JSON.stringify(change)).toMatchObject({ position: 4, id: id(4) });
    }
    const without = (position: number) => db.deleteFrom('log_entries').where('trail_position', '=', position).execute();
    expect((await tampered(() => without(6), 'log_entries'))[0]).toMatchObject({ position: 6, id: null });
    const last = data.length;
    expect((await tampered(() => without(last), 'log_entries'))[0]).toMatchObject({ position: last, id: null });
    const swapped = async () => {
      await at(2).set({ trail_position: 99 }).execute();
      await at(3).set({ trail_position: 2 }).execute();
      await at(99).set({ trail_position: 3 }).execute();
    };
    expect((await tampered(swapped, 'log_entries'))[0]).toMatchObject({ position: 2, id: id(3) });
    const readdressed = () =>
      db
        .updateTable('log_personal')
        .set({ value: '"198.51.100.1"' })
        .where('entry_id', '=', String(id(5)))
        .where('field', '=', 'address')
        .execute();
    expect((await tampered(readdressed, 'log_personal'))[0]).toMatchObject({ position: 5, id: id(5) });
    const head = () =>
      db
        .updateTable('log_heads')
        .set({ hash: '0'.repeat(64) })
        .execute();
    expect((await tampered(head, 'log_heads'))[0]).toMatchObject({ position: last });

    // The end is cut off, and the head with it: only a checkpoint shows that.
    const kept = (await listCheckpoints(db, trail.organizationId, 1)).checkpoints;
    await unguarded(store, async () => {
      await db.deleteFrom('audit_checkpoints').execute();
      await db.deleteFrom('log_entries').where('trail_position', '>', 8).execute();
      await db
        .updateTable('log_heads')
        .set({ trail_position: 8, hash: String(data[7]?.hash) })
        .execute();
    });
    expect((await trail.verify()).faults).toEqual([]);
    const own = await ownKeySet(db, trail.ctx.sealer);
    const found = await verifyDatabase(store, trail.organizationId, own, { checkpoints: kept, keys: new Map() });
    expect(found.faults).toMatchObject([{ position: 9, id: null }]);
    expect((await trail.verify()).faults).toEqual([]);
  });

  it('is signed once an hour where something happened, by one replica, and stays verifiable with a new key', async () => {
    const trail = await openTrail(kind);
    const { store, ctx } = trail;
    const { db } = store;
    const pass = () => Promise.all(upTo(3).map(() => createCheckpoints(ctx)()));
    const positions = async () =>
      (await listCheckpoints(db, trail.organizationId, 100)).checkpoints.map(({ position }) => position);
    const anHourLater = () => db.updateTable('log_heads').set({ checkpoint_at: 0 }).execute();
    await pass();
    await trail.record(byWorker, tag('a'), tag('b'));
    await trail.sequence();
    await pass();
    expect(await positions(), 'the first hour is not over').toEqual([]);
    await anHourLater();
    await pass();
    expect(await positions()).toEqual([2]);
    await trail.sequence();
    await anHourLater();
    const before = (await trail.read()).data.length;
    await pass();
    await trail.sequence();
    const told = (await trail.read({ types: 'audit.checkpoint' })).data;
    expect(told, 'one event for each checkpoint').toHaveLength((await positions()).length);
    expect((await trail.read()).data.length - before).toBeLessThanOrEqual(1);
    await rotateAuditKey(ctx);
    await trail.sequence();
    const { key_id } = (await trail.signed()) ?? {};
    const list = await listCheckpoints(db, trail.organizationId, 100);
    expect(list.keys.map(({ kid }) => kid)).toContain(key_id);
    expect(new Set(list.checkpoints.map((one) => one.key_id)).size).toBe(2);
    expect((await trail.verify()).faults).toEqual([]);
    // A key that somebody writes into the database is not one of ours.
    await db
      .insertInto('audit_keys')
      .values({ kid: 'forged', public_jwk: '{}', sealed_private_key: 'v1.x.y', created_at: 1 })
      .execute();
    await expect(trail.verify()).rejects.toThrow('sealed with another encryption key');
  });

  it('stays valid when personal fields are erased and when its beginning is cut behind a checkpoint', async () => {
    const trail = await openTrail(kind);
    const { store, ctx, organizationId } = trail;
    await trail.record(from('192.0.2.1'), tag('a'), tag('b'));
    await trail.record(from('192.0.2.2'), tag('c'));
    await trail.sequence();
    expect(await erase(ctx, organizationId, { address: '192.0.2.1' })).toEqual({ erased: 4 });
    await expect(erase(ctx, organizationId, {})).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await erase(ctx, await trail.organization(), { actor_id: 'token of 192.0.2.2' })).toEqual({ erased: 0 });
    const all = JSON.stringify(await store.db.selectFrom('log_personal').selectAll().execute());
    expect(all).not.toContain('192.0.2.1');
    expect(all).toContain('192.0.2.2');
    await trail.sequence();
    const { data } = await trail.read();
    expect(data.map(({ address, patch }) => [address, patch === null])).toEqual([
      [null, false],
      [null, false],
      ['192.0.2.2', false],
      [null, true],
    ]);
    expect(data[3]).toMatchObject({ type: 'audit.erased', event_position: null, data: { by: ['address'], count: 4 } });
    expect(await trail.verify()).toMatchObject({ faults: [], withheld: 4 });

    const retain = createLogRetention({ store }, { eventsMs: 500_000, auditMs: 500_000 });
    await age(store, 3);
    await retain();
    expect((await trail.read()).data, 'no checkpoint lets the old entries go').toHaveLength(4);
    const rewritten = await trail.verify();
    expect(rewritten.faults[0], 'the test itself has changed times').toMatchObject({ position: 1 });
  });

  it('has nothing of a person in entries that were still without a position when the person was erased', async () => {
    const trail = await openTrail(kind);
    const { store, ctx, organizationId } = trail;
    const workspaceId = randomUUID();
    await trail.record(from('192.0.2.1'), tag('a'));
    await trail.sequence();
    await trail.record(from('192.0.2.1'), tag('b'), tag('c'));
    await trail.record(from('192.0.2.2'), tag('d'));
    const other = await trail.organization();
    await store.transaction((tx) => ctx.journal.by(from('192.0.2.1')).record(tx, other, tag('theirs')));
    expect(await erase(ctx, organizationId, { workspace_id: workspaceId })).toEqual({ erased: 0 });
    expect(await erase(ctx, organizationId, { address: '192.0.2.1', before: '2020-01-01T00:00:00Z' })).toEqual({
      erased: 0,
    });
    expect(await erase(ctx, organizationId, { address: '192.0.2.1' })).toEqual({ erased: 6 });
    expect(await erase(ctx, organizationId, { actor_id: 'token of 192.0.2.2', fields: ['patch'] })).toEqual({
      erased: 1,
    });
    await trail.sequence();
    const { data } = await trail.read({ types: 'tag.*' });
    expect(data.map(({ address, user_agent, patch }) => [address, user_agent, patch === null])).toEqual([
      [null, null, false],
      [null, null, false],
      [null, null, false],
      ['192.0.2.2', 'curl/8.5.0', true],
    ]);
    expect((await trail.verify()).faults).toEqual([]);
    const left = await store.db.selectFrom('log_personal').select('organization_id').execute();
    expect(left.filter(({ organization_id }) => organization_id === other)).toHaveLength(3);
  });

  it('is cut only behind a signed checkpoint, and the rest is verified from there, in the database and in an export', async () => {
    const trail = await openTrail(kind);
    const { store, ctx, reader } = trail;
    await trail.record(byWorker, ...upTo(6).map((index) => tag(`t${index}`)));
    await trail.sequence();
    await trail.signed();
    await trail.record(byWorker, tag('later'));
    await trail.sequence();
    // Everything is older than nothing, so the last checkpoint decides.
    await createLogRetention({ store }, { eventsMs: -60_000, auditMs: -60_000 })();
    const { data } = await trail.read();
    expect(data[0]?.position).toBe(7);
    expect(await trail.verify()).toMatchObject({ faults: [], entries: 3 });
    await expect(readTrail(ctx, reader, { after: 3, limit: 10 })).rejects.toMatchObject({
      code: 'events_gone',
      facts: { begin: 6 },
    });
    const exported = [];
    for await (const page of exportTrail(ctx, reader, { format: 'jsonl' })) exported.push(...page);
    const list = await listCheckpoints(store.db, trail.organizationId, 10);
    expect(list.beginning).toMatchObject({ position: 6 });
    const verifier = createVerifier({ checkpoints: list.checkpoints, keys: await ownKeySet(store.db, ctx.sealer) });
    for (const entry of exported) verifier.add(JSON.parse(JSON.stringify(entry)));
    expect(verifier.end()).toMatchObject({ faults: [], entries: 3 });
    await trail.sequence();
    expect((await trail.read()).data.at(-1)).toMatchObject({ type: 'audit.exported', data: { format: 'jsonl' } });
  });
});
