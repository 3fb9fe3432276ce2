/* A customer's sign-in: the engine uses the access token from the platform and requests a fresh one in time. */

import type { TokenAnswer } from '@inlay/protocol/protocol';
import { SignIn } from '@inlay/protocol/sign-in';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, type Asked, manifestWith, read, startApi } from '../test/declarative-api.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const minute = 60_000;
const tokenOf = (generation: number) => `token-${generation}`;

/** Tokens of a provider, on a clock that only requests move. */
function provider({
  lifeMs = minute,
  saysLife = true,
  fields = { access_token: ['token'] } as Record<string, string[]>,
} = {}) {
  const clock = { time: 0 };
  let generation = 1;
  let endsAt = lifeMs;
  const requests: object[] = [];
  let trouble: TokenAnswer | undefined;
  const expires = () => (saysLife ? endsAt - clock.time : null);
  const signIn = new SignIn(
    { generation, fields, expires_in_ms: expires(), access_token: tokenOf(1) },
    async (request) => {
      requests.push(request);
      if (trouble) return trouble;
      generation++;
      endsAt = clock.time + lifeMs;
      return { values: { access_token: tokenOf(generation) }, generation, expires_in_ms: expires() };
    },
    () => clock.time,
  );
  return {
    signIn,
    requests,
    clock,
    takes: (token: string | undefined) => token === tokenOf(generation) && clock.time < endsAt,
    fail: (answer: TokenAnswer | undefined) => {
      trouble = answer;
    },
  };
}

const bearer = '{type: BearerAuthenticator, api_token: "{{ config[\'token\'] }}"}';
const pages = (authenticator: string) =>
  manifestWith(
    `  - {$ref: "#/definitions/stream", name: rows, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /rows, authenticator: ${authenticator}}, paginator: {type: DefaultPaginator, page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}, pagination_strategy: {type: PageIncrement, page_size: 10}}}}`,
  );
const bearerOf = ({ headers }: Asked) => headers.authorization?.replace('Bearer ', '');

/** 240 pages of ten records; each takes five seconds: twenty minutes. */
function answerPages(
  { clock, takes }: ReturnType<typeof provider>,
  tokenIn: (asked: Asked) => string | undefined = bearerOf,
) {
  const statuses: number[] = [];
  api.answer((asked) => {
    clock.time += 5_000;
    const status = takes(tokenIn(asked)) ? 200 : 401;
    statuses.push(status);
    if (status === 401) return { status, json: { error: 'expired' } };
    const page = Number(asked.query.page ?? 0);
    const count = page < 239 ? 10 : 9;
    return { json: { rows: Array.from({ length: count }, (_, index) => ({ id: page * 10 + index })) } };
  });
  return statuses;
}

const everyId = Array.from({ length: 2_399 }, (_, id) => id);
const ids = (rows: Record<string, unknown>[] | undefined) => (rows ?? []).map(({ id }) => Number(id));

describe('a sync of twenty minutes with tokens that live one minute', () => {
  it.each([
    ['a bearer token', bearer],
    [
      'OAuth, which does not refresh by itself',
      '{type: OAuthAuthenticator, token_refresh_endpoint: "{{ config[\'base\'] }}/token", client_id: a, client_secret: "{{ config[\'secret\'] }}", refresh_token: "{{ config[\'refresh\'] }}"}',
    ],
    [
      'OAuth that would keep its tokens in the configuration',
      '{type: OAuthAuthenticator, token_refresh_endpoint: "{{ config[\'base\'] }}/token", client_id: a, client_secret: b, refresh_token_updater: {type: RefreshTokenUpdater, access_token_config_path: [token], refresh_token_config_path: [refresh], token_expiry_date_config_path: [until]}}',
    ],
  ])('never meets an ended one: every record arrives once, by %s', async (_name, authenticator) => {
    const tokens = provider();
    const statuses = answerPages(tokens);
    const config = { base: api.address, token: tokenOf(1), secret: 'set', refresh: 'set' };
    const got = await read({
      manifest: pages(authenticator),
      config,
      streams: { rows: 'full_refresh' },
      signIn: tokens.signIn,
    });
    expect(tokens.clock.time).toBeGreaterThanOrEqual(20 * minute);
    expect(ids(got.records.rows)).toEqual(everyId);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(tokens.requests.length).toBeGreaterThanOrEqual(20);
    expect(tokens.requests.length).toBeLessThan(30);
    expect(got.configs).toEqual([]);
    expect(got.words.join()).not.toContain('token-');
  });

  it('asks again with a fresh one where nobody knew when it ends, wherever in the request the token is', async () => {
    const tokens = provider({ saysLife: false });
    const statuses = answerPages(tokens, ({ query }) => String(query.key));
    const authenticator =
      '{type: ApiKeyAuthenticator, api_token: "{{ config[\'token\'] }}", inject_into: {type: RequestOption, inject_into: request_parameter, field_name: key}}';
    const config = { base: api.address, token: tokenOf(1) };
    const got = await read({
      manifest: pages(authenticator),
      config,
      streams: { rows: 'full_refresh' },
      signIn: tokens.signIn,
    });
    expect(ids(got.records.rows)).toEqual(everyId);
    expect(statuses.filter((status) => status === 401).length).toBe(tokens.requests.length);
    expect(tokens.requests[0]).toEqual({ not_generation: 1 });
  });
});

