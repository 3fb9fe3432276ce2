/**
 * Makes the answer of a token endpoint conform to RFC 6749, by what the provider's description says. Real providers leave
 * out `token_type`, send scopes as a list or with commas, write forms instead of JSON, answer with status 201, put the
 * tokens into another object, and say errors with status 200.
 */
import type { OAuthProvider } from '@inlay/contract/oauth-providers';

export interface RawAnswer {
  status: number;
  body: string;
}

type Json = Record<string, unknown>;

/** What providers call the errors of RFC 6749. */
const standardErrors: Record<string, string> = {
  bad_refresh_token: 'invalid_grant',
  bad_verification_code: 'invalid_grant',
  code_already_used: 'invalid_grant',
  invalid_code: 'invalid_grant',
  invalid_refresh_token: 'invalid_grant',
  token_expired: 'invalid_grant',
  token_revoked: 'invalid_grant',
  bad_client_secret: 'invalid_client',
  incorrect_client_credentials: 'invalid_client',
  invalid_client_id: 'invalid_client',
};

/** A Response as oauth4webapi expects it: 200 with tokens, or 400 and above with an error. */
export function conform(
  provider: Pick<OAuthProvider, 'answer' | 'scope_separator' | 'access_token_seconds'>,
  raw: RawAnswer,
  { keepsIdToken = true }: { keepsIdToken?: boolean } = {},
): Response {
  const answer = readBody(raw.body);
  if (!answer) {
    const status = raw.status < 400 ? 502 : raw.status;
    return json(status, { error: 'server_error', error_description: 'The answer is not readable.' });
  }
  const accessToken = text(at(answer, provider.answer?.access_token ?? ['access_token']));
  const error = errorOf(answer, provider.answer?.error ?? ['error']);
  if (raw.status >= 400 || error !== undefined || accessToken === undefined) {
    const description = text(answer.error_description ?? answer.message ?? answer.errorSummary);
    return json(Math.max(raw.status, 400), {
      error: error ?? (raw.status < 400 ? 'no_access_token' : 'unknown_error'),
      ...(description !== undefined && { error_description: description }),
    });
  }
  const refreshToken = text(at(answer, provider.answer?.refresh_token ?? ['refresh_token']));
  const seconds = Number(at(answer, provider.answer?.expires_in ?? ['expires_in']) ?? provider.access_token_seconds);
  const scope = scopesIn(at(answer, provider.answer?.scope ?? ['scope']), provider.scope_separator);
  return json(200, {
    ...answer,
    access_token: accessToken,
    token_type: 'bearer',
    refresh_token: refreshToken,
    expires_in: Number.isFinite(seconds) && seconds > 0 ? Math.floor(seconds) : undefined,
    scope,
    ...(!keepsIdToken && { id_token: undefined }),
  });
}

function json(status: number, body: Json): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}

function readBody(body: string): Json | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    if (!/^[\w.~%+-]+=/.test(body)) return undefined;
    return Object.fromEntries(new URLSearchParams(body));
  }
}

/** Some say `ok: false` beside the error, some an object in place of a word. */
function errorOf(answer: Json, path: readonly string[]): string | undefined {
  const said = at(answer, path) ?? at(answer, ['error']);
  const word = isObject(said) ? (text(said.code) ?? text(said.type) ?? text(said.status)) : text(said);
  if (word !== undefined) return standardErrors[word] ?? word;
  return said === undefined || said === null || said === false || said === '' ? undefined : 'unknown_error';
}

function scopesIn(value: unknown, separator = ' '): string | undefined {
  const list = Array.isArray(value)
    ? value.map(text)
    : text(value)?.split(new RegExp(`[\\s${escapeInClass(separator)}]+`));
  return list?.filter((scope) => scope !== undefined && scope !== '').join(' ');
}

const escapeInClass = (character: string) => character.replace(/[\]\\^-]/g, '\\$&');

/** What an answer of a provider has at a path; undefined if there is nothing of its own. */
export function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );
}

/** A text or a number, as text. */
export function text(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
