/** What receivers get: every event, signed, at least once, whatever they answer. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { describeInTurns } from '../../../test/support/databases.ts';
import { openTestStore } from '../../../test/support/test-store.ts';
import { nameOf, startReceiver, verified, webhookService } from '../../../test/support/webhooks.ts';
import { createHousekeeping } from '../../edge/housekeeping.worker.ts';
import type { Store } from '../../kernel/db/open.ts';
import { type Runtime, systemRuntime } from '../../kernel/runtime.ts';
import { listDeliveries, recover, redeliver, sendTest } from './deliveries.ts';
import { disabledAfterMs, toldAfterMs } from './endpoint-run.worker.ts';
import { createEndpoint, deleteEndpoint, getEndpoint, rotateSecret, updateEndpoint } from './endpoints.ts';

/** Lets time pass for what is stored: what is due later is due so much sooner. */
async function letTimePass({ db }: Store, ms: number): Promise<void> {
  await sql`update webhook_deliveries set next_at = next_at - ${sql.lit(ms)}`.execute(db);
  await sql`update webhook_endpoints set not_before = not_before - ${sql.lit(ms)}, failing_since = failing_since - ${sql.lit(ms)}`.execute(
    db,
  );
}

async function typesInLog({ db }: Store): Promise<string[]> {
  const entries = await db.selectFrom('log_pending').select('type').orderBy('number').execute();
  const placed = await db.selectFrom('log_entries').select('type').orderBy('trail_position').execute();
  return [...placed, ...entries].map(({ type }) => type).filter((type) => type.startsWith('webhook_endpoint.'));
}

