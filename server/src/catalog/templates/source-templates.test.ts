/** Source templates over the API, on both databases, with connectors that have secrets and choices. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant } from '../../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { crmId, registryDocument, registryEnvironment, warehouseId } from '../../../test/support/connector-registry.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { nextMillisecond } from '../../../test/support/next-millisecond.ts';

const path = '/api/v1/integrations/templates/sources';
const unknownId = '00000000-0000-4000-8000-000000000000';
const notFound = [404, { detail: 'Source template not found' }];
const tagNotFound = [404, { detail: 'Tag not found' }];
const mask = '**********';
const secret = 'the-operators-client-secret';
const oauth = { account: 'acme', credentials: { method: 'oauth', client_secret: secret } };
const staysWithItsAddress = [
  'body.partial_default_config.credentials.client_secret',
  'enter this secret again because its address has changed',
  'value_error.secret',
];
const maskedOauth = { account: 'acme', credentials: { method: 'oauth', client_secret: mask } };
const plain = { stream_selection_mode: 'suggested', stream_whitelist: [], stream_customizations: {} };

describeOnBothDatabases('Source templates', (kind) => {
  let test: TestApp;
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'inlay-templates-'));
    writeFileSync(join(directory, 'registry.json'), JSON.stringify(registryDocument));
    test = await startTestApp(kind, { env: registryEnvironment(join(directory, 'registry.json')) });
  });
  afterAll(async () => {
    await test.stop();
    rmSync(directory, { recursive: true });
  });

  const call = async (method: string, url: string, body?: unknown) => {
    const answer = await test.request(method, url, { body });
    return [answer.status, answer.body];
  };
  const create = async (request: object = {}) => {
    const body = { actor_definition_id: crmId, partial_default_config: {}, ...request };
    const answer = await test.request('POST', path, { body });
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };
  const at = (id: string) => `${path}/${id}`;
  const sealedOf = async (id: string) =>
    await test.app.store.db.selectFrom('source_templates').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  it('of one connector are distinguished by a description and an icon of their own', async () => {
    const icon = `data:image/gif;base64,${Buffer.from('GIF89a picture').toString('base64')}`;
    const looks = { description: 'The shop in Berlin', category: 'Shops', icon };
    const made = await create({ name: 'Shop', ...looks });
    expect(made).toMatchObject(looks);
    const listed = (await test.request('GET', path)).body.data.find(({ id }: { id: string }) => id === made.id);
    expect(listed).toMatchObject(looks);
    const [, clone] = await call('POST', path, { original_source_template_id: made.id });
    expect(clone).toMatchObject(looks);
    const [, other] = await call('POST', path, {
      original_source_template_id: made.id,
      description: null,
      category: null,
      icon: null,
    });
    expect(other).toMatchObject({ description: null, category: null, icon: 'https://icons.example/crm.svg' });

    await nextMillisecond();
    const [, changed] = await call('PATCH', at(made.id), { icon: 'https://app.example.com/berlin.png' });
    expect(changed).toMatchObject({ description: looks.description, icon: 'https://app.example.com/berlin.png' });
    expect(changed.updated_at > made.updated_at).toBe(true);
    const [, again] = await call('PATCH', at(made.id), { description: looks.description });
    expect(again.updated_at).toBe(changed.updated_at);
    const [, elsewhere] = await call('PATCH', at(made.id), { category: 'Europe' });
    expect(elsewhere).toMatchObject({ category: 'Europe', version: changed.version + 1 });
    const [, back] = await call('POST', `${at(made.id)}/rollback`, { version: 1, apply: 'new_only' });
    expect(back).toMatchObject(looks);
    const [, without] = await call('PATCH', at(made.id), { description: null, category: null, icon: null });
    expect(without).toMatchObject({ description: null, category: null, icon: 'https://icons.example/crm.svg' });
  });

  it.each([
    ['icon', 'http://app.example.com/icon.png'],
    ['icon', 'javascript:alert(1)'],
    ['icon', 'data:text/html;base64,PGI+'],
    ['icon', 'data:image/svg+xml;base64,PHN2Zz4='],
    ['icon', 'data:image/png;base64,not base64'],
    ['icon', `data:image/png;base64,${Buffer.from('<script>alert(1)</script>').toString('base64')}`],
    ['icon', `data:image/png;base64,${'A'.repeat(22_000)}`],
    ['description', ''],
    ['category', ''],
    ['category', 'two\nlines'],
    ['category', 'x'.repeat(61)],
    ['description', 'two\nlines'],
    ['description', 'x'.repeat(256)],
  ])('refuse the %s %.60j', async (field, value) => {
    const body = { actor_definition_id: crmId, partial_default_config: {}, [field]: value };
    const [status, answer] = await call('POST', path, body);
    expect([status, answer.detail[0].loc]).toEqual([422, ['body', field]]);
  });

  it('are created without a configuration when there is nothing to set', async () => {
    const answer = await test.request('POST', path, { body: { actor_definition_id: crmId } });
    expect([answer.status, answer.body.partial_default_config]).toEqual([201, {}]);
  });

  it('are created from a definition and a part of its configuration', async () => {
    const made = await create({ partial_default_config: oauth, tags: ['crm', 'beta', 'crm'] });
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'CRM',
      description: null,
      category: null,
      icon: 'https://icons.example/crm.svg',
      source_definition_id: crmId,
      tags: ['beta', 'crm'],
      customization: plain,
      oauth: null,
      partial_default_config: maskedOauth,
      user_config_spec: {
        documentationUrl: 'https://docs.example/crm',
        connectionSpecification: {
          type: 'object',
          required: ['credentials'],
          properties: {
            start_date: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$', pattern_descriptor: 'YYYY-MM-DD' },
            credentials: {
              type: 'object',
              title: 'Authentication',
              required: ['refresh_token'],
              properties: { refresh_token: { type: 'string', airbyte_secret: true } },
            },
          },
        },
        advanced_auth: registryDocument.sources[0]?.spec.advanced_auth,
      },
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      version: 1,
    });
    expect(await call('GET', at(made.id))).toEqual([200, made]);
    expect(await call('GET', at(made.id.toUpperCase()))).toEqual([200, made]);
  });

  it('keep their defaults sealed at rest, each for itself', async () => {
    const [one, two] = [
      await create({ partial_default_config: oauth }),
      await create({ partial_default_config: oauth }),
    ];
    const [first, second] = [await sealedOf(one.id), await sealedOf(two.id)];
    for (const row of [first, second]) {
      expect(JSON.stringify(row)).not.toContain(secret);
      expect(JSON.stringify(row)).not.toContain('acme');
    }
    expect(first.sealed_defaults).not.toBe(second.sealed_defaults);
    await test.app.store.db
      .updateTable('source_templates')
      .set({ sealed_defaults: first.sealed_defaults })
      .where('id', '=', two.id)
      .execute();
    expect((await call('GET', at(two.id)))[0], 'moved to another template').toBe(500);
    await call('DELETE', at(two.id));
  });

  it('never show a secret, and keep it when its mask comes back', async () => {
    const { id, updated_at } = await create({ partial_default_config: oauth });
    const [, unchanged] = await call('PATCH', at(id), { partial_default_config: maskedOauth });
    expect([unchanged.partial_default_config, unchanged.updated_at]).toEqual([maskedOauth, updated_at]);
    const before = (await sealedOf(id)).sealed_defaults;
    const elsewhere = { partial_default_config: { ...maskedOauth, account: 'globex' } };
    expect(await faultsOf('PATCH', at(id), elsewhere), 'a secret stays with its address').toEqual([
      staysWithItsAddress,
    ]);
    const [, moved] = await call('PATCH', at(id), { partial_default_config: { ...oauth, account: 'globex' } });
    expect(moved.partial_default_config).toEqual({ ...maskedOauth, account: 'globex' });
    expect((await sealedOf(id)).sealed_defaults).not.toBe(before);
    const clone = await test.request('POST', path, { body: { original_source_template_id: id } });
    expect(clone.body.partial_default_config).toEqual(moved.partial_default_config);
    const [, gone] = await call('PATCH', at(id), { partial_default_config: { credentials: { method: 'oauth' } } });
    expect(gone.partial_default_config, 'what is left out is gone').toEqual({ credentials: { method: 'oauth' } });
    const fresh = await create({ partial_default_config: maskedOauth });
    expect(fresh.partial_default_config, 'a mask of nothing is nothing').toEqual({
      account: 'acme',
      credentials: { method: 'oauth' },
    });
    const listed = await test.request('GET', path);
    expect(listed.text).not.toContain(secret);
    expect(listed.text).not.toContain('partial_default_config');
  });

  it('are cloned with everything, but for what the request gives', async () => {
    const customization = { ...plain, stream_selection_mode: 'all' };
    const original = await create({ name: 'Original', partial_default_config: oauth, customization, tags: ['crm'] });
    const [status, clone] = await call('POST', path, { original_source_template_id: original.id });
    expect(status).toBe(201);
    const { id, created_at, updated_at, ...rest } = original;
    expect(clone).toEqual({ ...clone, ...rest });
    expect(clone.id).not.toBe(id);
    const globex = { original_source_template_id: id, name: 'Other', tags: [] };
    const masked = { ...globex, partial_default_config: { ...maskedOauth, account: 'globex' } };
    expect(await faultsOf('POST', path, masked), 'a secret stays with its address').toEqual([staysWithItsAddress]);
    const given = { ...globex, partial_default_config: { ...oauth, account: 'globex' } };
    const [, other] = await call('POST', path, given);
    expect(other).toMatchObject({ name: 'Other', tags: [], customization });
    expect(other.partial_default_config).toEqual({ ...maskedOauth, account: 'globex' });
    expect(await call('POST', path, { original_source_template_id: unknownId })).toEqual(notFound);
  });

  it('are shown before they are stored, and refused for the same reasons', async () => {
    const preview = `${path}/preview`;
    const draft = {
      actor_definition_id: crmId,
      name: 'Draft <b>',
      description: 'Not saved',
      partial_default_config: oauth,
      tags: ['b', 'a'],
    };
    const before = (await test.request('GET', path)).body.data.length;
    const [status, shown] = await call('POST', preview, draft);
    expect([status, JSON.stringify(shown).includes(secret)]).toEqual([200, false]);
    expect((await test.request('GET', path)).body.data.length).toBe(before);
    const made = await create(draft);
    const { id, name, description, category, icon, tags, user_config_spec } = made;
    const offered = { name, description, category, icon, tags, user_config_spec, oauth: null };
    expect(shown).toEqual({ id: expect.any(String), ...offered });

    // A change of a stored template: masks keep its secrets, and what is left out stays.
    const change = { original_source_template_id: id, name: 'Renamed', partial_default_config: maskedOauth };
    expect((await call('POST', preview, change))[1]).toEqual({
      ...offered,
      id: expect.any(String),
      name: 'Renamed',
    });
    const moved = { ...change, partial_default_config: { ...maskedOauth, account: 'other' } };
    expect(await faultsOf('POST', preview, moved)).toEqual([staysWithItsAddress]);
    const other = await addTenant(test, 'other drafts');
    expect((await other.request('POST', preview, { body: change })).status).toBe(404);
    await call('DELETE', at(id));
  });

  it('are listed oldest first, and filtered by tags', async () => {
    for (const { id } of (await test.request('GET', path)).body.data) await call('DELETE', at(id));
    const made: { id: string }[] = [];
    for (const tags of [['a'], ['a', 'b/c'], [], ['b/c']]) {
      await nextMillisecond();
      made.push(await create({ tags }));
    }
    const listed = async (query: string) =>
      (await test.request('GET', path + query)).body.data.map(({ id }: { id: string }) =>
        made.findIndex((template) => template.id === id),
      );
    expect(await listed('')).toEqual([0, 1, 2, 3]);
    expect(await listed('?tags=a')).toEqual([0, 1]);
    expect(await listed('?tags=a&tags=b%2Fc')).toEqual([1]);
    expect(await listed('?tags=a&tags=b%2Fc&tags_mode=all')).toEqual([1]);
    expect(await listed('?tags=a&tags=b%2Fc&tags_mode=any')).toEqual([0, 1, 3]);
    expect(await listed('?tags=unknown')).toEqual([]);
    expect(await listed('?tags_mode=any')).toEqual([0, 1, 2, 3]);
    const {
      user_config_spec: _,
      partial_default_config: __,
      ...summary
    } = (await call('GET', at(made[0]?.id ?? '')))[1];
    expect((await test.request('GET', path)).body.data[0]).toEqual(summary);
    expect(await call('GET', `${path}?tags_mode=some&tags=`)).toEqual([
      422,
      {
        detail: [
          { loc: ['query', 'tags', '0'], msg: 'a tag must not be blank', type: 'value_error.tag' },
          {
            loc: ['query', 'tags_mode'],
            msg: "value is not a valid enumeration member; permitted: 'any', 'all'",
            type: 'type_error.enum',
          },
        ],
      },
    ]);
  });

  it('are changed field by field; what equals the present state changes nothing', async () => {
    const made = await create({ name: 'Before', tags: ['a'], partial_default_config: { account: 'acme' } });
    const same = { name: 'Before', tags: ['a', 'a'], partial_default_config: { account: 'acme' }, customization: {} };
    for (const body of [undefined, {}, same]) expect(await call('PATCH', at(made.id), body)).toEqual([200, made]);
    let last = made;
    for (const change of [{ name: 'After' }, { tags: ['b'] }, { customization: { stream_selection_mode: 'all' } }]) {
      const [status, body] = await call('PATCH', at(made.id), change);
      expect(status).toBe(200);
      expect(body.updated_at > last.updated_at, JSON.stringify(change)).toBe(true);
      last = body;
    }
    expect(last).toEqual({
      ...made,
      name: 'After',
      tags: ['b'],
      customization: { ...plain, stream_selection_mode: 'all' },
      updated_at: last.updated_at,
      version: 4,
    });
    const [, asked] = await call('PATCH', at(made.id), { propagate: true });
    expect(asked, 'there are no sources').toEqual({
      ...last,
      propagated_sources: 0,
      rollout_id: expect.any(String),
    });
  });

  it('lose no secret to a change that is made at the same moment', async () => {
    const { id } = await create({ partial_default_config: oauth });
    const changed = { ...oauth, credentials: { ...oauth.credentials, refresh_token: 'second' } };
    const replies = await Promise.all([
      call('PATCH', at(id), { partial_default_config: changed }),
      call('PATCH', at(id), { name: 'renamed meanwhile' }),
      call('PATCH', at(id), { tags: ['meanwhile'] }),
    ]);
    expect(replies.map(([status]) => status)).toEqual([200, 200, 200]);
    const [, now] = await call('GET', at(id));
    expect(now).toMatchObject({ name: 'renamed meanwhile', tags: ['meanwhile'] });
    expect(now.partial_default_config.credentials).toEqual({
      method: 'oauth',
      client_secret: mask,
      refresh_token: mask,
    });
  });

  it('are gone when deleted, with the same answer as if they had never been', async () => {
    const { id } = await create({ tags: ['kept'] });
    expect(await call('DELETE', at(id))).toEqual([200, { id, deleted_at: expect.stringMatching(/Z$/) }]);
    for (const [method, url, body] of [
      ['GET', at(id)],
      ['PATCH', at(id), { name: 'x' }],
      ['DELETE', at(id)],
      ['POST', `${at(id)}/tags`, { tag: 'kept' }],
      ['DELETE', `${at(id)}/tags/kept`],
      ['POST', path, { original_source_template_id: id }],
    ] as const) {
      expect(await call(method, url, body), `${method} ${url}`).toEqual(notFound);
      expect(await call(method, url.replace(id, unknownId), body)).toEqual(notFound);
    }
    expect((await test.request('GET', `${path}?tags=kept`)).body.data).toEqual([]);
  });

  it('get and lose tags one by one', async () => {
    const made = await create();
    expect(await call('POST', `${at(made.id)}/tags`, { tag: 'not made yet' })).toEqual(tagNotFound);
    await call('POST', '/api/v1/integrations/templates/tags', { name: 'x/y' });
    const [status, tagged] = await call('POST', `${at(made.id)}/tags`, { tag: 'x/y' });
    expect([status, tagged.tags, tagged.updated_at > made.updated_at]).toEqual([200, ['x/y'], true]);
    expect(await call('POST', `${at(made.id)}/tags`, { tag: 'x/y' }), 'again').toEqual([200, tagged]);
    await call('PUT', '/api/v1/integrations/templates/tags/x%2Fy', { name: 'renamed' });
    expect((await call('GET', at(made.id)))[1].tags, 'renamed everywhere').toEqual(['renamed']);
    const untagged = await call('DELETE', `${at(made.id)}/tags/renamed`);
    expect(untagged).toEqual([200, { deleted_at: expect.stringMatching(/Z$/) }]);
    expect(await call('DELETE', `${at(made.id)}/tags/renamed`), 'not attached').toEqual(tagNotFound);
    await call('PATCH', at(made.id), { tags: ['renamed', 'stays'] });
    await call('DELETE', '/api/v1/integrations/templates/tags/renamed');
    expect((await call('GET', at(made.id)))[1].tags, 'deleted everywhere').toEqual(['stays']);
  });

  const faultsOf = async (method: string, url: string, body: unknown) => {
    const [status, { detail }] = await call(method, url, body);
    expect(status).toBe(422);
    return detail.map(({ loc, msg, type }: { loc: string[]; msg: string; type: string }) => [loc.join('.'), msg, type]);
  };
  const required = (field: string) => [field, 'field required', 'value_error.missing'];

  it('need a definition or an original', async () => {
    expect(await faultsOf('POST', path, undefined)).toEqual([required('body')]);
    expect(await faultsOf('POST', path, {})).toEqual([required('body.actor_definition_id')]);
    for (const id of [unknownId, warehouseId]) {
      const body = { actor_definition_id: id, partial_default_config: {} };
      expect(await faultsOf('POST', path, body)).toEqual([
        ['body.actor_definition_id', 'no source definition has this id', 'value_error.definition'],
      ]);
    }
  });

  it('are refused with every fault of their fields', async () => {
    const body = {
      actor_definition_id: 'x',
      partial_default_config: [],
      original_source_template_id: 7,
      name: ' ',
      customization: { stream_selection_mode: 'some', stream_whitelist: 'users', stream_customizations: { a: 7 } },
      tags: ['', 7, 'fine'],
    };
    expect((await faultsOf('POST', path, body)).toSorted()).toEqual([
      ['body.actor_definition_id', 'value is not a valid uuid', 'type_error.uuid'],
      ['body.customization.stream_customizations.a', 'value is not a valid dict', 'type_error.dict'],
      [
        'body.customization.stream_selection_mode',
        "value is not a valid enumeration member; permitted: 'suggested', 'all', 'whitelist'",
        'type_error.enum',
      ],
      ['body.customization.stream_whitelist', 'value is not a valid list', 'type_error.list'],
      ['body.name', 'a name must not be blank', 'value_error.name'],
      ['body.original_source_template_id', 'value is not a valid uuid', 'type_error.uuid'],
      ['body.partial_default_config', 'value is not a valid dict', 'type_error.dict'],
      ['body.tags.0', 'a tag must not be blank', 'value_error.tag'],
      ['body.tags.1', 'str type expected', 'type_error.str'],
    ]);
    const { id } = await create();
    expect(await faultsOf('PATCH', at(id), { name: null, propagate: 'yes', partial_default_config: null })).toEqual([
      ['body.name', 'none is not an allowed value', 'type_error.none.not_allowed'],
      ['body.partial_default_config', 'none is not an allowed value', 'type_error.none.not_allowed'],
      ['body.propagate', 'value could not be parsed to a boolean', 'type_error.bool'],
    ]);
  });

  it('are refused when their defaults do not fit the connector, with the place and never the value', async () => {
    const partial_default_config = {
      account: 7,
      start_date: 'not-a-date',
      credentials: { method: 'oauth', client_secret: [secret] },
    };
    const customization = { stream_selection_mode: 'whitelist' };
    const expected = [
      ['body.partial_default_config.account', 'str type expected', 'type_error.str'],
      ['body.partial_default_config.start_date', 'the value must match YYYY-MM-DD', 'value_error.str.regex'],
      ['body.partial_default_config.credentials.client_secret', 'str type expected', 'type_error.str'],
      [
        'body.customization.stream_whitelist',
        'the list must not be empty if stream_selection_mode is whitelist',
        'value_error.list.min_items',
      ],
    ];
    const body = { actor_definition_id: crmId, partial_default_config, customization };
    expect(await faultsOf('POST', path, body)).toEqual(expected);
    const { id } = await create();
    expect(await faultsOf('PATCH', at(id), { partial_default_config, customization })).toEqual(expected);
    const magic = { credentials: { method: 'magic' } };
    expect(await faultsOf('PATCH', at(id), { partial_default_config: magic })).toEqual([
      [
        'body.partial_default_config.credentials.method',
        "value is not a valid enumeration member; permitted: 'oauth', 'key'",
        'type_error.enum',
      ],
    ]);
    expect((await call('GET', at(id)))[1].partial_default_config, 'nothing was changed').toEqual({});
  });

  it('choose streams by name and by hand', async () => {
    const customization = {
      stream_selection_mode: 'whitelist',
      stream_whitelist: ['users', 'a "b"'],
      stream_customizations: { users: { primary_key_fields: [['id'], ['a', 'b']], cursor_field: ['at'] }, other: {} },
    };
    const { id } = await create({ customization });
    expect((await call('GET', at(id)))[1].customization).toEqual(customization);
  });

  it("are one organization's own", async () => {
    const { id } = await create({ tags: ['ours'] });
    const other = await addTenant(test, 'other');
    expect((await other.request('GET', path)).body.data).toEqual([]);
    const clone = await other.request('POST', path, { body: { original_source_template_id: id } });
    expect([clone.status, clone.body]).toEqual(notFound);
    const own = await other.request('POST', path, {
      body: { actor_definition_id: crmId, partial_default_config: {}, tags: ['ours'] },
    });
    expect(own.body.tags).toEqual(['ours']);
    expect((await test.request('GET', '/api/v1/integrations/templates/tags')).text).not.toContain(other.organizationId);
    await other.request('DELETE', '/api/v1/integrations/templates/tags/ours');
    expect((await call('GET', at(id)))[1].tags).toEqual(['ours']);
  });

  it('of a connector that the registry has dropped are still listed and can be deleted', async () => {
    const { id } = await create({ name: 'orphan' });
    await test.app.store.db
      .updateTable('source_templates')
      .set({ definition_id: unknownId })
      .where('id', '=', id)
      .execute();
    expect((await test.request('GET', path)).text).toContain('orphan');
    expect(await call('GET', at(id))).toEqual([404, { detail: 'Source definition not found' }]);
    expect((await call('DELETE', at(id)))[0]).toBe(200);
  });
});
