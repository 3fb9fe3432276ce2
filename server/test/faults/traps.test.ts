/**
 * The known traps of keeping two stores consistent, one test or group of tests for each, under the trap's own name. A
 * service that falls into a trap puts a customer's data into another customer's workspace, makes a workspace twice, or
 * loses one.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Runtime, systemRuntime } from '../../src/kernel/runtime.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, describeOnOneDatabase, type TestDatabaseKind } from '../support/databases.ts';
import {
  eventually,
  type HostedPlatform,
  requestToken,
  startHostedPlatform,
  workspaceOf,
} from '../support/deployment.ts';
import {
  answering,
  answeringAfterwards,
  driftingPages,
  type FaultyPlatform,
  first,
  ignoring,
  isCreate,
  isDelete,
  isList,
  listing,
  useFaultyPlatform,
} from '../support/faults.ts';
import { isCreate as isProxiedCreate, type ProxiedRequest } from '../support/platform-proxy.ts';
import { startService } from '../support/service.ts';

const tokenPath = '/api/v1/embedded/scoped-token';
const otherOrganizationId = '00000000-0000-4000-8000-000000000009';

describeOnOneDatabase('Trap', (kind) => {
  let test: TestApp;
  let faulty: FaultyPlatform;
  useFaultyPlatform(kind, (fresh) => {
    ({ test, faulty } = fresh);
  });

  const ask = (name: string) => test.request('POST', tokenPath, { body: { workspace_name: name } });
  const get = (id: string) => test.request('GET', `/api/v1/workspaces/${id}`);
  const rename = (id: string, name: string) => test.request('PUT', `/api/v1/workspaces/${id}`, { body: { name } });
  const remove = (id: string) => test.request('DELETE', `/api/v1/workspaces/${id}`);
  const sync = () => test.request('POST', '/api/v1/workspaces/sync');
  /** Makes the workspace directly on the platform, like another user. */
  const makeOnPlatform = async (name: string, organizationId = test.organizationId) =>
    (await test.platform('POST', '/workspaces', { name, organizationId })).body.workspaceId as string;
  const nameOnPlatform = async (id: string) => (await test.platform('GET', `/workspaces/${id}`)).body.name;

  describe('same name in another organization the credentials can see', () => {
    it('is neither adopted, nor imported, nor touched', async () => {
      const theirs = await makeOnPlatform('twin', otherOrganizationId);
      const id = await test.workspaceId('twin');
      expect(id).not.toBe(theirs);
      expect((await sync()).body).toMatchObject({ total_count: 1, created_count: 0 });
      expect((await rename(id, 'renamed twin')).status).toBe(200);
      expect((await remove(id)).status).toBe(200);
      expect(await nameOnPlatform(theirs)).toBe('twin');
    });
  });

  describe('a listing that ignores its organization filter', () => {
    it('gives neither a name nor a sync the workspaces of others', async () => {
      const theirs = await makeOnPlatform('foreign', otherOrganizationId);
      faulty.rule(ignoring('organizationId'));
      await makeOnPlatform('ours');
      expect((await sync()).body).toMatchObject({ total_count: 1, created_count: 1 });
      expect(await test.workspaceId('foreign')).not.toBe(theirs);
      expect((await get(theirs)).status).toBe(404);
    });
  });

  describe('case (AbC ≠ abC)', () => {
    it('distinguishes names, made here or found on the platform', async () => {
      const upper = await makeOnPlatform('AbC');
      const ids = await Promise.all(['abC', 'ABC', 'AbC'].map((name) => test.workspaceId(name)));
      expect(new Set(ids).size).toBe(3);
      expect(ids[2]).toBe(upper);
      expect((await rename(ids[0] as string, 'aBc')).status).toBe(200);
      expect((await rename(ids[0] as string, 'ABC')).status).toBe(409);
    });
  });

  describe('NFC but never NFKC or case folding for identity', () => {
    it('joins canonical forms of one name', async () => {
      const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301'];
      const id = await makeOnPlatform(decomposed);
      expect(await test.workspaceId(composed)).toBe(id);
      expect(await test.workspaceId(decomposed)).toBe(id);
      expect((await sync()).body).toMatchObject({ total_count: 1, created_count: 0 });
      expect(faulty.creates()).toBe(0);
    });

    it('keeps compatibility forms and what folds to the same apart', async () => {
      const names = ['\ufb01', 'fi', '\uff21', 'A', '\u00b2', '2', '\u00df', 'ss', '\u017f', 's', '\u03c3', '\u03c2'];
      const ids: string[] = [];
      for (const name of names) ids.push(await test.workspaceId(name));
      expect(new Set(ids).size).toBe(names.length);
    });
  });

  describe('lone surrogates', () => {
    it('different ones, which encode to the same bytes, never lead to one workspace', async () => {
      for (const name of ['a\ud800', 'a\ud801']) expect((await ask(name)).status).toBe(422);
      expect(faulty.sent).toEqual([]);

      const [one, two] = [await makeOnPlatform('one'), await makeOnPlatform('two')];
      const broken = new Map([
        [one, 'a\ud800'],
        [two, 'a\ud801'],
      ]);
      faulty.rule(
        listing((items) => items.map((item) => ({ ...item, name: broken.get(item.workspaceId) ?? item.name }))),
      );
      expect((await sync()).body).toMatchObject({ total_count: 2, created_count: 2 });
      expect((await sync()).body).toMatchObject({ total_count: 2, created_count: 0 });
      for (const id of [one, two]) expect((await get(id)).body.name).toBe('a\ufffd');
      // A valid name that looks like both of them is neither.
      expect([one, two]).not.toContain(await test.workspaceId('a\ufffd'));
    });
  });

  describe('NUL', () => {
    it('is refused in a requested name, and does no harm in a name that the platform lists', async () => {
      for (const name of ['nul\0one', 'nul']) expect((await ask(name)).status).toBe(name === 'nul' ? 200 : 422);
      const nul = await test.workspaceId('nul');

      const listed = await makeOnPlatform('x');
      const after = await makeOnPlatform('y');
      faulty.rule(listing((items) => items.map((item) => (item.name === 'x' ? { ...item, name: 'nul\0one' } : item))));
      expect((await sync()).body).toMatchObject({ total_count: 3, created_count: 2 });
      expect((await get(listed)).body.name).toBe('nul\ufffdone');
      expect(await test.workspaceId('y')).toBe(after);
      expect(await test.workspaceId('nul')).toBe(nul);
    });
  });

  describe('soft-deleted but still listed', () => {
    it('deleted here: its name gets a new workspace', async () => {
      const id = await test.workspaceId('phoenix');
      expect((await remove(id)).status).toBe(200);
      faulty.rule(listing((items) => [{ workspaceId: id, name: 'phoenix' }, ...items]));
      expect(await test.workspaceId('phoenix')).not.toBe(id);
    });

    it('deleted here: sync does not bring it back', async () => {
      const id = await test.workspaceId('deleted');
      expect((await remove(id)).status).toBe(200);
      faulty.rule(listing((items) => [{ workspaceId: id, name: 'deleted' }, ...items]));
      expect((await sync()).body).toMatchObject({ created_count: 0 });
      expect((await get(id)).status).toBe(404);
    });

    it.each(['deleted', 'tombstone'])('marked as %s by the platform: neither adopted nor imported', async (mark) => {
      const id = await makeOnPlatform('marked');
      faulty.rule(
        listing((items) => items.map((item) => (item.workspaceId === id ? { ...item, [mark]: true } : item))),
      );
      expect((await sync()).body).toMatchObject({ total_count: 0, created_count: 0 });
      expect(await test.workspaceId('marked')).not.toBe(id);
    });
  });

  describe('name deleted then used again', () => {
    it('leads to another workspace, and nothing of the first comes with it', async () => {
      const token = await test.scopedToken('again');
      const before = await test.workspaceId('again');
      expect((await remove(before)).status).toBe(200);
      const after = await test.workspaceId('again');
      expect(after).not.toBe(before);
      expect(faulty.creates()).toBe(2);
      expect((await test.request('GET', `${tokenPath}/info`, { token })).status).toBe(401);
      expect((await get(before)).status).toBe(404);
      expect((await sync()).body).toMatchObject({ total_count: 1, created_count: 0 });
      expect((await remove(after)).status).toBe(200);
      expect(await test.workspaceId('again')).not.toBe(after);
    });
  });

  describe('2xx with an unreadable body is unknown, not failed', () => {
    it.each(['<html>', '{"workspaceId": ', '', '{}', 'null', '[]'])('%j', async (text) => {
      faulty.rule(first(1, isCreate, (match) => answeringAfterwards(match, 200, text)));
      expect((await ask('garbled')).status).toBe(502);
      expect((await ask('garbled')).status).toBe(200);
      expect(faulty.creates()).toBe(1);
      expect((await sync()).body).toMatchObject({ total_count: 1, created_count: 0 });
    });
  });

  describe('paging drift', () => {
    const makeMany = async (count: number) => {
      const ids: string[] = [];
      for (let i = 0; i < count; i++) ids.push(await makeOnPlatform(`old-${i}`));
      return ids;
    };

    it('pages that repeat are counted once', async () => {
      await makeMany(150);
      faulty.rule(driftingPages(10));
      expect((await sync()).body).toMatchObject({ total_count: 150, created_count: 150 });
    });

    it('a name that moves to a page already read is found, not made again', async () => {
      const ids = await makeMany(130);
      faulty.rule(async (request, forward) => {
        const answer = await ignoring('name')(request, forward);
        // Someone else deletes from the front while the pages are read.
        if (request.path.includes('offset=0'))
          for (const id of ids.splice(0, 5)) await test.platform('DELETE', `/workspaces/${id}`);
        return answer;
      });
      const adopted = await test.workspaceId('old-106');
      expect(await nameOnPlatform(adopted)).toBe('old-106');
      expect(faulty.creates()).toBe(0);
    });
  });

  describe('loser deleting an id that another replica adopts', () => {
    /**
     * The create is applied and its answer held back until `meanwhile` is done: what another replica does in that time.
     */
    const createSlowly = (meanwhile: (id: string) => Promise<void>) =>
      faulty.rule(
        first(1, isCreate, (match) => async (request, forward) => {
          if (!match(request)) return undefined;
          const answer = await forward();
          await meanwhile(JSON.parse(answer.text).workspaceId);
          return answer;
        }),
      );
    const reconcile = async () => {
      await test.app.store.db.updateTable('operations').set({ next_at: 0, unsettled_until: 0 }).execute();
      await test.app.workers.reconciler.pass();
    };

    it('adopted under its name: both have the same workspace', async () => {
      let made = '';
      createSlowly(async (id) => {
        made = id;
        expect((await sync()).body).toMatchObject({ created_count: 1 });
      });
      expect(await test.workspaceId('shared')).toBe(made);
      await reconcile();
      expect(await nameOnPlatform(made)).toBe('shared');
    });

    it('adopted and renamed: it stays, under its new name alone', async () => {
      let made = '';
      createSlowly(async (id) => {
        made = id;
        await sync();
        expect((await rename(id, 'taken')).status).toBe(200);
        // The name belongs to another workspace by now, so ours looks like a duplicate.
        const { db } = test.app.store;
        const winner = await makeOnPlatform('elsewhere');
        await sync();
        await db
          .updateTable('name_claims')
          .set({ state: 'bound', workspace_id: winner })
          .where('name', '=', 'contested')
          .execute();
      });
      expect(await test.workspaceId('contested')).not.toBe(made);
      await reconcile();
      expect((await get(made)).body).toMatchObject({ name: 'taken' });
      expect(await nameOnPlatform(made)).toBe('taken');
      expect(await test.workspaceId('taken')).toBe(made);
    });

    it('not adopted: our duplicate is given up and never used, even while the platform still has it', async () => {
      let duplicate = '';
      createSlowly(async (id) => {
        duplicate = id;
        const winner = await makeOnPlatform('contested');
        // Another replica has looked before ours was listed, and bound the name.
        const hide = faulty.rule(listing((items) => items.filter((item) => item.workspaceId !== id)));
        expect((await sync()).body['created_workspace IDs']).toEqual([winner]);
        hide();
      });
      const undeletable = faulty.rule(
        answering((request) => isDelete(request) && request.path.endsWith(duplicate), 500),
      );
      const winner = await test.workspaceId('contested');
      expect(winner).not.toBe(duplicate);
      expect((await get(duplicate)).status).toBe(404);
      expect((await sync()).body).toMatchObject({ created_count: 0 });
      expect((await remove(winner)).status).toBe(200);
      await letWindowPass(test);
      expect([winner, duplicate]).not.toContain(await test.workspaceId('contested'));
      undeletable();
      await reconcile();
      expect((await test.platform('GET', `/workspaces/${duplicate}`)).status).toBe(404);
      expect(Object.values((await test.app.workers.reconciler.backlog()).operations)).toEqual([]);
    });
  });

  describe('wrong credentials that list nothing', () => {
    it('do not look like mass deletion', async () => {
      const id = await test.workspaceId('survivor');
      const token = await test.scopedToken('survivor');
      faulty.rule(answering(isList, 200, '{"data":[]}'));
      expect((await sync()).body).toEqual({ total_count: 0, created_count: 0, 'created_workspace IDs': [] });
      await test.app.workers.reconciler.pass();
      expect((await get(id)).status).toBe(200);
      expect((await test.request('GET', `${tokenPath}/info`, { token })).status).toBe(200);
      expect(await test.workspaceId('survivor')).toBe(id);
      expect(await nameOnPlatform(id)).toBe('survivor');
      expect((await test.request('GET', '/metrics')).text).toContain(
        'inlay_workspace_events_total{event="missing_on_platform"} 1',
      );
    });
  });
});