describeInTurns('Webhooks', (kind, it) => {
  it('bring what happens after the endpoint was made, signed by every key that is in use', async () => {
    const store = await openTestStore(kind);
    const { ctx, owner, deliveries, happen } = await webhookService(store);
    const receiver = await startReceiver();
    await happen('before');
    const headers = { authorization: 'Bearer of-the-receiver' };
    const made = await createEndpoint(ctx, owner, { url: receiver.url, types: ['tag.*'], signing: 'both', headers });
    expect(made).toMatchObject({ headers: { authorization: '**********' }, secret: expect.stringMatching(/^whsec_/) });
    const [, { public_key: oldPublicKey = null } = {}] = made.keys;
    await happen('first', 'second');
    await deliveries.pass();
    expect(receiver.received.map(nameOf).sort()).toEqual(['first', 'second']);
    for (const webhook of receiver.received) {
      expect(webhook.headers).toMatchObject({ 'content-type': 'application/json', ...headers });
      expect(verified(webhook, made.secret ?? '').type).toBe('tag.created');
      expect(verified(webhook, oldPublicKey ?? '').type).toBe('tag.created');
    }

    const rotated = await rotateSecret(ctx, owner, made.id, { overlap_seconds: 60 });
    expect(rotated.keys.map(({ expires_at }) => expires_at === null)).toEqual([true, true, false, false]);
    await happen('third');
    await deliveries.pass();
    const third = receiver.received.at(-1);
    for (const key of [made.secret, rotated.secret, oldPublicKey, rotated.keys[1]?.public_key]) {
      expect(third && verified(third, key ?? '')).toBeTruthy();
    }
    await rotateSecret(ctx, owner, made.id, { overlap_seconds: 0 });
    await happen('fourth');
    await deliveries.pass();
    const fourth = receiver.received.at(-1);
    expect(() => fourth && verified(fourth, made.secret ?? '')).toThrow('No signature');
    expect(() => fourth && verified(fourth, rotated.secret ?? '')).toThrow('No signature');

    const { data } = await listDeliveries(ctx, owner, made.id, { limit: 2 });
    expect(data.map(({ status, attempts, attempt_list: list }) => [status, attempts, list[0]?.status_code])).toEqual([
      ['delivered', 1, 204],
      ['delivered', 1, 204],
    ]);
    await deleteEndpoint(ctx, owner, made.id);
    await happen('after');
    await deliveries.pass();
    expect(receiver.received).toHaveLength(4);
    expect(await typesInLog(store)).toEqual(
      ['created', 'updated', 'updated', 'deleted'].map((what) => `webhook_endpoint.${what}`),
    );
  });

  it('are tried again by the schedule under their old id, and given up after three days', async () => {
    const store = await openTestStore(kind);
    const { ctx, owner, deliveries, happen } = await webhookService(store);
    const receiver = await startReceiver();
    const secret = 'Bearer of-the-receiver';
    receiver.answer = (_, response) => response.writeHead(500).end(`no: ${secret}${'x'.repeat(3_000)}`);
    const { id } = await createEndpoint(ctx, owner, {
      url: receiver.url,
      types: ['tag.*'],
      headers: { authorization: secret },
    });
    await happen('one');
    const before = await store.now();
    await deliveries.pass();
    const after = await store.now();
    const only = async () => (await listDeliveries(ctx, owner, id, {})).data[0];
    const first = await only();
    expect(first).toMatchObject({ status: 'pending', attempts: 1 });
    const nextAt = Date.parse(first?.next_attempt_at ?? '');
    expect(nextAt).toBeGreaterThanOrEqual(before + 5_000);
    expect(nextAt).toBeLessThan(after + 7_000);
    const [attempt] = first?.attempt_list ?? [];
    expect(attempt).toMatchObject({ status_code: 500, error: 'The receiver responded with 500.' });
    expect(attempt?.response).toHaveLength(1_024);
    expect(attempt?.response).toMatch(/^no: \*{10}xxx/);
    await deliveries.pass();
    expect(receiver.received).toHaveLength(1);
    for (let tries = 2; tries <= 10; tries++) {
      await letTimePass(store, 27 * 3_600_000);
      // So many failures in a row would disable the endpoint.
      await store.db.updateTable('webhook_endpoints').set({ failing_since: null }).execute();
      await deliveries.pass();
      expect(receiver.received).toHaveLength(tries);
    }
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(await only()).toMatchObject({ status: 'failed', attempts: 10, next_attempt_at: null });
    await letTimePass(store, 27 * 3_600_000);
    await deliveries.pass();
    expect(receiver.received).toHaveLength(10);

    receiver.answer = (_, response) => response.writeHead(200).end('thanks');
    await letTimePass(store, 27 * 3_600_000);
    expect(await recover(ctx, owner, id, { since: '2020-01-01T00:00:00Z', dry_run: true })).toEqual({
      count: 1,
      queued: 0,
    });
    expect(await recover(ctx, owner, id, { since: '2020-01-01T00:00:00Z' })).toEqual({ count: 1, queued: 1 });
    await deliveries.pass();
    expect(await only()).toMatchObject({ status: 'delivered', attempts: 1 });
    expect((await only())?.attempt_list).toHaveLength(11);
    expect(await recover(ctx, owner, id, { since: '2020-01-01T00:00:00Z' })).toEqual({ count: 0, queued: 0 });
    const eventId = receiver.ids()[0] ?? '';
    const again = await redeliver(ctx, owner, eventId);
    expect(again.webhook_endpoint_ids).toEqual([id]);
    await deliveries.pass();
    expect(receiver.received).toHaveLength(12);
    expect(receiver.ids()).toHaveLength(1);

    // What is too old to be reported as an event is not sent once more either.
    await store.db.updateTable('log_heads').set({ events_after: sql<number>`position` }).execute();
    await expect(redeliver(ctx, owner, eventId)).rejects.toMatchObject({ code: 'event_not_found' });
    const everything = { since: '2020-01-01T00:00:00Z', only_failed: false };
    expect(await recover(ctx, owner, id, everything)).toEqual({ count: 0, queued: 0 });
  });

  it('wait as long as the receiver asks, and all of them', async () => {
    const store = await openTestStore(kind);
    const { ctx, owner, deliveries, happen } = await webhookService(store);
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(429, { 'retry-after': '120' }).end();
    const { id } = await createEndpoint(ctx, owner, { url: receiver.url, types: ['tag.*'], ordered: true });
    await happen('one', 'two');
    const before = await store.now();
    await deliveries.pass();
    const after = await store.now();
    expect(receiver.received.map(nameOf)).toEqual(['one']);
    const [delivery] = (await listDeliveries(ctx, owner, id, {})).data;
    const nextAt = Date.parse(delivery?.next_attempt_at ?? '');
    expect(nextAt).toBeGreaterThanOrEqual(before + 120_000);
    expect(nextAt).toBeLessThanOrEqual(after + 120_000);
    receiver.answer = (_, response) => response.writeHead(204).end();
    await letTimePass(store, 60_000);
    await deliveries.pass();
    expect(receiver.received).toHaveLength(1);
    await letTimePass(store, 60_000);
    await deliveries.pass();
    expect(receiver.received.map(nameOf)).toEqual(['one', 'one', 'two']);
  });

  it('keep their order where that is requested, whatever fails', async () => {
    const store = await openTestStore(kind);
    const { ctx, owner, deliveries, happen } = await webhookService(store);
    const receiver = await startReceiver();
    let count = 0;
    receiver.answer = (_, response) => response.writeHead(++count % 3 === 0 ? 500 : 204).end();
    await createEndpoint(ctx, owner, { url: receiver.url, types: ['tag.*'], ordered: true });
    const names = Array.from({ length: 30 }, (_, index) => `event ${index}`);
    await happen(...names.slice(0, 20));
    for (let turn = 0; turn < 30; turn++) {
      if (turn === 5) await happen(...names.slice(20));
      await deliveries.pass();
      await letTimePass(store, 10_000);
    }
    // A failure is followed by the same event, never by a later one.
    const seen = receiver.received.map(nameOf);
    expect(seen.filter((name, index) => name !== seen[index - 1])).toEqual(names);
    expect(seen.length).toBeGreaterThan(names.length);
  });

  it('disable an endpoint that is gone, or that has only failed for five days, and say so before and after', async () => {
    const store = await openTestStore(kind);
    const { ctx, owner, deliveries, happen } = await webhookService(store);
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(410).end();
    const gone = await createEndpoint(ctx, owner, { url: receiver.url, types: ['tag.*'] });
    await happen('one');
    await deliveries.pass();
    expect(await getEndpoint(ctx, owner, gone.id)).toMatchObject({ enabled: false, disabled_reason: 'gone' });
    await happen('two');
    await deliveries.pass();
    expect(receiver.received).toHaveLength(1);
    await deleteEndpoint(ctx, owner, gone.id);

    receiver.answer = (_, response) => response.writeHead(503).end();
    const { id } = await createEndpoint(ctx, owner, { url: receiver.url, types: ['tag.*'] });
    const fail = async (ms: number) => {
      await letTimePass(store, ms);
      await happen('again');
      await deliveries.pass();
      return await getEndpoint(ctx, owner, id);
    };
    expect(await fail(0)).toMatchObject({ enabled: true, failing_since: expect.any(String) });
    expect(await fail(toldAfterMs)).toMatchObject({ enabled: true });
    receiver.answer = (_, response) => response.writeHead(204).end();
    expect(await fail(3_600_000)).toMatchObject({ enabled: true, failing_since: null });
    receiver.answer = (_, response) => response.writeHead(503).end();
    await fail(0);
    await fail(toldAfterMs);
    expect(await fail(disabledAfterMs - toldAfterMs)).toMatchObject({ enabled: false, disabled_reason: 'failing' });
    expect(await typesInLog(store)).toEqual(
      ['created', 'disabled', 'deleted', 'created', 'failing', 'recovered', 'failing', 'disabled'].map(
        (what) => `webhook_endpoint.${what}`,
      ),
    );
    // What was missed is not sent automatically, but can be recovered.
    receiver.answer = (_, response) => response.writeHead(204).end();
    receiver.received.length = 0;
    await happen('missed');
    await expect(recover(ctx, owner, id, { since: '2020-01-01T00:00:00Z' })).rejects.toThrow(
      'webhook_endpoint_disabled',
    );
    await updateEndpoint(ctx, owner, id, { enabled: true });
    await deliveries.pass();
    expect(receiver.received).toEqual([]);
    const { count } = await recover(ctx, owner, id, { since: '2020-01-01T00:00:00Z' });
    await deliveries.pass();
    expect(receiver.received).toHaveLength(count);
    expect(receiver.received.map(nameOf)).toContain('missed');
  });

  it('reach a quick endpoint although others hang, refuse, redirect and answer without end', async () => {
    const store = await openTestStore(kind);
    // The time of an attempt is over when the test says so: a busy machine may need longer than a limit that is short.
    const timeoutMs = 3_000;
    let endTime = () => {};
    const timeIsOver = new Promise<void>((resolve) => {
      endTime = resolve;
    });
    const runtime: Runtime = {
      ...systemRuntime,
      timeLimit: (ms, signal) => (ms === timeoutMs ? timeIsOver : systemRuntime.timeLimit(ms, signal)),
    };
    const { ctx, owner, deliveries, happen } = await webhookService(store, { timeoutMs, runtime });
    const bad = await startReceiver();
    const good = await startReceiver();
    const answers: Record<string, (typeof bad)['answer']> = {
      hangs: () => {},
      redirects: (_, response) => response.writeHead(302, { location: good.url }).end(),
      'is huge': (_, response) => response.writeHead(200).end('x'.repeat(1_000_000)),
      'never ends': (_, response) => {
        response.writeHead(200);
        const more = setInterval(() => response.write('and so on '), 5);
        response.on('close', () => clearInterval(more));
      },
      'stops half-way': (_, response) => response.writeHead(200, { 'content-length': '100' }).write('x'),
      breaks: (_, response) => response.destroy(),
    };
    bad.answer = (webhook, response) => answers[String(webhook.headers['x-does'])]?.(webhook, response);
    const ids: Record<string, string> = {};
    for (const does of Object.keys(answers)) {
      const made = await createEndpoint(ctx, owner, { url: bad.url, types: ['tag.*'], headers: { 'x-does': does } });
      ids[does] = made.id;
    }
    const refused = await createEndpoint(ctx, owner, { url: 'http://127.0.0.1:1/', types: ['tag.*'] });
    const quick = await createEndpoint(ctx, owner, { url: good.url, types: ['tag.*'] });
    const names = Array.from({ length: 8 }, (_, index) => `event ${index}`);
    const hung: boolean[] = [];
    bad.received.length = 0;
    await happen(...names);
    const passed = deliveries.pass().then(() => hung.push(true));
    // The good one has everything while the others are still at it.
    await expect.poll(() => good.ids().length).toBe(names.length);
    expect(hung).toEqual([]);
    const listed = async (id = '') => (await listDeliveries(ctx, owner, id, { limit: 100 })).data;
    const outcome = async (id = '') => {
      const last = (await listed(id)).at(-1);
      return [last?.status, last?.attempt_list[0]?.status_code, last?.attempt_list[0]?.error];
    };
    await expect
      .poll(() => outcome(ids.redirects))
      .toEqual(['pending', 302, expect.stringMatching(/ 302\. Redirects are not followed/)]);
    for (const does of ['is huge', 'never ends', 'stops half-way']) {
      const statuses = async () => (await listed(ids[does])).map(({ status }) => status);
      await expect.poll(statuses, { message: does }).toEqual(names.map(() => 'delivered'));
      expect(await outcome(ids[does])).toEqual(['delivered', 200, null]);
    }
    await expect.poll(async () => (await outcome(ids.breaks))[2]).toEqual(expect.any(String));
    await expect.poll(() => outcome(refused.id)).toEqual(['pending', null, expect.stringContaining('refused')]);
    endTime();
    await passed;
    expect(await outcome(ids.hangs)).toEqual(['pending', null, expect.stringMatching(/within 3 seconds/)]);
    expect((await outcome(ids.breaks))[0]).toBe('pending');
    expect(good.received).toHaveLength(names.length);
    expect(await outcome(quick.id)).toEqual(['delivered', 204, null]);
  });

  it('Answers are forgotten by age, and deliveries that still wait are kept', async () => {
    const store = await openTestStore(kind);
    const { ctx, owner, deliveries, happen } = await webhookService(store);
    const receiver = await startReceiver();
    const { id } = await createEndpoint(ctx, owner, { url: receiver.url, types: ['tag.*'] });
    await happen('good');
    await deliveries.pass();
    receiver.answer = (_, response) => response.writeHead(500).end();
    await happen('bad');
    await deliveries.pass();
    await store.db.updateTable('webhook_deliveries').set({ created_at: 1 }).execute();
    await createHousekeeping(store, { jobsMs: 0, jobLogsMs: 0, deliveriesMs: 86_400_000 })();
    const { data } = await listDeliveries(ctx, owner, id, {});
    expect(data.map(({ status }) => status)).toEqual(['pending']);
  });
});

