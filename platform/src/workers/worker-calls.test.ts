import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { enrol, startForWorkers, steeredCommands } from '../../test/start-worker.ts';
import { itemsStream, until } from '../../test/steered.ts';
import { attemptHeader, workerProtocol } from '../attempts/worker-terms.ts';
import { noteUnplaceable } from '../jobs/attempts-book.ts';
import { newSecret, workerToken } from './worker-tokens.ts';
import { readDemand } from './workers.ts';

const machine = { protocol: workerProtocol, version: '1.0.0', slots: 2, freeSlots: 2 };
const connectors = Object.keys(steeredCommands).map((name) => `command:${name}`);

type Platform = Awaited<ReturnType<typeof startForWorkers>>;

/** Speaks for a worker, without being one. */
async function joined(platform: Platform, enrolment: object = {}) {
  const { token } = await enrol(platform, enrolment);
  const secret = newSecret();
  const { inject } = platform;
  const post = (path: string, payload: object, headers: Record<string, string> = {}) =>
    inject({ method: 'POST', url: `/platform/v1/workers${path}`, headers, payload });
  const { workerId } = (await post('/join', { token, secret, hostname: 'h' })).body;
  const authorization = `Bearer ${workerToken({ kind: 'worker', workerId, secret })}`;
  const ask = (path: string, payload: object) => post(path, payload, { authorization });
  const claim = async (more: object = {}) => (await ask('/claim', { ...machine, connectors, ...more })).body;
  return { workerId, authorization, ask, claim, post };
}

async function claimed(platform: Platform) {
  const connection = await platform.connect();
  const { jobId } = await connection.sync();
  const worker = await joined(platform);
  const { assignment } = await worker.claim();
  const { attempt, epoch, token } = assignment;
  const headers = { authorization: worker.authorization, [attemptHeader]: token };
  const call = (name: string, payload: object) => worker.post(`/attempt/${name}`, payload, headers);
  return { connection, jobId, worker, assignment, ref: { jobId, attempt, epoch }, call };
}

const state = (id: number) =>
  JSON.stringify({ type: 'STREAM', stream: { stream_descriptor: { name: 'items' }, stream_state: { id } } });

const planned = async (call: Awaited<ReturnType<typeof claimed>>['call']) => {
  const catalog = JSON.stringify({ streams: [itemsStream] });
  return (await call('plan', { hash: 'x', catalog: gzipSync(catalog).toString('base64') })).body;
};

