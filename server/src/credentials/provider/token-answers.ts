/**
 * Reads the answers of token endpoints. Everything a provider says is untrusted input: this file decides which of it counts,
 * and bounds all of it. The rest of the service stores and shows what it gives without further checks.
 *
 * What always holds: `refused` is an OAuth error about this very request. `unavailable` is any other answer without usable
 * tokens, such as 5xx, the page of a proxy or a success without a token: it says nothing about the grant. Tokens can be sent
 * in a header. The life of a token is between a second and ten years. Texts can be stored (storable-text.ts).
 *
 * Real providers leave out `token_type`, send scopes as a list or with commas, write forms instead of JSON, answer with
 * status 201, put the tokens into another object, and report errors with status 200.
 */
import { STATUS_CODES } from 'node:http';
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import type { OAuthProvider } from '@inlay/contract/credentials/oauth-providers';
import { plainText } from '@inlay/contract/text/storable-text';

/** The token response for a code, a refresh token, or client credentials. */
export interface Tokens {
  kind: 'tokens';
  accessToken: string;
  /** Undefined: the provider gave none, so the old one stays. */
  refreshToken: string | undefined;
  /** Undefined: the provider does not say. */
  expiresInSeconds: number | undefined;
  /** Exactly what was granted. Undefined: the provider does not say, so it is what was requested (RFC 6749, 5.1). */
  scopes: string[] | undefined;
  idToken: string | undefined;
  /** The whole answer, unbounded: read it only through `at` and `textIn`. */
  answer: Record<string, unknown>;
}

export type TokenAnswer =
  | Tokens
  | { kind: 'refused'; code: string; description: string | undefined }
  | { kind: 'unavailable'; status: number; reason: string; retryAfterMs: number | undefined };

export interface RawAnswer {
  status: number;
  body: string;
  retryAfterMs?: number | undefined;
}

type Json = Record<string, unknown>;
type Described = Pick<OAuthProvider, 'answer' | 'scope_separator' | 'access_token_seconds'>;

/** Some providers mean "never" with a number that no calendar has. */
export const longestLifeSeconds = 3_650 * 86_400;
const longestToken = 32_768;
const longestCode = 100;
export const longestDescription = 500;
/** As many as a client and a template may ask for together, and as long. */
const longestScope = 500;
const mostScopes = 1_000;

/** What providers call the errors of RFC 6749. */
const standardErrors: Record<string, string> = {
  bad_refresh_token: 'invalid_grant',
  bad_verification_code: 'invalid_grant',
  code_already_used: 'invalid_grant',
  expired_token: 'invalid_grant',
  invalid_code: 'invalid_grant',
  invalid_refresh_token: 'invalid_grant',
  token_expired: 'invalid_grant',
  token_revoked: 'invalid_grant',
  bad_client_secret: 'invalid_client',
  incorrect_client_credentials: 'invalid_client',
  invalid_client_id: 'invalid_client',
};

/** Errors with a code that are no decision about the request. */
const transientErrors = new Set([
  'fatal_error',
  'internal_error',
  'rate_limit_exceeded',
  'ratelimited',
  'request_timeout',
  'server_error',
  'service_unavailable',
  'slow_down',
  'temporarily_unavailable',
  'too_many_requests',
]);

/** Token types whose tokens are of no use without a key that the client would have to prove. */
const typesWithKey = new Set(['dpop', 'hok', 'mac', 'pop']);

/**
 * `keepsOldRefreshToken`: there is a refresh token already, so that an unusable one in the answer costs nothing. Without that
 * the answer counts as unusable.
 */
export function readTokenAnswer(
  provider: Described,
  raw: RawAnswer,
  { keepsOldRefreshToken = false }: { keepsOldRefreshToken?: boolean } = {},
): TokenAnswer {
  const { status, retryAfterMs } = raw;
  const unavailable = (reason: string) => ({ kind: 'unavailable', status, reason, retryAfterMs }) as const;
  if (status >= 500 || [408, 425, 429].includes(status))
    return unavailable(`The provider responded with status ${status}.`);
  const answer = readBody(raw.body);
  if (!answer) return unavailable(`The provider responded with status ${status} and neither JSON nor form data.`);
  const code = errorCodeIn(answer, provider.answer?.error ?? ['error'], status);
  if (code !== undefined) {
    const said = [answer.error_description, answer.message, answer.errorSummary, at(answer, ['error', 'message'])];
    const description = said.map((one) => textIn(one, longestDescription)).find((one) => one !== undefined);
    if (!transientErrors.has(code)) return { kind: 'refused', code, description };
    return unavailable(`The provider responded with ${description === undefined ? code : `${code}: ${description}`}.`);
  }
  if (status >= 300) return unavailable(`The provider responded with status ${status} but without an OAuth error.`);
  const type = textIn(answer.token_type, longestCode)?.toLowerCase();
  if (type !== undefined && typesWithKey.has(type)) {
    return unavailable(`The provider issued a token of type ${type} instead of a bearer token.`);
  }
  // Some providers have tokens at their own place after a sign-in, and at the usual one after a refresh.
  const found = (name: 'access_token' | 'refresh_token' | 'expires_in' | 'scope') =>
    (provider.answer?.[name] && at(answer, provider.answer[name])) ?? at(answer, [name]);
  const accessToken = readToken(found('access_token'));
  if (accessToken.kind === 'none') return unavailable('The provider responded without an access token.');
  if (accessToken.kind === 'unusable') return unavailable(`The provider's access token ${accessToken.why}.`);
  const refreshToken = readToken(found('refresh_token'));
  if (refreshToken.kind === 'unusable' && !keepsOldRefreshToken) {
    return unavailable(`The provider's refresh token ${refreshToken.why}.`);
  }
  const idToken = answer.id_token;
  return {
    kind: 'tokens',
    accessToken: accessToken.token,
    refreshToken: refreshToken.kind === 'token' ? refreshToken.token : undefined,
    expiresInSeconds: secondsIn(found('expires_in')) ?? secondsIn(provider.access_token_seconds),
    scopes: scopesIn(found('scope'), provider.answer?.scope_separator ?? provider.scope_separator),
    idToken: typeof idToken === 'string' && idToken.length <= longestToken ? idToken : undefined,
    answer,
  };
}

