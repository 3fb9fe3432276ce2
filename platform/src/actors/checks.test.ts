import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type SteeredPlatform, startSteered, until } from '../../test/steered.ts';
import type { CheckOutcome } from '../runner/runner.ts';
import { createCheckQueue } from './check-queue.ts';

async function start() {
  const steered = await startSteered();
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
  test('answers at once and tells its outcome later', async () => {
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

  test('is refused for a configuration that breaks the specification, and for unknown things', async () => {
    const { post, call } = await start();
    expect(await post({ configuration: {} })).toMatchObject({ status: 422, body: { title: 'unprocessable-entity' } });
    expect((await post({ definitionId: undefined })).status).toBe(422);
    expect((await post({ definitionId: randomUUID() })).status).toBe(404);
    expect((await post({ workspaceId: randomUUID() })).status).toBe(404);
    expect((await post({ workspaceId: undefined })).status).toBe(400);
    expect((await call('GET', `/sources/check_connection/${randomUUID()}`)).status).toBe(404);
  });

  test('is forgotten after an hour', async () => {
    const { post, clock, call } = await start();
    const { checkId } = (await post()).body;
    await outcome({ call }, checkId);
    clock.time += 3_600_000;
    expect((await call('GET', `/sources/check_connection/${checkId}`)).status).toBe(404);
  });

  test('waits for its turn when many are asked for, and is stopped when all are', async () => {
    let ids = 0;
    const checks = createCheckQueue({
      runtime: { now: () => 0, newId: () => String(ids++) },
      log: { error: () => {} },
    });
    const gates: (() => void)[] = [];
    const run = (signal: AbortSignal) =>
      new Promise<CheckOutcome>((resolve) => {
        gates.push(() => resolve({ status: 'succeeded' }));
        signal.addEventListener('abort', () => resolve({ status: 'failed', message: 'stopped' }));
      });
    for (let started = 0; started < 6; started++) checks.start('me', run);
    const statuses = () => Array.from({ length: 6 }, (_, id) => checks.get('me', String(id)).status);
    expect(statuses()).toEqual(['running', 'running', 'running', 'running', 'pending', 'pending']);
    gates[1]?.();
    await until(() => gates.length === 5);
    expect(statuses()).toEqual(['running', 'succeeded', 'running', 'running', 'running', 'pending']);
    await checks.close();
    expect(statuses()).toEqual(['failed', 'succeeded', 'failed', 'failed', 'failed', 'pending']);
  });
});
