/** Answers of token endpoints: as real providers write them, and as an attacker would. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  longestDescription,
  longestLifeSeconds,
  readTokenAnswer,
  secondsIn,
  type TokenAnswer,
} from './token-answers.ts';

type Provider = Parameters<typeof readTokenAnswer>[0];
const read = (status: number, body: unknown, provider: Provider = {}) =>
  readTokenAnswer(provider, { status, body: typeof body === 'string' ? body : JSON.stringify(body) });

describe('tokens', () => {
  it.each<[string, number, unknown, Provider, object]>([
    [
      'as the standard says',
      200,
      { access_token: 'a', token_type: 'Bearer', expires_in: 3600, scope: 'x y' },
      {},
      { expiresInSeconds: 3600, scopes: ['x', 'y'] },
    ],
    ['without a type', 200, { access_token: 'a' }, {}, {}],
    ['of a type of its own', 200, { access_token: 'a', token_type: 'bot' }, {}, {}],
    ['with status 201', 201, { access_token: 'a' }, {}, {}],
    ['with a list of scopes', 200, { access_token: 'a', scope: ['x', 'y'] }, {}, { scopes: ['x', 'y'] }],
    [
      'with commas between scopes',
      200,
      { access_token: 'a', scope: 'x,y' },
      { scope_separator: ',' },
      { scopes: ['x', 'y'] },
    ],
    ['with an empty scope', 200, { access_token: 'a', scope: '' }, {}, { scopes: [] }],
    ['with an empty list of scopes', 200, { access_token: 'a', scope: [] }, {}, { scopes: [] }],
    ['with scopes that are none', 200, { access_token: 'a', scope: { x: 1 } }, {}, { scopes: [] }],
    ['with scopes that are null', 200, { access_token: 'a', scope: null }, {}, {}],
    ['with seconds as text', 200, { access_token: 'a', expires_in: '7200' }, {}, { expiresInSeconds: 7200 }],
    ['without seconds', 200, { access_token: 'a' }, { access_token_seconds: 60 }, { expiresInSeconds: 60 }],
    [
      'with seconds that say nothing',
      200,
      { access_token: 'a', expires_in: -1 },
      { access_token_seconds: 60 },
      { expiresInSeconds: 60 },
    ],
    [
      'as a form',
      200,
      'access_token=a&scope=x%2Cy&token_type=bearer',
      { scope_separator: ',' },
      { scopes: ['x', 'y'] },
    ],
    [
      'inside another object',
      200,
      { ok: true, authed_user: { access_token: 'a', refresh_token: 'r' } },
      { answer: { access_token: ['authed_user', 'access_token'], refresh_token: ['authed_user', 'refresh_token'] } },
      { refreshToken: 'r' },
    ],
    ['beside an empty error', 200, { access_token: 'a', error: '' }, {}, {}],
    ['beside an error that is none', 200, { access_token: 'a', error: {} }, {}, {}],
    ['behind a byte order mark', 200, '\ufeff{"access_token":"a"}', {}, {}],
    ['named twice', 200, '{"access_token":"b","access_token":"a"}', {}, {}],
    ['beside a prototype', 200, '{"access_token":"a","__proto__":{"scope":"x","error":"y"}}', {}, {}],
    ['beside deep JSON', 200, `{"access_token":"a","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, {}, {}],
  ])('%s', (_name, status, body, provider, expected) => {
    const nothing = { refreshToken: undefined, expiresInSeconds: undefined, scopes: undefined };
    expect(read(status, body, provider)).toMatchObject({ kind: 'tokens', accessToken: 'a', ...nothing, ...expected });
  });
});

describe('errors', () => {
  it.each<[string, number, unknown, string]>([
    ['as the standard says', 400, { error: 'invalid_grant' }, 'invalid_grant'],
    ['with status 200', 200, { error: 'bad_refresh_token', error_description: 'x' }, 'invalid_grant'],
    ['with ok: false', 200, { ok: false, error: 'invalid_code' }, 'invalid_grant'],
    ['as a form', 200, 'error=incorrect_client_credentials', 'invalid_client'],
    ['as an object', 401, { error: { code: 'invalid_client', message: 'x' } }, 'invalid_client'],
    ['as a token beside an error', 200, { access_token: 'a', error: 'access_denied' }, 'access_denied'],
    ['called like a member of every object', 400, { error: 'constructor' }, 'constructor'],
  ])('%s', (_name, status, body, code) => {
    expect(read(status, body)).toMatchObject({ kind: 'refused', code });
  });
});

describe('answers that decide nothing', () => {
  it.each<[string, number, unknown]>([
    ['an error of its own', 403, { status: 'error', message: 'no' }],
    ['success without a token', 200, { ok: true }],
    ['a page', 502, '<html>Bad gateway</html>'],
    ['a page with status 200', 200, '<html>Sign in</html>'],
    ['a list', 200, '[1]'],
    ['a text', 200, '"access_token"'],
    ['status 400 beside a token', 400, { access_token: 'a' }],
    ['an OAuth error of a failing server', 500, { error: 'invalid_grant' }],
    ['the reason phrase of the status', 403, { error: 'Forbidden' }],
    ['a token that needs a key', 200, { access_token: 'a', token_type: 'MAC' }],
    ['a prototype with a token', 200, '{"__proto__":{"access_token":"a"}}'],
    ['tokens after invalid UTF-8', 200, Buffer.from([0x7b, 0xff, 0x7d]).toString()],
  ])('%s', (_name, status, body) => {
    expect(read(status, body)).toMatchObject({ kind: 'unavailable', status });
  });
});

describe('whatever a provider answers', () => {
  const odd = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\0', '\ud800', '\u202e', 'x'.repeat(40_000), 'é', '\r\n', '__proto__', 'a'),
    fc.double(),
    fc.maxSafeInteger(),
    fc.constantFrom(0, -1, 1e16, 1e308, 2 ** 53 - 1, '1e400', '3600', null, true),
    fc.jsonValue(),
  );
  const names = ['access_token', 'refresh_token', 'expires_in', 'scope', 'error', 'error_description', 'token_type'];
  const body = fc.oneof(
    { weight: 4, arbitrary: fc.dictionary(fc.constantFrom(...names, 'message', 'id_token', 'other'), odd) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
  const text = fc.oneof(
    { weight: 5, arbitrary: body.map((value) => JSON.stringify(value)) },
    {
      weight: 1,
      arbitrary: fc.dictionary(fc.constantFrom(...names), fc.string()).map((form) => String(new URLSearchParams(form))),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
  const status = fc.oneof(
    fc.constantFrom(200, 201, 302, 400, 401, 403, 429, 500, 503),
    fc.integer({ min: 100, max: 999 }),
  );

  /** What can be stored and shown: no control characters, no halves of pairs. */
  const isPlain = (said: string, most: number) => said.length <= most && !/[\p{Cc}\p{Cs}\u202e]/u.test(said);

  function check(answer: TokenAnswer, given: number): void {
    switch (answer.kind) {
      case 'tokens':
        expect(given).toBeLessThan(300);
        for (const token of [answer.accessToken, answer.refreshToken ?? 'none']) {
          expect(token).toMatch(/^[\x20-\x7e]{1,32768}$/);
          expect(() => new Headers({ authorization: `Bearer ${token}` })).not.toThrow();
        }
        if (answer.expiresInSeconds !== undefined) {
          expect(Number.isInteger(answer.expiresInSeconds)).toBe(true);
          expect(answer.expiresInSeconds).toBeGreaterThanOrEqual(1);
          expect(answer.expiresInSeconds).toBeLessThanOrEqual(longestLifeSeconds);
        }
        for (const scope of answer.scopes ?? []) expect(isPlain(scope, 500) && scope !== '').toBe(true);
        break;
      case 'refused':
        expect(given).toBeLessThan(500);
        expect(answer.code).toMatch(/^[\w.:/-]{1,100}$/);
        expect(isPlain(answer.description ?? '', longestDescription)).toBe(true);
        break;
      case 'unavailable':
        expect(isPlain(answer.reason, longestDescription + 200)).toBe(true);
    }
  }

  it('its parsed values are bounded and can be stored', () => {
    fc.assert(
      fc.property(status, text, fc.boolean(), (given, said, keepsOldRefreshToken) => {
        check(
          readTokenAnswer({ access_token_seconds: 60 }, { status: given, body: said }, { keepsOldRefreshToken }),
          given,
        );
      }),
      { numRuns: 500 },
    );
  });

  it('good tokens are never lost because of what stands beside them', () => {
    fc.assert(
      fc.property(odd, odd, odd, (expires_in, scope, message) => {
        const answer = read(200, { access_token: 'a', refresh_token: 'r', expires_in, scope, message });
        expect(answer).toMatchObject({ kind: 'tokens', accessToken: 'a', refreshToken: 'r' });
      }),
      { numRuns: 300 },
    );
  });

  it('an answer with 5xx, 408, 425 or 429 decides nothing', () => {
    fc.assert(
      fc.property(fc.constantFrom(408, 425, 429, 500, 502, 503, 599), text, (given, said) => {
        expect(readTokenAnswer({}, { status: given, body: said }).kind).toBe('unavailable');
      }),
      { numRuns: 200 },
    );
  });

  it.each<[unknown, number | undefined]>([
    [3600, 3600],
    ['3600', 3600],
    [' 60 ', 60],
    ['60.9', 60],
    [0.5, 1],
    [1e16, longestLifeSeconds],
    [Number.POSITIVE_INFINITY, longestLifeSeconds],
    [0, undefined],
    [-1, undefined],
    ['-1', undefined],
    ['0x10', undefined],
    ['', undefined],
    [Number.NaN, undefined],
    [null, undefined],
    [true, undefined],
    [[60], undefined],
    [{ valueOf: 60 }, undefined],
  ])('%j seconds are %j', (given, expected) => {
    expect(secondsIn(given)).toBe(expected);
  });
});
