/** What holds for every answer, and in which order a request is checked. */
import { errorCatalogue, refusals } from '@inlay/contract/error-catalogue';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { fill, infoPath, unknownId, widgetToken } from './support.ts';

let test: TestApp;
let workspaceId: string;

beforeAll(async () => {
  test = await startTestApp('sqlite');
  workspaceId = await test.workspaceId('acme');
});
afterAll(() => test.stop());

/** The methods of each address of ours. */
function methodsByUrl(): Map<string, string[]> {
  const urls = new Map<string, string[]>();
  for (const { url, method, access } of test.app.routeTable.routes) {
    if (access === 'platform' || url.startsWith('/platform/')) continue;
    urls.set(url, [...(urls.get(url) ?? []), method]);
  }
  return urls;
}

describe('Every answer', () => {
  it('carries X-Request-Id and is never sniffed, whatever it answers', async () => {
    for (const { method, url } of test.app.routeTable.routes) {
      for (const token of [test.operatorToken, null]) {
        const { headers } = await test.request(method, fill(url, {}), { token });
        expect(headers['x-request-id'], `${method} ${url}`).toMatch(/^[\w.:-]{1,64}$/);
        expect(headers['x-content-type-options'], `${method} ${url}`).toBe('nosniff');
        expect(headers['referrer-policy'], `${method} ${url}`).toBe('no-referrer');
      }
    }
    const others = [
      await test.request('GET', '/nowhere'),
      await test.request('TRACE', '/api/v1/workspaces'),
      await test.request('OPTIONS', infoPath),
      await test.request('PROPFIND', '/api/v1/workspaces'),
      await test.request('POST', '/api/v1/embedded/scoped-token', { payload: '{' }),
      await test.request('POST', '/api/v1/embedded/scoped-token', { payload: 'x'.repeat(1_048_577) }),
      await test.request('POST', '/api/v1/embedded/scoped-token', { payload: 'x', headers: { 'content-type': 'a/b' } }),
    ];
    expect(others.map(({ status }) => status)).toEqual([404, 405, 204, 405, 422, 413, 415]);
    for (const { headers } of others) expect(headers['x-request-id']).toMatch(/^[\w.:-]{1,64}$/);
  });

  it('that is an error carries its code, which a browser may read', async () => {
    const codes = new Set([...Object.keys(errorCatalogue), ...Object.keys(refusals)]);
    for (const { method, url, access } of test.app.routeTable.routes) {
      if (url.startsWith('/platform/')) continue;
      for (const token of [test.operatorToken, null]) {
        const { status, headers } = await test.request(method, fill(url, {}), { token });
        const code = headers['x-inlay-error'];
        if (status < 400) expect(code, `${method} ${url}`).toBeUndefined();
        else expect(codes, `${method} ${url} ${status}`).toContain(code);
        const exposed = headers['access-control-expose-headers'];
        if (access === 'scoped') expect(exposed, `${method} ${url}`).toContain('X-Inlay-Error');
        else expect(exposed).toBeUndefined();
      }
    }
    const token = '/api/v1/embedded/scoped-token';
    const post = (payload: string, type = 'application/json') =>
      test.request('POST', token, { payload, headers: { 'content-type': type } });
    const answers = [
      await test.request('GET', '/nowhere'),
      await test.request('GET', '/api/v1/workspaces/%zz'),
      await test.request('GET', '/widget/assets/none.js'),
      await test.request('TRACE', '/api/v1/workspaces'),
      await test.request('PROPFIND', '/api/v1/workspaces'),
      await test.request('GET', token, { token: null }),
      await test.request('POST', token, { token: null }),
      await post('{'),
      await post('x'.repeat(1_048_577)),
      await post('x', 'text/plain'),
      await test.request('GET', `/api/v1/workspaces/${unknownId}`),
    ];
    expect(answers.map(({ headers }) => headers['x-inlay-error'])).toEqual([
      'route_not_found',
      'route_not_found',
      'route_not_found',
      'method_not_allowed',
      'method_not_allowed',
      'method_not_allowed',
      'unauthenticated',
      'invalid_request',
      'body_too_large',
      'unsupported_media_type',
      'workspace_not_found',
    ]);
  });

  it('carries X-Request-Id even when the path cannot be decoded or is too long', async () => {
    for (const path of [
      '/api/v1/workspaces/%zz',
      '/api/v1/workspaces/%ff',
      '/%',
      `/api/v1/workspaces/${'a'.repeat(500)}`,
    ]) {
      const { status, headers, text } = await test.request('GET', path);
      expect([404, 422], path).toContain(status);
      expect(Object.keys(JSON.parse(text))).toEqual(['detail']);
      expect(headers['x-request-id'], path).toMatch(/^[\w.:-]{1,64}$/);
    }
  });

  it('repeats a request id of the caller only if it is harmless', async () => {
    const idFor = async (given: string) =>
      (await test.request('GET', '/health/live', { headers: { 'x-request-id': given } })).headers['x-request-id'];
    expect(await idFor('trace-1-abc')).toBe('trace-1-abc');
    for (const bad of [
      '',
      'a b',
      'a"b',
      '<b>',
      'ä',
      'a\tb',
      'x'.repeat(37),
      'inlay_op_1',
      'a.b.c',
      `${'a'.repeat(10)}\u001b[31m`,
    ]) {
      expect(await idFor(bad), bad).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe('A method that an address does not have', () => {
  it('is answered 405 with Allow', async () => {
    for (const [url, allowed] of methodsByUrl()) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']) {
        if (allowed.includes(method)) continue;
        const { status, headers, text } = await test.request(method, fill(url, {}), { token: null });
        expect([status, headers.allow, text], `${method} ${url}`).toEqual([
          405,
          allowed.join(', '),
          '{"detail":"Method Not Allowed"}',
        ]);
      }
    }
  });

  it('is answered 405 with Allow even if no address has it', async () => {
    for (const method of ['PROPFIND', 'MKCOL', 'LOCK', 'SEARCH', 'PURGE']) {
      const { status, headers, text } = await test.request(method, '/api/v1/workspaces');
      expect([status, text]).toEqual([405, '{"detail":"Method Not Allowed"}']);
      expect(headers.allow, method).toBe('GET, HEAD');
    }
  });

  it('cannot be reached by an override header, parameter or field', async () => {
    const path = `/api/v1/workspaces/${workspaceId}`;
    for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override', '_method']) {
      const headers = { [name]: 'DELETE' };
      expect((await test.request('GET', `${path}?_method=DELETE&${name}=DELETE`, { headers })).status).toBe(200);
      expect((await test.request('POST', path, { headers, body: { _method: 'DELETE' } })).status).toBe(405);
      expect((await test.request('PUT', path, { headers, body: { _method: 'DELETE' } })).status).toBe(200);
    }
    expect((await test.request('GET', path)).status).toBe(200);
  });

  it('is not TRACE: nothing of the request comes back', async () => {
    for (const path of ['/', '/api/v1/workspaces', '/widget', infoPath]) {
      const { status, text } = await test.request('TRACE', path, { headers: { cookie: 'session=secret' } });
      expect(status).toBe(405);
      expect(text).toBe('{"detail":"Method Not Allowed"}');
    }
  });
});

describe('A request is checked in this order', () => {
  const bad = { body: { name: 5, status: 'asleep' } };
  const good = { body: { status: 'active' } };

  it('401 before everything else', async () => {
    for (const options of [bad, { payload: '{' }, { payload: 'x'.repeat(1_048_577) }]) {
      const token = null;
      expect((await test.request('PUT', '/api/v1/workspaces/x', { token, ...options })).status).toBe(401);
      expect((await test.request('PUT', `/api/v1/workspaces/${unknownId}`, { token, ...options })).status).toBe(401);
    }
    const headers = { 'x-organization-id': unknownId };
    expect((await test.request('GET', '/api/v1/workspaces', { token: 'x', headers })).status).toBe(401);
    expect((await test.request('GET', infoPath, { token: 'x', headers: { origin: 'https://a.example' } })).status).toBe(
      401,
    );
  });

  it('403 for a token that may not do this at all, before 422 and 404', async () => {
    const { token } = await test.app.operatorTokens.create(test.organizationId, { name: 'read', permission: 'read' });
    for (const options of [bad, good, { payload: '{' }, { payload: 'x'.repeat(1_048_577) }]) {
      for (const path of ['/api/v1/workspaces/x', `/api/v1/workspaces/${unknownId}`]) {
        expect((await test.request('PUT', path, { token, ...options })).status).toBe(403);
        const headers = { 'x-organization-id': unknownId };
        expect((await test.request('PUT', path, { headers, ...options })).status).toBe(403);
      }
    }
    const widget = await widgetToken(test, {});
    const headers = { origin: 'https://evil.example' };
    expect((await test.request('GET', infoPath, { token: widget.inner, headers })).status).toBe(403);
  });

  it('422 with the faults of path and body together, before 404', async () => {
    const answer = await test.request('PUT', '/api/v1/workspaces/x', bad);
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({
      detail: [
        { loc: ['path', 'workspace_id'], msg: 'value is not a valid uuid', type: 'type_error.uuid' },
        { loc: ['body', 'name'], msg: 'str type expected', type: 'type_error.str' },
        {
          loc: ['body', 'status'],
          msg: "value is not a valid enumeration member; permitted: 'active', 'inactive'",
          type: 'type_error.enum',
        },
      ],
    });
    expect((await test.request('PUT', `/api/v1/workspaces/${unknownId}`, bad)).status).toBe(422);
    expect((await test.request('PUT', `/api/v1/workspaces/${unknownId}`, { payload: '{' })).status).toBe(422);
  });

  it('404 for the resource last', async () => {
    const { status, text } = await test.request('PUT', `/api/v1/workspaces/${unknownId}`, good);
    expect([status, text]).toEqual([404, '{"detail":"Workspace not found"}']);
  });
});
