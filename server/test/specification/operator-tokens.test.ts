/** The operator-token API, and the revocation of scoped and widget tokens. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { createOrganization } from '../../src/tenancy/organizations/organizations.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';

/** The store's clock cannot be set; a busy machine takes its time. */
const patience = { timeout: 300_000 };

const path = '/api/v1/operator-tokens';
const infoPath = '/api/v1/embedded/scoped-token/info';
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const secretForm = /^inlay_op_[0-9A-Za-z]{49}$/;

describeOnOneDatabase('Operator tokens', (kind) => {
  let app: TestApp;
  let elsewhere: { organizationId: string; token: string };
  beforeAll(async () => {
    app = await startTestApp(kind);
    const { id } = await createOrganization(app.app.store, systemRuntime, { name: 'another' });
    elsewhere = { organizationId: id, token: (await app.app.operatorTokens.create(id, { name: 'theirs' })).token };
  });
  afterAll(() => app.stop());

  const create = (body: object) => app.request('POST', path, { body });
  const list = async (token = app.operatorToken) => (await app.request('GET', path, { token })).body.data;
  const find = async (id: string) => (await list()).find((row: { id: string }) => row.id === id);
  const works = async (token: string) => (await app.request('GET', '/api/v1/workspaces', { token })).status;

  describe('POST /api/v1/operator-tokens', () => {
    it('answers 201 with the secret, which works; no cache may keep it', async () => {
      const { status, headers, body } = await create({ name: 'backend' });
      expect(status).toBe(201);
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(body).toEqual({
        id: expect.any(String),
        name: 'backend',
        permission: 'full',
        created_at: timestamp,
        expires_at: null,
        last_used_at: null,
        revoked_at: null,
        token: expect.stringMatching(secretForm),
      });
      expect(await works(body.token)).toBe(200);
    });

    it('the secret is shown this once', async () => {
      const { token, ...rest } = (await create({ name: 'once' })).body;
      expect(await find(rest.id)).toEqual(rest);
      expect((await app.request('GET', path)).text).not.toContain(token);
    });

    it('permission read: may call GET endpoints only', async () => {
      const { token, permission } = (await create({ name: 'reader', permission: 'read' })).body;
      expect(permission).toBe('read');
      expect(await works(token)).toBe(200);
      expect((await app.request('GET', path, { token })).status).toBe(200);
      for (const [method, url, body] of [
        ['POST', path, { name: 'more' }],
        ['DELETE', `${path}/${randomUUID()}`],
        ['POST', `${path}/${randomUUID()}/rotate`],
        ['POST', '/api/v1/embedded/scoped-token', { workspace_name: 'x' }],
        ['POST', '/api/v1/workspaces/sync'],
      ] as const) {
        const answer = await app.request(method, url, { token, body });
        expect(answer.status, `${method} ${url}`).toBe(403);
        expect(answer.body).toEqual({ detail: 'Access denied to this resource' });
      }
    });

    it('expires_at: works until then and not after', async () => {
      const later = new Date(Date.now() + 3_600_000).toISOString();
      const lasting = (await create({ name: 'lasting', expires_at: later })).body;
      expect(lasting.expires_at).toBe(later);
      expect(await works(lasting.token)).toBe(200);
      const { token } = (await create({ name: 'over', expires_at: '2020-01-01T00:00:00Z' })).body;
      expect(await works(token)).toBe(401);
      const soon = (await create({ name: 'soon', expires_at: new Date(Date.now() + 700).toISOString() })).body;
      await vi.waitFor(async () => expect(await works(soon.token)).toBe(401), patience);
    });

    it('expires_at: takes any offset and shows UTC', async () => {
      const { body } = await create({ name: 'offset', expires_at: '2040-01-01T02:00:00+02:00' });
      expect(body.expires_at).toBe('2040-01-01T00:00:00.000Z');
    });

    it.each(['tomorrow', '2040-01-01', '2040-13-01T00:00:00Z', '2040-02-31T00:00:00Z', '2040-01-01T00:00:00', ''])(
      'expires_at: %j is no time',
      async (expires_at) => {
        const { status, body } = await create({ name: 'x', expires_at });
        expect(status).toBe(422);
        expect(body.detail).toEqual([
          {
            loc: ['body', 'expires_at'],
            msg: 'use a timestamp such as 2026-01-31T09:30:00Z',
            type: 'value_error.datetime',
          },
        ]);
      },
    );

    it('name and permission: all faults in one answer', async () => {
      const { status, body } = await create({ permission: 'admin' });
      expect(status).toBe(422);
      expect(body.detail).toEqual([
        { loc: ['body', 'name'], msg: 'field required', type: 'value_error.missing' },
        {
          loc: ['body', 'permission'],
          msg: "value is not a valid enumeration member; permitted: 'full', 'operator', 'read'",
          type: 'type_error.enum',
        },
      ]);
    });
  });

  describe('GET /api/v1/operator-tokens', () => {
    it("lists the organization's own tokens, oldest first, and no other's", async () => {
      await create({ name: 'mine' });
      const rows = await list();
      expect(rows[0].name).toBe('first');
      const times = rows.map((row: { created_at: string }) => row.created_at);
      expect(times).toEqual(times.toSorted());
      expect((await list(elsewhere.token)).map((row: { name: string }) => row.name)).toEqual(['theirs']);
    });

    it('reports when a token was last used', async () => {
      const { id, token } = (await create({ name: 'used' })).body;
      expect((await find(id)).last_used_at).toBeNull();
      const before = Date.now();
      await works(token);
      await app.app.operatorTokens.flushUses();
      const { last_used_at } = await find(id);
      expect(last_used_at).toEqual(timestamp);
      expect(Date.parse(last_used_at)).toBeGreaterThanOrEqual(before);
    });
  });

  describe('DELETE /api/v1/operator-tokens/{id}', () => {
    it('revokes at once, and keeps the record', async () => {
      const { id, token } = (await create({ name: 'revoked' })).body;
      const { status, body } = await app.request('DELETE', `${path}/${id}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ id, revoked_at: timestamp });
      expect(await works(token)).toBe(401);
      expect(await find(id)).toEqual(body);
    });

    it('a second time changes nothing', async () => {
      const { id } = (await create({ name: 'revoked twice' })).body;
      const first = await app.request('DELETE', `${path}/${id}`);
      expect((await app.request('DELETE', `${path}/${id}`)).body).toEqual(first.body);
    });

    it('a token may revoke itself', async () => {
      const { id, token } = (await create({ name: 'leaving' })).body;
      expect((await app.request('DELETE', `${path}/${id}`, { token })).status).toBe(200);
      expect(await works(token)).toBe(401);
    });

    it.each(['DELETE', 'rotate'])(
      '%s: unknown, or of another organization: 404, byte for byte the same',
      async (how) => {
        const [theirs] = await list(elsewhere.token);
        const act = (id: string) =>
          how === 'DELETE' ? app.request('DELETE', `${path}/${id}`) : app.request('POST', `${path}/${id}/rotate`);
        for (const id of [randomUUID(), theirs.id]) {
          const { status, text } = await act(id);
          expect(status).toBe(404);
          expect(text).toBe('{"detail":"Operator token not found"}');
        }
        expect(await works(elsewhere.token)).toBe(200);
        const bad = await act('7');
        expect(bad.status).toBe(422);
        expect(bad.body.detail).toEqual([
          { loc: ['path', 'operator_token_id'], msg: 'value is not a valid uuid', type: 'type_error.uuid' },
        ]);
      },
    );
  });

  describe('POST /api/v1/operator-tokens/{id}/rotate', () => {
    const rotate = (id: string, body?: object) => app.request('POST', `${path}/${id}/rotate`, { body });

    it('gives a token of the same name and permission, and revokes the old one at once', async () => {
      const old = (await create({ name: 'rotated', permission: 'read' })).body;
      expect(await works(old.token)).toBe(200);
      const { status, headers, body } = await rotate(old.id);
      expect(status).toBe(201);
      expect(headers['cache-control']).toBe('no-store');
      expect(body).toMatchObject({ name: 'rotated', permission: 'read', revoked_at: null });
      expect(body.id).not.toBe(old.id);
      expect(body.token).toMatch(secretForm);
      expect([await works(old.token), await works(body.token)]).toEqual([401, 200]);
    });

    it('with an overlap both work, and the old one says when it ends', async () => {
      const old = (await create({ name: 'overlapping' })).body;
      const before = Date.now();
      const fresh = (await rotate(old.id, { overlap_seconds: 3_600 })).body;
      const after = Date.now();
      expect([await works(old.token), await works(fresh.token)]).toEqual([200, 200]);
      const endsAt = Date.parse((await find(old.id)).revoked_at);
      expect(endsAt).toBeGreaterThanOrEqual(before + 3_600_000);
      expect(endsAt).toBeLessThanOrEqual(after + 3_600_000);
    });

    it('the overlap ends automatically', async () => {
      const old = (await create({ name: 'ending' })).body;
      const fresh = (await rotate(old.id, { overlap_seconds: 1 })).body;
      await vi.waitFor(async () => expect(await works(old.token)).toBe(401), patience);
      expect(await works(fresh.token)).toBe(200);
    });

    it('a later rotation cannot prolong the life of the old token', async () => {
      const old = (await create({ name: 'short overlap' })).body;
      await rotate(old.id, { overlap_seconds: 60 });
      const { revoked_at } = await find(old.id);
      await rotate(old.id, { overlap_seconds: 3_600 });
      expect((await find(old.id)).revoked_at).toBe(revoked_at);
    });

    it('keeps the expiry of the old token, unless another one is given', async () => {
      const expires_at = '2031-02-03T04:05:06.000Z';
      const old = (await create({ name: 'expiring', expires_at })).body;
      const fresh = (await rotate(old.id)).body;
      expect([fresh.expires_at, (await find(fresh.id)).expires_at]).toEqual([expires_at, expires_at]);
      const later = '2032-02-03T04:05:06.000Z';
      expect((await rotate(fresh.id, { expires_at: later })).body.expires_at).toBe(later);
      const forever = (await create({ name: 'forever' })).body;
      expect((await rotate(forever.id)).body.expires_at).toBeNull();
    });

    it('refuses a token that is revoked or has expired, and makes none', async () => {
      const revoked = (await create({ name: 'revoked' })).body;
      await app.request('DELETE', `${path}/${revoked.id}`);
      const rotated = (await create({ name: 'rotated before' })).body;
      await rotate(rotated.id);
      const expired = (await create({ name: 'expired', expires_at: '2020-01-01T00:00:00Z' })).body;
      const before = await list();
      for (const { id } of [revoked, rotated, expired]) {
        const { status, headers } = await rotate(id, { overlap_seconds: 60, expires_at: '2032-02-03T04:05:06Z' });
        expect([status, headers['x-inlay-error']]).toEqual([409, 'operator_token_ended']);
      }
      expect(await list()).toEqual(before);
    });

    it('overlap_seconds: from 0 to 30 days', async () => {
      const { id } = (await create({ name: 'bounds' })).body;
      const faultOf = async (overlap_seconds: unknown) => (await rotate(id, { overlap_seconds })).body.detail[0].type;
      expect(await faultOf(-1)).toBe('value_error.number.not_ge');
      expect(await faultOf(2_592_001)).toBe('value_error.number.not_le');
      expect(await faultOf('60')).toBe('type_error.integer');
      expect(await faultOf(1.5)).toBe('type_error.integer');
    });
  });

  describe('POST /api/v1/embedded/tokens/revoke', () => {
    const revoke = (token: unknown, by = app.operatorToken) =>
      app.request('POST', '/api/v1/embedded/tokens/revoke', { token: by, body: { token } });
    const accepted = async (token: string) => (await app.request('GET', infoPath, { token })).status;
    const widgetToken = async (workspace_name: string) => {
      const body = { workspace_name, allowed_origin: 'https://app.example' };
      const answer = await app.request('POST', '/api/v1/embedded/widget-token', { body });
      const whole = String(answer.body.token);
      return { whole, inside: String(JSON.parse(Buffer.from(whole, 'base64').toString()).token) };
    };

    it('revokes one scoped token at once and no other; again gives true as well', async () => {
      const [token, other] = [await app.scopedToken('revoke one'), await app.scopedToken('revoke one')];
      for (let times = 0; times < 2; times++) {
        const { status, body } = await revoke(token);
        expect(status).toBe(200);
        expect(body).toEqual({ revoked: true });
      }
      expect([await accepted(token), await accepted(other)]).toEqual([401, 200]);
    });

    it('revokes a widget token, given whole or as the scoped token inside', async () => {
      for (const form of ['whole', 'inside'] as const) {
        const token = await widgetToken('revoke a widget');
        expect((await revoke(token[form])).body).toEqual({ revoked: true });
        expect(await accepted(token.inside)).toBe(401);
      }
    });

    it('an unknown or foreign token gives 200 and false, and stays as it was', async () => {
      const token = await app.scopedToken('not theirs');
      expect(await revoke(token, elsewhere.token)).toMatchObject({ status: 200, body: { revoked: false } });
      expect(await accepted(token)).toBe(200);
      for (const nonsense of ['nonsense', '', 'a.b.c', Buffer.from('{}').toString('base64'), app.operatorToken]) {
        expect(await revoke(nonsense)).toMatchObject({ status: 200, body: { revoked: false } });
      }
    });

    it('POST /api/v1/workspaces/{id}/tokens/revoke revokes all issued so far; new ones work', async () => {
      const id = await app.workspaceId('revoke all');
      const issued = [await app.scopedToken('revoke all'), (await widgetToken('revoke all')).inside];
      const bystander = await app.scopedToken('bystander');
      const { status, body } = await app.request('POST', `/api/v1/workspaces/${id}/tokens/revoke`);
      expect(status).toBe(200);
      expect(body).toEqual({ revoked: true });
      expect(await Promise.all([...issued, bystander].map(accepted))).toEqual([401, 401, 200]);
      expect(await accepted(await app.scopedToken('revoke all'))).toBe(200);
    });

    it.each(['unknown', 'foreign'])('POST /api/v1/workspaces/{id}/tokens/revoke: %s gives 404', async (which) => {
      const id = which === 'unknown' ? randomUUID() : await app.workspaceId('not theirs');
      const answer = await app.request('POST', `/api/v1/workspaces/${id}/tokens/revoke`, { token: elsewhere.token });
      expect(answer).toMatchObject({ status: 404, text: '{"detail":"Workspace not found"}' });
    });
  });
});
