/**
 * A create whose response was lost, and whose name was bound to another workspace before the create took effect. The
 * two workspaces cannot be distinguished from outside, so neither is deleted; but the late one must never be forgotten.
 */
import { expect } from 'vitest';
import type { TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import {
  type FaultyPlatform,
  first,
  isCreate,
  isList,
  lateApply,
  listing,
  lostRequest,
  unreachable,
  useFaultyPlatform,
} from '../../../test/support/faults.ts';
import * as claims from './claims.store.ts';

describeInTurns('a create that takes effect after its name was given away', (kind, it) => {
  let test: TestApp;
  let faulty: FaultyPlatform;

  useFaultyPlatform(kind, (fresh) => {
    ({ test, faulty } = fresh);
  });

  const ask = (name: string) =>
    test.request('POST', '/api/v1/embedded/scoped-token', { body: { workspace_name: name } });
  const sync = () => test.request('POST', '/api/v1/workspaces/sync');
  const rename = (id: string, name: string) => test.request('PUT', `/api/v1/workspaces/${id}`, { body: { name } });
  const remove = (id: string) => test.request('DELETE', `/api/v1/workspaces/${id}`);
  const reconcile = () => test.app.workers.reconciler.pass();
  const makeTheirs = async (name: string) => {
    const { body } = await test.platform('POST', '/workspaces', { name, organizationId: test.organizationId });
    return body.workspaceId as string;
  };
  const idsOnPlatform = async (name: string) => {
    const { body } = await test.platform('GET', `/workspaces?limit=100&name=${encodeURIComponent(name)}`);
    return (body.data as { workspaceId: string }[]).map(({ workspaceId }) => workspaceId);
  };
  const letWindowPass = async () => {
    await test.app.store.db
      .updateTable('name_claims')
      .set((row) => ({ no_post_before: row('no_post_before', '-', 600_000), lease_until: 0 }))
      .where('no_post_before', '>', 0)
      .execute();
  };

  /** Our create of the name has no answer yet, and theirs, which the list did not show, answers to the name. */
  async function giveNameAway(name: string) {
    const theirs = await makeTheirs(name);
    const hidden = faulty.rule(listing(() => []));
    const late = lateApply(isCreate);
    const gone = faulty.rule(late.rule);
    expect((await ask(name)).status).toBe(504);
    hidden();
    gone();
    await sync();
    expect(await test.workspaceId(name)).toBe(theirs);
    const takeEffect = async () => {
      await late.apply();
      const [ours] = (await idsOnPlatform(name)).filter((id) => id !== theirs);
      return ours as string;
    };
    return { theirs, takeEffect };
  }

  it('keeps a rename from its name once a sync has shown it and the other one is deleted', async () => {
    const { theirs, takeEffect } = await giveNameAway('acme');
    const ours = await takeEffect();
    await sync();
    await letWindowPass();
    await reconcile();
    expect((await remove(theirs)).status).toBe(200);
    const third = await test.workspaceId('beta');
    expect((await rename(third, 'acme')).status).toBe(409);
    expect(await test.workspaceId('acme')).toBe(ours);
    expect(await idsOnPlatform('acme')).toEqual([ours]);
  });

  it.each([
    ['after the reconciler has looked for it', true],
    ['before anybody has looked for it', false],
  ])('is found without a sync, the other one being deleted %s', async (_when, isLookedForFirst) => {
    const { theirs, takeEffect } = await giveNameAway('acme');
    const ours = await takeEffect();
    await letWindowPass();
    if (isLookedForFirst) await reconcile();
    expect((await remove(theirs)).status).toBe(200);
    const third = await test.workspaceId('beta');
    expect((await rename(third, 'acme')).status).toBe(409);
    await reconcile();
    expect((await rename(third, 'acme')).status).toBe(409);
    expect(await test.workspaceId('acme')).toBe(ours);
  });

  it('is found when it takes effect only after the other one is deleted', async () => {
    const { theirs, takeEffect } = await giveNameAway('acme');
    expect((await remove(theirs)).status).toBe(200);
    const third = await test.workspaceId('beta');
    expect((await rename(third, 'acme')).status).toBe(409);
    const ours = await takeEffect();
    await letWindowPass();
    await reconcile();
    expect(await test.workspaceId('acme')).toBe(ours);
    expect(await idsOnPlatform('acme')).toEqual([ours]);
  });

  it('gets its name when the other one is renamed, and then the other cannot be renamed back', async () => {
    const { theirs, takeEffect } = await giveNameAway('acme');
    const ours = await takeEffect();
    expect((await rename(theirs, 'elsewhere')).status).toBe(200);
    expect((await rename(theirs, 'acme')).status).toBe(409);
    await letWindowPass();
    await reconcile();
    expect(await test.workspaceId('acme')).toBe(ours);
    expect((await rename(theirs, 'acme')).status).toBe(409);
    expect(await idsOnPlatform('acme')).toEqual([ours]);
  });

  it('is not made a second time when the list shows it no longer', async () => {
    const { theirs, takeEffect } = await giveNameAway('acme');
    const ours = await takeEffect();
    await letWindowPass();
    await reconcile();
    expect((await remove(theirs)).status).toBe(200);
    faulty.rule(listing((items) => items.filter(({ workspaceId }) => workspaceId !== ours)));
    const creates = faulty.creates();
    expect(await test.workspaceId('acme')).toBe(ours);
    expect(faulty.creates()).toBe(creates);
  });

  it('keeps its name while the platform cannot be asked', async () => {
    const { theirs, takeEffect } = await giveNameAway('acme');
    const ours = await takeEffect();
    await letWindowPass();
    await reconcile();
    expect((await remove(theirs)).status).toBe(200);
    const third = await test.workspaceId('beta');
    const away = faulty.rule(unreachable(isList));
    expect((await ask('acme')).status).toBe(503);
    await reconcile();
    away();
    expect((await rename(third, 'acme')).status).toBe(409);
    expect(await test.workspaceId('acme')).toBe(ours);
  });

  it('can be deleted, and its name is free then', async () => {
    const { theirs, takeEffect } = await giveNameAway('acme');
    const ours = await takeEffect();
    await letWindowPass();
    await reconcile();
    expect((await remove(ours)).status).toBe(200);
    expect(await test.workspaceId('acme')).toBe(theirs);
    expect((await remove(theirs)).status).toBe(200);
    const third = await test.workspaceId('beta');
    expect((await rename(third, 'acme')).status).toBe(200);
    expect(await idsOnPlatform('acme')).toEqual([third]);
  });

  it('frees the name once it is certain that it never took effect', async () => {
    const theirs = await makeTheirs('acme');
    const hidden = faulty.rule(listing(() => []));
    faulty.rule(first(1, isCreate, lostRequest));
    expect((await ask('acme')).status).toBe(502);
    hidden();
    await sync();
    const third = await test.workspaceId('beta');
    expect((await remove(theirs)).status).toBe(200);
    expect((await rename(third, 'acme')).status).toBe(409);
    await letWindowPass();
    await reconcile();
    expect((await rename(third, 'acme')).status).toBe(200);
  });

  it('is looked for again when the platform cannot be asked at first', async () => {
    const { theirs, takeEffect } = await giveNameAway('acme');
    const ours = await takeEffect();
    await letWindowPass();
    const away = faulty.rule(async () => ({ status: 400, headers: {}, text: '{}' }));
    await reconcile();
    expect((await test.request('GET', `/api/v1/workspaces/${ours}`)).status).toBe(404);
    away();
    await reconcile();
    expect((await test.request('GET', `/api/v1/workspaces/${ours}`)).body).toMatchObject({ id: ours, name: 'acme' });
    expect(await test.workspaceId('acme')).toBe(theirs);
  });

  it('is remembered when the answer to an earlier create of its name arrives', async () => {
    const { db } = test.app.store;
    const { organizationId } = test;
    const id = await test.workspaceId('other');
    const lease = (leaseId: string) => ({ organizationId, name: 'acme', leaseId });
    const unsettled = async () => (await claims.findClaim(db, organizationId, 'acme'))?.no_post_before ?? 0;
    await claims.takeLease(db, lease('earlier'), 0);
    await claims.openSettleWindow(db, lease('earlier'), 0, 0);
    await claims.takeLease(db, lease('later'), 20_000);
    await claims.openSettleWindow(db, lease('later'), 20_000, 38_000);
    await claims.bindIfUnbound(db, organizationId, 'acme', id);
    await claims.closeSettleWindow(db, lease('earlier'));
    expect(await unsettled()).toBeGreaterThan(0);
    await claims.closeSettleWindow(db, lease('later'));
    expect(await unsettled()).toBe(0);
  });
});
