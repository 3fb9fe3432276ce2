/** Endpoints 5, 6 and 7: read, update, delete; and the rules of names. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';

const path = '/api/v1/workspaces';
const notFound = '{"detail":"Workspace not found"}';
const nameTaken = { detail: 'A workspace with this name already exists' };

describeOnOneDatabase('Workspaces', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp(kind);
  });
  afterAll(() => app.stop());

  const read = (id: string) => app.request('GET', `${path}/${id}`);
  const update = (id: string, body: unknown) => app.request('PUT', `${path}/${id}`, { body });
  const remove = (id: string) => app.request('DELETE', `${path}/${id}`);

  describe('Endpoint 5: GET /api/v1/workspaces/{workspace ID}', () => {
    it('answers 200 with the workspace', async () => {
      const id = await app.workspaceId('read');
      const { status, headers, body } = await read(id);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(body).toMatchObject({ id, name: 'read', status: 'active' });
    });

    it('takes the UUID in upper case, too', async () => {
      const id = await app.workspaceId('read');
      expect((await read(id.toUpperCase())).text).toBe((await read(id)).text);
    });

    it('an unknown identifier gives 404', async () => {
      const { status, text } = await read(randomUUID());
      expect(status).toBe(404);
      expect(text).toBe(notFound);
    });

    it('an identifier that is no UUID gives 422', async () => {
      const { status, body } = await read('not-a-uuid');
      expect(status).toBe(422);
      expect(body).toEqual({
        detail: [{ loc: ['path', 'workspace_id'], msg: 'value is not a valid uuid', type: 'type_error.uuid' }],
      });
    });
  });

  describe('Endpoint 6: PUT /api/v1/workspaces/{workspace ID}', () => {
    it('name: renames, here and on the platform, and answers 200 with the updated workspace', async () => {
      const id = await app.workspaceId('old name');
      const before = (await read(id)).body;
      const { status, body } = await update(id, { name: 'new name' });
      expect(status).toBe(200);
      expect(body).toEqual({ ...before, name: 'new name', updated_at: body.updated_at });
      expect((await read(id)).body).toEqual(body);
      expect((await app.platform('GET', `/workspaces/${id}`)).body.name).toBe('new name');
    });

    it('status: changes, and answers 200 with the updated workspace', async () => {
      const id = await app.workspaceId('to deactivate');
      const before = (await read(id)).body;
      const { status, body } = await update(id, { status: 'inactive' });
      expect(status).toBe(200);
      expect(body).toEqual({ ...before, status: 'inactive', updated_at: body.updated_at });
    });

    it('both at once', async () => {
      const id = await app.workspaceId('both');
      const { body } = await update(id, { name: 'both changed', status: 'inactive' });
      expect(body).toMatchObject({ name: 'both changed', status: 'inactive' });
    });

    it.each([
      ['an empty object', {}],
      ['no body', undefined],
      ['fields it does not know', { colour: 'blue' }],
    ])('%s: 200, nothing changes and updated_at stays', async (_what, body) => {
      const id = await app.workspaceId('left alone');
      const before = await read(id);
      const answer = await update(id, body);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(before.body);
      expect((await read(id)).body).toEqual(before.body);
    });

    it('values equal to the present ones: 200, nothing changes and updated_at stays', async () => {
      const id = await app.workspaceId('the same');
      const before = await read(id);
      expect((await update(id, { name: 'the same', status: 'active' })).body).toEqual(before.body);
    });

    it('an invalid status gives 422 and changes nothing', async () => {
      const id = await app.workspaceId('valid');
      const before = await read(id);
      for (const status of ['deleted', 'Active', '']) {
        const answer = await update(id, { name: 'not applied', status });
        expect(answer.status).toBe(422);
        expect(answer.body).toEqual({
          detail: [
            {
              loc: ['body', 'status'],
              msg: "value is not a valid enumeration member; permitted: 'active', 'inactive'",
              type: 'type_error.enum',
            },
          ],
        });
      }
      expect((await read(id)).body).toEqual(before.body);
    });

    it('updated_at strictly increases with each change, however fast they follow each other', async () => {
      const id = await app.workspaceId('fast');
      const times = [(await read(id)).body.updated_at];
      for (let round = 0; round < 10; round++) {
        times.push((await update(id, { name: `fast ${round}` })).body.updated_at);
        times.push((await update(id, { status: round % 2 ? 'active' : 'inactive' })).body.updated_at);
      }
      expect(times).toEqual([...new Set(times)].toSorted());
      expect(times).toHaveLength(21);
    });

    it('an unknown identifier gives 404, with an empty body as well', async () => {
      for (const body of [{ name: 'x' }, { status: 'inactive' }, {}]) {
        const { status, text } = await update(randomUUID(), body);
        expect(status).toBe(404);
        expect(text).toBe(notFound);
      }
    });
  });

  describe('Names', () => {
    it('a name in use gives 409, and nothing of the request happens', async () => {
      const id = await app.workspaceId('wants another name');
      await app.workspaceId('taken');
      const before = await read(id);
      const { status, body } = await update(id, { name: 'taken', status: 'inactive' });
      expect(status).toBe(409);
      expect(body).toEqual(nameTaken);
      expect((await read(id)).body).toEqual(before.body);
      expect((await app.platform('GET', `/workspaces/${id}`)).body.name).toBe('wants another name');
    });

    it('a name that is in use in another normal form gives 409', async () => {
      const id = await app.workspaceId('plain');
      await app.workspaceId('na\u00efve');
      const { status, body } = await update(id, { name: 'nai\u0308ve' });
      expect(status).toBe(409);
      expect(body).toEqual(nameTaken);
    });

    it('a name that differs in case from one in use is another name', async () => {
      const id = await app.workspaceId('lower');
      await app.workspaceId('LOWER');
      expect((await update(id, { name: 'Lower' })).status).toBe(200);
    });

    it("the workspace's own name in another normal form is a change like any other", async () => {
      const id = await app.workspaceId('r\u00e9sum\u00e9');
      const before = (await read(id)).body;
      const { status, body } = await update(id, { name: 're\u0301sume\u0301' });
      expect(status).toBe(200);
      expect(body.name).toBe('re\u0301sume\u0301');
      expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
      expect(await app.workspaceId('r\u00e9sum\u00e9')).toBe(id);
    });

    it('a rename frees the old name: a token request for it makes a new workspace', async () => {
      const id = await app.workspaceId('first owner');
      const token = await app.scopedToken('first owner');
      await update(id, { name: 'moved on' });
      expect(await app.workspaceId('moved on')).toBe(id);
      const other = await app.workspaceId('first owner');
      expect(other).not.toBe(id);
      const { body } = await app.request('GET', '/api/v1/embedded/scoped-token/info', { token });
      expect(body['workspace ID']).toBe(id);
      expect((await update(id, { name: 'first owner' })).status).toBe(409);
    });

    it('two workspaces can exchange their names by way of a third', async () => {
      const [a, b] = [await app.workspaceId('name a'), await app.workspaceId('name b')];
      await update(a, { name: 'name c' });
      await update(b, { name: 'name a' });
      expect((await update(a, { name: 'name b' })).status).toBe(200);
      expect(await app.workspaceId('name a')).toBe(b);
      expect(await app.workspaceId('name b')).toBe(a);
    });

    it.each([
      ['one character', 'x'],
      ['255 code points', '𝔸'.repeat(255)],
      ['255 letters', 'x'.repeat(255)],
      ['spaces around', ' y '],
      ['emoji with joiners', '👩‍👩‍👧'],
      ['SQL and markup', `'; drop table workspaces; -- <b>"`],
    ])('accepted: %s', async (_what, name) => {
      const id = await app.workspaceId(`renamed to ${randomUUID()}`);
      const { status, body } = await update(id, { name });
      expect(status).toBe(200);
      expect(body.name).toBe(name);
    });

    it.each([
      ['nothing', '', 'a name must not be blank'],
      ['spaces', '   ', 'a name must not be blank'],
      ['invisible characters', '\u200b\u00a0', 'a name must not be blank'],
      ['256 letters', 'x'.repeat(256), 'a name must have at most 255 characters'],
      ['256 code points', '𝔸'.repeat(256), 'a name must have at most 255 characters'],
      ['a line break', 'a\nb', 'a name must not contain control characters'],
      ['NUL', 'a\u0000b', 'a name must not contain control characters'],
      ['a C1 control', 'a\u0085b', 'a name must not contain control characters'],
      ['a lone surrogate', 'a\ud800b', 'a name must be valid Unicode without lone surrogates'],
      ['a bidi override', 'a\u202eb', 'a name must not contain bidirectional control characters'],
      ['a bidi isolate', 'a\u2066b', 'a name must not contain bidirectional control characters'],
    ])('refused: %s', async (_what, name, msg) => {
      const id = await app.workspaceId('well named');
      const fault = (field: string) => ({ detail: [{ loc: ['body', field], msg, type: 'value_error.name' }] });
      const renamed = await update(id, { name });
      expect(renamed.status).toBe(422);
      expect(renamed.body).toEqual(fault('name'));
      const asked = await app.request('POST', '/api/v1/embedded/scoped-token', { body: { workspace_name: name } });
      expect(asked.status).toBe(422);
      expect(asked.body).toEqual(fault('workspace_name'));
    });
  });

  describe('Endpoint 7: DELETE /api/v1/workspaces/{workspace ID}', () => {
    it('answers 200 with the id and the time', async () => {
      const id = await app.workspaceId('deleted');
      const before = Date.now();
      const { status, headers, body } = await remove(id);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(body.id).toBe(id);
      expect(Date.parse(body.deleted_at)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(body.deleted_at)).toBeLessThanOrEqual(Date.now());
    });

    it('a second delete, a read and an update give 404', async () => {
      const id = await app.workspaceId('deleted twice');
      await remove(id);
      for (const { status, text } of [await remove(id), await read(id), await update(id, { name: 'x' })]) {
        expect(status).toBe(404);
        expect(text).toBe(notFound);
      }
    });

    it('several deletes at once become one: those that join it get the same answer, a later one 404', async () => {
      const id = await app.workspaceId('deleted at once');
      const answers = await Promise.all([remove(id), remove(id), remove(id)]);
      const succeeded = answers.filter(({ status }) => status === 200);
      expect(succeeded.length).toBeGreaterThanOrEqual(1);
      expect(new Set(succeeded.map(({ text }) => text)).size).toBe(1);
      for (const { status, text } of answers) if (status !== 200) expect([status, text]).toEqual([404, notFound]);
    });

    it('its scoped and widget tokens give 401 at once, and stay refused when the name is used again', async () => {
      const body = { workspace_name: 'tokens die', allowed_origin: 'https://app.example' };
      const widget = await app.request('POST', '/api/v1/embedded/widget-token', { body });
      const inWidget = JSON.parse(Buffer.from(widget.body.token, 'base64').toString()).token;
      const tokens = [await app.scopedToken('tokens die'), inWidget];
      const statuses = () =>
        Promise.all(
          tokens.map(
            async (token) => (await app.request('GET', '/api/v1/embedded/scoped-token/info', { token })).status,
          ),
        );
      const id = await app.workspaceId('tokens die');
      expect(await statuses()).toEqual([200, 200]);
      await remove(id);
      expect(await statuses()).toEqual([401, 401]);
      expect(await app.workspaceId('tokens die')).not.toBe(id);
      expect(await statuses()).toEqual([401, 401]);
    });

    it('the name is free afterwards: for a token request and for a rename', async () => {
      const first = await app.workspaceId('reused');
      await remove(first);
      const second = await app.workspaceId('reused');
      expect(second).not.toBe(first);
      await remove(second);
      const third = await app.workspaceId('takes it over');
      expect((await update(third, { name: 'reused' })).status).toBe(200);
      expect(await app.workspaceId('reused')).toBe(third);
    });

    it('an unknown identifier gives 404, an identifier that is no UUID 422', async () => {
      expect(await remove(randomUUID())).toMatchObject({ status: 404, text: notFound });
      expect((await remove('7')).status).toBe(422);
    });
  });
});
