/** Endpoints 1 and 2, the two deprecated ones, and what a scoped token says. */
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';

const infoPath = '/api/v1/embedded/scoped-token/info';

describeOnOneDatabase('Scoped token', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp(kind);
  });
  afterAll(() => app.stop());

  const ask = (body: unknown) => app.request('POST', '/api/v1/embedded/scoped-token', { body });
  const idOf = async (token: string) => (await app.request('GET', infoPath, { token })).body['workspace ID'];

  describe('Endpoint 1: POST /api/v1/embedded/scoped-token', () => {
    it('answers 200 in JSON that no cache may keep', async () => {
      const { status, headers } = await ask({ workspace_name: 'answer' });
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['x-request-id']).toEqual(expect.any(String));
    });

    it('workspace_name: the workspace to create or use', async () => {
      const { body } = await ask({ workspace_name: 'chosen' });
      const id = await idOf(body.token);
      expect((await app.request('GET', `/api/v1/workspaces/${id}`)).body.name).toBe('chosen');
    });

    it('workspace_name: required; a missing one gives 422', async () => {
      const { status, body } = await ask({});
      expect(status).toBe(422);
      expect(body).toEqual({
        detail: [{ loc: ['body', 'workspace_name'], msg: 'field required', type: 'value_error.missing' }],
      });
    });

    it.each([
      ['no UUID', 'us', 'value is not a valid uuid', 'type_error.uuid'],
      [
        'no region',
        '645a183f-b12b-4c6e-8ad3-99e165603451',
        "value is not a valid enumeration member; permitted: '645a183f-b12b-4c6e-8ad3-99e165603450', 'b9e48d61-f082-4a14-a8d0-799a907938cb'",
        'type_error.enum',
      ],
    ])('region_id: %s gives 422, also for a workspace that exists', async (_what, region_id, msg, type) => {
      await app.workspaceId('with a region');
      for (const workspace_name of ['with a region', 'never made']) {
        const { status, body } = await ask({ workspace_name, region_id });
        expect(status).toBe(422);
        expect(body).toEqual({ detail: [{ loc: ['body', 'region_id'], msg, type }] });
      }
      expect((await app.request('GET', '/api/v1/workspaces?name_contains=never made')).body.data).toEqual([]);
    });

    it('ignores fields it does not know', async () => {
      expect((await ask({ workspace_name: 'more fields', colour: 'blue', nested: { a: [1] } })).status).toBe(200);
    });

    it('issues a token for an inactive workspace as for an active one', async () => {
      const id = await app.workspaceId('asleep');
      await app.request('PUT', `/api/v1/workspaces/${id}`, { body: { status: 'inactive' } });
      const { status, body } = await ask({ workspace_name: 'asleep' });
      expect(status).toBe(200);
      expect(await idOf(body.token)).toBe(id);
      expect((await app.request('GET', `/api/v1/workspaces/${id}`)).body.status).toBe('inactive');
    });

    it('takes names that differ in case, or only in compatibility forms, for different ones', async () => {
      const ids = await Promise.all(['Case', 'case', 'CASE', 'ﬁne', 'fine', '２', '2'].map((n) => app.workspaceId(n)));
      expect(new Set(ids).size).toBe(7);
    });

    it('takes names that are equal after NFC for one, and keeps the first spelling', async () => {
      const composed = await app.workspaceId('Caf\u00e9 1');
      expect(await app.workspaceId('Cafe\u0301 1')).toBe(composed);
      const decomposed = await app.workspaceId('Cafe\u0301 2');
      expect(await app.workspaceId('Caf\u00e9 2')).toBe(decomposed);
      expect((await app.request('GET', `/api/v1/workspaces/${decomposed}`)).body.name).toBe('Cafe\u0301 2');
    });

    it('issues a different token each time; each stays valid', async () => {
      const [first, second] = [await app.scopedToken('several'), await app.scopedToken('several')];
      expect(first).not.toBe(second);
      expect(await idOf(first)).toBe(await idOf(second));
    });
  });

  describe('Endpoint 2: GET /api/v1/embedded/scoped-token/info', () => {
    it("answers 200 with the token's own organization and workspace", async () => {
      const token = await app.scopedToken('endpoint 2');
      const { status, headers, body } = await app.request('GET', infoPath, { token });
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers.deprecation).toBeUndefined();
      expect(body).toEqual({ organization_id: app.organizationId, 'workspace ID': decodeJwt(token).sub });
    });

    it.each(['/api/v1/embedded/scoped-token-info', '/api/v1/embedded/organizations/current-scoped'])(
      'deprecated: GET %s gives the same information and says where to go',
      async (path) => {
        const token = await app.scopedToken('deprecated');
        const current = await app.request('GET', infoPath, { token });
        const { status, headers, text } = await app.request('GET', path, { token });
        expect(status).toBe(200);
        expect(text).toBe(current.text);
        // RFC 9745: a structured date.
        expect(headers.deprecation).toMatch(/^@\d+$/);
        expect(headers.link).toBe(`<${infoPath}>; rel="successor-version"`);
      },
    );
  });

  describe('Claims', () => {
    it('are exactly those of the contract, without an expiry', async () => {
      const before = Math.floor(Date.now() / 1000);
      const token = await app.scopedToken('claims');
      const workspaceId = await app.workspaceId('claims');
      const claims = decodeJwt(token);
      expect(claims).toEqual({
        iss: 'http://localhost:8080',
        aud: 'inlay',
        sub: workspaceId,
        jti: expect.any(String),
        iat: expect.any(Number),
        org: app.organizationId,
        'io.inlay.auth.workspace_scope': { workspaceId, organizationId: app.organizationId },
      });
      expect(Number.isInteger(claims.iat)).toBe(true);
      expect(claims.iat).toBeGreaterThanOrEqual(before);
      expect(claims.iat).toBeLessThanOrEqual(Math.floor(Date.now() / 1000));
    });

    it('have a jti of their own in every token', async () => {
      const tokens = await Promise.all(Array.from({ length: 20 }, () => app.scopedToken('claims')));
      expect(new Set(tokens.map((token) => decodeJwt(token).jti)).size).toBe(20);
    });

    it('are signed with EdDSA by a key of the published set', async () => {
      const token = await app.scopedToken('signed');
      const { status, headers, body: jwks } = await app.request('GET', '/.well-known/jwks.json', { token: null });
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', typ: 'JWT', kid: jwks.keys[0].kid });
      expect(jwks.keys).toEqual([
        { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: expect.any(String), x: expect.any(String) },
      ]);
      const { payload } = await jwtVerify(token, createLocalJWKSet(jwks), {
        issuer: 'http://localhost:8080',
        audience: 'inlay',
        algorithms: ['EdDSA'],
        typ: 'JWT',
      });
      expect(payload.sub).toBe(await app.workspaceId('signed'));
    });
  });
});