describe('a call of a worker', () => {
  it('needs its own token, and for an attempt that of the attempt', async () => {
    const platform = await startForWorkers();
    const { ref, call, assignment } = await claimed(platform);
    expect((await call('connector', { kind: 'source' })).body).toMatchObject({
      launch: { type: 'command', name: 'Steered source' },
      configuration: { password: 'a-password' },
      secrets: ['a-password'],
    });
    const other = await joined(platform);
    const headers = { authorization: other.authorization, [attemptHeader]: assignment.token };
    const stolen = await other.post('/attempt/connector', { kind: 'source' }, headers);
    expect([stolen.status, stolen.body.data.message]).toEqual([403, 'This attempt belongs to another worker.']);
    const without = await other.ask('/attempt/connector', { kind: 'source' });
    expect(without.status).toBe(403);
    expect((await other.post('/heartbeat', { ...machine, attempts: [ref] })).status).toBe(401);
    expect((await other.ask('/heartbeat', { ...machine, attempts: [ref] })).body.stops).toEqual(['lost']);
    expect((await platform.inject({ method: 'GET', url: '/platform/v1/workers', headers })).status).toBe(401);
  });

  it('changes nothing once the attempt is another one', async () => {
    const platform = await startForWorkers();
    const { call, ref, worker, jobId } = await claimed(platform);
    await planned(call);
    platform.clock.time += 31_000;
    await platform.platform.look();
    expect((await worker.ask('/heartbeat', { ...machine, attempts: [ref] })).body.stops).toEqual(['lost']);
    platform.clock.time += 10_000;
    const again = (await worker.claim()).assignment;
    expect(again).toMatchObject({ jobId, attempt: ref.attempt + 1 });
    expect(again.epoch).toBeGreaterThan(ref.epoch);
    const payloads: Record<string, object> = {
      connector: { kind: 'source' },
      manifest: { kind: 'source' },
      token: {},
      plan: { hash: 'x' },
      clearing: {},
      anew: { lost: [] },
      checkpoint: { number: 1, entries: [{ state: state(1) }] },
      configuration: { kind: 'source', configuration: {} },
      logs: { from: 0, lines: [{ level: 'INFO', origin: 'source', message: 'late' }] },
      finish: { status: 'stopped', stop: 'closing', arrived: { records: 0, bytes: 0 } },
    };
    for (const [name, payload] of Object.entries(payloads)) expect((await call(name, payload)).status, name).toBe(409);
    expect((await platform.call('GET', `/jobs/${jobId}`)).body).toMatchObject({ status: 'running' });
  });

  it('with states counts once, and never after a later one', async () => {
    const platform = await startForWorkers();
    const { call, connection } = await claimed(platform);
    expect((await planned(call)).catalog.streams).toHaveLength(1);
    const send = async (number: number, id: number) =>
      (await call('checkpoint', { number, entries: [{ state: state(id) }] })).status;
    const kept = async () => {
      const { db } = platform.platform.store;
      const row = await db
        .selectFrom('connection_streams')
        .select('state')
        .where('connection_id', '=', connection.connectionId)
        .executeTakeFirstOrThrow();
      return JSON.parse(row.state ?? 'null').stream.stream_state.id;
    };
    expect(await send(1, 1)).toBe(200);
    // The answer was lost: the same states come again under the next number, and the delayed request after them.
    expect(await send(3, 3)).toBe(200);
    expect(await send(2, 2)).toBe(200);
    expect(await kept()).toBe(3);
    const unreadable = await call('checkpoint', { number: 4, entries: [{ state: '[]' }] });
    expect(unreadable.status).toBe(422);
  });

  it('with log lines counts once, and shows no secret', async () => {
    const platform = await startForWorkers();
    const { call, jobId } = await claimed(platform);
    const line = (message: string) => ({ level: 'INFO', origin: 'source', message });
    await call('logs', { from: 0, lines: [line('one'), line('the password is a-password')] });
    await call('logs', { from: 1, lines: [line('the password is a-password'), line('three\0')] });
    const { lines } = (await platform.call('GET', `/jobs/${jobId}/log`)).body;
    expect(lines.map(({ message }: { message: string }) => message)).toEqual([
      'one',
      'the password is **********',
      'three\ufffd',
    ]);
    expect((await call('logs', { from: 0, lines: [{ ...line('x'), level: 'LOUD' }] })).status).toBe(400);
  });

  it('with an outcome is bounded, and shows no secret', async () => {
    const platform = await startForWorkers();
    const { call, jobId } = await claimed(platform);
    await planned(call);
    const failure = { message: 'a-password was refused', origin: 'source', type: 'config_error' };
    const outcome = { status: 'failed', records: 3, bytes: 9, streams: [], moreStreams: 0, changedValues: {}, failure };
    const report = { status: 'ended', tokenEnded: false };
    for (const wrong of [{ records: -1 }, { records: 1.5 }, { changedValues: { nulled: -1 } }, { status: 'fine' }]) {
      expect((await call('finish', { ...report, outcome: { ...outcome, ...wrong } })).status).toBe(400);
    }
    expect((await call('finish', { ...report, outcome })).status).toBe(200);
    const job = (await platform.call('GET', `/jobs/${jobId}`)).body;
    expect(job).toMatchObject({ status: 'failed', failureReason: { message: '********** was refused' } });
  });

  it('with a catalog is checked like the answer of a source', async () => {
    const platform = await startForWorkers();
    const { call } = await claimed(platform);
    expect((await call('plan', { hash: 'x' })).body).toEqual({ needsCatalog: true });
    const bomb = gzipSync(Buffer.alloc(20_000_000, ' ')).toString('base64');
    expect((await call('plan', { hash: 'x', catalog: bomb })).status).toBe(422);
    const odd = gzipSync(JSON.stringify({ streams: [{ name: 1 }] })).toString('base64');
    expect((await call('plan', { hash: 'x', catalog: odd })).body).toMatchObject({ failure: { type: 'system_error' } });
  });

  it('of another version is told what to do', async () => {
    const platform = await startForWorkers();
    const { ask } = await joined(platform);
    const newer = await ask('/claim', { ...machine, protocol: workerProtocol + 1, connectors: [] });
    expect([newer.status, newer.body.data.message]).toEqual([
      422,
      'This worker (version 1.0.0) is newer than the platform. Upgrade the platform first.',
    ]);
  });
});

