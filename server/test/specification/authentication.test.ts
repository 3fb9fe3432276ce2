/** Authentication: which token reaches which endpoint, and the eight rules. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newOperatorSecret } from '../../src/kernel/config/operator-secrets.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';

const origin = 'https://app.example';
const unauthenticated = '{"detail":"Invalid authentication credentials"}';
const forbidden = '{"detail":"Access denied to this resource"}';
const infoPath = '/api/v1/embedded/scoped-token/info';

/** `:id` stands for a workspace that exists. None of these changes what the others need. */
const operatorEndpoints: [number, string, string, object?][] = [
  [1, 'POST', '/api/v1/embedded/scoped-token', { workspace_name: 'subject' }],
  [3, 'POST', '/api/v1/embedded/widget-token', { workspace_name: 'subject', allowed_origin: origin }],
  [4, 'GET', '/api/v1/workspaces'],
  [5, 'GET', '/api/v1/workspaces/:id'],
  [6, 'PUT', '/api/v1/workspaces/:id', { name: 'subject' }],
  [7, 'DELETE', '/api/v1/workspaces/:disposable'],
  [8, 'GET', '/api/v1/workspaces/stats'],
  [9, 'POST', '/api/v1/workspaces/sync'],
];
const scopedEndpoints: [number | string, string][] = [
  [2, infoPath],
  ['2, deprecated', '/api/v1/embedded/scoped-token-info'],
  ['2, deprecated', '/api/v1/embedded/organizations/current-scoped'],
];

