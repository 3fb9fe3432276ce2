/** Every preset against a model that answers as its provider does: sign-in, account, values, refresh and revocation. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { presets } from '../../src/credentials/clients/presets.ts';
import type { ProviderNetwork } from '../../src/credentials/provider/network.ts';
import { accessTo } from '../../src/credentials/tokens/access.ts';
import { createSealer } from '../../src/kernel/sealing.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { replicaOf } from '../support/credentials.ts';
import { modelNetwork, type ProviderModel, providerModels } from '../support/provider-models.ts';
import { fromElsewhere, makeClient, makeSignInTemplate, nextIn, proofIn, visitorOf } from '../support/providers.ts';

const flows = '/api/v1/embedded/oauth/flows';
const key = randomBytes(32);
let test: TestApp;
let provider: ReturnType<typeof modelNetwork>;
let token: string;

beforeAll(async () => {
  const network: ProviderNetwork = {
    request: (url, request) => provider.network.request(url, request),
    addressFault: (url) => provider.network.addressFault(url),
  };
  test = await startTestApp('sqlite', {
    env: { INLAY_ENCRYPTION_KEY: key.toString('hex') },
    overrides: { wrapProviders: () => network },
  });
});
beforeEach(async ({ task }) => {
  token = await test.scopedToken(`customer of ${task.name} ${task.suite?.name}`);
});
afterAll(() => test?.stop());

const ask = async (method: string, path: string, body?: object) => {
  const answer = await test.request(method, path, { token, ...(body && { body }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
};

async function signIn({ values, redirect }: ProviderModel, source_template_id: string, source_id?: string) {
  const body = { source_template_id, ...(values && { values }), ...(source_id !== undefined && { source_id }) };
  const flow = await ask('POST', flows, body);
  const visitor = visitorOf(test);
  const page = await visitor.get(flow.start_url);
  const next = nextIn(await visitor.post(flow.start_url, { proof: proofIn(page) }));
  const back = { code: 'the code', state: next.searchParams.get('state') ?? '', ...redirect?.(provider.state.who) };
  await visitor.get(`${next.searchParams.get('redirect_uri')}?${new URLSearchParams(back)}`, fromElsewhere);
  return { next, ended: await ask('GET', `${flows}/${flow.id}`) };
}

/** A customer who has signed in, and what a connector would be given. */
async function connect(preset: string, model: ProviderModel) {
  provider = modelNetwork(model);
  const client = await makeClient(test, undefined, { provider: preset, client_id: 'app', client_secret: 'secret' });
  const template = await makeSignInTemplate(test, client.id, { scopes: model.scopes, optional_scopes: [] });
  const signedIn = await signIn(model, template);
  expect(signedIn.ended, JSON.stringify(provider.asked)).toMatchObject({ state: 'connected', failure: null });
  const row = await test.app.store.db
    .selectFrom('credentials')
    .selectAll()
    .where('id', '=', signedIn.ended.credential_id)
    .executeTakeFirstOrThrow();
  const ctx = replicaOf(test.app.store, { sealer: createSealer(key), network: provider.network });
  const ref = { organizationId: row.organization_id, workspaceId: row.workspace_id, credentialId: row.id };
  return { ...signedIn, template, row, ctx, ref };
}

it('has a model for every preset', () => {
  expect(Object.keys(providerModels).sort()).toEqual(Object.keys(presets).sort());
});

describe.each(Object.entries(providerModels))('%s', (preset, model) => {
  it('signs a customer in, names the account, and gives what a connector needs', async () => {
    const { next, ended, row, ctx, ref } = await connect(preset, model);
    expect(`${next.origin}${next.pathname}`).toBe(model.asked.at);
    for (const [name, value] of Object.entries(model.asked.params ?? {})) {
      expect([name, next.searchParams.get(name)]).toEqual([name, value]);
    }
    expect(ended.account).toBe(model.labels.first);
    expect(row.account_id).not.toBeNull();
    if (model.granted) expect(JSON.parse(row.scopes).sort()).toEqual(model.granted);
    const access = await accessTo(ctx, ref);
    expect(access.values).toMatchObject({ access_token: 'access-1', ...model.given });
    const seconds = access.expiresAt === null ? null : Math.round((access.expiresAt - row.signed_in_at) / 1000);
    expect(seconds).toBe(model.expiresInSeconds);
  });

  it('notices another account', async () => {
    const { template, ended } = await connect(preset, model);
    const made = await ask('POST', '/api/v1/embedded/sources', {
      source_template_id: template,
      credential_id: ended.credential_id,
    });
    expect((await signIn(model, template, made.id)).ended).toMatchObject({ state: 'connected' });
    provider.state.who = 'second';
    const other = await signIn(model, template, made.id);
    expect(other.ended).toMatchObject({
      state: 'unconfirmed',
      failure: 'other_account',
      account: model.labels.second,
      previous_account: model.labels.first,
    });
  });

  it('refreshes and revokes tokens as far as the provider does', async () => {
    const { ctx, ref } = await connect(preset, model);
    const gone = await connect(preset, model);
    const refreshed = accessTo(ctx, ref, { notGeneration: 1 });
    if (model.refreshed) {
      expect(await refreshed).toMatchObject({ accessToken: 'access-2', generation: 2, values: model.given ?? {} });
    } else await expect(refreshed).rejects.toThrow(/no refresh token/);
    await end(ref);
    await end(gone.ref);
    await test.app.workers.revocations.pass();
    const { revocation } = await revocationOf(gone.ref);
    expect([revocation, provider.asked.at(-1)]).toEqual(
      model.revoked ? ['done', model.revoked] : ['impossible', expect.any(String)],
    );
  });
});

type Ref = { credentialId: string };

async function end({ credentialId }: Ref): Promise<void> {
  const answer = await test.request('DELETE', `/api/v1/integrations/credentials/${credentialId}`);
  expect(answer.status, answer.text).toBe(200);
}

const revocationOf = async ({ credentialId }: Ref) =>
  await test.app.store.db
    .selectFrom('credentials')
    .select(['revocation', 'last_error'])
    .where('id', '=', credentialId)
    .executeTakeFirstOrThrow();

it('does not take a refusal with status 200 for the end of a token', async () => {
  const { ref } = await connect('slack', providerModels.slack as ProviderModel);
  const slack = providerModels.slack as ProviderModel;
  const answering = (body: object) => {
    provider = modelNetwork({
      ...slack,
      answers: (who) => ({ ...slack.answers(who), 'POST https://slack.com/api/auth.revoke': () => ({ body }) }),
    });
  };
  answering({ ok: false, error: 'internal_error' });
  await end(ref);
  await test.app.workers.revocations.pass();
  expect(await revocationOf(ref)).toEqual({ revocation: 'due', last_error: expect.stringContaining('internal_error') });
  // A token that is known to be over needs no end.
  answering({ ok: false, error: 'token_revoked' });
  await test.app.store.db
    .updateTable('credentials')
    .set({ revoke_due_at: 1 })
    .where('id', '=', ref.credentialId)
    .execute();
  await test.app.workers.revocations.pass();
  expect(await revocationOf(ref)).toMatchObject({ revocation: 'done' });
});
