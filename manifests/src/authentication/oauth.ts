/*
 * OAuth: gets access tokens with a refresh token or other credentials and keeps each until it expires. An API with
 * single-use refresh tokens returns a new one each time; it is stored in the configuration, which the platform saves.
 */

import type { SignedIn } from '@inlay/protocol/connector';
import { isJsonObject } from '@inlay/protocol/json';
import {
  anything,
  boolean,
  type ComponentDefinition,
  component,
  either,
  type Given,
  integer,
  list,
  mapping,
  optional,
  template,
  text,
} from '../component.ts';
import type { DateTime } from '../dates/date-time.ts';
import { Timedelta } from '../dates/durations.ts';
import { parseDate } from '../dates/formats.ts';
import { parseIsoDate } from '../dates/iso-dates.ts';
import type { Answer } from '../http/answer.ts';
import { RunFailure } from '../http/failures.ts';
import { emptyParts, prepareRequest, type Values } from '../http/request.ts';
import { isNothing } from '../requests/pagination.ts';
import type { Authenticator } from '../requests/requester.ts';
import { setAtPath, valueAtPath } from '../run/paths.ts';
import { pythonText } from '../values/printing.ts';
import { headerParts } from './authenticators.ts';

interface Token {
  value: string;
  expires: DateTime | undefined;
}

/** Where the current token is: in this process, or in the configuration. */
interface TokenStore {
  current(): Token | undefined;
  hasRefreshToken: boolean;
  refreshToken(): unknown;
  refreshTokenName(): string;
  keep(token: Token, refreshToken: unknown): Promise<void>;
}

/** Refreshes of one configuration wait for each other: a refresh token may work once. */
const refreshes = new WeakMap<object, Promise<void>>();

/** The platform holds the refresh token: only its tokens are used. */
function signedIn(signIn: SignedIn): Authenticator {
  const headers = async () => {
    await signIn.ready();
    return { Authorization: `Bearer ${signIn.accessToken}` };
  };
  return {
    parts: async () => ({ ...emptyParts(), headers: await headers() }),
    renewedHeaders: headers,
    refresh: async () => void (await signIn.replace(signIn.generation)),
  };
}

function makeOAuth(given: Given): Authenticator {
  if (given.run.signIn?.accessToken !== undefined) return signedIn(given.run.signIn);
  const usesAssertion = given.condition('use_profile_assertion')?.isMet() ?? given.flag('use_profile_assertion');
  const assertion = given.child<Authenticator>('profile_assertion');
  const grantType = () =>
    usesAssertion
      ? 'urn:ietf:params:oauth:grant-type:jwt-bearer'
      : pythonText(given.rendered('grant_type', 'refresh_token'));
  const store = given.has('refresh_token_updater') ? configStore(given) : memoryStore(given);
  if (!usesAssertion && (!given.has('client_id') || !given.has('client_secret'))) {
    throw new Error('OAuth requires a client_id and a client_secret.');
  }
  if (usesAssertion && !assertion) throw new Error('OAuth with an assertion requires a profile_assertion.');
  if (!usesAssertion && grantType() === 'refresh_token' && !store.hasRefreshToken) {
    throw new Error('OAuth with the grant type refresh_token requires a refresh_token.');
  }
  // The rules for a token that is not valid any more are its own, or those of the updater in older manifests.
  const rules = given.has('refresh_token_error_status_codes')
    ? given
    : given.inside(given.value('refresh_token_updater'));

  async function refreshArguments(): Promise<Values> {
    const name = (option: string, byDefault: string) => pythonText(given.rendered(option, byDefault));
    if (usesAssertion) {
      const { headers } = (await assertion?.parts()) ?? emptyParts();
      const token = String(Object.values(headers)[0] ?? '').replace(/^\S+ /, '');
      return { [name('grant_type_name', 'grant_type')]: grantType(), assertion: token };
    }
    const clientId = given.rendered('client_id');
    if (isNothing(clientId)) throw new RunFailure('The client_id for OAuth is empty.', 'config_error');
    const inHeader = Object.keys(refreshHeaders()).includes('Authorization');
    const scopes = given.texts('scopes');
    const values: Values = {
      [name('grant_type_name', 'grant_type')]: grantType(),
      ...(!inHeader && {
        [name('client_id_name', 'client_id')]: clientId,
        [name('client_secret_name', 'client_secret')]: given.rendered('client_secret'),
      }),
      [store.refreshTokenName()]: store.refreshToken() ?? null,
      ...(scopes.length > 0 && { scopes }),
    };
    const further = given.mapping('refresh_request_body').value();
    for (const [key, value] of Object.entries(isJsonObject(further) ? further : {})) values[key] ??= value;
    return values;
  }

  function refreshHeaders(): Values {
    const headers = given.mapping('refresh_request_headers').value();
    return isJsonObject(headers) ? headers : {};
  }

  async function refresh(): Promise<void> {
    const endpoint = pythonText(given.rendered('token_refresh_endpoint'));
    const values = await refreshArguments();
    const parts = { ...emptyParts(), headers: refreshHeaders() };
    // A form whatever the headers say, as in the reference runtime.
    if (given.flag('send_refresh_request_as_query_params')) parts.query = values;
    else parts.form = values;
    const answer = await ask(given, prepareRequest('POST', endpoint, parts), rules);
    const body = answer.json;
    const token = findValue(body, pythonText(given.rendered('access_token_name', 'access_token')));
    if (isNothing(token)) throw new RunFailure('The response to the OAuth token refresh has no access token.');
    const expiry = findValue(body, pythonText(given.rendered('expires_in_name', 'expires_in')));
    const next = findValue(body, store.refreshTokenName());
    await store.keep({ value: pythonText(token), expires: expiryOf(given, expiry) }, next);
  }

  /** `isForced`: although the token should still be valid. */
  async function renew(isForced: boolean): Promise<void> {
    const known = store.current()?.value;
    const before = refreshes.get(given.config);
    const mine = (async () => {
      await before?.catch(() => {});
      const isFresh = isForced ? store.current()?.value !== known : !isExpired(given, store.current());
      if (!isFresh) await refresh();
    })();
    refreshes.set(given.config, mine);
    await mine;
  }

  async function token(): Promise<string> {
    const isFixed = !given.has('token_refresh_endpoint') && store.current() !== undefined;
    if (!isFixed && isExpired(given, store.current())) await renew(false);
    return store.current()?.value ?? '';
  }

  return {
    parts: async () => headerParts('Authorization', `Bearer ${await token()}`),
    renewedHeaders: async () => ({ Authorization: `Bearer ${await token()}` }),
    refresh: () => renew(true),
  };
}

