/** Errors: every status with its exact body, and the order of the checks. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { createOrganization } from '../../src/tenancy/organizations/organizations.ts';
import { type Answer, startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';

const path = '/api/v1/workspaces';
const tokenPath = '/api/v1/embedded/scoped-token';

describeOnOneDatabase('Errors', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp(kind);
  });
  afterAll(() => app.stop());

  const expectError = (answer: Answer, status: number, detail: unknown) => {
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['x-request-id']).toEqual(expect.any(String));
    expect(answer.body).toEqual({ detail });
  };

  describe('The table of the specification', () => {
    it('401: missing header, invalid token, or wrong token type', async () => {
      for (const token of [null, 'invalid', await app.scopedToken('wrong type')]) {
        const answer = await app.request('GET', path, { token });
        expectError(answer, 401, 'Invalid authentication credentials');
        expect(answer.headers['www-authenticate']).toBe('Bearer');
      }
    });

    it('401: expired token', async () => {
      const expired = { name: 'expired', expiresAt: Date.UTC(2020, 0, 1) };
      const { token } = await app.app.operatorTokens.create(app.organizationId, expired);
      expectError(await app.request('GET', path, { token }), 401, 'Invalid authentication credentials');
    });

    it('403: insufficient permissions', async () => {
      const reader = { name: 'reader', permission: 'read' as const };
      const { token } = await app.app.operatorTokens.create(app.organizationId, reader);
      const answer = await app.request('POST', tokenPath, { token, body: { workspace_name: 'x' } });
      expectError(answer, 403, 'Access denied to this resource');
    });

    it('404: the workspace identifier does not exist', async () => {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        expectError(await app.request(method, `${path}/${randomUUID()}`), 404, 'Workspace not found');
      }
    });

    it('422: missing or invalid request parameters', async () => {
      expectError(await app.request('POST', tokenPath, { body: {} }), 422, [
        { loc: ['body', 'workspace_name'], msg: 'field required', type: 'value_error.missing' },
      ]);
      const id = await app.workspaceId('invalid status');
      expectError(await app.request('PUT', `${path}/${id}`, { body: { status: 'paused' } }), 422, [
        {
          loc: ['body', 'status'],
          msg: "value is not a valid enumeration member; permitted: 'active', 'inactive'",
          type: 'type_error.enum',
        },
      ]);
    });
  });

  describe('404', () => {
    it("unknown, soft-deleted and another organization's answer byte for byte the same", async () => {
      const { id } = await createOrganization(app.app.store, systemRuntime, { name: 'another' });
      const { token } = await app.app.operatorTokens.create(id, { name: 'theirs' });
      const deleted = await app.workspaceId('deleted');
      await app.request('DELETE', `${path}/${deleted}`);
      const foreign = await app.workspaceId('foreign');
      for (const [method, body] of [['GET'], ['PUT', { name: 'mine now' }], ['PUT', {}], ['DELETE']] as const) {
        const answers = [
          await app.request(method, `${path}/${randomUUID()}`, { body }),
          await app.request(method, `${path}/${deleted}`, { body }),
          await app.request(method, `${path}/${foreign}`, { body, token }),
        ];
        const comparable = answers.map(({ status, text, headers }) => {
          const { 'x-request-id': _, 'x-trace-id': __, date: ___, ...rest } = headers;
          return { status, text, rest };
        });
        expect(comparable[0]).toMatchObject({ status: 404, text: '{"detail":"Workspace not found"}' });
        expect(comparable[1]).toEqual(comparable[0]);
        expect(comparable[2]).toEqual(comparable[0]);
      }
      expect((await app.request('GET', `${path}/${foreign}`)).body.name).toBe('foreign');
    });

    it.each(['/api', '/api/v1', '/api/v2/workspaces', '/api/v1/workspace', `${path}/a/b`])(
      'unknown route: %s',
      async (url) => {
        expectError(await app.request('GET', url), 404, 'Not Found');
        expectError(await app.request('GET', url, { token: null }), 404, 'Not Found');
      },
    );

    it.each([`${path}/%ZZ`, `${path}/%c3%28`])('a path that cannot be decoded: %s', async (url) => {
      expectError(await app.request('GET', url), 404, 'Not Found');
    });
  });

  describe('As HTTP says', () => {
    it.each([
      ['PATCH', path, 'GET, HEAD'],
      ['DELETE', tokenPath, 'POST'],
      ['POST', '/api/v1/workspaces/stats', 'GET, HEAD'],
      ['GET', '/api/v1/workspaces/sync', 'POST'],
    ])('405: %s %s', async (method, url, allow) => {
      const answer = await app.request(method, url);
      expectError(answer, 405, 'Method Not Allowed');
      expect(String(answer.headers.allow).split(', ').toSorted().join(', ')).toBe(allow);
    });

    it('413: a body above 1 MiB', async () => {
      const body = { workspace_name: 'x'.repeat(1_100_000) };
      expectError(await app.request('POST', tokenPath, { body }), 413, 'Payload Too Large');
    });

    it.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
    ])('415: %s', async (type) => {
      const answer = await app.request('POST', tokenPath, {
        payload: '{"workspace_name":"x"}',
        headers: { 'content-type': type },
      });
      expectError(answer, 415, 'Unsupported Media Type');
    });

    it('415: a compressed body, which is never inflated', async () => {
      const answer = await app.request('POST', tokenPath, { payload: '{}', headers: { 'content-encoding': 'gzip' } });
      expectError(answer, 415, 'Unsupported Media Type');
    });
  });

  it('409: the name is already in use', async () => {
    const id = await app.workspaceId('one');
    await app.workspaceId('two');
    const answer = await app.request('PUT', `${path}/${id}`, { body: { name: 'two' } });
    expectError(answer, 409, 'A workspace with this name already exists');
  });

  describe('Order of checks', () => {
    const broken = { payload: '{"status":' };

    it('401 comes before everything else', async () => {
      const answer = await app.request('PUT', `${path}/nonsense`, { ...broken, token: 'invalid' });
      expectError(answer, 401, 'Invalid authentication credentials');
    });

    it('403 for a token that may not do this at all comes before 422', async () => {
      const reader = { name: 'reader', permission: 'read' as const };
      const { token } = await app.app.operatorTokens.create(app.organizationId, reader);
      const answer = await app.request('PUT', `${path}/nonsense`, { ...broken, token });
      expectError(answer, 403, 'Access denied to this resource');
    });

    it('422 comes before 404', async () => {
      const answer = await app.request('PUT', `${path}/${randomUUID()}`, { body: { status: 'nonsense' } });
      expect(answer.status).toBe(422);
    });

    it('422 comes before 409', async () => {
      const id = await app.workspaceId('three');
      await app.workspaceId('four');
      const answer = await app.request('PUT', `${path}/${id}`, { body: { name: 'four', status: 'nonsense' } });
      expect(answer.status).toBe(422);
    });
  });
});
