/** One workspace that asks for too much waits, and is refused in the end; the others notice nothing. */
import { afterEach, beforeEach, expect } from 'vitest';
import { type Answer, startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import { type FaultyPlatform, faultyPlatform } from '../../../test/support/faults.ts';
import {
  type Customer,
  customer,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
} from '../../../test/support/pipelines.ts';
import type { PlatformRequest } from '../../kernel/platform/transport.ts';

/** Holds every matching request until it is released, like a platform whose connector never answers. */
function hold(faulty: FaultyPlatform, match: (request: PlatformRequest) => boolean) {
  const held: (() => void)[] = [];
  let isOpen = false;
  faulty.rule(async (request) => {
    if (!isOpen && match(request)) await new Promise<void>((resolve) => held.push(resolve));
    return undefined;
  });
  return {
    held,
    letGo() {
      isOpen = true;
      for (const go of held.splice(0)) go();
    },
  };
}

describeInTurns('A workspace that asks for too much', (kind, it) => {
  let test: TestApp;
  let faulty: FaultyPlatform;
  let greedy: Customer;
  let modest: Customer;
  let sample: string;
  beforeEach(async () => {
    faulty = faultyPlatform();
    test = await startTestApp(kind, {
      env: { INLAY_MAX_WAITING_PER_WORKSPACE: '3' },
      overrides: { wrapTransport: faulty.wrapTransport },
    });
    sample = await makeSourceTemplate(test);
    greedy = await customer(test, 'greedy');
    modest = await customer(test, 'modest');
  });
  afterEach(() => test.stop());

  const expectRefused = (answer: Answer, retryAfter: number) => {
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([429, 'queue_full']);
    expect(Number(answer.headers['retry-after'])).toBe(retryAfter);
  };

  it('has two checks run, three wait and the others refused with Retry-After, on both APIs', async () => {
    const slow = hold(
      faulty,
      ({ method, path, body }) =>
        method === 'POST' && path === '/sources/check_connection' && String(body).includes(greedy.workspaceId),
    );
    const body = { source_template_id: sample, source_config: { count: 1 } };
    const started = [];
    for (let check = 0; check < 5; check++) started.push(await greedy.request('POST', '/sources/check', body));
    expect(started.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await expect.poll(() => slow.held.length).toBe(2);

    for (let refused = 0; refused < 5; refused++) {
      expectRefused(await greedy.request('POST', '/sources/check', body), 10);
    }
    const asOperator = `/api/v1/integrations/sources/check?workspace_id=${greedy.workspaceId}`;
    expectRefused(await test.request('POST', asOperator, { body }), 10);

    // Someone else's check is not held up.
    expect(await modest.check(sample, { count: 1 })).toMatchObject({ status: 'succeeded' });
    expect(slow.held).toHaveLength(2);
    slow.letGo();
    for (const { body: check } of started) {
      const status = async () => (await greedy.request('GET', `/sources/check/${check.id}/status`)).body.status;
      await expect.poll(status).toBe('succeeded');
    }
    expect((await greedy.request('POST', '/sources/check', body)).status).toBe(200);
  });

  it('leaves no trace of a check that was refused', async () => {
    const slow = hold(faulty, ({ path }) => path === '/sources/check_connection');
    const body = { source_template_id: sample, source_config: { count: 1 } };
    for (let check = 0; check < 9; check++) await greedy.request('POST', '/sources/check', body);
    expect(await test.app.store.db.selectFrom('source_checks').select('id').execute()).toHaveLength(5);
    slow.letGo();
  });

  it('has its sources set up one after the other, while those of another workspace are set up at once', async () => {
    await makeConnectionTemplate(test);
    const theirs = new Set<string>();
    const slow = hold(
      faulty,
      ({ path }) =>
        path.startsWith('/streams?') && theirs.has(new URLSearchParams(path.slice(9)).get('sourceId') ?? ''),
    );
    // Each is known to the platform before its streams are listed.
    faulty.rule(async (request, forward) => {
      if (request.method !== 'POST' || request.path !== '/sources') return undefined;
      const answer = await forward();
      if (String(request.body).includes(greedy.workspaceId)) theirs.add(JSON.parse(answer.text).sourceId);
      return answer;
    });
    for (let source = 0; source < 12; source++) await greedy.connect(sample, { name: `Shop ${source}` });
    await expect.poll(() => slow.held.length).toBe(2);
    const own = await modest.connect(sample);
    const ready = async () => (await modest.request('GET', `/sources/${own}`)).body.status;
    await expect.poll(ready).toBe('ready');
    expect(slow.held).toHaveLength(2);
    slow.letGo();
    const connections = async () => {
      await test.app.workers.setUps.pass();
      return (await onPlatform(test, greedy.workspaceId)).connections.length;
    };
    await expect.poll(connections).toBe(12);
  });

  it('is refused more syncs than may wait, with Retry-After, and another workspace is not', async () => {
    await makeConnectionTemplate(test);
    // Nothing is started in this test, so that every sync waits.
    const sync = async (owner: Customer, source: string) => {
      await owner.settled(source);
      const { data } = (await owner.request('GET', '/connections')).body;
      const { id } = data.find((one: { source_id: string }) => one.source_id === source);
      return await owner.request('POST', `/connections/${id}/sync`);
    };
    for (let waiting = 0; waiting < 3; waiting++) {
      expect((await sync(greedy, await greedy.connect(sample))).body.status).toBe('pending');
    }
    expectRefused(await sync(greedy, await greedy.connect(sample)), 60);
    expect((await sync(modest, await modest.connect(sample))).body.status).toBe('pending');
  });
});
