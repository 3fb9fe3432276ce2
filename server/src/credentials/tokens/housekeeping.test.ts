/** Automatic changes of credentials and clients: unused, fixed, or with a secret that expires. */
import { beforeEach, expect, it } from 'vitest';
import { connect, makePlace, type Place, replicaOf } from '../../../test/support/credentials.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { ModelProvider } from '../../../test/support/model-provider.ts';
import { seedPipelines } from '../../../test/support/seed-pipelines.ts';
import { openTestStore } from '../../../test/support/test-store.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { CredentialRow, OAuthClientRow } from '../../kernel/db/tables.ts';
import { rotateSecret, updateClient } from '../clients/clients.ts';
import { createSecretWarnings } from '../clients/secret-warnings.worker.ts';
import type { OAuthContext } from '../context.ts';
import { accessTo } from './access.ts';
import type { CredentialRef } from './credentials.store.ts';
import { holdCredential } from './credentials.ts';
import { createRefreshWorker } from './refresh.worker.ts';
import { createRevocations } from './revocation.worker.ts';
import { createUnusedCredentialHousekeeping, unusedMs } from './unused-credentials.worker.ts';

const hour = 3_600_000;
const day = 24 * hour;

describeOnBothDatabases('Housekeeping of sign-ins', (kind) => {
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

  const signIn = (name = 'ada') => connect(ctx, place, { ...provider.signIn(name), accountId: name });
  const change = (ref: CredentialRef, values: Partial<CredentialRow>) =>
    store.db.updateTable('credentials').set(values).where('id', '=', ref.credentialId).execute();
  const rowOf = (ref: CredentialRef) =>
    store.db.selectFrom('credentials').selectAll().where('id', '=', ref.credentialId).executeTakeFirstOrThrow();
  const entries = async (type: string) => {
    const rows = await store.db.selectFrom('log_pending').select('data').where('type', '=', type).execute();
    return rows.map(({ data }) => JSON.parse(data));
  };

  async function seedSource(): Promise<string> {
    const { seeded } = await seedPipelines(store, { ...place, workspaces: 1, jobsEach: 0 });
    return seeded[0]?.sourceId ?? '';
  }

  /** What the rule that makes a source does with its credential, with a source that exists already. */
  async function useIn(sourceId: string, ref: CredentialRef): Promise<void> {
    const { source_template_id: templateId } = await rowOf(ref);
    await store.transaction(async (tx) => {
      await holdCredential(tx, { ...ref, templateId });
      await tx
        .updateTable('sources')
        .set({ credential_id: ref.credentialId, workspace_id: ref.workspaceId })
        .where('id', '=', sourceId)
        .execute();
    });
  }

  it('ends a credential that no source uses after a day, notifies the provider, and leaves all others alone', async () => {
    const [old, young, used] = [await signIn('old'), await signIn('young'), await signIn('used')];
    await useIn(await seedSource(), used);
    for (const ref of [old, used]) await change(ref, { signed_in_at: Date.now() - unusedMs - 1_000 });
    await change(young, { signed_in_at: Date.now() - unusedMs + hour });
    const work = createUnusedCredentialHousekeeping(ctx);
    await Promise.all([work(), createUnusedCredentialHousekeeping(replicaOf(store, ctx))()]);
    await work();
    const states = await Promise.all([old, young, used].map(rowOf));
    expect(states.map(({ state }) => state)).toEqual(['ended', 'connected', 'connected']);
    expect(await entries('credential.revoked')).toMatchObject([
      { credential: { id: old.credentialId }, reason: 'unused' },
    ]);
    await createRevocations(ctx).pass();
    expect(provider.revoked).toEqual(['refresh old 1']);
    // The source goes without having said so.
    await store.db.updateTable('sources').set({ lifecycle: 'deleted', deleted_at: Date.now() }).execute();
    await work();
    expect(await rowOf(used)).toMatchObject({ state: 'ended', revocation: 'due' });
  });

  it('never ends a credential that a source takes meanwhile, and no source takes one that has ended', async () => {
    const first = await signIn('first');
    await change(first, { signed_in_at: 1 });
    const sourceId = await seedSource();
    // The source is there after the look at all credentials, and before this one is ended.
    const meanwhile = {
      ...store,
      transaction: async <T>(work: Parameters<typeof store.transaction<T>>[0]) => {
        await useIn(sourceId, first);
        return await store.transaction(work);
      },
    } satisfies Store;
    await createUnusedCredentialHousekeeping({ ...ctx, store: meanwhile })();
    expect(await rowOf(first)).toMatchObject({ state: 'connected' });

    for (const round of [1, 2, 3, 4, 5]) {
      const ref = await signIn(`round ${round}`);
      await change(ref, { signed_in_at: 1 });
      const source = await seedSource();
      const [taken] = await Promise.allSettled([useIn(source, ref), createUnusedCredentialHousekeeping(ctx)()]);
      expect((await rowOf(ref)).state).toBe(taken.status === 'fulfilled' ? 'connected' : 'ended');
    }
  });

  it('tries the credentials of a client again as soon as its operator has fixed it', async () => {
    const [refused, failed, good] = [await signIn('refused'), await signIn('failed'), await signIn('good')];
    const worker = createRefreshWorker(ctx);
    const { organizationId, oauthClientId } = place;
    await updateClient(ctx, organizationId, oauthClientId, { client_secret: 'an old one' });
    await change(refused, { access_expires_at: Date.now() - 1_000 });
    await expect(accessTo(ctx, refused)).rejects.toMatchObject({ reason: 'client_refused' });
    const inHalfAnHour = Date.now() + hour / 2;
    await change(failed, { failures: 4, refresh_due_at: inHalfAnHour });
    const { refresh_due_at: due } = await rowOf(good);
    await worker.pass();
    expect(await rowOf(refused)).toMatchObject({ state: 'needs_attention', generation: 1 });

    await updateClient(ctx, organizationId, oauthClientId, { client_secret: 'very secret' });
    await worker.pass();
    expect(await rowOf(refused)).toMatchObject({ state: 'connected', generation: 2, reason: null });
    expect(await rowOf(failed)).toMatchObject({ generation: 2, failures: 0 });
    expect(await rowOf(good)).toMatchObject({ generation: 1, refresh_due_at: due });

    await change(refused, { state: 'needs_attention', reason: 'client_refused', refresh_due_at: inHalfAnHour });
    // Failures that the customer has to fix are not retried.
    await change(failed, { state: 'needs_attention', reason: 'revoked', refresh_due_at: null });
    await rotateSecret(ctx, organizationId, oauthClientId, { client_secret: 'very secret' });
    await worker.pass();
    expect(await rowOf(refused)).toMatchObject({ state: 'connected', generation: 3 });
    expect(await rowOf(failed)).toMatchObject({ state: 'needs_attention', generation: 2 });
  });

  it('reports 30, 7 and 1 days before the secret of a client ends, once each whatever the number of replicas', async () => {
    const { organizationId, oauthClientId: id } = place;
    const set = (values: Partial<OAuthClientRow>) =>
      store.db.updateTable('oauth_clients').set(values).where('id', '=', id).execute();
    const replicas = [ctx, replicaOf(store, ctx), replicaOf(store, ctx)].map(createSecretWarnings);
    const work = async () => {
      for (const _ of [1, 2]) await Promise.all(replicas.map((one) => one()));
    };
    const told = async () => (await entries('oauth_client.secret_expiring')).map(({ days }) => days);
    await work();
    expect(await told()).toEqual([]);
    const endsIn = (ms: number) => ({ client_secret_expires_at: new Date(Date.now() + ms).toISOString() });
    await updateClient(ctx, organizationId, id, endsIn(31 * day));
    await work();
    expect(await told()).toEqual([]);
    for (const [left, days] of [
      [30 * day, [30]],
      [8 * day, [30]],
      [7 * day - hour, [30, 7]],
      [hour, [30, 7, 1]],
      [-hour, [30, 7, 1]],
    ] as const) {
      // The same secret, with less and less time left.
      await set({ secret_expires_at: Date.now() + left });
      await work();
      expect(await told()).toEqual(days);
    }
    expect((await entries('oauth_client.secret_expiring'))[0]).toEqual({
      oauth_client: { id, name: 'Provider', provider: null },
      expires_at: expect.any(String),
      days: 30,
    });
    // A different secret has its own steps. A step that nobody was there for is not repeated afterwards.
    await rotateSecret(ctx, organizationId, id, { client_secret: 'very secret', ...endsIn(5 * day) });
    await work();
    expect(await told()).toEqual([30, 7, 1, 7]);
    // Without a date there is nothing to warn about, and the same date again is not news.
    const { secret_expires_at: end } = await store.db
      .selectFrom('oauth_clients')
      .select('secret_expires_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await updateClient(ctx, organizationId, id, { client_secret_expires_at: new Date(Number(end)).toISOString() });
    await work();
    await updateClient(ctx, organizationId, id, { client_secret_expires_at: null });
    await work();
    expect(await told()).toEqual([30, 7, 1, 7]);
  });
});