describeOnOneDatabase('Scoped token, configured', (kind) => {
  it('INLAY_VENDOR names the scope claim and INLAY_PUBLIC_URL the issuer', async () => {
    const env = { INLAY_VENDOR: 'acme', INLAY_PUBLIC_URL: 'https://inlay.example/base/' };
    const app = await startTestApp(kind, { env });
    onTestFinished(() => app.stop());
    const token = await app.scopedToken('vendor');
    const claims = decodeJwt(token);
    expect(claims['io.acme.auth.workspace_scope']).toEqual({
      workspaceId: claims.sub,
      organizationId: app.organizationId,
    });
    expect(Object.keys(claims)).not.toContain('io.inlay.auth.workspace_scope');
    expect(claims.iss).toBe('https://inlay.example/base');
    expect((await app.request('GET', infoPath, { token })).status).toBe(200);
  });

  it('without INLAY_SCOPED_TOKEN_TTL_SECONDS a token is valid for ever', async () => {
    let offsetMs = 0;
    const runtime = { ...systemRuntime, now: () => Date.now() + offsetMs };
    const app = await startTestApp(kind, { overrides: { runtime } });
    onTestFinished(() => app.stop());
    const token = await app.scopedToken('for ever');
    offsetMs = 50 * 365 * 86_400_000;
    expect((await app.request('GET', infoPath, { token })).status).toBe(200);
  });

  it('expires_in_seconds, within what the setting allows, says when a scoped or a widget token ends', async () => {
    const start = Date.UTC(2031, 0, 1);
    let now = start;
    const limited = await startTestApp(kind, {
      env: { INLAY_SCOPED_TOKEN_TTL_SECONDS: '600' },
      overrides: { runtime: { ...systemRuntime, now: () => now } },
    });
    onTestFinished(() => limited.stop());
    const app = await startTestApp(kind);
    onTestFinished(() => app.stop());
    const request = (on: TestApp, what: string, expires_in_seconds?: unknown) =>
      on.request('POST', `/api/v1/embedded/${what}`, {
        body: { workspace_name: `of ${what}`, allowed_origin: 'https://app.example', expires_in_seconds },
      });
    for (const what of ['scoped-token', 'widget-token']) {
      const scopedOf = (token: string) =>
        what === 'scoped-token' ? token : JSON.parse(Buffer.from(token, 'base64').toString()).token;
      const works = async (token: string) =>
        (await limited.request('GET', infoPath, { token: scopedOf(token) })).status === 200;
      now = start;

      for (const tooLong of [601, 3_153_600_000]) {
        const { status, body } = await request(limited, what, tooLong);
        expect([status, body.detail]).toEqual([
          422,
          [
            {
              loc: ['body', 'expires_in_seconds'],
              msg: 'ensure this value is less than or equal to 600',
              type: 'value_error.number.not_le',
            },
          ],
        ]);
      }
      const listed = await limited.request('GET', `/api/v1/workspaces?name_contains=of%20${what}`);
      expect(listed.body.data).toEqual([]);

      const short = await request(limited, what, 60);
      expect(Object.keys(short.body)).toEqual(['token']);
      expect(decodeJwt(scopedOf(short.body.token)).exp).toBe(start / 1000 + 60);
      expect(short.headers['x-inlay-token-expires-at']).toBe('2031-01-01T00:01:00.000Z');
      const usual = await request(limited, what);
      expect(usual.headers['x-inlay-token-expires-at']).toBe('2031-01-01T00:10:00.000Z');
      const info = await limited.request('GET', infoPath, { token: scopedOf(usual.body.token) });
      for (const { headers } of [short, usual]) {
        expect(headers['x-inlay-workspace-id']).toBe(info.body['workspace ID']);
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
      now = start + 59_000;
      expect(await works(short.body.token)).toBe(true);
      now = start + 61_000;
      expect([await works(short.body.token), await works(usual.body.token)]).toEqual([false, true]);

      // Without a setting, any lifetime, and none.
      const long = await request(app, what, 3_153_600_000);
      expect(long.headers['x-inlay-token-expires-at']).toMatch(/^21\d\d-/);
      const forever = await request(app, what);
      expect(forever.headers['x-inlay-token-expires-at']).toBeUndefined();
      expect(forever.headers['x-inlay-workspace-id']).toEqual(expect.stringMatching(/^[0-9a-f-]{36}$/));
      for (const [value, type] of [
        [0, 'value_error.number.not_ge'],
        [-1, 'value_error.number.not_ge'],
        [3_153_600_001, 'value_error.number.not_le'],
        [1.5, 'type_error.integer'],
        ['60', 'type_error.integer'],
        [null, 'type_error.none.not_allowed'],
      ]) {
        const { status, body } = await request(app, what, value);
        expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', 'expires_in_seconds'], type }]]);
      }
    }
  });

  it('with INLAY_SCOPED_TOKEN_TTL_SECONDS scoped and widget tokens say when they end, and end then', async () => {
    let offsetMs = 0;
    const runtime = { ...systemRuntime, now: () => Date.now() + offsetMs };
    const app = await startTestApp(kind, {
      env: { INLAY_SCOPED_TOKEN_TTL_SECONDS: '600' },
      overrides: { runtime },
    });
    onTestFinished(() => app.stop());
    const scoped = await app.scopedToken('for ten minutes');
    const { body } = await app.request('POST', '/api/v1/embedded/widget-token', {
      body: { workspace_name: 'for ten minutes', allowed_origin: 'https://app.example' },
    });
    const inWidget = JSON.parse(Buffer.from(body.token, 'base64').toString()).token as string;
    for (const token of [scoped, inWidget]) {
      const { iat = 0, exp = 0 } = decodeJwt(token);
      expect(exp - iat).toBe(600);
    }
    const answers = async () => {
      const both = [scoped, inWidget].map((token) => app.request('GET', infoPath, { token }));
      return (await Promise.all(both)).map(({ status, text }) => [status, status === 401 ? text : '']);
    };
    expect(await answers()).toEqual(Array(2).fill([200, '']));
    offsetMs = 590_000;
    expect(await answers()).toEqual(Array(2).fill([200, '']));
    offsetMs = 601_000;
    expect(await answers()).toEqual(Array(2).fill([401, '{"detail":"Invalid authentication credentials"}']));
  });
});