describe('a sign-in', () => {
  const config = { token: tokenOf(1) };
  const readRows = (tokens: ReturnType<typeof provider>, manifest = pages(bearer)) =>
    read({
      manifest,
      config: { base: api.address, ...config },
      streams: { rows: 'full_refresh' },
      signIn: tokens.signIn,
    });

  it('whose fresh token is refused as well fails as ever, and asks for no third', async () => {
    const tokens = provider();
    api.answer(() => ({ status: 401, json: {} }));
    const got = await readRows(tokens);
    expect(got.failures.rows).toMatchObject({ failureType: 'config_error', message: expect.stringContaining('401') });
    expect(tokens.requests).toEqual([{ not_generation: 1 }]);
    expect(api.asked()).toHaveLength(2);
  });

  it('is not replaced for each slice of an API that refuses one stream and accepts others', async () => {
    const tokens = provider();
    const stream = (name: string) =>
      `  - {$ref: "#/definitions/stream", name: ${name}, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /${name}, authenticator: ${bearer}}, partition_router: {type: ListPartitionRouter, cursor_field: part, values: ["1", "2", "3", "4", "5", "6"]}}}`;
    api.answer(({ path }) => (path === '/open' ? { json: { rows: [{ id: 1 }] } } : { status: 401, json: {} }));
    const got = await read({
      manifest: manifestWith(`${stream('closed')}\n${stream('open')}`),
      config: { base: api.address, ...config },
      streams: { closed: 'full_refresh', open: 'full_refresh' },
      signIn: tokens.signIn,
    });
    expect(got.failures.closed?.message).toContain('401');
    expect(got.records.open).toHaveLength(6);
    expect(tokens.requests.length).toBeLessThanOrEqual(2);
  });

  it('continues with its token while no fresh one is available, and fails in the words of the platform when it has ended', async () => {
    const tokens = provider();
    const failure = { message: 'Sign in again.', failure_type: 'config_error' as const, inlay_fields: ['token'] };
    tokens.fail({ failure });
    const statuses = answerPages(tokens);
    const got = await readRows(tokens);
    expect(got.failures.rows).toMatchObject({
      message: 'Sign in again.',
      failureType: 'config_error',
      fields: ['token'],
    });
    expect(got.records.rows?.length).toBeGreaterThanOrEqual(100);
    expect(statuses.length).toBeLessThanOrEqual(12);
  });

  it('opens a session again with a fresh token, and what the manifest has copied from the token follows', async () => {
    const tokens = provider();
    const session = `{type: SessionTokenAuthenticator, expiration_duration: P1D, session_token_path: [session], request_authentication: {type: Bearer}, login_requester: {type: HttpRequester, url_base: "{{ config['base'] }}", path: /login, http_method: POST, authenticator: {type: BearerAuthenticator, api_token: "{{ config['copy'] }}"}}}`;
    const rules =
      'config_normalization_rules: {type: ConfigNormalizationRules, transformations: [{type: ConfigAddFields, fields: [{type: AddedFieldDefinition, path: [copy], value: "{{ config[\'token\'] }}"}]}]}';
    const manifest = pages(session).replace('spec:\n  type: Spec', `spec:\n  type: Spec\n  ${rules}`);
    api.answer((asked) => {
      tokens.clock.time += 5_000;
      const token = bearerOf(asked) ?? '';
      if (asked.path === '/login')
        return tokens.takes(token) ? { json: { session: `of-${token}` } } : { status: 401, json: {} };
      if (!tokens.takes(token.replace('of-', ''))) return { status: 401, json: {} };
      const page = Number(asked.query.page ?? 0);
      return { json: { rows: Array.from({ length: page < 50 ? 10 : 1 }, (_, index) => ({ id: page * 10 + index })) } };
    });
    const got = await readRows(tokens, manifest);
    expect(ids(got.records.rows)).toEqual(Array.from({ length: 501 }, (_, id) => id));
    expect(tokens.requests.length).toBeGreaterThanOrEqual(4);
  });
});
