import { expect } from 'vitest';
import type { Answer, TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import {
  answering,
  type FaultyPlatform,
  first,
  isConnectionPatch,
  isDelete,
  isRename,
  lostAnswer,
  type Match,
  unreachable,
  useFaultyPlatform,
} from '../../../test/support/faults.ts';
import type { PlatformRequest } from '../../kernel/platform/transport.ts';

describeInTurns('changes that the platform has to receive', (kind, it) => {
  let test: TestApp;
  let faulty: FaultyPlatform;

  useFaultyPlatform(kind, (fresh) => {
    ({ test, faulty } = fresh);
  });

  const get = (id: string) => test.request('GET', `/api/v1/workspaces/${id}`);
  const update = (id: string, body: object) => test.request('PUT', `/api/v1/workspaces/${id}`, { body });
  const remove = (id: string) => test.request('DELETE', `/api/v1/workspaces/${id}`);
  const reconcile = async () => {
    // Whatever was put off becomes due now.
    await test.app.store.db.updateTable('operations').set({ next_at: 0, unsettled_until: 0 }).execute();
    await test.app.workers.reconciler.pass();
  };
  const openWork = async () => Object.values((await test.app.workers.reconciler.backlog()).operations);
  const platformName = async (id: string) => (await test.platform('GET', `/workspaces/${id}`)).body.name;

  it('renames on the platform as well', async () => {
    const id = await test.workspaceId('before');
    expect((await update(id, { name: 'after' })).body).toMatchObject({ id, name: 'after' });
    expect(await platformName(id)).toBe('after');
    expect(await openWork()).toEqual([]);
  });

  it('records a rename while the platform is away; both names lead to the workspace until it is applied', async () => {
    const id = await test.workspaceId('old');
    const restore = faulty.rule(unreachable());
    const answer = await update(id, { name: 'new' });
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([503, 'rename_recorded']);
    expect((await get(id)).body.name).toBe('old');
    expect(await test.workspaceId('old')).toBe(id);
    expect(await test.workspaceId('new')).toBe(id);
    restore();
    await reconcile();
    expect((await get(id)).body.name).toBe('new');
    expect(await platformName(id)).toBe('new');
    expect(await test.workspaceId('old')).not.toBe(id);
    expect(await openWork()).toEqual([]);
  });

  it.each([
    ['502 for a bad answer', answering(isRename, 500, 'oops'), 502],
    ['504 for a time-out', lostAnswer(isRename, true), 504],
  ])('answers a recorded rename with %s', async (_name, rule, status) => {
    const id = await test.workspaceId('slow');
    faulty.rule(rule);
    const answer = await update(id, { name: 'slower' });
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([status, 'rename_recorded']);
  });

  it('takes a rename back when the platform refuses it', async () => {
    const id = await test.workspaceId('kept');
    faulty.rule(answering(isRename, 422, '{}'));
    const answer = await update(id, { name: 'bad', status: 'inactive' });
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toMatchObject([{ loc: ['body', 'name'] }]);
    // Nothing of the request has happened.
    expect((await get(id)).body).toMatchObject({ name: 'kept', status: 'active' });
    expect(await test.workspaceId('bad')).not.toBe(id);
    expect(await openWork()).toEqual([]);
  });

  it('sends the platform the old name again when a refused rename came after one whose answer was lost', async () => {
    const id = await test.workspaceId('stay');
    const restore = faulty.rule(first(9, isRename, lostAnswer));
    expect((await update(id, { name: 'go' })).status).toBe(502);
    restore();
    const accept = faulty.rule(answering(isRename, 422, '{}'));
    expect((await update(id, { name: 'bad' })).status).toBe(422);
    accept();
    expect([(await get(id)).body.name, await platformName(id)]).toEqual(['stay', 'go']);
    await reconcile();
    expect([(await get(id)).body.name, await platformName(id)]).toEqual(['stay', 'stay']);
    expect(await openWork()).toEqual([]);
  });

  it('says so when the platform no longer has the workspace', async () => {
    const id = await test.workspaceId('lost');
    await test.platform('DELETE', `/workspaces/${id}`);
    const answer = await update(id, { name: 'found' });
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([502, 'platform_lost_workspace']);
    expect((await get(id)).body.name).toBe('lost');
    expect((await remove(id)).status).toBe(200);
  });

  it('lets the later of two renames win, and frees the name between', async () => {
    const id = await test.workspaceId('first');
    const restore = faulty.rule(unreachable());
    expect((await update(id, { name: 'second' })).status).toBe(503);
    expect((await update(id, { name: 'third' })).status).toBe(503);
    restore();
    await reconcile();
    expect((await get(id)).body.name).toBe('third');
    expect(await platformName(id)).toBe('third');
    expect(await test.workspaceId('second')).not.toBe(id);
  });

  /**
   * Sends the second request when the first has reached the platform, which continues once the second is recorded, or
   * done.
   */
  async function overtake(
    id: string,
    isFirst: Match,
    [sendFirst, sendSecond]: [() => Promise<Answer>, () => Promise<Answer>],
    until: 'recorded' | 'done' = 'recorded',
  ): Promise<[Answer, Answer]> {
    const generation = async () => {
      const { db } = test.app.store;
      return (await db.selectFrom('workspaces').select('gen').where('id', '=', id).executeTakeFirstOrThrow()).gen;
    };
    let second: Promise<Answer> | undefined;
    faulty.rule(
      first(1, isFirst, (match) => async (request, forward) => {
        if (!match(request)) return undefined;
        const before = await generation();
        second = sendSecond();
        if (until === 'done') await second;
        while ((await generation()) === before) await new Promise((resolve) => setImmediate(resolve));
        return await forward();
      }),
    );
    const answer = await sendFirst();
    return [answer, (await second) as Answer];
  }

  it.each(['later', 'before'])('answers a rename that a rename to %s overtakes as done', async (name) => {
    const id = await test.workspaceId('before');
    const [overtaken, later] = await overtake(id, isRename, [
      () => update(id, { name: 'between' }),
      () => update(id, { name }),
    ]);
    expect([overtaken.status, later.status]).toEqual([200, 200]);
    expect([overtaken.body.name, later.body.name]).toEqual([name, name]);
    expect(await platformName(id)).toBe(name);
  });

  it('answers a rename that was overtaken as done, even if the platform cannot receive the later name yet', async () => {
    const id = await test.workspaceId('before');
    const isLater = (request: PlatformRequest) => isRename(request) && request.body?.includes('later') === true;
    faulty.rule(unreachable(isLater));
    const [overtaken, later] = await overtake(id, isRename, [
      () => update(id, { name: 'between' }),
      () => update(id, { name: 'later' }),
    ]);
    expect([overtaken.status, later.status]).toEqual([200, 503]);
  });

  it('fails only the later of two renames when the platform refuses its name', async () => {
    const id = await test.workspaceId('before');
    const isBad = (request: PlatformRequest) => isRename(request) && request.body?.includes('bad') === true;
    faulty.rule(answering(isBad, 422, '{}'));
    const [overtaken, later] = await overtake(id, isRename, [
      () => update(id, { name: 'between' }),
      () => update(id, { name: 'bad' }),
    ]);
    expect([overtaken.status, later.status]).toEqual([200, 422]);
    expect((await get(id)).body.name).toBe('before');
  });

  it.each([
    ['rename', isRename, { name: 'after' }],
    ['deactivation', isConnectionPatch, { status: 'inactive' }],
  ] as const)('answers 404 to a %s of a workspace that is deleted meanwhile', async (_what, match, change) => {
    const id = await test.workspaceId('leaving');
    await makeConnections(id, ['active']);
    const [answer, deletion] = await overtake(id, match, [() => update(id, change), () => remove(id)], 'done');
    expect([answer.status, deletion.status]).toEqual([404, 200]);
    expect(answer.body).toEqual({ detail: 'Workspace not found' });
  });

  it.each([
    ['rename', isRename, { name: 'after' }],
    ['deactivation', isConnectionPatch, { status: 'inactive' }],
  ] as const)('answers 409 to a %s of a workspace whose deletion has begun meanwhile', async (_what, match, change) => {
    const id = await test.workspaceId('leaving');
    await makeConnections(id, ['active']);
    faulty.rule(unreachable(isDelete));
    const [answer, deletion] = await overtake(id, match, [() => update(id, change), () => remove(id)]);
    expect([answer.status, deletion.status]).toEqual([409, 503]);
    expect(answer.body).toEqual({ detail: 'Workspace is being deleted' });
  });

  it('does not show an overtaken deactivation what the activation could not do', async () => {
    const id = await test.workspaceId('flip');
    await makeConnections(id, ['active']);
    const isEnabling = (request: PlatformRequest) =>
      isConnectionPatch(request) && request.body?.includes('"active"') === true;
    faulty.rule(unreachable(isEnabling));
    const [overtaken, later] = await overtake(id, isConnectionPatch, [
      () => update(id, { status: 'inactive' }),
      () => update(id, { status: 'active' }),
    ]);
    expect(overtaken.status).toBe(200);
    expect(overtaken.body.status).toBe('active');
    expect([later.status, later.headers['x-inlay-error']]).toEqual([502, 'connections_pending']);
  });

  it('takes a recorded rename back when the old name is wanted again', async () => {
    const id = await test.workspaceId('stay');
    const restore = faulty.rule(first(9, isRename, lostAnswer));
    expect((await update(id, { name: 'go' })).status).toBe(502);
    expect(await platformName(id)).toBe('go');
    restore();
    expect((await update(id, { name: 'stay' })).status).toBe(200);
    await reconcile();
    expect(await platformName(id)).toBe('stay');
    expect(await test.workspaceId('go')).not.toBe(id);
    expect(await openWork()).toEqual([]);
  });

  it('asserts a name once more after an answer was lost, before it forgets about it', async () => {
    const id = await test.workspaceId('one');
    faulty.rule(first(1, isRename, lostAnswer));
    // The client library retries automatically, so the caller sees success …
    expect((await update(id, { name: 'two' })).status).toBe(200);
    // … but the first try might still be on its way, so the work stays open.
    expect(await openWork()).toEqual([1]);
    expect((await update(id, { name: 'three' })).status).toBe(200);
    await test.platform('PATCH', `/workspaces/${id}`, { name: 'two' });
    await reconcile();
    expect(await platformName(id)).toBe('three');
    expect(await openWork()).toEqual([]);
  });

  it('refuses a rename to a name that is taken, or being created', async () => {
    const id = await test.workspaceId('mine');
    await test.workspaceId('yours');
    const answer = await update(id, { name: 'yours' });
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([409, 'workspace_name_taken']);
    expect((await update(id, { name: 'YOURS' })).status).toBe(200);
  });

  async function makeConnections(workspaceId: string, statuses: string[]): Promise<string[]> {
    const source = await test.platform('POST', '/sources', {
      name: 's',
      workspaceId,
      configuration: { sourceType: 'sample-data', count: 1 },
    });
    const destination = await test.platform('POST', '/destinations', {
      name: 'd',
      workspaceId,
      configuration: { destinationType: 'local-files', path: 'p' },
    });
    const ids: string[] = [];
    for (const status of statuses) {
      const { body } = await test.platform('POST', '/connections', {
        sourceId: source.body.sourceId,
        destinationId: destination.body.destinationId,
        status,
      });
      ids.push(body.connectionId);
    }
    return ids;
  }
  const statuses = async (ids: string[]) =>
    await Promise.all(ids.map(async (id) => (await test.platform('GET', `/connections/${id}`)).body.status));

  it('disables every active connection with the workspace and enables exactly those again', async () => {
    const id = await test.workspaceId('paused');
    const connections = await makeConnections(id, ['active', 'inactive', 'active']);
    expect((await update(id, { status: 'inactive' })).body.status).toBe('inactive');
    expect(await statuses(connections)).toEqual(['inactive', 'inactive', 'inactive']);
    expect((await update(id, { status: 'active' })).body.status).toBe('active');
    expect(await statuses(connections)).toEqual(['active', 'inactive', 'active']);
  });

  it('says how many connections are left when the platform fails half-way, and finishes later', async () => {
    const id = await test.workspaceId('partly');
    const connections = await makeConnections(id, ['active', 'active', 'active']);
    const restore = faulty.rule(answering((request) => request.path === `/connections/${connections[1]}`, 500));
    const answer = await update(id, { status: 'inactive' });
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([502, 'connections_pending']);
    expect((await get(id)).body.status).toBe('inactive');
    restore();
    await reconcile();
    expect(await statuses(connections)).toEqual(['inactive', 'inactive', 'inactive']);
    expect((await update(id, { status: 'active' })).status).toBe(200);
    expect(await statuses(connections)).toEqual(['active', 'active', 'active']);
  });

  it('remembers which connections to enable again even if it is stopped between two of them', async () => {
    const id = await test.workspaceId('crashed');
    const connections = await makeConnections(id, ['active', 'active']);
    faulty.rule(first(99, isConnectionPatch, lostAnswer));
    expect((await update(id, { status: 'inactive' })).status).toBe(502);
    faulty.rule(async (_request, forward) => await forward());
    await test.restart();
    await reconcile();
    expect((await update(id, { status: 'active' })).status).toBe(200);
    expect(await statuses(connections)).toEqual(['active', 'active']);
  });

  it('lets activation overtake a deactivation that is not finished', async () => {
    const id = await test.workspaceId('flip');
    const connections = await makeConnections(id, ['active', 'active']);
    const restore = faulty.rule(unreachable(isConnectionPatch));
    expect((await update(id, { status: 'inactive' })).status).toBe(502);
    restore();
    expect((await update(id, { status: 'active' })).status).toBe(200);
    await reconcile();
    expect(await statuses(connections)).toEqual(['active', 'active']);
    expect(await openWork()).toEqual([]);
  });

  it('disables a connection that was created while it was disabling the others', async () => {
    const id = await test.workspaceId('growing');
    const [one] = await makeConnections(id, ['active']);
    let late: string[] = [];
    faulty.rule(
      first(1, isConnectionPatch, (match) => async (request, forward) => {
        if (!match(request)) return undefined;
        late = await makeConnections(id, ['active']);
        return await forward();
      }),
    );
    expect((await update(id, { status: 'inactive' })).status).toBe(200);
    expect(await statuses([one as string, ...late])).toEqual(['inactive', 'inactive']);
  });

  it.each([
    ['deleted', (id: string) => remove(id)],
    [
      'activated again',
      async (id: string) => {
        // As if the first worker had been still for longer than its lease.
        await test.app.store.db.updateTable('operations').set({ lease_until: 0 }).execute();
        return await update(id, { status: 'active' });
      },
    ],
  ])('remembers nothing for a workspace that was %s while it was looking', async (_how, overtake) => {
    const id = await test.workspaceId('overtaken');
    await makeConnections(id, ['active']);
    const isListing = ({ method, path }: { method: string; path: string }) =>
      method === 'GET' && path.startsWith('/connections?');
    faulty.rule(
      first(1, isListing, (match) => async (request, forward) => {
        if (!match(request)) return undefined;
        const answer = await forward();
        expect((await overtake(id)).status).toBe(200);
        return answer;
      }),
    );
    await update(id, { status: 'inactive' });
    await reconcile();
    expect(await test.app.store.db.selectFrom('paused_connections').selectAll().execute()).toEqual([]);
    expect(await openWork()).toEqual([]);
  });

  it('records a deletion while the platform is away: tokens are refused at once, the rest follows', async () => {
    const id = await test.workspaceId('doomed');
    const token = await test.scopedToken('doomed');
    const restore = faulty.rule(unreachable());
    const answer = await remove(id);
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([503, 'deletion_recorded']);
    expect((await get(id)).status).toBe(200);
    expect((await test.request('GET', '/api/v1/embedded/scoped-token/info', { token })).status).toBe(401);
    expect((await update(id, { name: 'saved' })).body).toEqual({ detail: 'Workspace is being deleted' });
    restore();
    await reconcile();
    expect((await get(id)).status).toBe(404);
    expect((await test.platform('GET', `/workspaces/${id}`)).status).toBe(404);
    expect((await remove(id)).status).toBe(404);
  });

  it('counts a workspace that is missing on the platform as deleted', async () => {
    const id = await test.workspaceId('gone');
    faulty.rule(first(1, isDelete, lostAnswer));
    expect((await remove(id)).status).toBe(200);
  });

  it('lets concurrent deletions join: all succeed with one time', async () => {
    const id = await test.workspaceId('joint');
    let arrived = () => {};
    let release = () => {};
    const atThePlatform = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    faulty.rule(async (request, forward) => {
      if (!isDelete(request)) return undefined;
      arrived();
      await held;
      return await forward();
    });
    const first = remove(id);
    await atThePlatform;
    const others = [remove(id), remove(id)];
    // Far more round trips than the others need to find the deletion under way.
    for (let i = 0; i < 20; i++) expect((await get(id)).status).toBe(200);
    release();
    const answers = await Promise.all([first, ...others]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map((answer) => answer.body.deleted_at)).size).toBe(1);
  });
});
