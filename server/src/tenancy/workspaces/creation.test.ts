import { describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeInTurns, type TestDatabaseKind } from '../../../test/support/databases.ts';
import {
  answering,
  answeringAfterwards,
  type FaultyPlatform,
  faultyPlatform,
  first,
  ignoring,
  isCreate,
  isList,
  lateApply,
  lostAnswer,
  lostRequest,
  unreachable,
  useFaultyPlatform,
} from '../../../test/support/faults.ts';
import { virtualRuntime } from '../../../test/support/virtual-time.ts';

const path = '/api/v1/embedded/scoped-token';

describeInTurns('a token request for an unknown name', (kind, it) => {
  let test: TestApp;
  let faulty: FaultyPlatform;

  useFaultyPlatform(kind, (fresh) => {
    ({ test, faulty } = fresh);
  });

  const ask = (name: string) => test.request('POST', path, { body: { workspace_name: name } });
  const onPlatform = async (name: string) => {
    const { body } = await test.platform('GET', `/workspaces?limit=100&name=${encodeURIComponent(name)}`);
    return body.data as { workspaceId: string; name: string }[];
  };

  it('makes one workspace however many ask at once', async () => {
    const ids = await Promise.all(Array.from({ length: 100 }, () => test.workspaceId('burst')));
    expect(new Set(ids).size).toBe(1);
    expect(faulty.creates()).toBe(1);
    expect(await onPlatform('burst')).toMatchObject([{ workspaceId: ids[0] }]);
  });

  it('makes one workspace for each of many names at once', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `customer-${i}`);
    const ids = await Promise.all([...names, ...names].map((name) => test.workspaceId(name)));
    expect(new Set(ids).size).toBe(names.length);
    expect(faulty.creates()).toBe(names.length);
  });

  it('asks the platform nothing and writes nothing once the name is known', async () => {
    await ask('known');
    const before = faulty.sent.length;
    faulty.rule(unreachable());
    expect((await ask('known')).status).toBe(200);
    expect(faulty.sent.length).toBe(before);
  });

  it('adopts a workspace that the platform has already', async () => {
    const { body } = await test.platform('POST', '/workspaces', {
      name: 'theirs',
      organizationId: test.organizationId,
    });
    expect(await test.workspaceId('theirs')).toBe(body.workspaceId);
    expect(faulty.creates()).toBe(0);
  });

  it('adopts the oldest of several of one name', async () => {
    const made: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { body } = await test.platform('POST', '/workspaces', {
        name: 'triple',
        organizationId: test.organizationId,
      });
      made.push(body.workspaceId);
    }
    expect(await test.workspaceId('triple')).toBe(made[0]);
    expect(faulty.creates()).toBe(0);
  });

  it('finds a name on a platform that ignores the name filter, reading all pages once for many askers', async () => {
    for (let i = 0; i < 130; i++) {
      await test.platform('POST', '/workspaces', { name: `old-${i}`, organizationId: test.organizationId });
    }
    faulty.rule(ignoring('name'));
    await ask('old-1'); // Learns that the filter is ignored.
    const before = faulty.sent.filter(isList).length;
    await Promise.all(Array.from({ length: 20 }, (_, i) => test.workspaceId(`old-${i + 100}`)));
    expect(faulty.creates()).toBe(0);
    // Twenty scans of two pages, if everybody made their own; how many share one depends on when they arrive.
    expect(faulty.sent.filter(isList).length - before).toBeLessThan(30);
  });

  it('answers 502 when the answer to the create is lost, and adopts the workspace on a retry', async () => {
    faulty.rule(first(1, isCreate, lostAnswer));
    const lost = await ask('lost');
    expect([lost.status, lost.headers['x-inlay-error']]).toEqual([502, 'creation_unconfirmed']);
    expect(lost.headers['retry-after']).toBe('2');
    expect((await ask('lost')).status).toBe(200);
    expect(faulty.creates()).toBe(1);
    expect(await onPlatform('lost')).toHaveLength(1);
  });

  it('answers 504 when the create times out', async () => {
    faulty.rule(first(1, isCreate, (match) => lostAnswer(match, true)));
    const answer = await ask('slow');
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([504, 'creation_timed_out']);
  });

  it.each([500, 502, 503, 504, 408])('treats %i on a create as an unknown outcome', async (status) => {
    faulty.rule(first(1, isCreate, (match) => answeringAfterwards(match, status, '<html>oops</html>')));
    expect([502, 504]).toContain((await ask('fivehundred')).status);
    expect((await ask('fivehundred')).status).toBe(200);
    expect(faulty.creates()).toBe(1);
  });

  it('answers 503 at once when the platform cannot be reached, and keeps no claim', async () => {
    const restore = faulty.rule(unreachable());
    const answer = await ask('offline');
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([503, 'platform_unavailable']);
    expect(await test.app.workers.reconciler.backlog()).toMatchObject({ claims: 0 });
    restore();
  });

  it('answers 503 with Retry-After when the platform throttles', async () => {
    faulty.rule(answering(isCreate, 429, '{}', { 'retry-after': '7' }));
    const answer = await ask('throttled');
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([503, 'platform_rate_limited']);
    expect(answer.headers['retry-after']).toBe('7');
    expect(faulty.creates()).toBe(1);
  });

  it('answers 502 when the platform rejects the credentials', async () => {
    faulty.rule(answering(isCreate, 403, '{}'));
    const answer = await ask('forbidden');
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([502, 'platform_credentials_rejected']);
  });

  it('answers 422 at the name when the platform refuses it, and drops the claim', async () => {
    const restore = faulty.rule(answering(isCreate, 422, '{"detail":"secret words of the platform"}'));
    const answer = await ask('refused');
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toMatchObject([{ loc: ['body', 'workspace_name'] }]);
    expect(answer.text).not.toContain('secret words');
    expect(await test.app.workers.reconciler.backlog()).toMatchObject({ claims: 0 });
    restore();
    expect((await ask('refused')).status).toBe(200);
  });

  it('answers 409 while a workspace of that name is being deleted', async () => {
    const id = await test.workspaceId('leaving');
    const restore = faulty.rule(unreachable());
    expect((await test.request('DELETE', `/api/v1/workspaces/${id}`)).status).toBe(503);
    const answer = await ask('leaving');
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([409, 'workspace_being_deleted']);
    expect(answer.headers['retry-after']).toBeDefined();
    restore();
  });

  it('is finished by the reconciler when nobody asks again', async () => {
    faulty.rule(first(1, isCreate, lostAnswer));
    expect((await ask('abandoned')).status).toBe(502);
    expect(await test.app.workers.reconciler.backlog()).toMatchObject({ claims: 1 });
    await test.app.workers.reconciler.pass();
    expect(await test.app.workers.reconciler.backlog()).toMatchObject({ claims: 0 });
    const { body } = await test.request('GET', '/api/v1/workspaces?name_contains=abandoned');
    expect(body.data).toHaveLength(1);
    expect(faulty.creates()).toBe(1);
  });
});

