/** Refreshes whose answers are odd on purpose: no token is lost, and nothing that is stored breaks what is read later. */
import { beforeEach, expect } from 'vitest';
import { connect, endpoints, makePlace, type Place, replicaOf } from '../../../test/support/credentials.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import { openTestStore } from '../../../test/support/test-store.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { CredentialRow } from '../../kernel/db/tables.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import type { OAuthContext } from '../context.ts';
import { listCredentials } from '../sign-in/credential-list.ts';
import { accessTo, CredentialNeedsAttention, CredentialUnavailable, handBack } from '../tokens/access.ts';
import type { CredentialRef } from '../tokens/credentials.store.ts';

const tenYearsMs = 3_650 * 86_400_000;

describeInTurns('A refresh', (kind, it) => {
  let store: Store;
  let ctx: OAuthContext;
  let place: Place;
  /** What the provider answers, as it is sent. */
  let said: { status: number; body: string };
  let asked: URLSearchParams[];
  /** Each request takes that long. */
  let takesMs: number;
  beforeEach(async () => {
    store = await openTestStore(kind);
    asked = [];
    takesMs = 0;
    let elapsed = 0;
    const runtime = { ...systemRuntime, elapsed: () => elapsed };
    const request = async (_url: string, { body = '' }: { body?: string | undefined }) => {
      asked.push(new URLSearchParams(body));
      elapsed += takesMs;
      return { contentType: 'application/json', ...said };
    };
    ctx = replicaOf(store, { runtime, network: { request, addressFault: () => undefined } });
    place = await makePlace(ctx);
  });

  const answers = (body: unknown, status = 200) => {
    said = { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
  };
  const change = (ref: CredentialRef, values: Partial<CredentialRow>) =>
    store.db.updateTable('credentials').set(values).where('id', '=', ref.credentialId).execute();
  const rowOf = (ref: CredentialRef) =>
    store.db.selectFrom('credentials').selectAll().where('id', '=', ref.credentialId).executeTakeFirstOrThrow();
  async function expired(given: Partial<Parameters<typeof connect>[2]> = {}): Promise<CredentialRef> {
    const tokens = { accessToken: 'first access', refreshToken: 'first refresh', expiresInSeconds: 60 };
    const ref = await connect(ctx, place, { ...tokens, ...given });
    await change(ref, { access_expires_at: Date.now() - 1_000 });
    return ref;
  }
  const list = () => listCredentials(ctx, place.organizationId, { workspaceId: undefined, limit: 100 });

  async function makeTemplate(ref: CredentialRef, oauth: object): Promise<void> {
    const { source_template_id: id } = await rowOf(ref);
    await store.db
      .insertInto('source_templates')
      .values({
        ...{ id, organization_id: ref.organizationId, name: 'Shop', description: null, category: null, icon: null },
        ...{ definition_id: id, own_icon: null, sealed_defaults: '', customization: '{}', version: 1 },
        ...{ oauth: JSON.stringify(oauth), created_at: 0, updated_at: 0, deleted_at: null },
      })
      .execute();
  }

  it.each<[string, unknown]>([
    ['1e16', 1e16],
    ['2^53 - 1', 2 ** 53 - 1],
    ['1e308', 1e308],
    ['a text of many digits', '99999999999999999999'],
  ])(
    'whose token ends in %s seconds keeps the tokens, and the list of credentials is readable',
    async (_name, expires_in) => {
      const ref = await expired();
      answers({ access_token: 'next access', refresh_token: 'next refresh', expires_in });
      expect(await accessTo(ctx, ref)).toMatchObject({ accessToken: 'next access' });
      const [shown] = await list();
      const end = Date.parse(shown?.access_token_expires_at ?? '');
      expect(end - Date.now()).toBeGreaterThan(tenYearsMs - 60_000);
      expect(end - Date.now()).toBeLessThanOrEqual(tenYearsMs + 60_000);
      await change(ref, { access_expires_at: Date.now() - 1_000 });
      await accessTo(ctx, ref);
      expect(asked.map((form) => form.get('refresh_token'))).toEqual(['first refresh', 'next refresh']);
    },
  );

  it.each<[string, string]>([
    ['a negative number', '-5'],
    ['zero', '0'],
    ['null', 'null'],
    ['a truth', 'true'],
    ['an object', '{"seconds":5}'],
    ['a list', '[60]'],
    ['words', '"soon"'],
    ['an empty text', '""'],
  ])('that says %s in place of the seconds keeps the tokens, whose end nobody knows', async (_name, expires_in) => {
    const ref = await expired();
    answers(`{"access_token":"next access","expires_in":${expires_in}}`);
    expect(await accessTo(ctx, ref)).toMatchObject({ accessToken: 'next access', expiresAt: null });
  });

  it('whose tokens have ended when they come is not repeated without end', async () => {
    const ref = await expired();
    takesMs = 5_000;
    answers({ access_token: 'too late', expires_in: 1 });
    await expect(accessTo(ctx, ref)).rejects.toThrow(CredentialUnavailable);
    expect(asked.length).toBeLessThan(6);
    expect(await rowOf(ref)).toMatchObject({ state: 'connected' });
  });

  it.each<[string, string]>([
    ['U+0000', 'a\u0000b'],
    ['half a pair', 'a\ud800b'],
    ['a line break and an escape', 'a\r\n\u001b[2Jb'],
    ['a megabyte', 'x'.repeat(900_000)],
  ])('that is refused with %s in its words is recorded all the same', async (_name, error_description) => {
    const ref = await expired();
    answers({ error: 'invalid_grant', error_description }, 400);
    await expect(accessTo(ctx, ref)).rejects.toThrow(CredentialNeedsAttention);
    const row = await rowOf(ref);
    expect(row).toMatchObject({ state: 'needs_attention', reason: 'revoked' });
    expect(row.last_error).toMatch(/^invalid_grant: [^\p{Cc}\p{Cs}]{1,500}$/u);
    expect(row.last_error?.length).toBeLessThanOrEqual(500);
    expect(await list()).toHaveLength(1);
  });

  it.each<[string, string]>([
    ['invalid_grant', 'revoked'],
    ['interaction_required', 'revoked'],
    ['consent_required', 'revoked'],
    ['login_required', 'revoked'],
    ['account_selection_required', 'revoked'],
    ['bad_refresh_token', 'revoked'],
    ['invalid_client', 'client_refused'],
    ['invalid_scope', 'refused'],
  ])('that is refused with %s makes the credential %s', async (error, reason) => {
    for (const [body, status] of [
      [{ error, error_description: 'AADSTS50076' }, 400],
      [{ ok: false, error }, 200],
      [`error=${error}`, 200],
    ] as const) {
      const ref = await expired();
      answers(body, status);
      await expect(accessTo(ctx, ref)).rejects.toMatchObject({ reason });
      expect(await rowOf(ref)).toMatchObject({ state: 'needs_attention', reason });
    }
  });

  it.each<[string, unknown]>([
    ['U+0000', 'a\u0000b'],
    ['a line break', 'a\nb'],
    ['letters beyond ASCII', 'tökén'],
    ['a megabyte', 'x'.repeat(900_000)],
    ['an object', { token: 'a' }],
  ])('with %s in the access token changes nothing, and says why', async (_name, access_token) => {
    const ref = await expired();
    answers({ access_token, refresh_token: 'next refresh' });
    await expect(accessTo(ctx, ref)).rejects.toThrow(CredentialUnavailable);
    const row = await rowOf(ref);
    expect(row).toMatchObject({ state: 'connected', generation: 1, tries: 0 });
    expect(row.last_error).toContain('access token');
  });

  it('with an unusable refresh token keeps the access token, and the refresh token of before', async () => {
    const ref = await expired();
    answers({ access_token: 'next access', refresh_token: 'a\u0000b', expires_in: 60 });
    expect(await accessTo(ctx, ref)).toMatchObject({ accessToken: 'next access' });
    await change(ref, { access_expires_at: Date.now() - 1_000 });
    await accessTo(ctx, ref);
    expect(asked.map((form) => form.get('refresh_token'))).toEqual(['first refresh', 'first refresh']);
  });

  it('that drops a scope which the template requires keeps the tokens and asks the customer', async () => {
    const ref = await expired({ scopes: ['read', 'write', 'extra'] });
    await makeTemplate(ref, { scopes: ['read', 'write', 'later'], optional_scopes: ['extra'] });
    // Optional, or never granted: no reason to ask.
    answers({ access_token: 'second access', refresh_token: 'second refresh', scope: 'read write' });
    expect(await accessTo(ctx, ref)).toMatchObject({ accessToken: 'second access' });
    expect(await rowOf(ref)).toMatchObject({ state: 'connected', scopes: '["read","write"]' });
    await change(ref, { access_expires_at: Date.now() - 1_000 });
    answers({ access_token: 'third access' });
    await accessTo(ctx, ref);
    expect(await rowOf(ref)).toMatchObject({ state: 'connected', scopes: '["read","write"]' });

    await change(ref, { access_expires_at: Date.now() - 1_000 });
    answers({ access_token: 'fourth access', refresh_token: 'fourth refresh', scope: 'read' });
    await expect(accessTo(ctx, ref)).rejects.toMatchObject({ reason: 'scopes_missing' });
    const row = await rowOf(ref);
    expect(row).toMatchObject({ state: 'needs_attention', generation: 4, refresh_due_at: null, scopes: '["read"]' });
    expect(row.last_error).toContain('write');
    const [shown] = await list();
    expect(shown).toMatchObject({ state: 'needs_attention', reason: 'scopes_missing', scopes: ['read'] });
    const entries = await store.db.selectFrom('log_pending').select(['type', 'data']).execute();
    expect(
      entries.filter(({ type }) => type === 'credential.revoked').map(({ data }) => JSON.parse(data)),
    ).toMatchObject([{ reason: 'scopes_missing' }]);
  });

  it('with an empty scope has been granted nothing', async () => {
    const ref = await expired({ scopes: ['read'] });
    await makeTemplate(ref, { scopes: ['read'] });
    answers({ access_token: 'next access', scope: '' });
    await expect(accessTo(ctx, ref)).rejects.toMatchObject({ reason: 'scopes_missing' });
    expect(await rowOf(ref)).toMatchObject({ scopes: '[]' });
  });

  it('that names the scopes otherwise than the sign-in did drops none, and drops what a wider scope included', async () => {
    const provider = { implied_scopes: { repo: ['status'], 'write_*': ['read_*'] }, silent_scopes: ['offline'] };
    await store.db
      .updateTable('oauth_clients')
      .set({ provider: JSON.stringify({ ...endpoints, ...provider }) })
      .where('id', '=', place.oauthClientId)
      .execute();
    // The first answer named no scopes, so everything that was requested counts as granted.
    const ref = await expired({ scopes: ['status', 'read_orders', 'offline'] });
    await makeTemplate(ref, { scopes: ['status', 'read_orders', 'offline'] });
    answers({ access_token: 'second access', scope: 'repo write_orders' });
    expect(await accessTo(ctx, ref)).toMatchObject({ accessToken: 'second access' });
    expect(await rowOf(ref)).toMatchObject({ state: 'connected', scopes: '["repo","write_orders"]' });
    await change(ref, { access_expires_at: Date.now() - 1_000 });
    answers({ access_token: 'third access', scope: 'repo' });
    await expect(accessTo(ctx, ref)).rejects.toMatchObject({ reason: 'scopes_missing' });
    expect((await rowOf(ref)).last_error).toContain('read_orders');
  });

  it("of the operator's own tokens asks for the same scopes again, whatever was granted", async () => {
    const row = await connect(ctx, place, { accessToken: '', scopes: ['read', 'write'] });
    await change(row, { grant_kind: 'client_credentials', access_expires_at: 1 });
    await makeTemplate(row, { scopes: ['read', 'write'] });
    answers({ access_token: 'own access', scope: 'read', expires_in: 60 });
    await accessTo(ctx, row).catch(() => {});
    expect(await rowOf(row)).toMatchObject({ state: 'needs_attention', reason: 'refused' });
    await change(row, { access_expires_at: 1 });
    answers({ access_token: 'own access', expires_in: 60 });
    expect(await accessTo(ctx, row)).toMatchObject({ accessToken: 'own access' });
    expect(asked.map((form) => form.get('scope'))).toEqual(['read write', 'read write']);
    expect(await rowOf(row)).toMatchObject({ state: 'connected', reason: null });
  });

  it.each<[string, number]>([
    ['far away', 1e19],
    ['a fraction', 1_900_000_000_000.5],
    ['before all times', -1e19],
  ])('by a connector whose token ends %s is taken all the same', async (_name, expiresAt) => {
    const ref = await expired();
    await makeTemplate(ref, { hand_over: 'refresh_token' });
    const given = { generation: 1, accessToken: 'own access', refreshToken: 'own refresh', expiresAt };
    expect(await handBack(ctx, ref, given)).toBe(2);
    expect(await list()).toMatchObject([{ access_token_expires_at: expect.stringMatching(/^20/) }]);
  });
});