describeOnOneDatabase('Authentication', (kind) => {
  let app: TestApp;
  let tokens: { scoped: string; widget: string; inWidget: string; read: string };
  beforeAll(async () => {
    app = await startTestApp(kind);
    const { body } = await app.request('POST', '/api/v1/embedded/widget-token', {
      body: { workspace_name: 'subject', allowed_origin: origin },
    });
    const { token: read } = await app.app.operatorTokens.create(app.organizationId, { name: 'r', permission: 'read' });
    tokens = {
      scoped: await app.scopedToken('subject'),
      widget: body.token,
      inWidget: JSON.parse(Buffer.from(body.token, 'base64').toString()).token,
      read,
    };
  });
  afterAll(() => app.stop());

  async function call(method: string, path: string, token: string | null, body?: object, headers = {}) {
    const url = path
      .replace(':id', await app.workspaceId('subject'))
      .replace(':disposable', path.includes(':disposable') ? await app.workspaceId('disposable') : '');
    return await app.request(method, url, { token, body, headers });
  }

  const expectUnauthenticated = (answer: Awaited<ReturnType<typeof call>>) => {
    expect(answer.status).toBe(401);
    expect(answer.text).toBe(unauthenticated);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  };

  describe.each(operatorEndpoints)('Endpoint %s: %s %s takes an operator token', (_number, method, path, body) => {
    it('operator token: 200', async () => {
      expect((await call(method, path, app.operatorToken, body)).status).toBe(200);
    });

    it('scoped token, widget token, the token in it, or none: 401', async () => {
      for (const token of [tokens.scoped, tokens.widget, tokens.inWidget, null]) {
        expectUnauthenticated(await call(method, path, token, body));
      }
    });

    it('a read-only operator token: 200 for GET, 403 for anything else', async () => {
      const { status, text } = await call(method, path, tokens.read, body);
      expect(status).toBe(method === 'GET' ? 200 : 403);
      if (method !== 'GET') expect(text).toBe(forbidden);
    });

    it("X-Organization-Id: the token's own is fine, another one gives 403", async () => {
      const own = await call(method, path, app.operatorToken, body, { 'x-organization-id': app.organizationId });
      expect(own.status).toBe(200);
      for (const other of [randomUUID(), 'nonsense']) {
        const { status, text } = await call(method, path, app.operatorToken, body, { 'x-organization-id': other });
        expect(status).toBe(403);
        expect(text).toBe(forbidden);
      }
    });

    it('sends no CORS headers, whatever the origin', async () => {
      const { headers } = await call(method, path, app.operatorToken, body, { origin });
      const preflight = await call('OPTIONS', path, null, undefined, {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization',
      });
      for (const name of [...Object.keys(headers), ...Object.keys(preflight.headers)]) {
        expect(name).not.toMatch(/^access-control-/);
      }
      expect(preflight.status).toBe(405);
    });
  });

  describe.each(scopedEndpoints)('Endpoint %s: GET %s takes a scoped token', (_number, path) => {
    it('scoped token, and the one inside a widget token: 200', async () => {
      for (const token of [tokens.scoped, tokens.inWidget]) expect((await call('GET', path, token)).status).toBe(200);
    });

    it('operator token, a widget token whole, or none: 401', async () => {
      for (const token of [app.operatorToken, tokens.read, tokens.widget, null]) {
        expectUnauthenticated(await call('GET', path, token));
      }
    });

    it('allows cross-origin calls, without credentials', async () => {
      const { headers } = await call('GET', path, tokens.scoped, undefined, { origin: 'https://anywhere.example' });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      const preflight = await call('OPTIONS', path, null, undefined, {
        origin: 'https://anywhere.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers['access-control-allow-origin']).toBe('*');
      expect(preflight.headers['access-control-allow-methods']).toContain('GET');
      expect(preflight.headers['access-control-allow-headers']).toContain('authorization');
    });
  });

  describe('Rules', () => {
    it('3. a missing or malformed header gives 401', async () => {
      const values = [
        '',
        'Bearer',
        'Bearer ',
        `Basic ${app.operatorToken}`,
        app.operatorToken,
        `Token ${tokens.scoped}`,
      ];
      for (const authorization of values) {
        for (const path of ['/api/v1/workspaces', infoPath]) {
          expectUnauthenticated(await call('GET', path, null, undefined, { authorization }));
        }
      }
    });

    it('3. the scheme may be written in any case', async () => {
      for (const scheme of ['bearer', 'BEARER']) {
        const authorization = `${scheme} ${app.operatorToken}`;
        expect((await call('GET', '/api/v1/workspaces', null, undefined, { authorization })).status).toBe(200);
      }
    });

    it('3. an unknown or damaged token gives 401', async () => {
      const [head, claims, signature] = tokens.scoped.split('.');
      const forged = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
      const bad = [
        newOperatorSecret(),
        `${app.operatorToken}x`,
        app.operatorToken.slice(0, -1),
        app.operatorToken.toLowerCase(),
        'x'.repeat(40),
        `${head}.${claims}.`,
        `${forged}.${claims}.`,
        `${head}.${claims}.${signature?.startsWith('A') ? 'B' : 'A'}${signature?.slice(1)}`,
        `${head}.${Buffer.from('{}').toString('base64url')}.${signature}`,
      ];
      for (const token of bad) {
        for (const path of ['/api/v1/workspaces', infoPath]) expectUnauthenticated(await call('GET', path, token));
      }
    });

    it('3. a token is taken from the header only', async () => {
      expectUnauthenticated(await call('GET', `${infoPath}?access_token=${tokens.scoped}`, null));
      expectUnauthenticated(await call('GET', infoPath, null, undefined, { cookie: `token=${tokens.scoped}` }));
    });

    it('4. insufficient permission gives 403, before the request is looked at', async () => {
      const { status, text } = await app.request('PUT', '/api/v1/workspaces/not-a-uuid', {
        token: tokens.read,
        payload: '{broken',
      });
      expect(status).toBe(403);
      expect(text).toBe(forbidden);
    });

    it('5. scoped and widget tokens outlive a restart', async () => {
      await app.restart();
      for (const token of [tokens.scoped, tokens.inWidget]) {
        expect((await call('GET', infoPath, token)).status).toBe(200);
      }
      expect((await call('GET', '/api/v1/workspaces', app.operatorToken)).status).toBe(200);
    });

    it("6. a widget token works from its own origin and from the widget's page, and from no other", async () => {
      const from = async (header: string | undefined, token = tokens.inWidget) =>
        await call('GET', infoPath, token, undefined, header === undefined ? {} : { origin: header });
      const own = await from(origin);
      expect(own.status).toBe(200);
      expect(own.headers['access-control-allow-origin']).toBe(origin);
      expect((await from('http://localhost:8080')).status).toBe(200);
      expect((await from(undefined)).status).toBe(200);
      const others = ['https://app.example.evil.example', 'http://app.example', 'https://app.example:8443', 'null', ''];
      for (const other of others) {
        const { status, text, headers } = await from(other);
        expect(status, other).toBe(403);
        expect(text).toBe(forbidden);
        expect(headers['access-control-allow-origin']).toBeUndefined();
      }
    });

    it('6. origins are compared as browsers write them: the usual port may be named', async () => {
      const { body } = await app.request('POST', '/api/v1/embedded/widget-token', {
        body: { workspace_name: 'subject', allowed_origin: 'https://app.example:443' },
      });
      const { token } = JSON.parse(Buffer.from(body.token, 'base64').toString());
      expect((await call('GET', infoPath, token, undefined, { origin })).status).toBe(200);
    });

    it('7. no answer but that of its creation ever shows an operator token', async () => {
      const { text } = await app.request('GET', '/api/v1/operator-tokens');
      expect(text).not.toContain(app.operatorToken);
      expect(text).not.toContain('inlay_op_');
    });
  });
});
