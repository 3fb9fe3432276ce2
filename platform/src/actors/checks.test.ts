import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FairQueue, QueueFull } from '@inlay/schedule/fair-queue';
import { describe, expect, test } from 'vitest';
import { credentials, type StartOptions } from '../../test/start-platform.ts';
import { type SteeredPlatform, startSteered, until } from '../../test/steered.ts';
import type { CheckOutcome } from '../runner/runner.ts';
import { createCheckQueue } from './check-queue.ts';

async function start(options: StartOptions = {}) {
  const steered = await startSteered(options);
  const { call, file, sourceDefinitionId: definitionId } = steered;
  const { workspaceId } = (await call('POST', '/workspaces', { name: 'w' })).body;
  const folder = join(dirname(file), 'checked');
  mkdirSync(folder);
  const post = (more: object = {}, path = '/sources/check_connection') =>
    call('POST', path, { workspaceId, definitionId, configuration: { folder, password: 'the-password' }, ...more });
  return { ...steered, workspaceId, folder, post };
}

async function outcome({ call }: Pick<SteeredPlatform, 'call'>, checkId: string, path = '/sources/check_connection') {
  let reply = await call('GET', `${path}/${checkId}`);
  await until(async () => {
    reply = await call('GET', `${path}/${checkId}`);
    return !['pending', 'running'].includes(reply.body.status);
  });
  return reply;
}