describe('A webhook', () => {
  it('is not sent to a private address where that is not allowed, and not by plain http', async () => {
    const store = await openTestStore('sqlite');
    const receiver = await startReceiver();
    const open = await webhookService(store);
    const { id } = await createEndpoint(open.ctx, open.owner, { url: receiver.url, types: ['tag.*'] });
    const secure = receiver.url.replace('http:', 'https:');
    const other = await createEndpoint(open.ctx, open.owner, { url: secure, types: ['tag.*'] });
    const { organizationId, owner } = open;
    const shut = await webhookService(store, { organizationId, allowPrivateNetworks: false });
    expect(await sendTest(shut.ctx, owner, id)).toMatchObject({
      delivered: false,
      error: expect.stringContaining('http://'),
    });
    expect(await sendTest(shut.ctx, owner, other.id)).toMatchObject({
      delivered: false,
      error: expect.stringContaining('127.0.0.1'),
    });
    expect(receiver.received).toEqual([]);
    await expect(createEndpoint(shut.ctx, owner, { url: receiver.url })).rejects.toThrow('invalid_request');
    expect(await sendTest(open.ctx, owner, id)).toMatchObject({ delivered: true, status_code: 204 });
    expect(receiver.received[0]?.type).toBe('webhook_endpoint.test');
  });
});
