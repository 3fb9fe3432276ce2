/**
 * Every fault that the fault layer can make, at every kind of change: once, so that the service's own retry succeeds, or until
 * it gives up (with INLAY_LONG_TESTS both for each). Whatever the answer was, a retry of the client succeeds, and in the end both
 * sides have the same, with each name once and no open work.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeInTurns } from '../support/databases.ts';
import { byId, type HostedPlatform, startHostedPlatform } from '../support/deployment.ts';
import {
  answering,
  answeringAfterwards,
  driftingPages,
  type FaultyPlatform,
  faultyPlatform,
  first,
  isConnectionPatch,
  isCreate,
  isDelete,
  isList,
  isRename,
  lateApply,
  listing,
  lostAnswer,
  lostRequest,
  type Match,
  type Rule,
  unreachable,
} from '../support/faults.ts';
import { isCreate as isProxiedCreate, type Phase, type Verdict } from '../support/platform-proxy.ts';
import { type VirtualRuntime, virtualRuntime } from '../support/virtual-time.ts';

const tokenPath = '/api/v1/embedded/scoped-token';

type Fault = (match: Match) => Rule;
/** Includes the requests that the test applies late. */
const faults = (late: { apply(): Promise<void> }[]): Record<string, Fault> => ({
  'a refused connection': unreachable,
  'a reset before it was applied': lostRequest,
  'a reset after it was applied': lostAnswer,
  'a time-out after it was applied': (match) => lostAnswer(match, true),
  'a late application': (match) => {
    const held = lateApply(match);
    late.push(held);
    return held.rule;
  },
  '429 without Retry-After': (match) => answering(match, 429, '{}'),
  '429 with Retry-After': (match) => answering(match, 429, '{}', { 'retry-after': '2' }),
  '500, not applied': (match) => answering(match, 500, '{"errorId":"e"}'),
  '503, applied': (match) => answeringAfterwards(match, 503, '<html>'),
  'a success in bad JSON': (match) => answeringAfterwards(match, 200, '{"workspaceId": '),
  'a success in HTML': (match) => answeringAfterwards(match, 200, '<html><h1>Welcome</h1>'),
});