function isExpired(given: Given, token: Token | undefined): boolean {
  return !token?.expires || given.run.clock.now().compare(token.expires) > 0;
}

function memoryStore(given: Given): TokenStore {
  let current: Token | undefined;
  const value = given.rendered('access_token_value');
  if (value !== undefined && !isNothing(value)) {
    const expiry = given.rendered('token_expiry_date');
    current = { value: pythonText(value), expires: isNothing(expiry) ? undefined : dateOf(pythonText(expiry)) };
  }
  return {
    current: () => current,
    // The token itself is rendered when it is needed: an access token may do without it.
    hasRefreshToken: given.has('refresh_token'),
    refreshToken: () => {
      const token = given.template('refresh_token');
      return token && pythonText(token.value());
    },
    refreshTokenName: () => pythonText(given.rendered('refresh_token_name', 'refresh_token')),
    async keep(token) {
      current = token;
    },
  };
}

function configStore(given: Given): TokenStore {
  const updater = given.inside(given.value('refresh_token_updater'));
  const path = (option: string, last: string) => (updater.has(option) ? updater.texts(option) : ['credentials', last]);
  const tokenPath = path('access_token_config_path', 'access_token');
  const refreshPath = path('refresh_token_config_path', 'refresh_token');
  const expiryPath = path('token_expiry_date_config_path', 'token_expiry_date');
  const at = (where: readonly string[]) => valueAtPath(given.config, where)?.value;
  return {
    current() {
      const expiry = at(expiryPath);
      return {
        value: String(at(tokenPath) ?? ''),
        expires: isNothing(expiry) ? undefined : dateOf(pythonText(expiry)),
      };
    },
    hasRefreshToken: true,
    refreshToken: () => at(refreshPath) ?? '',
    refreshTokenName: () => updater.text('refresh_token_name') ?? 'refresh_token',
    async keep(token, refreshToken) {
      setAtPath(given.config, tokenPath, token.value);
      if (refreshToken !== undefined) setAtPath(given.config, refreshPath, refreshToken);
      setAtPath(given.config, expiryPath, token.expires?.isoFormat() ?? '');
      await given.run.configurationChanged(given.config);
    },
  };
}

/** A number is one of seconds since 1970. */
function dateOf(value: string): DateTime {
  return /^\d+$/.test(value) ? parseDate(value, '%s') : parseIsoDate(value);
}

function expiryOf(given: Given, value: unknown): DateTime {
  const now = given.run.clock.now();
  const format = given.text('token_expiry_date_format');
  if (value === undefined) return now.plus(Timedelta.of({ hours: 1 }));
  if (format) return parseDate(pythonText(value), format);
  const seconds = Math.trunc(Number(pythonText(value)));
  if (Number.isNaN(seconds))
    throw new RunFailure('The expiry in the response to the OAuth token refresh is not a number.');
  return now.plus(Timedelta.of({ seconds }));
}

