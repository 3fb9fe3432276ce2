/** Tags over the API, on both databases. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant, makeTemplates } from '../../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';

const path = '/api/v1/integrations/templates/tags';
const at = (name: string) => `${path}/${encodeURIComponent(name)}`;
const notFound = [404, { detail: 'Tag not found' }];
const taken = [409, { detail: 'A tag with this name already exists' }];

const oddNames = [
  'a/b',
  '..%2f',
  '50% off',
  'a b+c',
  '?x=1#y',
  'été',
  '数据',
  '👩‍👩‍👧',
  "'; drop table template_tags; --",
  '"quoted"',
  '<b>',
  '...',
  ':tag_name',
  '\\',
  'é'.repeat(255),
  '👩'.repeat(255),
];

describeOnBothDatabases('Tags', (kind) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp(kind);
  });
  afterAll(() => test.stop());

  const call = async (method: string, url: string, body?: unknown) => {
    const answer = await test.request(method, url, { body });
    return [answer.status, answer.body];
  };
  const create = (name: unknown) => call('POST', path, { name });
  const names = async () => (await test.request('GET', path)).body.data.map(({ name }: { name: string }) => name);

  it('are created, listed by name, renamed and deleted', async () => {
    const [status, tag] = await create('crm');
    expect([status, tag]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'crm',
        organization_id: test.organizationId,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
    ]);
    await create('beta');
    expect(await names()).toEqual(['beta', 'crm']);
    const [renamedStatus, renamed] = await call('PUT', at('crm'), { name: 'sales' });
    expect([renamedStatus, renamed]).toEqual([200, { ...tag, name: 'sales', updated_at: renamed.updated_at }]);
    expect(renamed.updated_at > tag.updated_at).toBe(true);
    expect(await call('PUT', at('crm'), { name: 'x' })).toEqual(notFound);
    expect(await call('DELETE', at('sales'))).toEqual([200, { id: tag.id, deleted_at: expect.stringMatching(/Z$/) }]);
    expect(await call('DELETE', at('sales'))).toEqual(notFound);
    expect((await create('sales'))[0], 'the name is free again').toBe(201);
    for (const name of await names()) await call('DELETE', at(name));
  });

  it('have names of their own within an organization', async () => {
    await create('one');
    const [, two] = await create('two');
    expect(await create('one')).toEqual(taken);
    expect(await call('PUT', at('two'), { name: 'one' })).toEqual(taken);
    expect(await call('PUT', at('two'), { name: 'two' }), 'renaming to the same changes nothing').toEqual([200, two]);
    expect((await create('ONE'))[0], 'case counts').toBe(201);
    const other = await addTenant(test, 'other');
    const theirs = await other.request('POST', path, { body: { name: 'one' } });
    expect(theirs.status).toBe(201);
    expect((await other.request('GET', path)).body.data).toEqual([theirs.body]);
    expect((await other.request('DELETE', at('two'))).status, "another's tag").toBe(404);
    expect(await names()).toEqual(['ONE', 'one', 'two']);
    for (const name of await names()) await call('DELETE', at(name));
  });

  it('are the same in every spelling that Unicode calls the same', async () => {
    await create('cafe\u0301');
    expect(await names()).toEqual(['caf\u00e9']);
    expect(await create('caf\u00e9')).toEqual(taken);
    expect((await call('DELETE', at('cafe\u0301')))[0]).toBe(200);
  });

  it.each(oddNames)('may be called %s', async (name) => {
    expect((await create(name))[0]).toBe(201);
    expect((await call('PUT', at(name), { name: 'between' }))[1].name).toBe('between');
    expect((await call('PUT', at('between'), { name }))[1].name).toBe(name.normalize('NFC'));
    expect((await call('DELETE', at(name)))[0]).toBe(200);
  });

  it.each([
    [undefined, 'field required', 'value_error.missing'],
    [null, 'none is not an allowed value', 'type_error.none.not_allowed'],
    [7, 'str type expected', 'type_error.str'],
    ['', 'a tag must not be blank', 'value_error.tag'],
    [' ', 'a tag must not be blank', 'value_error.tag'],
    ['.', 'a tag must not be . or ..', 'value_error.tag'],
    ['..', 'a tag must not be . or ..', 'value_error.tag'],
    ['a\nb', 'a tag must not contain control characters', 'value_error.tag'],
    ['x'.repeat(256), 'a tag must have at most 255 characters', 'value_error.tag'],
  ])('must not be called %j', async (name, msg, type) => {
    expect(await create(name)).toEqual([422, { detail: [{ loc: ['body', 'name'], msg, type }] }]);
    expect((await call('PUT', at('unknown'), { name }))[0]).toBe(422);
  });

  it('in a path that no tag can have are refused, and all faults come at once', async () => {
    const [status, { detail }] = await call('PUT', at('x'.repeat(256)), { name: 7 });
    expect([status, detail.map(({ loc }: { loc: string[] }) => loc)]).toEqual([
      422,
      [
        ['path', 'tag_name'],
        ['body', 'name'],
      ],
    ]);
  });

  it('created twice at the same moment exist once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('raced')));
    expect(answers.map(([status]) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    expect((await names()).filter((name: string) => name === 'raced')).toHaveLength(1);
  });

  it('renamed to one name at the same moment: one wins', async () => {
    const from = ['r1', 'r2', 'r3', 'r4'];
    for (const name of from) await create(name);
    const answers = await Promise.all(from.map((name) => call('PUT', at(name), { name: 'goal' })));
    expect(answers.map(([status]) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it('used while they are deleted cause no error', async () => {
    const ids = await makeTemplates(test);
    const put = (...tags: string[]) =>
      call('PATCH', `/api/v1/integrations/templates/sources/${ids.source_template_id}`, { tags });
    const attach = () =>
      call('POST', `/api/v1/integrations/templates/connections/${ids.connection_template_id}/tags`, { tag: 'busy' });
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([
        put('busy', 'crowd'),
        call('DELETE', at('busy')),
        attach(),
        put('crowd', 'busy'),
        call('DELETE', at('crowd')),
      ]);
      for (const [status] of answers) expect([200, 404]).toContain(status);
    }
  });
});