describeOnOneDatabase('Trap on a real connection', (kind) => {
  let platform: HostedPlatform;
  beforeAll(async () => {
    platform = await startHostedPlatform();
  });
  afterAll(() => platform?.stop());

  const isRename = ({ method, path }: ProxiedRequest) => method === 'PATCH' && path.startsWith('/workspaces/');

  describe('reset on a reused socket is unknown', () => {
    it('a change is recorded as unsettled; a create is sent on a connection of its own, once', async () => {
      const test = await startTestApp(kind, { env: platform.env });
      onTestFinished(() => test.stop());
      onTestFinished(() => {
        platform.proxy.script = undefined;
      });
      const id = await test.workspaceId('reset');
      platform.proxy.script = (request, phase) => (isRename(request) && phase === 'applied' ? 'drop' : undefined);
      const renamed = await test.request('PUT', `/api/v1/workspaces/${id}`, { body: { name: 'reset later' } });
      // 503 would say that the platform has certainly not received the request.
      expect(renamed.status).toBe(502);
      expect(platform.proxy.arrived.filter(isRename)[0]?.reused).toBe(true);
      const operation = await test.app.store.db.selectFrom('operations').selectAll().executeTakeFirstOrThrow();
      expect(operation.unsettled_until).toBeGreaterThan(operation.created_at);

      platform.proxy.script = (request, phase) =>
        isProxiedCreate(request) && phase === 'applied' ? 'drop' : undefined;
      const ask = () => test.request('POST', tokenPath, { body: { workspace_name: 'reset create' } });
      expect((await ask()).status).toBe(502);
      expect((await ask()).status).toBe(200);
      expect(platform.proxy.createsSent('reset create')).toBe(1);
      expect(platform.proxy.arrived.filter(isProxiedCreate).map(({ reused }) => reused)).toEqual([false, false]);
    });
  });

  describe('SIGTERM in the middle of a create', () => {
    it('the create is finished and answered, and the process ends with 0', async () => {
      const database = await createTestDatabase(kind);
      onTestFinished(() => database.drop());
      const start = () =>
        startService({
          dataDir: database.dataDir,
          env: { ...platform.env, ...(database.url ? { INLAY_DATABASE_URL: database.url } : {}), LOG_LEVEL: 'info' },
        });
      const service = await start();
      let held = false;
      let letGo = () => {};
      const released = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      onTestFinished(letGo);
      platform.proxy.script = async (request, phase) => {
        if (!isProxiedCreate(request) || phase !== 'applied') return;
        held = true;
        await released;
      };
      const asked = requestToken(service, 'while stopping');
      await eventually('the create is under way', () => held);
      const stopped = service.stop('SIGTERM');
      await eventually('it is stopping', () => service.output().includes('Stopping'));
      letGo();
      const { status, body } = await asked;
      expect(status).toBe(200);
      expect(await stopped).toBe(0);
      platform.proxy.script = undefined;

      const next = await start();
      expect(workspaceOf((await requestToken(next, 'while stopping')).body.token)).toBe(workspaceOf(body.token));
      expect(platform.proxy.createsSent('while stopping')).toBe(1);
      expect(await next.stop()).toBe(0);
    });
  });
});