describeInTurns('a platform with faults', (kind, it) => {
  let test: TestApp;
  let faulty: FaultyPlatform;
  let runtime: VirtualRuntime;
  beforeAll(async () => {
    faulty = faultyPlatform();
    runtime = virtualRuntime(Date.now());
    test = await startTestApp(kind, { overrides: { wrapTransport: faulty.wrapTransport, runtime } });
  });
  afterAll(() => test.stop());

  const ask = (name: string) => test.request('POST', tokenPath, { body: { workspace_name: name } });
  const update = (id: string, body: object) => test.request('PUT', `/api/v1/workspaces/${id}`, { body });
  const remove = (id: string) => test.request('DELETE', `/api/v1/workspaces/${id}`);
  const sync = () => test.request('POST', '/api/v1/workspaces/sync');
  const makeElsewhere = async (name: string) =>
    (await test.platform('POST', '/workspaces', { name, organizationId: test.organizationId })).body.workspaceId;

  async function makeConnection(workspaceId: string): Promise<string> {
    const post = async (path: string, body: object) => (await test.platform('POST', path, body)).body;
    const source = { name: 's', workspaceId, configuration: { sourceType: 'sample-data', count: 1 } };
    const destination = { name: 'd', workspaceId, configuration: { destinationType: 'local-files', path: 'p' } };
    const { sourceId } = await post('/sources', source);
    const { destinationId } = await post('/destinations', destination);
    return (await post('/connections', { sourceId, destinationId })).connectionId;
  }

  /** Every lease, window and delay has run out, and the reconciler has had its turn. */
  async function settle(): Promise<void> {
    const { db } = test.app.store;
    runtime.advance(120_000);
    for (let pass = 0; pass < 2; pass++) {
      await db.updateTable('name_claims').set({ lease_until: 0, no_post_before: 0 }).execute();
      const over = { lease_until: 0, next_at: 0, sending_until: 0, unsettled_until: 0 };
      await db.updateTable('operations').set(over).execute();
      await test.app.workers.reconciler.pass();
    }
    expect(await test.app.workers.reconciler.backlog()).toEqual({ claims: 0, operations: {} });
  }

  async function everythingHere(): Promise<{ id: string; name: string }[]> {
    return await test.app.store.db
      .selectFrom('workspaces')
      .select(['id', 'name'])
      .where('lifecycle', '=', 'live')
      .execute();
  }

  async function everythingThere(): Promise<{ id: string; name: string }[]> {
    const all: { id: string; name: string }[] = [];
    for (let offset = 0; ; offset += 100) {
      const query = `organizationId=${test.organizationId}&limit=100&offset=${offset}`;
      const { data } = (await test.platform('GET', `/workspaces?${query}`)).body;
      for (const { workspaceId, name } of data) all.push({ id: workspaceId, name });
      if (data.length < 100) return all;
    }
  }

  interface Change {
    /** Which of the change's requests gets the fault. */
    request: Match;
    prepare(name: string): Promise<{ send(): ReturnType<typeof ask>; check?(): Promise<void> }>;
  }
  const changes: Record<string, Change> = {
    create: { request: isCreate, prepare: async (name) => ({ send: () => ask(name) }) },
    rename: {
      request: isRename,
      prepare: async (name) => {
        const id = await test.workspaceId(`${name} before`);
        return { send: () => update(id, { name }) };
      },
    },
    deactivate: {
      request: isConnectionPatch,
      prepare: async (name) => {
        const id = await test.workspaceId(name);
        const connections = [await makeConnection(id), await makeConnection(id)];
        return {
          send: () => update(id, { status: 'inactive' }),
          check: async () => {
            for (const connection of connections) {
              expect((await test.platform('GET', `/connections/${connection}`)).body.status).toBe('inactive');
            }
          },
        };
      },
    },
    delete: {
      request: isDelete,
      prepare: async (name) => {
        const id = await test.workspaceId(name);
        return { send: () => remove(id) };
      },
    },
    sync: {
      request: isList,
      prepare: async (name) => {
        await makeElsewhere(name);
        return { send: sync };
      },
    },
  };

  const cases = Object.keys(faults([]))
    .flatMap((fault) => Object.keys(changes).map((change) => [fault, change] as const))
    // Every other one of those on a database.
    .map(([fault, change], index) => [fault, change, isLongRun ? [1, 9] : [index % 4 < 2 ? 1 : 9]] as const);
  it.each(cases)('%s in a %s', async (fault, change, numbers) => {
    for (const times of numbers) {
      const late: { apply(): Promise<void> }[] = [];
      const { request, prepare } = changes[change as string] as Change;
      const name = `${fault} in a ${change}, ${times} times`;
      const { send, check } = await prepare(name);
      const recover = faulty.rule(first(times, request, faults(late)[fault as string] as Fault));
      const { status } = await send();
      recover();
      expect([200, 502, 503, 504]).toContain(status);
      for (const held of late) await held.apply();
      await settle();
      const again = await send();
      // What was completed meanwhile is no longer there to be deleted.
      expect(again.status).toBe(change === 'delete' && again.status === 404 ? 404 : 200);
      await settle();
      await check?.();
      const [here, there] = [await everythingHere(), await everythingThere()];
      expect(byId(here)).toEqual(byId(there));
      expect(there.filter((workspace) => workspace.name === name)).toHaveLength(change === 'delete' ? 0 : 1);
    }
  });

  it('an old list: a workspace that is not listed yet is waited for, not made again', async () => {
    faulty.rule(first(1, isCreate, lostAnswer));
    const before = faulty.creates();
    let lists = 0;
    const recover = faulty.rule(
      listing((items) => (++lists <= 3 ? items.filter(({ name }) => name !== 'lagging') : items)),
    );
    expect((await ask('lagging')).status).toBe(502);
    expect((await ask('lagging')).status).toBe(200);
    recover();
    expect(lists).toBeGreaterThan(3);
    expect(faulty.creates() - before).toBe(1);
    await settle();
  });

  it('an old list: a deleted workspace that is still listed does not come back', async () => {
    const id = await test.workspaceId('ghost');
    expect((await remove(id)).status).toBe(200);
    const recover = faulty.rule(listing((items) => [...items, { workspaceId: id, name: 'ghost' }]));
    expect((await sync()).body).toMatchObject({ created_count: 0 });
    expect(await test.workspaceId('ghost')).not.toBe(id);
    recover();
  });

  it('pages that drift are counted once', async () => {
    for (let i = 0; i < 120; i++) await makeElsewhere(`drifting ${i}`);
    const recover = faulty.rule(driftingPages(7));
    const total = (await everythingThere()).length;
    expect((await sync()).body).toMatchObject({ total_count: total, created_count: 120 });
    recover();
  });

  describe('someone else, in the middle of ours,', () => {
    /** Just before the first request that matches. */
    const justBefore = (match: Match, deed: () => Promise<unknown>) =>
      faulty.rule(
        first(1, match, (isFirst) => async (request, forward) => {
          if (!isFirst(request)) return undefined;
          await deed();
          return await forward();
        }),
      );

    it('creates the same name: there are two, the name belongs to one, and theirs is left alone', async () => {
      let theirs = '';
      justBefore(isCreate, async () => {
        theirs = await makeElsewhere('contested');
      });
      const ours = await test.workspaceId('contested');
      expect(ours).not.toBe(theirs);
      await sync();
      await settle();
      expect(await test.workspaceId('contested')).toBe(ours);
      expect((await test.platform('GET', `/workspaces/${theirs}`)).body.name).toBe('contested');
    });

    it('renames it: the later rename wins', async () => {
      const id = await test.workspaceId('theirs or ours');
      justBefore(isRename, () => test.platform('PATCH', `/workspaces/${id}`, { name: 'theirs' }));
      expect((await update(id, { name: 'ours' })).body).toMatchObject({ name: 'ours' });
      expect((await test.platform('GET', `/workspaces/${id}`)).body.name).toBe('ours');
      await settle();
    });

    it.each([
      ['a rename', isRename, (id: string) => update(id, { name: `${id} renamed` }), 502],
      ['a deactivation', isConnectionPatch, (id: string) => update(id, { status: 'inactive' }), 200],
      ['a deletion', isDelete, remove, 200],
    ] as const)('deletes it: %s ends, and it can be deleted here', async (_what, match, send, status) => {
      const id = await test.workspaceId(`deleted elsewhere ${status} ${match.name}`);
      await makeConnection(id);
      justBefore(match, () => test.platform('DELETE', `/workspaces/${id}`));
      expect((await send(id)).status).toBe(status);
      await settle();
      expect([200, 404]).toContain((await remove(id)).status);
      expect((await test.request('GET', `/api/v1/workspaces/${id}`)).status).toBe(404);
    });
  });
});