export function readBody(body: string): Json | undefined {
  const text = body.replace(/^\ufeff/, '');
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    if (!/^[\w.~%+-]+=/.test(text)) return undefined;
    return Object.fromEntries(new URLSearchParams(text));
  }
}

/**
 * The code of an OAuth error. Some providers put an object in place of the code. Gateways and frameworks write the status or its
 * reason phrase there, which is not the word of the provider about the request.
 */
export function errorCodeIn(answer: Json, path: readonly string[], status: number): string | undefined {
  const said = at(answer, path) ?? at(answer, ['error']);
  const word = isObject(said) ? [said.code, said.type, said.status].find(isWord) : said;
  if (!isWord(word)) return undefined;
  const code = String(word);
  const isCode = code.length <= longestCode && /^[\w.:/-]+$/.test(code);
  const isStatus = [String(status), STATUS_CODES[status]?.toLowerCase()].includes(
    code.toLowerCase().replaceAll('_', ' '),
  );
  if (!isCode || isStatus) return undefined;
  return Object.hasOwn(standardErrors, code) ? standardErrors[code] : code;
}

const isWord = (value: unknown): value is string | number =>
  typeof value === 'number' || (typeof value === 'string' && value !== '');

type ReadToken = { kind: 'token'; token: string } | { kind: 'none' } | { kind: 'unusable'; why: string };

/** RFC 6749, appendix A.12: visible ASCII and blanks. Anything else could not be sent in a header. */
function readToken(value: unknown): ReadToken {
  if (value === undefined || value === null || value === '') return { kind: 'none' };
  if (!isWord(value)) return { kind: 'unusable', why: 'is not a text' };
  const token = String(value);
  if (token.length > longestToken) return { kind: 'unusable', why: `is longer than ${longestToken} characters` };
  return /^[\x20-\x7e]+$/.test(token)
    ? { kind: 'token', token }
    : { kind: 'unusable', why: 'contains invalid characters' };
}

/** Zero and less mean "never" or nothing at all. Fractions are rounded down, but a token lives for a second at least. */
export function secondsIn(value: unknown): number | undefined {
  const isNumeric = typeof value === 'number' || (typeof value === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(value));
  const seconds = isNumeric ? Number(value) : Number.NaN;
  if (!(seconds > 0)) return undefined;
  return Math.min(longestLifeSeconds, Math.max(1, Math.floor(seconds)));
}

/** Undefined only where the answer has no scopes at all: an empty text means that nothing was granted. */
function scopesIn(value: unknown, separator = ' '): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const text = isWord(value) ? String(value) : '';
  const list = Array.isArray(value) ? value : text.split(new RegExp(`[\\s${escapeInClass(separator)}]+`));
  // A scope that would have to be changed for storing is not a scope that anybody asked for.
  const scopes = list.filter(isWord).map(String);
  return [...new Set(scopes.filter((scope) => textIn(scope, longestScope) === scope))].slice(0, mostScopes);
}

const escapeInClass = (character: string) => character.replace(/[\]\\^-]/g, '\\$&');

/** What an answer of a provider has at a path; undefined if there is nothing of its own. */
export function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );
}

/** A text or a number, as a text that can be stored and shown. */
export function textIn(value: unknown, mostCharacters: number): string | undefined {
  const text = isWord(value) ? plainText(String(value), mostCharacters) : '';
  return text === '' ? undefined : text;
}

type Scopes = Pick<OAuthProvider, 'implied_scopes' | 'silent_scopes'>;

/** Granted scopes, with those that the provider leaves out of its answers. */
export function coveredScopes(
  { implied_scopes = {}, silent_scopes = [] }: Scopes,
  granted: readonly string[],
): string[] {
  const rules = Object.entries(implied_scopes);
  const implied = granted.flatMap((scope) => rules.flatMap(([wider, narrower]) => impliedBy(scope, wider, narrower)));
  return [...new Set([...granted, ...implied, ...silent_scopes])];
}

function impliedBy(scope: string, wider: string, narrower: readonly string[]): readonly string[] {
  if (scope === wider) return narrower;
  const start = wider.slice(0, -1);
  // A `*` alone is the name of a scope.
  if (!wider.endsWith('*') || start === '' || !scope.startsWith(start)) return [];
  return narrower.map((one) => one.replace(/\*$/, () => scope.slice(start.length)));
}
