/**
 * Trails of earlier versions, which stay valid, and changes that verification cannot find. These are listed in
 * docs/reference/audit.md; each test is named after its line there.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { from, openTrail, tag } from '../../../test/support/audit-trail.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import {
  chainAnew,
  cutAt,
  dayMs,
  forgeFirst,
  forgersKey,
  makeEarlier,
  makeTrail,
  nobodyFinds,
  sealAsBefore,
  signAnew,
  unchain,
  unsign,
  upTo,
  verifyAll,
} from '../../../test/support/tampered-trail.ts';
import { unguarded } from '../../../test/support/unguarded.ts';
import { byWorker } from '../../kernel/cause.ts';
import type { Db } from '../../kernel/db/open.ts';
import { resealEverything } from '../../kernel/db/resealing.ts';
import { createSealer } from '../../kernel/sealing.ts';
import { commitmentOf } from '../events/chain.ts';
import { rotateAuditKey } from './audit-keys.ts';
import { verifyDatabase } from './verify-database.ts';

describeOnBothDatabases('A trail of an earlier version', (kind) => {
  it('passes with entries from before the chain, which are counted, whether they are kept or not', async () => {
    const trail = await openTrail(kind);
    const { db } = trail.store;
    await trail.record(from('192.0.2.1'), ...upTo(5).map((index) => tag(`old ${index}`)));
    await trail.sequence();
    await unguarded(trail.store, () => unchain(db));
    expect((await trail.verify()).faults, 'nothing is chained yet').toMatchObject([
      { problem: expect.stringContaining('has a hash') },
    ]);
    await trail.record(from('192.0.2.1'), tag('new'));
    await trail.sequence();
    expect(await trail.verify()).toMatchObject({ faults: [], entries: 6, unchained: 5 });
    await trail.signed();
    expect(await trail.verify()).toMatchObject({ faults: [], unchained: 5 });
    for (const gone of [2, 5]) {
      const result = await trail.tampered(
        (tx) => tx.deleteFrom('log_entries').where('trail_position', '<=', gone).execute(),
        (inside) => verifyDatabase(inside, trail.organizationId),
      );
      expect(result, `without ${gone}, which events that were too old took along`).toMatchObject({
        faults: [],
        unchained: 5,
      });
    }
  });

  it('passes with a cut of that version, and with checkpoints of this version after it', async () => {
    const trail = await makeEarlier(kind);
    await unguarded(trail.store, () => cutAt(trail.store.db, trail.first.position));
    const cut = { position: trail.first.position, at: null, retention_days: null };
    expect(await trail.verify()).toMatchObject({ faults: [], cut });
    expect(await trail.signed()).toMatchObject({ cut });
    expect(await trail.verify([trail.second])).toMatchObject({ faults: [], cut });
    await trail.record(byWorker, tag('later'));
    await trail.sequence();
    expect(await trail.signed()).toMatchObject({ cut });
    expect(await trail.verify()).toMatchObject({ faults: [], cut });
  });

  it('fails if someone cuts it in that way after this version has signed it', async () => {
    const trail = await makeEarlier(kind);
    expect(await trail.signed()).toMatchObject({ cut: null });
    expect((await trail.verify()).faults).toEqual([]);
    await unguarded(trail.store, () => cutAt(trail.store.db, trail.first.position));
    await trail.record(byWorker, tag('later'));
    await trail.sequence();
    await trail.signed();
    const problem = expect.stringContaining('no signed checkpoint confirms that retention removed them');
    expect((await trail.verify()).faults).toMatchObject([{ position: 1, problem }]);
  });

  it('continues with the key of that version, which is sealed again with another encryption key like the others', async () => {
    const trail = await makeEarlier(kind);
    const { ctx, store } = trail;
    const oldKid = await sealAsBefore(trail);
    expect((await trail.verify()).faults).toEqual([]);
    expect(await trail.signed()).toMatchObject({ key_id: oldKid });
    const kid = await rotateAuditKey(ctx);
    await trail.record(byWorker, tag('later'));
    await trail.sequence();
    expect(await trail.signed()).toMatchObject({ key_id: kid });
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
    // The sealer of the test has a key that nobody knows, so everything is sealed with a known key first.
    const both = { ...createSealer(oldKey), open: ctx.sealer.open };
    expect(await resealEverything(store.db, both)).toBeGreaterThanOrEqual(2);
    await resealEverything(store.db, createSealer(newKey, oldKey));
    const result = await verifyDatabase({ store, sealer: createSealer(newKey) }, trail.organizationId);
    expect(result.faults).toEqual([]);
  });
});

describeOnBothDatabases('What nobody can find without a kept checkpoint is in the list of audit.md:', (kind) => {
  const page = readFileSync(new URL('../../../../docs/reference/audit.md', import.meta.url), 'utf8');
  const isListed = (title: string) => expect(page).toContain(`| ${title} |`);

  it('the end is cut off, with the checkpoints after it', async ({ task }) => {
    isListed(task.name);
    const made = await makeTrail(kind);
    const found = await verifyAll(made, async (db) => {
      await db.deleteFrom('log_entries').where('trail_position', '>', 8).execute();
      await db.deleteFrom('audit_checkpoints').where('position', '>', 8).execute();
      await chainAnew(db, made.organizationId);
      const [left] = await db.selectFrom('audit_checkpoints').selectAll().execute();
      const last = { checkpoint_position: Number(left?.position), checkpoint_at: Number(left?.signed_at) };
      await db.updateTable('log_heads').set(last).execute();
    });
    expect(found).toMatchObject({ online: [], offline: [] });
    expect(found.onlineKept).toContainEqual(expect.stringContaining('missing at the end'));
    expect(found.offlineKept).toContainEqual(expect.stringContaining('missing at the end'));
  });

  it('everything is rewritten, without any checkpoint or key', async ({ task }) => {
    isListed(task.name);
    const made = await makeTrail(kind);
    const found = await verifyAll(made, async (db) => {
      await unsign(db);
      await forgeFirst(db);
      await chainAnew(db, made.organizationId);
    });
    expect(found).toMatchObject({ online: [], offline: [] });
    expect(found.onlineKept).not.toEqual([]);
    expect(found.offlineKept).not.toEqual([]);
  });

  it('an export is rewritten and signed with another key that it names', async ({ task }) => {
    isListed(task.name);
    const made = await makeTrail(kind);
    const key = forgersKey();
    const found = await verifyAll(made, async (db) => {
      await forgeFirst(db);
      const [told] = await db.selectFrom('log_entries').select('id').where('type', '=', 'audit.key_created').execute();
      const id = String(told?.id);
      const patch = [{ op: 'add', path: '/public_key', value: key.jwk.x }];
      const row = { field: 'patch' as const, organization_id: made.organizationId, salt: 's' };
      await db.deleteFrom('log_personal').where('entry_id', '=', id).execute();
      await db
        .insertInto('log_personal')
        .values({ ...row, entry_id: id, value: JSON.stringify(patch) })
        .execute();
      const commitments = JSON.stringify({ patch: commitmentOf('s', patch) });
      const data = JSON.stringify({ key: { id: key.kid } });
      await db.updateTable('log_entries').set({ data, commitments }).where('id', '=', id).execute();
      await signAnew(db, made.organizationId, key);
    });
    expect(found.offline).toEqual([]);
    expect(found.found.offline).toMatchObject({ trustsOwnKeys: true });
    for (const way of ['online', 'onlineKept', 'offlineKept'] as const) expect(found[way], way).not.toEqual([]);
  });

  it('a beginning that only earlier versions have signed is cut at one of their checkpoints', async ({ task }) => {
    isListed(task.name);
    const trail = await makeEarlier(kind);
    await unguarded(trail.store, () => cutAt(trail.store.db, trail.second.position));
    expect(await trail.verify()).toMatchObject({ faults: [], cut: { at: null } });
    expect((await trail.verify([trail.first])).faults).not.toEqual([]);
  });
});

describeOnBothDatabases('What nobody can find at all is in the list of audit.md:', (kind) => {
  const page = readFileSync(new URL('../../../../docs/reference/audit.md', import.meta.url), 'utf8');
  const isListed = (title: string) => expect(page).toContain(`| ${title} |`);

  it('entries after the last checkpoint are changed, and their hashes recomputed', async ({ task }) => {
    isListed(task.name);
    const made = await makeTrail(kind);
    const found = await verifyAll(made, async (db) => {
      const [last] = await db
        .selectFrom('log_entries')
        .selectAll()
        .orderBy('trail_position', 'desc')
        .limit(1)
        .execute();
      await db
        .updateTable('log_entries')
        .set({ actor_name: 'somebody else' })
        .where('id', '=', String(last?.id))
        .execute();
      await chainAnew(db, made.organizationId);
    });
    expect(found).toMatchObject(nobodyFinds);
  });

  it('entries are changed that were written before entries had hashes', async ({ task }) => {
    isListed(task.name);
    const trail = await openTrail(kind);
    await trail.record(byWorker, ...upTo(3).map((index) => tag(`old ${index}`)));
    await trail.sequence();
    await unguarded(trail.store, () => unchain(trail.store.db));
    await trail.record(byWorker, tag('new'));
    await trail.sequence();
    const kept = await trail.signed();
    await unguarded(trail.store, () => forgeFirst(trail.store.db));
    expect(await trail.verify(kept ? [kept] : [])).toMatchObject({ faults: [], unchained: 3, coveredUntil: 4 });
  });

  it('entries are changed that have no position yet', async ({ task }) => {
    isListed(task.name);
    const trail = await openTrail(kind);
    await trail.record(byWorker, tag('waiting'));
    await trail.store.db.updateTable('log_pending').set({ actor_name: 'somebody else' }).execute();
    await trail.sequence();
    const kept = await trail.signed();
    expect((await trail.verify(kept ? [kept] : [])).faults).toEqual([]);
  });

  it('as many personal values are deleted as an earlier version has erased', async ({ task }) => {
    isListed(task.name);
    const trail = await openTrail(kind);
    await trail.record(from('192.0.2.1'), tag('a'), tag('b'));
    const data = { by: ['address'], fields: ['address'], count: 1 };
    await trail.record(byWorker, { type: 'audit.erased', data });
    await trail.sequence();
    const remove = (count: number) => async (db: Db) => {
      const rows = await db
        .selectFrom('log_personal')
        .selectAll()
        .where('field', '=', 'address')
        .limit(count)
        .execute();
      for (const { entry_id } of rows) {
        await db.deleteFrom('log_personal').where('entry_id', '=', entry_id).where('field', '=', 'address').execute();
      }
    };
    const faultsWithout = (count: number) =>
      trail.tampered(remove(count), async (inside) => (await verifyDatabase(inside, trail.organizationId)).faults);
    expect(await faultsWithout(1)).toEqual([]);
    expect(await faultsWithout(2)).toHaveLength(1);
  });

  it('the time at which an earlier version made a key is changed', async ({ task }) => {
    isListed(task.name);
    const trail = await makeEarlier(kind);
    await sealAsBefore(trail);
    await trail.store.db.updateTable('audit_keys').set({ created_at: 1 }).execute();
    expect((await trail.verify([trail.first])).faults).toEqual([]);
  });

  it('events are hidden that are older than a day, or shown again', async ({ task }) => {
    isListed(task.name);
    const trail = await openTrail(kind);
    await trail.record(byWorker, tag('a'), tag('b'));
    await trail.sequence();
    const faultsWhere = (sequenced_at: number | undefined) =>
      trail.tampered(
        async (db) => {
          if (sequenced_at !== undefined) {
            await db.updateTable('log_entries').set({ sequenced_at }).execute();
            await db.updateTable('log_heads').set({ checkpoint_at: sequenced_at }).execute();
            await chainAnew(db, trail.organizationId);
          }
          await db.updateTable('log_heads').set({ events_after: 1 }).execute();
        },
        async (inside) => (await verifyDatabase(inside, trail.organizationId)).faults,
      );
    expect(await faultsWhere(undefined), 'they are new').toHaveLength(1);
    expect(await faultsWhere((await trail.store.now()) - 2 * dayMs)).toEqual([]);
  });
});