describe('a connection to the platform with faults', () => {
  let platform: HostedPlatform;
  let test: TestApp;
  beforeAll(async () => {
    platform = await startHostedPlatform();
    test = await startTestApp('sqlite', { env: platform.env });
  });
  afterAll(async () => {
    await test?.stop();
    await platform?.stop();
  });

  it.each<[string, Phase, Verdict, number, string]>([
    ['reset before the platform has it', 'arrived', 'drop', 502, '2'],
    ['reset when the platform has applied it', 'applied', 'drop', 502, '2'],
    ['reset in the middle of the answer', 'applied', 'cut', 502, '2'],
    ['answered 500, not applied', 'arrived', { status: 500 }, 502, '2'],
    ['answered 502 in HTML, applied', 'applied', { status: 502, body: '<html>' }, 502, '2'],
    ['answered 200 in HTML, applied', 'applied', { status: 200, body: '<html>' }, 502, '2'],
    ['answered 429', 'arrived', { status: 429 }, 503, '10'],
    ['answered 429 with Retry-After', 'arrived', { status: 429, headers: { 'retry-after': '7' } }, 503, '7'],
  ])('a create that is %s is made once', async (what, phase, verdict, status, retryAfter) => {
    onTestFinished(() => {
      platform.proxy.script = undefined;
    });
    let times = 1;
    platform.proxy.script = (request, now) =>
      isProxiedCreate(request) && now === phase && times-- > 0 ? verdict : undefined;
    const ask = () => test.request('POST', tokenPath, { body: { workspace_name: what } });
    const answer = await ask();
    expect([answer.status, answer.headers['retry-after']]).toEqual([status, retryAfter]);
    // As if the settle window had passed: a request that was not applied by now never will be.
    await test.app.store.db.updateTable('name_claims').set({ no_post_before: 0 }).execute();
    expect((await ask()).status).toBe(200);
    expect(platform.proxy.createsApplied(what)).toBe(1);
  });
});
