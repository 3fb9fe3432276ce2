/** A provider that answers, but with neither tokens nor an OAuth error. No customer is asked because of that. */
import { beforeEach, expect } from 'vitest';
import { connect, makePlace, type Place, replicaOf } from '../../../test/support/credentials.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import { ModelProvider } from '../../../test/support/model-provider.ts';
import { openTestStore } from '../../../test/support/test-store.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { CredentialRow } from '../../kernel/db/tables.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import type { OAuthContext } from '../context.ts';
import type { ProviderNetwork } from '../provider/network.ts';
import { accessTo, CredentialNeedsAttention, CredentialUnavailable } from './access.ts';
import type { CredentialRef } from './credentials.store.ts';
import { createRefreshWorker } from './refresh.worker.ts';

const minute = 60_000;
const hour = 60 * minute;
type Answer = Awaited<ReturnType<ProviderNetwork['request']>>;
const page = '<html><h1>Down for maintenance</h1></html>';
const answer = (status: number, body: string | object = '', more: Partial<Answer> = {}): Answer => ({
  ...{ status, contentType: 'text/html', body: typeof body === 'string' ? body : JSON.stringify(body) },
  ...more,
});

describeInTurns('While a provider is unavailable', (kind, it) => {
  let store: Store;
  let provider: ModelProvider;
  let ctx: OAuthContext;
  let place: Place;
  /** What the provider answers; undefined: it works. */
  let outage: ((form: URLSearchParams) => Answer | undefined) | undefined;
  let elapsed: number;
  let asked: number;
  beforeEach(async () => {
    store = await openTestStore(kind);
    provider = new ModelProvider({ now: Date.now });
    outage = undefined;
    elapsed = 0;
    asked = 0;
    const runtime = { ...systemRuntime, elapsed: () => elapsed, random: () => 0.5 };
    ctx = replicaOf(store, {
      runtime,
      network: {
        ...provider.network(),
        async request(url, request) {
          asked++;
          return outage?.(new URLSearchParams(request.body)) ?? provider.answer(url, request);
        },
      },
    });
    place = await makePlace(ctx);
  });

  const change = (ref: CredentialRef, values: Partial<CredentialRow>) =>
    store.db.updateTable('credentials').set(values).where('id', '=', ref.credentialId).execute();
  const rowOf = (ref: CredentialRef) =>
    store.db.selectFrom('credentials').selectAll().where('id', '=', ref.credentialId).executeTakeFirstOrThrow();
  async function expired(name: string, at = place): Promise<CredentialRef> {
    const ref = await connect(ctx, at, provider.signIn(name));
    await change(ref, { access_expires_at: Date.now() - 1_000 });
    return ref;
  }

  it.each<[string, Answer]>([
    ['500 without a body', answer(500)],
    ['502 with a page', answer(502, page)],
    ['503 with an OAuth error', answer(503, { error: 'invalid_grant' })],
    ['500 with tokens', answer(500, { access_token: 'a', refresh_token: 'b' })],
    ['599', answer(599, '{')],
    ['408', answer(408)],
    ['425', answer(425, 'too early')],
    ['429 with an OAuth error', answer(429, { error: 'invalid_grant' })],
    ['400 with a page', answer(400, page)],
    ['401 without a body', answer(401)],
    ['403 with the page of a proxy', answer(403, page)],
    ['404 with the JSON of a gateway', answer(404, { status: 404, error: 'Not Found', path: '/token' })],
    ['401 with the JSON of a gateway', answer(401, { statusCode: 401, error: 'Unauthorized' })],
    ['404 with the status as its error', answer(404, { error: { code: 404, message: 'no such page' } })],
    ['403 with the status in words as its error', answer(403, { error: 'forbidden' })],
    ['404 with the status as one word', answer(404, { error: 'not_found' })],
    ['400 with JSON that names no error', answer(400, { message: 'no' })],
    ['400 with an error that is no code', answer(400, { error: 'Something went wrong, please try again' })],
    ['400 with temporarily_unavailable', answer(400, { error: 'temporarily_unavailable' })],
    ['200 with server_error', answer(200, { error: 'server_error' })],
    ['200 with a page', answer(200, page)],
    ['200 with a list', answer(200, '[]')],
    ['200 without a token', answer(200, { ok: true })],
    ['302', answer(302)],
  ])('its answer %s is repeated with the same refresh token for as long as it lasts', async (_name, given) => {
    const ref = await expired('ada');
    outage = () => given;
    // Longer than any pause: each round asks once.
    for (let round = 1; round <= 6; round++) {
      elapsed += 2 * hour;
      await expect(accessTo(ctx, ref)).rejects.toThrow(CredentialUnavailable);
      expect(asked).toBe(round);
    }
    expect(await rowOf(ref)).toMatchObject({ state: 'connected', reason: null, tries: 0, failures: 6 });
    expect(provider.sent).toEqual([]);
    outage = undefined;
    elapsed += 2 * hour;
    expect(await accessTo(ctx, ref)).toMatchObject({ accessToken: 'access ada 2' });
    expect(await rowOf(ref)).toMatchObject({ state: 'connected', failures: 0, last_error: null });
  });

  it('a failure after the token was spent ends with what the provider says next', async () => {
    const ref = await expired('ada');
    outage = (form) => {
      provider.answer('/token', { method: 'POST', headers: {}, body: String(form) });
      return answer(504);
    };
    await expect(accessTo(ctx, ref)).rejects.toThrow(CredentialUnavailable);
    outage = undefined;
    elapsed += hour;
    await expect(accessTo(ctx, ref)).rejects.toThrow(CredentialNeedsAttention);
    expect(await rowOf(ref)).toMatchObject({ state: 'needs_attention' });
    expect(provider.grants[0]?.ended).toBe('reused');
  });

  it('a lost answer keeps its meaning through an outage', async () => {
    const ref = await expired('ada');
    outage = () => {
      throw new Error('the connection broke');
    };
    await expect(accessTo(ctx, ref)).rejects.toThrow(CredentialUnavailable);
    outage = () => answer(503);
    for (const _ of [1, 2, 3]) {
      elapsed += hour;
      await expect(accessTo(ctx, ref)).rejects.toThrow(CredentialUnavailable);
    }
    expect(await rowOf(ref)).toMatchObject({ tries: 1, tried_generation: 1, state: 'connected' });
    outage = () => {
      throw new Error('the connection broke');
    };
    for (const _ of [1, 2]) {
      elapsed += hour;
      await accessTo(ctx, ref).catch(() => {});
    }
    expect(await rowOf(ref)).toMatchObject({ state: 'needs_attention', reason: 'uncertain' });
    expect(asked).toBe(5);
  });

  it('its host is asked by one credential of an organization at a time, with growing pauses', async () => {
    const refs = [await expired('one'), await expired('two'), await expired('three')];
    outage = () => answer(502, page);
    const times: number[] = [];
    for (let second = 0; second < 40 * 60; second += 5) {
      elapsed = second * 1_000;
      const before = asked;
      for (const ref of refs) await expect(accessTo(ctx, ref)).rejects.toThrow(CredentialUnavailable);
      if (asked > before) times.push(second);
      expect(asked - before).toBeLessThanOrEqual(1);
    }
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(pauses.slice(0, 6)).toEqual([5, 10, 20, 40, 80, 160]);
    expect(new Set(pauses.slice(6))).toEqual(new Set([300]));
    outage = undefined;
    elapsed += hour;
    for (const ref of refs) await accessTo(ctx, ref);
  });

  it('one organization is not delayed by what another meets at the same host', async () => {
    const other = await makePlace(ctx);
    const [ours, theirs] = [await expired('ours'), await expired('theirs', other)];
    outage = (form) => (form.get('refresh_token')?.includes('theirs') ? answer(503) : undefined);
    await expect(accessTo(ctx, theirs)).rejects.toThrow(CredentialUnavailable);
    expect(await accessTo(ctx, ours)).toMatchObject({ accessToken: 'access ours 2' });
    await expect(accessTo(ctx, theirs)).rejects.toThrow(CredentialUnavailable);
    expect(asked).toBe(2);
  });

  it('Retry-After is honored, up to an hour', async () => {
    const ref = await expired('ada');
    outage = () => answer(503, '', { retryAfterMs: 20 * minute });
    const worker = createRefreshWorker(ctx);
    await change(ref, { refresh_due_at: Date.now() - 1 });
    await worker.pass();
    const { refresh_due_at: due } = await rowOf(ref);
    expect(Number(due) - Date.now()).toBeGreaterThan(19 * minute);
    expect(asked).toBe(1);
    elapsed += 19 * minute;
    await expect(accessTo(ctx, ref)).rejects.toThrow(CredentialUnavailable);
    expect(asked).toBe(1);
    outage = () => answer(429, '', { retryAfterMs: 400 * 24 * hour });
    elapsed += 2 * minute;
    await expect(accessTo(ctx, ref)).rejects.toThrow(CredentialUnavailable);
    expect(asked).toBe(2);
    expect(Number((await rowOf(ref)).refresh_due_at) - Date.now()).toBeLessThanOrEqual(hour);
    outage = undefined;
    elapsed += hour;
    expect(await accessTo(ctx, ref)).toMatchObject({ accessToken: 'access ada 2' });
  });
});
