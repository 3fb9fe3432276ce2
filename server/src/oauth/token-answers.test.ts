/** Answers of token endpoints as real providers write them. */
import { describe, expect, it } from 'vitest';
import { conform } from './token-answers.ts';

type Provider = Parameters<typeof conform>[0];
async function read(status: number, body: unknown, provider: Provider = {}) {
  const response = conform(provider, { status, body: typeof body === 'string' ? body : JSON.stringify(body) });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe('tokens', () => {
  it.each<[string, number, unknown, Provider, object]>([
    [
      'as the standard says',
      200,
      { access_token: 'a', token_type: 'Bearer', expires_in: 3600, scope: 'x y' },
      {},
      { expires_in: 3600, scope: 'x y' },
    ],
    ['without a type', 200, { access_token: 'a' }, {}, {}],
    ['of a type of its own', 200, { access_token: 'a', token_type: 'bot' }, {}, {}],
    ['with status 201', 201, { access_token: 'a' }, {}, {}],
    ['with a list of scopes', 200, { access_token: 'a', scope: ['x', 'y'] }, {}, { scope: 'x y' }],
    [
      'with commas between scopes',
      200,
      { access_token: 'a', scope: 'x,y' },
      { scope_separator: ',' },
      { scope: 'x y' },
    ],
    ['with seconds as text', 200, { access_token: 'a', expires_in: '7200' }, {}, { expires_in: 7200 }],
    ['without seconds', 200, { access_token: 'a' }, { access_token_seconds: 60 }, { expires_in: 60 }],
    ['as a form', 200, 'access_token=a&scope=x%2Cy&token_type=bearer', { scope_separator: ',' }, { scope: 'x y' }],
    [
      'inside another object',
      200,
      { ok: true, authed_user: { access_token: 'a', refresh_token: 'r' } },
      { answer: { access_token: ['authed_user', 'access_token'], refresh_token: ['authed_user', 'refresh_token'] } },
      { refresh_token: 'r' },
    ],
    ['beside an empty error', 200, { access_token: 'a', error: '' }, {}, {}],
  ])('%s', async (_name, status, body, provider, expected) => {
    const answer = await read(status, body, provider);
    expect(answer).toMatchObject({ status: 200, body: { access_token: 'a', token_type: 'bearer', ...expected } });
    for (const name of ['expires_in', 'scope', 'refresh_token']) {
      if (!(name in expected)) expect(answer.body).not.toHaveProperty(name);
    }
  });
});

describe('errors', () => {
  it.each<[string, number, unknown, number, string]>([
    ['as the standard says', 400, { error: 'invalid_grant' }, 400, 'invalid_grant'],
    ['with status 200', 200, { error: 'bad_refresh_token', error_description: 'x' }, 400, 'invalid_grant'],
    ['with ok: false', 200, { ok: false, error: 'invalid_code' }, 400, 'invalid_grant'],
    ['as a form', 200, 'error=incorrect_client_credentials', 400, 'invalid_client'],
    ['as an object', 401, { error: { code: 'invalid_client', message: 'x' } }, 401, 'invalid_client'],
    ['of its own', 403, { status: 'error', message: 'no' }, 403, 'unknown_error'],
    ['as success without a token', 200, { ok: true }, 400, 'no_access_token'],
    ['as a page', 502, '<html>Bad gateway</html>', 502, 'server_error'],
    ['as a page with status 200', 200, '<html>Sign in</html>', 502, 'server_error'],
    ['as a list', 200, '[1]', 502, 'server_error'],
    ['as a token beside an error', 200, { access_token: 'a', error: 'access_denied' }, 400, 'access_denied'],
    ['with status 400 beside a token', 400, { access_token: 'a' }, 400, 'unknown_error'],
  ])('%s', async (_name, status, body, expectedStatus, error) => {
    expect(await read(status, body)).toMatchObject({ status: expectedStatus, body: { error } });
  });
});
