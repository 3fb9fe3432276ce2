/** 422: every literal of the contract, in place, and all faults of a request in one answer. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';

const path = '/api/v1/workspaces';
const fault = (loc: string, type: string, msg: string) => ({ loc: loc.split('.'), msg, type });
const missing = (loc: string) => fault(loc, 'value_error.missing', 'field required');
const none = (loc: string) => fault(loc, 'type_error.none.not_allowed', 'none is not an allowed value');
const notText = (loc: string) => fault(loc, 'type_error.str', 'str type expected');
const notUuid = (loc: string) => fault(loc, 'type_error.uuid', 'value is not a valid uuid');
const notDict = (loc: string) => fault(loc, 'type_error.dict', 'value is not a valid dict');
const notList = (loc: string) => fault(loc, 'type_error.list', 'value is not a valid list');
const notMember = (loc: string, ...members: string[]) =>
  fault(
    loc,
    'type_error.enum',
    `value is not a valid enumeration member; permitted: ${members.map((member) => `'${member}'`).join(', ')}`,
  );

describeOnOneDatabase('422', (kind) => {
  let app: TestApp;
  let id: string;
  beforeAll(async () => {
    app = await startTestApp(kind);
    id = await app.workspaceId('unharmed');
  });
  afterAll(() => app.stop());

  type Sent = { body?: unknown; payload?: string | Buffer };
  async function faultsOf(method: string, url: string, sent: Sent = {}) {
    const answer = await app.request(method, url.replace(':id', id), sent);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(Object.keys(answer.body)).toEqual(['detail']);
    return answer.body.detail;
  }
  const scoped = (sent: Sent) => faultsOf('POST', '/api/v1/embedded/scoped-token', sent);
  const widget = (sent: Sent) => faultsOf('POST', '/api/v1/embedded/widget-token', sent);
  const update = (sent: Sent) => faultsOf('PUT', `${path}/:id`, sent);

  describe('required field absent, or no body', () => {
    it('field absent', async () => {
      expect(await scoped({ body: {} })).toEqual([missing('body.workspace_name')]);
      expect(await widget({ body: { allowed_origin: 'https://a.example' } })).toEqual([missing('body.workspace_name')]);
    });

    it('no body at all, or an empty one', async () => {
      for (const sent of [{}, { payload: '' }]) {
        expect(await scoped(sent)).toEqual([missing('body')]);
        expect(await widget(sent)).toEqual([missing('body')]);
      }
    });
  });

  it('null where not allowed', async () => {
    expect(await scoped({ body: { workspace_name: null, region_id: null } })).toEqual([
      none('body.workspace_name'),
      none('body.region_id'),
    ]);
    expect(await update({ body: { name: null, status: null } })).toEqual([none('body.name'), none('body.status')]);
    expect(await scoped({ body: null })).toEqual([none('body')]);
    expect(await update({ body: null })).toEqual([none('body')]);
    expect(
      await widget({ body: { workspace_name: 'x', allowed_origin: null, selected_source_template_tags: null } }),
    ).toEqual([none('body.allowed_origin'), none('body.selected_source_template_tags')]);
  });

  it.each([7, 1.5, true, [], {}, ['x']])('not a string: %j', async (value) => {
    expect(await scoped({ body: { workspace_name: value } })).toEqual([notText('body.workspace_name')]);
    expect(await update({ body: { name: value } })).toEqual([notText('body.name')]);
  });

  it('not a string: a number beyond all bounds', async () => {
    expect(await update({ payload: '{"name": 1e400}' })).toEqual([notText('body.name')]);
  });

  it.each([
    'x',
    '',
    '645a183fb12b4c6e8ad399e165603450',
    '{645a183f-b12b-4c6e-8ad3-99e165603450}',
    '645a183f-b12b-4c6e-8ad3-99e16560345g',
    ' 645a183f-b12b-4c6e-8ad3-99e165603450',
  ])('not a UUID (canonical, hyphenated): %j', async (value) => {
    expect(await scoped({ body: { workspace_name: 'x', region_id: value } })).toEqual([notUuid('body.region_id')]);
    if (value !== '') {
      const url = `${path}/${encodeURIComponent(value)}`;
      for (const method of ['GET', 'PUT', 'DELETE']) {
        expect(await faultsOf(method, url)).toEqual([notUuid('path.workspace_id')]);
      }
    }
  });

  it('not a UUID: no string at all', async () => {
    expect(await scoped({ body: { workspace_name: 'x', region_id: 7 } })).toEqual([notUuid('body.region_id')]);
  });

  it('not an integer', async () => {
    const expected = [fault('query.limit', 'type_error.integer', 'value is not a valid integer')];
    for (const limit of ['x', '1.5', '']) expect(await faultsOf('GET', `${path}?limit=${limit}`)).toEqual(expected);
    expect(await faultsOf('GET', `${path}?limit=1&limit=2`)).toEqual(expected);
  });

  it('not an array', async () => {
    for (const value of ['x', 7, {}, true]) {
      const body = { workspace_name: 'x', allowed_origin: 'https://a.example', selected_source_template_tags: value };
      expect(await widget({ body })).toEqual([notList('body.selected_source_template_tags')]);
    }
  });

  it('not an object', async () => {
    for (const body of ['x', 7, true, [], [{}]]) {
      expect(await scoped({ body })).toEqual([notDict('body')]);
      expect(await update({ body })).toEqual([notDict('body')]);
    }
  });

  it('limit above 100', async () => {
    const msg = 'ensure this value is less than or equal to 100';
    expect(await faultsOf('GET', `${path}?limit=101`)).toEqual([
      fault('query.limit', 'value_error.number.not_le', msg),
    ]);
  });

  it('limit below 1', async () => {
    const msg = 'ensure this value is greater than or equal to 1';
    for (const limit of [0, -1]) {
      const expected = [fault('query.limit', 'value_error.number.not_ge', msg)];
      expect(await faultsOf('GET', `${path}?limit=${limit}`)).toEqual(expected);
    }
  });

  it('not in the enumeration: the members, quoted, in order', async () => {
    expect(await update({ body: { status: 'x' } })).toEqual([notMember('body.status', 'active', 'inactive')]);
    expect(await faultsOf('GET', `${path}?status=x`)).toEqual([notMember('query.status', 'active', 'inactive')]);
    const modes = { selected_source_template_tags_mode: 'x', selected_connection_template_tags_mode: 'y' };
    expect(await widget({ body: { workspace_name: 'x', allowed_origin: 'https://a.example', ...modes } })).toEqual([
      notMember('body.selected_source_template_tags_mode', 'any', 'all'),
      notMember('body.selected_connection_template_tags_mode', 'any', 'all'),
    ]);
  });

  it.each([
    ['a key without quotes', '{status: 1}', /position 1/],
    ['cut off', '{"status":', /position 10/],
    ['more after the end', '{} {}', /position 3/],
    ['no JSON at all', 'status=active', /position 0/],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), /UTF-8/],
    ['nested too deep', '['.repeat(200_000), /deep/],
    ['__proto__', '{"__proto__": {"status": "inactive"}}', /forbidden property/],
    ['__proto__, escaped', '{"__pr\\u006fto__": {}}', /forbidden property/],
    ['constructor.prototype', '{"constructor": {"prototype": {}}}', /forbidden property/],
  ])('malformed JSON: %s, and where', async (_what, payload, msg) => {
    const expected = [{ loc: ['body'], msg: expect.stringMatching(msg), type: 'value_error.jsondecode' }];
    expect(await update({ payload })).toEqual(expected);
    expect(await scoped({ payload })).toEqual(expected);
  });

  it('anything else: origin, name and cursor in a plain sentence', async () => {
    const body = { workspace_name: ' ', allowed_origin: 'app.example' };
    expect(await widget({ body })).toEqual([
      fault('body.workspace_name', 'value_error.name', 'a name must not be blank'),
      {
        loc: ['body', 'allowed_origin'],
        msg: expect.stringMatching(/https:\/\/app\.example\.com$/),
        type: 'value_error.origin',
      },
    ]);
    expect(await faultsOf('GET', `${path}?cursor=x`)).toEqual([
      { loc: ['query', 'cursor'], msg: expect.stringMatching(/cursor/), type: 'value_error.cursor' },
    ]);
  });

  describe('all faults in one answer', () => {
    it('of path and body', async () => {
      expect(await faultsOf('PUT', `${path}/x`, { body: { name: 7, status: 'x' } })).toEqual([
        notUuid('path.workspace_id'),
        notText('body.name'),
        notMember('body.status', 'active', 'inactive'),
      ]);
    });

    it('of path and a body that is no JSON', async () => {
      expect(await faultsOf('PUT', `${path}/x`, { payload: '{' })).toEqual([
        notUuid('path.workspace_id'),
        { loc: ['body'], msg: expect.any(String), type: 'value_error.jsondecode' },
      ]);
    });

    it('of a body, each field once', async () => {
      const body = {
        region_id: 'x',
        allowed_origin: 'x',
        selected_source_template_tags: 'x',
        selected_source_template_tags_mode: 'x',
        selected_connection_template_tags: ['ok', 7],
        selected_connection_template_tags_mode: 7,
      };
      const locs = (await widget({ body })).map(({ loc }: { loc: string[] }) => loc.join('.'));
      expect(locs.toSorted()).toEqual([
        'body.allowed_origin',
        'body.region_id',
        'body.selected_connection_template_tags.1',
        'body.selected_connection_template_tags_mode',
        'body.selected_source_template_tags',
        'body.selected_source_template_tags_mode',
        'body.workspace_name',
      ]);
    });
  });

  it('changed nothing: the workspace is as it was, and no other was made', async () => {
    const { body } = await app.request('GET', path);
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['unharmed']);
    expect(body.data[0]).toMatchObject({ id, status: 'active' });
    expect((await app.request('GET', `${path}/${randomUUID()}`)).status).toBe(404);
  });
});