/** How an invalid refresh token is recognized. */
const tokenErrorOptions = {
  refresh_token_error_status_codes: optional(
    list(integer),
    'Status codes that mean the refresh token is no longer valid.',
  ),
  refresh_token_error_key: optional(text, 'The response field that reports it.'),
  refresh_token_error_values: optional(list(text), 'The values of that field that report it.'),
};

const mostSecondsOfRefresh = 300;

/** A server in trouble is asked again. Any other refusal is final. */
async function ask(given: Given, request: ReturnType<typeof prepareRequest>, rules: Given): Promise<Answer> {
  for (let waited = 0, wait = 1; ; wait *= 2) {
    await given.run.budget.take(request);
    const answer = await given.run.transport.send(request);
    if (answer.isGood) return answer;
    const isPassing = answer.status === 429 || answer.status >= 500;
    waited += wait;
    if (!isPassing || waited > mostSecondsOfRefresh) throw refusal(answer, rules);
    await given.run.wait(wait, 'poll');
  }
}

function refusal(answer: Answer, rules: Given): RunFailure {
  const statuses = (rules.value('refresh_token_error_status_codes') as number[] | undefined) ?? [];
  const key = rules.text('refresh_token_error_key') ?? '';
  const word = isJsonObject(answer.json) ? answer.json[key] : undefined;
  if (statuses.includes(answer.status) && rules.texts('refresh_token_error_values').includes(String(word))) {
    return new RunFailure('The refresh token is no longer valid. Sign in again.', 'config_error');
  }
  return new RunFailure(`The API refused to issue an access token (${answer.status}). Check the credentials.`);
}

/** The value of a key, wherever in an answer. */
function findValue(value: unknown, key: string, depth = 0): unknown {
  if (depth > 5) return undefined;
  if (isJsonObject(value)) {
    if (Object.hasOwn(value, key)) return value[key] ?? undefined;
    for (const inner of Object.values(value)) {
      const found = findValue(inner, key, depth + 1);
      if (found !== undefined) return found;
    }
  } else if (Array.isArray(value)) {
    for (const inner of value) {
      const found = findValue(inner, key, depth + 1);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

export const oauthComponents: ComponentDefinition[] = [
  {
    name: 'OAuthAuthenticator',
    step: 'S2',
    words: 'Gets access tokens with OAuth and sends them as `Authorization: Bearer …`.',
    options: {
      token_refresh_endpoint: optional(template, 'The token endpoint.'),
      client_id: optional(template, 'The client ID.'),
      client_id_name: optional(template, 'The name of this field in the request.', 'client_id'),
      client_secret: optional(template, 'The client secret.'),
      client_secret_name: optional(template, 'The name of this field in the request.', 'client_secret'),
      refresh_token: optional(template, 'The refresh token.'),
      refresh_token_name: optional(template, 'The name of this field in the request.', 'refresh_token'),
      grant_type: optional(template, 'The grant type.', 'refresh_token'),
      grant_type_name: optional(template, 'The name of this field in the request.', 'grant_type'),
      access_token_name: optional(template, 'The name of the access token in the response.', 'access_token'),
      access_token_value: optional(template, 'The initial access token.'),
      expires_in_name: optional(template, 'The name of the expiry in the response.', 'expires_in'),
      token_expiry_date: optional(template, 'When the initial access token expires.'),
      token_expiry_date_format: optional(
        text,
        'The format of the expiry if it is a date instead of a number of seconds.',
      ),
      scopes: optional(list(text), 'Scopes to request.'),
      refresh_request_body: optional(mapping(anything), 'Additional fields of the request.'),
      refresh_request_headers: optional(
        mapping(template),
        'Headers of the request. With an Authorization header, ID and secret are not sent in the body.',
      ),
      send_refresh_request_as_query_params: optional(boolean, 'Sends the fields as query parameters.', false),
      refresh_token_updater: optional(
        component('RefreshTokenUpdater'),
        'For APIs that return a new refresh token each time. It is stored in the configuration.',
      ),
      profile_assertion: optional(
        component('JwtAuthenticator', 'CustomAuthenticator'),
        'The JWT to send as the assertion.',
      ),
      use_profile_assertion: optional(either(boolean, template), 'Sends the JWT as the assertion.', false),
      ...tokenErrorOptions,
    },
    make: makeOAuth,
  },
  {
    name: 'RefreshTokenUpdater',
    step: 'S2',
    words: 'Where the configuration stores tokens of an API with single-use refresh tokens.',
    options: {
      refresh_token_name: optional(
        text,
        'The name of the refresh token in the request and the response.',
        'refresh_token',
      ),
      access_token_config_path: optional(list(text), 'Path of the access token.', ['credentials', 'access_token']),
      refresh_token_config_path: optional(list(text), 'Path of the refresh token.', ['credentials', 'refresh_token']),
      token_expiry_date_config_path: optional(list(text), 'Path of the expiry.', ['credentials', 'token_expiry_date']),
      ...tokenErrorOptions,
    },
  },
];
