import { describe, expect, it } from 'vitest';
import { type RunningPlatform, startPlatform } from '../../test/start-platform.ts';
import { newSecret, workerToken } from './worker-tokens.ts';
import { authenticateWorker } from './workers.ts';

const hour = 3_600_000;

const join = ({ inject }: RunningPlatform, token: string, secret: string, hostname = 'host-1') =>
  inject({ method: 'POST', url: '/platform/v1/workers/join', payload: { token, secret, hostname } });

const tokenOf = (workerId: string, secret: string) => workerToken({ kind: 'worker', workerId, secret });

describe('an enrolment', () => {
  it('shows a one-time token once, and the worker as waiting', async () => {
    const { call } = await startPlatform();
    const { status, body } = await call('POST', '/workers', { name: 'eu-1', labels: { region: 'eu' } });
    expect(status).toBe(200);
    expect(body).toEqual({
      worker: {
        workerId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'eu-1',
        labels: { region: 'eu' },
        workspaceIds: null,
        trusted: false,
        allowPrivateNetworks: false,
        reusable: false,
        enrolmentId: null,
        version: null,
        slots: 0,
        freeSlots: 0,
        connectors: [],
        state: 'waiting',
        createdAt: '2030-01-01T00:00:00Z',
        lastSeenAt: null,
        running: [],
      },
      token: expect.stringMatching(/^inlay_enrolment_[0-9a-f-]{36}\.[A-Za-z0-9_-]{43}$/),
      expiresAt: '2030-01-01T01:00:00Z',
    });
    const list = (await call('GET', '/workers')).body;
    expect(list).toEqual({ data: [body.worker] });
    expect(JSON.stringify(list)).not.toContain(body.token.split('.')[1]);
  });

  it('is refused with labels that are no words', async () => {
    const { call } = await startPlatform();
    expect((await call('POST', '/workers', { labels: { 'a b': 'c' } })).status).toBe(400);
    expect((await call('POST', '/workers', { labels: { a: '' } })).status).toBe(400);
  });
});

describe('a machine', () => {
  it('joins once with a one-time token, and may repeat itself', async () => {
    const platform = await startPlatform();
    const { worker, token } = (await platform.call('POST', '/workers', {})).body;
    const secret = newSecret();
    expect((await join(platform, token, secret)).body).toEqual({ workerId: worker.workerId });
    expect((await join(platform, token, secret)).body).toEqual({ workerId: worker.workerId });
    const other = await join(platform, token, newSecret());
    expect([other.status, other.body.data.message]).toEqual([
      403,
      'Another machine has used this one-time token. Enrol each worker: inlay workers enrol',
    ]);
    const { workers } = platform.platform;
    await expect(authenticateWorker(workers, tokenOf(worker.workerId, secret))).resolves.toMatchObject({
      worker_id: worker.workerId,
    });
    for (const wrong of [tokenOf(worker.workerId, newSecret()), token, '']) {
      await expect(authenticateWorker(workers, wrong)).rejects.toMatchObject({ title: 'invalid-api-key' });
    }
  });

  it('joins within an hour', async () => {
    const platform = await startPlatform();
    const { token } = (await platform.call('POST', '/workers', {})).body;
    platform.clock.time += hour;
    const late = await join(platform, token, newSecret());
    expect([late.status, late.body.data.message]).toEqual([
      403,
      'This one-time token has expired. Enrol the worker again: inlay workers enrol',
    ]);
  });

  it('is one of many with a reusable token, and goes with it', async () => {
    const platform = await startPlatform();
    const { call, clock } = platform;
    const request = { name: 'pool', labels: { region: 'eu' }, reusable: true, allowPrivateNetworks: true };
    const { worker, token, expiresAt } = (await call('POST', '/workers', request)).body;
    expect(expiresAt).toBeNull();
    clock.time += 2 * hour;
    const [one, other] = [newSecret(), newSecret()];
    const first = (await join(platform, token, one, 'pod-1')).body.workerId;
    expect((await join(platform, token, one, 'pod-1')).body.workerId).toBe(first);
    const second = (await join(platform, token, other, 'pod-2')).body.workerId;
    const { data } = (await call('GET', '/workers')).body;
    expect(data).toHaveLength(3);
    expect(data).toContainEqual(
      expect.objectContaining({
        ...{ workerId: second, name: 'pool pod-2', labels: { region: 'eu' }, allowPrivateNetworks: true },
        ...{ reusable: false, enrolmentId: worker.workerId },
      }),
    );
    expect((await call('DELETE', `/workers/${worker.workerId}`)).status).toBe(204);
    expect((await join(platform, token, one)).status).toBe(403);
    await expect(authenticateWorker(platform.platform.workers, tokenOf(first, one))).rejects.toMatchObject({
      title: 'forbidden',
    });
  });

  it('has to wait after many wrong tokens', async () => {
    const platform = await startPlatform();
    const { token } = (await platform.call('POST', '/workers', {})).body;
    const wrong = `${token.slice(0, -4)}AAAA`;
    for (let time = 0; time < 10; time++) expect((await join(platform, wrong, newSecret())).status).toBe(401);
    expect((await join(platform, token, newSecret())).status).toBe(429);
  });
});

it('drains, resumes and revokes a worker, and forgets it after a day', async () => {
  const { call, clock } = await startPlatform();
  const { workerId } = (await call('POST', '/workers', {})).body.worker;
  expect((await call('POST', `/workers/${workerId}/drain`, {})).body).toMatchObject({ workerId, state: 'waiting' });
  expect((await call('POST', `/workers/${workerId}/drain`, { drain: false })).status).toBe(200);
  expect((await call('DELETE', `/workers/${workerId.toUpperCase()}`)).status).toBe(204);
  expect((await call('GET', '/workers')).body.data).toMatchObject([{ workerId, state: 'revoked' }]);
  for (const gone of [
    await call('DELETE', `/workers/${workerId}`),
    await call('POST', `/workers/${workerId}/drain`, {}),
  ])
    expect([gone.status, gone.body.data]).toEqual([404, { resourceType: 'worker', resourceId: workerId }]);
  clock.time += 25 * hour;
  await call('POST', '/workers', {});
  expect(
    (await call('GET', '/workers')).body.data.map((worker: { workerId: string }) => worker.workerId),
  ).not.toContain(workerId);
});