// Only PostgreSQL allows several replicas, and so several clocks.
describe('Trap of several clocks [postgres]', () => {
  const kind: TestDatabaseKind = 'postgres';
  const tenMinutesMs = 600_000;

  describe('a replica’s clock ten minutes off', () => {
    it.each([
      ['ahead', tenMinutesMs],
      ['behind', -tenMinutesMs],
    ])('%s: for this replica neither a lease nor the settle window ends early or late', async (_which, offMs) => {
      const [shared, platform] = [await createTestDatabase(kind), await startHostedPlatform()];
      onTestFinished(async () => {
        await platform.stop();
        await shared.drop();
      });
      const skewed: Runtime = { ...systemRuntime, now: () => Date.now() + offMs };
      const env = { ...platform.env, INLAY_PLATFORM_SETTLE_SECONDS: '30' };
      const right = await startTestApp(kind, { shared, env });
      onTestFinished(() => right.stop());
      const wrong = await startTestApp(kind, { shared, env, overrides: { runtime: skewed } });
      onTestFinished(() => wrong.stop());
      const ask = (app: TestApp, name: string) => app.request('POST', tokenPath, { body: { workspace_name: name } });

      for (const [holder, other, name] of [
        [right, wrong, 'held by the right one'],
        [wrong, right, 'held by the wrong one'],
      ] as const) {
        // One holds the lease and has a create under way; to the other the lease must look just as long.
        let held = false;
        let letGo = () => {};
        const released = new Promise<void>((resolve) => {
          letGo = resolve;
        });
        platform.proxy.script = async (request, phase) => {
          if (!isProxiedCreate(request) || phase !== 'arrived' || held) return;
          held = true;
          await released;
        };
        const first = ask(holder, name);
        await eventually('the create is under way', () => held);
        const second = ask(other, name);
        await other.app.workers.reconciler.pass();
        letGo();
        expect([(await first).status, (await second).status]).toEqual([200, 200]);
        expect(platform.proxy.createsSent(name)).toBe(1);
        const claims = right.app.store.db.selectFrom('name_claims').select('attempts').where('name', '=', name);
        expect(await claims.execute()).toEqual([{ attempts: 1 }]);
      }

      // A create is lost by one: for the other, too, its window is open.
      platform.proxy.script = (request, phase) =>
        isProxiedCreate(request) && phase === 'arrived' ? 'drop' : undefined;
      expect((await ask(right, 'lost')).status).toBe(502);
      await wrong.app.workers.reconciler.pass();
      expect(await wrong.app.workers.reconciler.backlog()).toMatchObject({ claims: 1 });
      // And after the window it is closed for both.
      await letWindowPass(right);
      await wrong.app.workers.reconciler.pass();
      expect(await wrong.app.workers.reconciler.backlog()).toMatchObject({ claims: 0 });
    });
  });
});

async function letWindowPass({ app }: TestApp): Promise<void> {
  await app.store.db
    .updateTable('name_claims')
    .set((row) => ({ no_post_before: row('no_post_before', '-', 60_000), lease_until: 0 }))
    .where('state', '=', 'creating')
    .execute();
}
