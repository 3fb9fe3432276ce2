/** The audit trail in both databases: what the sequencers chain, what is signed, erased and cut, and what verification finds. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { from, openTrail, tag } from '../../../test/support/audit-trail.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { byWorker } from '../../kernel/cause.ts';
import { rotateAuditKey } from './audit-keys.ts';
import { keySetOf } from './checkpoints.ts';
import { createCheckpoints } from './checkpoints.worker.ts';
import { createTrailRetention } from './retention.worker.ts';
import { signNow } from './signing.ts';
import { erase, exportTrail, listCheckpoints, readTrail } from './trail.ts';
import { createVerifier } from './verify.ts';

/** Everything is older than nothing, so the last checkpoint decides. */
const everythingGoes = { eventsMs: -60_000, auditMs: -60_000 };
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

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
    expect(result).toMatchObject({ faults: [], erased: 0, unchained: 0, cut: null });
    expect(result.entries).toBeGreaterThan(46);
    expect(result.coveredUntil).toBeGreaterThan(0);
    expect((await trail.verify([], other)).faults).toEqual([]);

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

  it('is signed once an hour where something happened, by one replica, and stays verifiable with a new key', async () => {
    const trail = await openTrail(kind);
    const { store, ctx } = trail;
    const { db } = store;
    const pass = () => Promise.all(upTo(3).map(() => createCheckpoints(ctx)()));
    const positions = async () =>
      (await listCheckpoints(ctx, trail.organizationId, 100)).checkpoints.map(({ position }) => position);
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
    const list = await listCheckpoints(ctx, trail.organizationId, 100);
    expect(list.keys.map(({ kid }) => kid)).toContain(key_id);
    expect(new Set(list.checkpoints.map((one) => one.key_id)).size).toBe(2);
    expect((await trail.verify()).faults).toEqual([]);
    // A key that someone writes into the database is not one of ours.
    await db
      .insertInto('audit_keys')
      .values({ kid: 'forged', public_jwk: '{}', sealed_private_key: 'v1.x.y', created_at: 1, binds_time: 0 })
      .execute();
    expect((await trail.verify()).faults).toMatchObject([{ id: 'forged' }]);
    expect((await listCheckpoints(ctx, trail.organizationId, 1)).keys.map(({ kid }) => kid)).not.toContain('forged');
  });

  it('stays valid when personal fields are erased, and says of which entries', async () => {
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
    expect(data[3]?.data).toMatchObject({ positions: { address: '1-2', user_agent: '1-2' } });
    expect(await trail.verify()).toMatchObject({ faults: [], erased: 4 });
    await createTrailRetention(ctx, everythingGoes)();
    expect((await trail.read()).data, 'no checkpoint lets the old entries go').toHaveLength(4);
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
    const { ctx, reader } = trail;
    await trail.record(byWorker, ...upTo(6).map((index) => tag(`t${index}`)));
    await trail.sequence();
    await trail.signed();
    await trail.record(byWorker, tag('later'));
    await trail.sequence();
    const retain = createTrailRetention(ctx, everythingGoes);
    await retain();
    expect((await trail.read()).data[0]?.position, 'the trail does not tell of the cut yet').toBe(1);
    await trail.sequence();
    await retain();
    expect((await trail.read()).data[0]?.position).toBe(7);
    await retain();
    await trail.sequence();
    await retain();
    const { data } = await trail.read();
    const begin = Number(data[0]?.position);
    expect(begin, 'the rest is cut at later checkpoints').toBeGreaterThan(7);
    expect(await trail.verify()).toMatchObject({ faults: [], cut: { position: begin - 1, at: expect.any(String) } });
    await expect(readTrail(ctx, reader, { after: 3, limit: 10 })).rejects.toMatchObject({
      code: 'events_gone',
      facts: { begin: begin - 1 },
    });
    const exported = [];
    for await (const page of exportTrail(ctx, reader, { format: 'jsonl' })) exported.push(...page);
    const list = await listCheckpoints(ctx, trail.organizationId, 10);
    expect(list.beginning).toMatchObject({ position: begin - 1 });
    const verifier = createVerifier({ kept: list.checkpoints, keys: keySetOf(list.keys) });
    for (const entry of exported) verifier.add(JSON.parse(JSON.stringify(entry)));
    expect(verifier.end()).toMatchObject({ faults: [], cut: { position: begin - 1 } });
    await trail.sequence();
    expect((await trail.read()).data.at(-1)).toMatchObject({ type: 'audit.exported', data: { format: 'jsonl' } });
  });
});