describe('a check', () => {
  test('answers at once and reports its outcome later', async () => {
    const { folder, post, ...steered } = await start();
    writeFileSync(join(folder, 'catalog.json'), '{}');
    const started = await post();
    expect(started).toEqual({ status: 200, body: { checkId: expect.any(String), status: 'running' } });
    const { checkId } = started.body;
    expect(await outcome(steered, checkId)).toEqual({ status: 200, body: { checkId, status: 'succeeded' } });
  });

  test('that fails says what is wrong, without secrets', async () => {
    const { post, ...steered } = await start();
    const { checkId } = (await post()).body;
    const message = 'The folder has no catalog. Is ********** right?';
    expect((await outcome(steered, checkId)).body).toEqual({ checkId, status: 'failed', message });
  });

  test('of a stored source takes its stored secrets for masked ones', async () => {
    const { post, connect, call } = await start();
    const { sourceId, workspaceId } = await connect();
    const { configuration } = (await call('GET', `/sources/${sourceId}`)).body;
    const started = await post({ sourceId, workspaceId, definitionId: undefined, configuration });
    expect((await outcome({ call }, started.body.checkId)).body.status).toBe('succeeded');
    expect((await post({ sourceId, configuration })).status, 'of another workspace').toBe(400);
    expect((await post({ sourceId: randomUUID(), workspaceId, configuration })).status).toBe(404);
  });

  test('of a destination works alike, and is not found among those of sources', async () => {
    const { post, call, destinationDefinitionId: definitionId } = await start();
    const path = '/destinations/check_connection';
    const { checkId } = (await post({ definitionId, configuration: { file: '/tmp/x' } }, path)).body;
    expect((await outcome({ call }, checkId, path)).body.status).toBe('succeeded');
    expect((await call('GET', `/sources/check_connection/${checkId}`)).status).toBe(404);
  });

  test('of a destination needs no workspace, leaves no folder, and waits in the turn of its organization', async () => {
    const { call, file } = await startSteered({ maxConcurrentChecksPerWorkspace: 1, maxWaitingPerWorkspace: 0 });
    const path = '/destinations/check_connection';
    const check = (organizationId: string) =>
      call('POST', path, { organizationId, configuration: { destinationType: 'local-files', path: 'a/b' } });
    const organization = randomUUID();
    const first = await check(organization);
    expect(first).toMatchObject({ status: 200, body: { status: 'running' } });
    expect((await check(organization)).status).toBe(429);
    const other = await check(randomUUID());
    for (const { body } of [first, other]) {
      expect((await outcome({ call }, body.checkId, path)).body.status).toBe('succeeded');
    }
    await until(
      () => !existsSync(join(dirname(file), 'files')) || readdirSync(join(dirname(file), 'files')).length === 0,
    );
  });

  test('that fails names the settings at fault where the connector does', async () => {
    const { call } = await startSteered();
    const path = '/destinations/check_connection';
    const settings = { host: '127.0.0.1', port: 1, database: 'd', username: 'u', ssl_mode: { mode: 'disable' } };
    const reply = await call('POST', path, { configuration: { ...settings, destinationType: 'postgres' } });
    expect((await outcome({ call }, reply.body.checkId, path)).body).toMatchObject({
      status: 'failed',
      fields: ['host', 'port'],
    });
  });

  test('is refused for a configuration that breaks the specification, and for unknown things', async () => {
    const { post, call } = await start();
    expect(await post({ configuration: {} })).toMatchObject({ status: 422, body: { title: 'unprocessable-entity' } });
    expect((await post({ definitionId: undefined })).status).toBe(422);
    expect((await post({ definitionId: randomUUID() })).status).toBe(404);
    expect((await post({ workspaceId: randomUUID() })).status).toBe(404);
    expect((await post({ organizationId: 'no id' })).status).toBe(400);
    expect((await call('GET', `/sources/check_connection/${randomUUID()}`)).status).toBe(404);
  });

  test('is forgotten after an hour', async () => {
    const { post, clock, call } = await start();
    const { checkId } = (await post()).body;
    await outcome({ call }, checkId);
    clock.time += 3_600_000;
    expect((await call('GET', `/sources/check_connection/${checkId}`)).status).toBe(404);
  });

  /** A queue of checks that end when the test says so. */
  const interrupted = 'The check was interrupted. Try again.';

  function steeredChecks() {
    let ids = 0;
    const checks = createCheckQueue({
      turns: new FairQueue({ total: 4, perTenant: 2, maxWaiting: 50, elapsed: () => 0 }),
      runtime: { now: () => 0, newId: () => String(ids++) },
      log: { error: () => {} },
    });
    const gates: (() => void)[] = [];
    const start = (workspaceId: string) =>
      checks.start(
        'source',
        workspaceId,
        (signal) =>
          new Promise<CheckOutcome>((resolve) => {
            gates.push(() => resolve({ status: 'succeeded' }));
            signal.addEventListener('abort', () => resolve({ status: 'failed', message: 'stopped' }));
          }),
      );
    const statusOf = ({ checkId }: { checkId: string }) => checks.get('source', checkId).status;
    return { checks, gates, start, statusOf };
  }

  test('waits for its turn when its workspace asks for many, and is stopped when all are', async () => {
    const { checks, gates, start, statusOf } = steeredChecks();
    const all = ['a', 'a', 'a', 'b', 'b', 'b'].map(start);
    const statuses = () => all.map(statusOf);
    expect(statuses()).toEqual(['running', 'running', 'pending', 'running', 'pending', 'pending']);
    gates[0]?.();
    await until(() => gates.length === 4);
    expect(statuses()).toEqual(['succeeded', 'running', 'running', 'running', 'pending', 'pending']);
    await checks.close();
    expect(statuses()).toEqual(['succeeded', 'failed', 'failed', 'failed', 'failed', 'failed']);
    const late = start('c');
    expect(checks.get('source', late.checkId)).toMatchObject({ status: 'failed', message: interrupted });
  });

  test('of one workspace starts at once while the queue of another is full and a thousand more are refused', async () => {
    const { start, statusOf } = steeredChecks();
    const flood = Array.from({ length: 52 }, () => start('a'));
    for (let refused = 0; refused < 1_000; refused++) expect(() => start('a')).toThrow(QueueFull);
    expect(statusOf(start('b'))).toBe('running');
    expect(flood.map(statusOf).filter((status) => status === 'running')).toHaveLength(2);
  });

  test('is refused with 429 and Retry-After when too many of its workspace wait', async () => {
    const {
      folder,
      workspaceId,
      app,
      platform,
      sourceDefinitionId: definitionId,
    } = await start({
      maxConcurrentChecksPerWorkspace: 1,
      maxWaitingPerWorkspace: 0,
    });
    writeFileSync(join(folder, 'catalog.json'), '{}');
    const { token } = await platform.tokens.issue(credentials.clientId, credentials.clientSecret);
    const check = () =>
      app.inject({
        method: 'POST',
        url: '/platform/v1/sources/check_connection',
        headers: { authorization: `Bearer ${token}` },
        payload: { workspaceId, definitionId, configuration: { folder } },
      });
    expect((await check()).statusCode).toBe(200);
    const refused = await check();
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBe('10');
    expect(refused.json()).toMatchObject({ title: 'queue-full', data: null });
  });
});

describe('questions for the streams of sources', () => {
  test('wait for the turn of their workspace, with the same limits', async () => {
    const steered = await startSteered({ maxConcurrentChecksPerWorkspace: 1, maxWaitingPerWorkspace: 1 });
    const { workspaceId, ...first } = await steered.connect();
    const [second, third] = [await steered.connect({ workspaceId }), await steered.connect({ workspaceId })];
    const other = await steered.connect();
    // No response is sent before the other workspace's, so the first request holds its slot.
    const open: (() => void)[] = [];
    const { runner } = steered.platform.actors;
    steered.platform.actors.runner = {
      ...runner,
      async discover(source, options) {
        await new Promise<void>((resolve) => open.push(resolve));
        return await runner.discover(source, options);
      },
    };
    const ask = ({ sourceId }: { sourceId: string }) =>
      steered.call('GET', `/streams?sourceId=${sourceId}&ignoreCache=true`);
    const asked = [ask(first), ask(second)];
    await until(() => open.length === 1);
    expect((await ask(third)).status).toBe(429);
    const elsewhere = ask(other);
    await until(() => open.length === 2);
    open[1]?.();
    expect((await elsewhere).status).toBe(200);
    open[0]?.();
    await until(() => open.length === 3);
    open[2]?.();
    for (const reply of await Promise.all(asked)) expect(reply.status).toBe(200);
  });
});