describe('placement', () => {
  const whyOf = async (platform: Platform, jobId: number) => {
    await noteUnplaceable(platform.platform.jobs);
    return (await platform.call('GET', `/jobs/${jobId}`)).body.failureReason?.message;
  };

  it('follows the labels of a workspace, and a job that fits nowhere says so', async () => {
    const platform = await startForWorkers({ maxConcurrentSyncs: 2 });
    const connection = await platform.connect();
    const path = `/workspaces/${connection.workspaceId}/placement`;
    expect((await platform.call('GET', path)).body).toEqual({ labels: null });
    await platform.call('PUT', path, { labels: { region: 'eu' } });
    const { jobId } = await connection.sync();
    expect(await whyOf(platform, jobId)).toBe('No worker with the labels region=eu is connected.');
    platform.clock.time += 7_000;
    expect(await readDemand(platform.platform.workers)).toEqual({
      oldestPendingMs: 7_000,
      pending: [{ labels: 'region=eu', jobs: 1 }],
      free: [],
    });
    const us = await joined(platform, { labels: { region: 'us' } });
    const noJob = us.claim();
    const eu = await joined(platform, { labels: { region: 'eu', disk: 'ssd' } });
    expect((await eu.claim()).assignment).toMatchObject({ jobId });
    expect(await readDemand(platform.platform.workers)).toEqual({
      oldestPendingMs: 0,
      pending: [],
      free: expect.arrayContaining([
        { labels: 'region=us', slots: 2 },
        { labels: 'disk=ssd,region=eu', slots: 2 },
      ]),
    });
    platform.platform.endQuestions();
    expect(await noJob).toEqual({ isDraining: false });
  });

  it('gives a worker in a customer network only what is the customer’s own', async () => {
    const platform = await startForWorkers();
    const connection = await platform.connect();
    const { workspaceId, sourceId, destinationId } = connection;
    const { jobId } = await connection.sync();
    const worker = await joined(platform, { name: 'at acme', workspaceIds: [workspaceId] });
    const claiming = worker.claim();
    const reason = 'The source has credentials of the operator, and worker at acme is not trusted with them.';
    await until(async () => (await whyOf(platform, jobId)) === reason);
    await platform.call('PATCH', `/sources/${sourceId}`, { customersOwn: true });
    await platform.call('PATCH', `/destinations/${destinationId}`, { customersOwn: true });
    const { assignment } = await claiming;
    expect(assignment).toMatchObject({ jobId });
    // What changes after the claim counts as well: its secrets would leave now.
    await platform.call('PATCH', `/sources/${sourceId}`, { customersOwn: false });
    const headers = { authorization: worker.authorization, [attemptHeader]: assignment.token };
    const refused = await worker.post('/attempt/connector', { kind: 'source' }, headers);
    expect(refused.body).toMatchObject({ failure: { message: expect.stringMatching(/not trusted/) } });
  });
});
