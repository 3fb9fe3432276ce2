/** Credentials are refreshed by one at a time, with a provider that ends a grant whose refresh token comes twice. */
import { beforeEach, expect, it } from 'vitest';
import { connect, makePlace, type Place, replicaOf } from '../../../test/support/credentials.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { ModelProvider } from '../../../test/support/model-provider.ts';
import { openTestStore } from '../../../test/support/test-store.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { CredentialRow } from '../../kernel/db/tables.ts';
import type { OAuthContext } from '../context.ts';
import type { ProviderNetwork } from '../provider/network.ts';
import { accessTo, CredentialNeedsAttention, CredentialUnavailable, handBack } from './access.ts';
import type { CredentialRef } from './credentials.store.ts';
import { releaseCredential, renewCredential } from './credentials.ts';
import { createRefreshWorker } from './refresh.worker.ts';
import { createRevocations } from './revocation.worker.ts';

describeOnBothDatabases('Credentials', (kind) => {
  let store: Store;
  let provider: ModelProvider;
  let ctx: OAuthContext;
  let place: Place;
  beforeEach(async () => {
    store = await openTestStore(kind);
    provider = new ModelProvider({ now: Date.now });
    ctx = replicaOf(store, { network: provider.network() });
    place = await makePlace(ctx);
  });

  const signIn = (name = 'ada') => connect(ctx, place, provider.signIn(name));
  const change = (ref: CredentialRef, values: Partial<CredentialRow>) =>
    store.db.updateTable('credentials').set(values).where('id', '=', ref.credentialId).execute();
  const rowOf = (ref: CredentialRef) =>
    store.db.selectFrom('credentials').selectAll().where('id', '=', ref.credentialId).executeTakeFirstOrThrow();
  const expire = (ref: CredentialRef) => change(ref, { access_expires_at: Date.now() - 1_000 });
  const replica = (network: Partial<ProviderNetwork> = {}) =>
    replicaOf(store, { network: { ...provider.network(), ...network } });
  const losing = (): Partial<ProviderNetwork> => ({
    request: async (url, request) => {
      provider.answer(url, request);
      throw new Error('the connection broke');
    },
  });

  const entries = async () => {
    const rows = await store.db.selectFrom('log_pending').select('type').orderBy('id').execute();
    return rows
      .map(({ type }) => type)
      .filter((type) => type.startsWith('credential.'))
      .sort();
  };

  it('give a token that is still good, and refresh one that ends, once for everybody who asks on any replica', async () => {
    const ref = await signIn();
    expect(await accessTo(ctx, ref)).toMatchObject({ accessToken: 'access ada 1', generation: 1 });
    await expire(ref);
    const replicas = [ctx, replica(), replica()];
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => accessTo(replicas[i % 3] ?? ctx, ref)));
    expect(new Set(all.map(({ accessToken }) => accessToken))).toEqual(new Set(['access ada 2']));
    expect(provider.sent).toEqual(['refresh ada 1']);
    // Someone has seen this very token refused.
    expect(await accessTo(ctx, ref, { notGeneration: 2 })).toMatchObject({
      generation: 3,
      values: { access_token: 'access ada 3', expires_at: expect.any(String) },
    });
    expect(await rowOf(ref)).toMatchObject({ state: 'connected', tries: 0, lease_id: null, failures: 0 });
    expect(provider.grants[0]?.ended).toBeUndefined();
    await expect(accessTo(ctx, { ...ref, workspaceId: ref.credentialId })).rejects.toThrow(CredentialNeedsAttention);
  });

  it('take tokens that a connector has refreshed itself, where the template hands refresh tokens over', async () => {
    const ref = await signIn();
    const given = { generation: 1, accessToken: 'own access', refreshToken: 'own refresh' };
    // The service is the owner of this one.
    expect(await handBack(ctx, ref, given)).toBeUndefined();
    const { source_template_id } = await rowOf(ref);
    await store.db
      .insertInto('source_templates')
      .values({
        ...{ id: source_template_id, organization_id: ref.organizationId, name: 'Shop', description: null },
        ...{ category: null, definition_id: source_template_id, icon: null, own_icon: null, sealed_defaults: '' },
        ...{ customization: '{}', oauth: JSON.stringify({ hand_over: 'refresh_token' }), version: 1 },
        ...{ created_at: 0, updated_at: 0, deleted_at: null },
      })
      .execute();
    expect(await handBack(ctx, ref, given)).toBe(2);
    expect(await accessTo(ctx, ref)).toMatchObject({ accessToken: 'own access', generation: 2 });
    // Reported again after a lost answer, they are known; others of an old generation are thrown away.
    expect(await handBack(ctx, ref, given)).toBe(2);
    expect(await handBack(ctx, ref, { ...given, refreshToken: 'another' })).toBeUndefined();
  });

  it('send a token whose answer was lost once more, and then no more', async () => {
    const patient = new ModelProvider({ now: Date.now, graceMs: 60_000 });
    provider = patient;
    const ref = await signIn();
    await expire(ref);
    await expect(accessTo(replica(losing()), ref)).rejects.toThrow(CredentialUnavailable);
    expect(await rowOf(ref)).toMatchObject({ tried_generation: 1, tries: 1, state: 'connected' });
    expect(await accessTo(replica(), ref)).toMatchObject({ accessToken: 'access ada 2', generation: 2 });

    await expire(ref);
    for (const _ of [1, 2, 3, 4]) await accessTo(replica(losing()), ref).catch(() => {});
    expect(provider.sent).toEqual(['refresh ada 1', 'refresh ada 1', 'refresh ada 2', 'refresh ada 2']);
    expect(await rowOf(ref)).toMatchObject({ state: 'needs_attention', reason: 'uncertain' });
    await expect(accessTo(replica(), ref)).rejects.toThrow(CredentialNeedsAttention);
    expect(provider.sent).toHaveLength(4);
  });

  it('do not count what was not sent, and keep what an earlier lost answer means', async () => {
    const ref = await signIn();
    await expire(ref);
    const refusing = replica({ request: () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' })) });
    await expect(accessTo(refusing, ref)).rejects.toThrow(CredentialUnavailable);
    expect(await rowOf(ref)).toMatchObject({ tried_generation: null, tries: 0, failures: 1 });
    await accessTo(replica(losing()), ref).catch(() => {});
    const busy = replica({ request: async () => ({ status: 429, contentType: 'application/json', body: '{}' }) });
    await accessTo(busy, ref).catch(() => {});
    expect(await rowOf(ref)).toMatchObject({ tried_generation: 1, tries: 1, failures: 3 });
    // This provider has no grace period: the second use ends the grant, and it is unknown which of the two ended it.
    await expect(accessTo(replica(), ref)).rejects.toThrow(CredentialNeedsAttention);
    expect(await rowOf(ref)).toMatchObject({ state: 'needs_attention', reason: 'uncertain', refresh_due_at: null });
    expect(provider.grants[0]?.ended).toBe('reused');
  });

  it('are not refreshed by a process that was paused between taking the lease and sending', async () => {
    const ref = await signIn();
    await expire(ref);
    let pausedMs = 0;
    const runtime = { ...ctx.runtime, elapsed: () => performance.now() + pausedMs };
    const slowStore = {
      ...store,
      // The time passes while the statement that takes the lease is on its way.
      get db() {
        pausedMs += 40_000;
        return store.db;
      },
    };
    const paused = replicaOf(slowStore, { runtime, network: provider.network() });
    await expect(accessTo(paused, ref)).rejects.toThrow(CredentialUnavailable);
    expect(provider.sent).toEqual([]);
    expect(await rowOf(ref)).toMatchObject({ tries: 0 });
  });

  it('are believed to have ended only if nobody has stored other tokens meanwhile', async () => {
    const ref = await signIn();
    await expire(ref);
    const given = { ...provider.signIn('ada again'), scopes: ['read'], values: {}, taken: {} };
    const late = replica({
      request: async () => {
        await store.transaction((tx) =>
          renewCredential(ctx, tx, ref, { ...given, accountId: null, accountLabel: 'ada@example.com' }),
        );
        return { status: 400, contentType: 'application/json', body: '{"error":"invalid_grant"}' };
      },
    });
    expect(await accessTo(late, ref)).toMatchObject({ accessToken: 'access ada again 1', generation: 2 });
    expect(await rowOf(ref)).toMatchObject({ state: 'connected', account_label: 'ada@example.com' });
  });

  it('keep the old refresh token where the answer has none, and say nothing of any token in errors', async () => {
    const ref = await signIn();
    await expire(ref);
    const keeping = replica({
      request: async () => ({ status: 200, contentType: '', body: '{"access_token":"only access","expires_in":60}' }),
    });
    expect(await accessTo(keeping, ref)).toMatchObject({ accessToken: 'only access' });
    await expire(ref);
    expect(await accessTo(ctx, ref)).toMatchObject({ accessToken: 'access ada 2' });
    expect(provider.sent).toEqual(['refresh ada 1']);
    await expire(ref);
    const telling = replica({
      request: async () => ({
        ...{ status: 400, contentType: 'application/json' },
        body: '{"error":"invalid_request","error_description":"refresh ada 2 and very secret are wrong"}',
      }),
    });
    const failure = await accessTo(telling, ref).catch((error) => error);
    const row = await rowOf(ref);
    expect(row).toMatchObject({ state: 'needs_attention', reason: 'refused' });
    expect(`${failure} ${row.last_error}`).toContain('*** and *** are wrong');
    expect(`${failure} ${row.last_error} ${row.sealed_tokens}`).not.toMatch(/refresh ada|very secret/);
  });

  it('are refreshed ahead of their end, announced a week before it where that is not possible, and then need the customer', async () => {
    const [due, early, fixed] = [await signIn('due'), await signIn('early'), await signIn('fixed')];
    const bare = await connect(ctx, place, { accessToken: 'bare', expiresInSeconds: 30 * 86_400 });
    const worker = createRefreshWorker(ctx);
    await change(due, { refresh_due_at: Date.now() - 1 });
    await change(fixed, { refresh_due_at: null });
    await change(bare, { refresh_due_at: Date.now() - 1 });
    await worker.pass();
    expect([(await rowOf(due)).generation, (await rowOf(early)).generation]).toEqual([2, 1]);
    // An hour's token is refreshed five minutes, or somewhat more, before its end.
    const { refresh_due_at, access_expires_at } = await rowOf(early);
    expect(Number(access_expires_at) - Number(refresh_due_at)).toBeGreaterThanOrEqual(360_000);
    expect(Number(access_expires_at) - Number(refresh_due_at)).toBeLessThanOrEqual(540_000);
    const told = async () => (await entries()).filter((type) => type !== 'credential.connected');
    expect(await told()).toEqual(['credential.expiring']);
    expect((await rowOf(bare)).refresh_due_at).toBe((await rowOf(bare)).access_expires_at);
    await change(bare, { access_expires_at: Date.now() - 1, refresh_due_at: Date.now() - 1 });
    await worker.pass();
    expect(await rowOf(bare)).toMatchObject({ state: 'needs_attention', reason: 'expired', refresh_due_at: null });
    expect(await told()).toEqual(['credential.expiring', 'credential.revoked']);
    await expect(accessTo(ctx, bare)).rejects.toMatchObject({ reason: 'expired' });
  });

  it('are not uncertain where a process that was paused says meanwhile that it has not sent', async () => {
    const ref = await signIn();
    await expire(ref);
    // Twice someone was about to send, and nobody has heard of an answer.
    await change(ref, { tried_generation: 1, tries: 2, lease_id: ref.credentialId, lease_until: 1 });
    const late = replica();
    // The paused process gives its time back between reading the row and changing it.
    late.users.hold = async (tx) => {
      await tx
        .updateTable('credentials')
        .set({ tries: 1, lease_id: null })
        .where('id', '=', ref.credentialId)
        .execute();
    };
    expect(await accessTo(late, ref)).toMatchObject({ accessToken: 'access ada 2' });
    expect(await rowOf(ref)).toMatchObject({ state: 'connected', reason: null });
  });

  it('are connected again when a process that was paused says too late that it has not sent', async () => {
    const ref = await signIn();
    await expire(ref);
    const told: string[] = [];
    const paused = replica({
      request: async () => {
        // Meanwhile the lease has ended, someone else has lost an answer, and both times count as used up.
        await change(ref, { tries: 2, lease_id: null, lease_until: 0, state: 'needs_attention', reason: 'uncertain' });
        throw Object.assign(new Error(), { code: 'ECONNREFUSED' });
      },
    });
    paused.users.changed = async (_, __, { credentialId }) => void told.push(credentialId);
    await expect(accessTo(paused, ref)).rejects.toThrow(CredentialUnavailable);
    expect(await rowOf(ref)).toMatchObject({ state: 'connected', reason: null, tries: 1, tried_generation: 1 });
    expect(told).toEqual([ref.credentialId]);
    expect(await accessTo(replica(), ref)).toMatchObject({ accessToken: 'access ada 2' });
  });

  it('stay ended where the provider has said so, whatever a paused process says later', async () => {
    const ref = await signIn();
    await expire(ref);
    const end = replica({
      request: async () => ({ status: 400, contentType: 'application/json', body: '{"error":"invalid_grant"}' }),
    });
    const paused = replica({
      request: async () => {
        await change(ref, { lease_until: 1 });
        await accessTo(end, ref).catch(() => {});
        throw Object.assign(new Error(), { code: 'ECONNREFUSED' });
      },
    });
    await expect(accessTo(paused, ref)).rejects.toThrow(CredentialNeedsAttention);
    expect(await rowOf(ref)).toMatchObject({ state: 'needs_attention', reason: 'uncertain' });
  });

  it('are revoked at the provider when they end, again and again until it answers, unless the account is still used', async () => {
    const shared = { accountId: 'the same', accountLabel: 'ada@example.com' };
    const [one, two, unknown] = [
      await connect(ctx, place, { ...provider.signIn('one'), ...shared }),
      await connect(ctx, place, { ...provider.signIn('two'), ...shared }),
      await connect(ctx, place, provider.signIn('three')),
    ];
    let isAway = false;
    const away = replica({
      request: async (url, request) =>
        isAway ? { status: 503, contentType: '', body: '' } : provider.answer(url, request),
    });
    const revocations = createRevocations(away);
    const release = async (ref: CredentialRef) => {
      const { organization_id, workspace_id, id: credential_id } = await rowOf(ref);
      await store.transaction((tx) =>
        releaseCredential(ctx.journal, tx, { organization_id, workspace_id, credential_id }),
      );
    };
    await release(one);
    await revocations.pass();
    expect(await rowOf(one)).toMatchObject({ state: 'ended', revocation: 'kept', sealed_tokens: '' });
    expect(provider.revoked).toEqual([]);
    await release(two);
    await release(unknown);
    isAway = true;
    await revocations.pass();
    expect(await rowOf(two)).toMatchObject({ revocation: 'due', revoke_tries: 1 });
    isAway = false;
    await revocations.pass();
    expect(provider.revoked, 'not before the pause is over').toEqual([]);
    for (const ref of [two, unknown]) await change(ref, { revoke_due_at: Date.now() - 1 });
    await revocations.pass();
    expect(provider.revoked.sort()).toEqual(['refresh three 1', 'refresh two 1']);
    expect(await rowOf(two)).toMatchObject({ revocation: 'done', sealed_tokens: '', revoke_due_at: null });
    await expect(accessTo(ctx, two)).rejects.toMatchObject({ reason: 'gone' });
    expect((await entries()).filter((type) => type === 'credential.revoked')).toHaveLength(3);
  });
});