async function startOnVirtualTime(kind: TestDatabaseKind) {
  const runtime = virtualRuntime();
  const faulty = faultyPlatform();
  const test = await startTestApp(kind, {
    env: { INLAY_PLATFORM_SETTLE_SECONDS: '30' },
    overrides: { wrapTransport: faulty.wrapTransport, runtime },
  });
  return { test, faulty, runtime };
}

// On SQLite only, because there the database's clock can be the test's: the window is eight seconds and more.
describe('the settle window [sqlite]', () => {
  const kind = 'sqlite';
  it('lets nobody send a second create before the first can no longer take effect', async () => {
    const { test, faulty, runtime } = await startOnVirtualTime(kind);
    const ask = () => test.request('POST', path, { body: { workspace_name: 'late' } });
    let late: ReturnType<typeof lateApply> | undefined;
    faulty.rule(
      first(1, isCreate, (match) => {
        late = lateApply(match);
        return late.rule;
      }),
    );
    const sentAt = runtime.now();
    expect((await ask()).status).toBe(504);
    const settling = await ask();
    expect([settling.status, settling.headers['x-inlay-error']]).toEqual([503, 'creation_pending']);
    expect(faulty.creates()).toBe(1);
    // The first create takes effect after all, late but within the bound.
    await late?.apply();
    expect((await ask()).status).toBe(200);
    expect(faulty.creates()).toBe(1);
    expect(runtime.now() - sentAt).toBeLessThan(38_000);
    await test.stop();
  });

  it('ends: when nothing took effect, the next request creates', async () => {
    const { test, faulty, runtime } = await startOnVirtualTime(kind);
    faulty.rule(first(1, isCreate, lostRequest));
    const ask = () => test.request('POST', path, { body: { workspace_name: 'never' } });
    expect((await ask()).status).toBe(502);
    runtime.advance(39_000);
    expect((await ask()).status).toBe(200);
    expect(faulty.creates()).toBe(2);
    await test.stop();
  });

  it('ends without a create when nobody asks any more', async () => {
    const { test, faulty, runtime } = await startOnVirtualTime(kind);
    faulty.rule(first(1, isCreate, lostRequest));
    expect((await test.request('POST', path, { body: { workspace_name: 'gone' } })).status).toBe(502);
    await test.app.workers.reconciler.pass();
    expect(await test.app.workers.reconciler.backlog()).toMatchObject({ claims: 1 });
    runtime.advance(39_000);
    await test.app.workers.reconciler.pass();
    expect(await test.app.workers.reconciler.backlog()).toMatchObject({ claims: 0 });
    expect(faulty.creates()).toBe(1);
    await test.stop();
  });
});
