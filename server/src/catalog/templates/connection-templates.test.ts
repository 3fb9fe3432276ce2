/** Connection templates over the API, on both databases, with a destination that has a secret. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant } from '../../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { crmId, registryDocument, registryEnvironment, warehouseId } from '../../../test/support/connector-registry.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';

const path = '/api/v1/integrations/templates/connections';
const unknownId = '00000000-0000-4000-8000-000000000000';
const notFound = [404, { detail: 'Connection template not found' }];
const mask = '**********';
const secret = 'the-password-of-the-warehouse';
const config = { host: 'db.example', port: 5432, password: secret };
const masked = { ...config, password: mask };
const request = {
  destination_name: 'Warehouse',
  destination_definition_id: warehouseId,
  destination_config: config,
  // There is no such server.
  skip_check: true,
};

describeOnBothDatabases('Connection templates', (kind) => {
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
  const create = async (more: object = {}) => {
    const answer = await test.request('POST', path, { body: { ...request, ...more } });
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };
  const at = (id: string) => `${path}/${id}`;
  const faultsOf = async (method: string, url: string, body: unknown) => {
    const [status, { detail }] = await call(method, url, body);
    expect(status).toBe(422);
    return detail.map(({ loc, msg, type }: { loc: string[]; msg: string; type: string }) => [loc.join('.'), msg, type]);
  };

  it('are created with what is usual: hourly, changes ignored, synced at once', async () => {
    const made = await create();
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      organization_id: test.organizationId,
      customer_may_change: { streams: false, schedule: null },
      destination_name: 'Warehouse',
      destination_definition_id: warehouseId,
      destination_config: masked,
      icon: null,
      cron_expression: '0 0 * * * ?',
      non_breaking_changes_preference: 'ignore',
      sync_on_create: true,
      namespace_format: null,
      prefix: null,
      tags: [],
      checked: false,
      checked_at: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      version: 1,
    });
    expect(await call('GET', at(made.id))).toEqual([200, made]);
    expect((await test.request('GET', path)).body.data).toEqual([made]);
  });

  it('take everything that can be said of a connection', async () => {
    const all = {
      cron_expression: null,
      non_breaking_changes_preference: 'propagate_fully',
      sync_on_create: false,
      namespace_format: 'customer_{workspace_id}',
      prefix: '{source_slug}_',
      tags: ['b', 'a'],
    };
    expect(await create(all)).toMatchObject({ ...all, tags: ['a', 'b'] });
    const { cron_expression } = await create({ cron_expression: ' 0  30 2 * * ?  UTC' });
    expect(cron_expression).toBe('0 30 2 * * ?');
  });

  it('keep workspaces apart by their ids', async () => {
    const fault = [
      'body.namespace_format',
      'namespace_format or prefix must contain {workspace_id}, so that two workspaces never share tables',
      'value_error.placeholder',
    ];
    const shared = { namespace_format: 'shared', prefix: '{workspace_name}_' };
    expect(await faultsOf('POST', path, { ...request, ...shared })).toEqual([fault]);
    expect(await faultsOf('POST', path, { ...request, namespace_format: '' }), 'the default prefix').toEqual([fault]);
    const { id } = await create({ namespace_format: 'shared', prefix: '{workspace_id}_' });
    expect(await faultsOf('PATCH', at(id), { prefix: '{workspace_name}_' })).toEqual([fault]);
    expect((await call('PATCH', at(id), { ...shared, namespace_format: '{workspace_id}' }))[0]).toBe(200);
    await call('DELETE', at(id));
  });

  it('keep the configuration sealed at rest, and the secret when its mask comes back', async () => {
    const { id, updated_at } = await create();
    const stored = () =>
      test.app.store.db.selectFrom('connection_templates').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const row = await stored();
    expect(JSON.stringify(row)).not.toContain(secret);
    expect(JSON.stringify(row)).not.toContain('db.example');
    const [, unchanged] = await call('PATCH', at(id), { destination_config: masked, skip_check: true });
    expect([unchanged.destination_config, unchanged.updated_at]).toEqual([masked, updated_at]);
    expect(await stored()).toEqual(row);
    const elsewhere = { ...masked, host: 'elsewhere' };
    expect(
      await faultsOf('PATCH', at(id), { destination_config: elsewhere }),
      'a secret stays with its address',
    ).toEqual([
      [
        'body.destination_config.password',
        'enter this secret again because its address has changed',
        'value_error.secret',
      ],
    ]);
    const given = { ...elsewhere, password: config.password };
    const [status, moved] = await call('PATCH', at(id), { destination_config: given, skip_check: true });
    expect([status, moved.destination_config]).toEqual([200, elsewhere]);
    expect(await faultsOf('PATCH', at(id), { destination_config: { host: 'h' } }), 'left out is gone').toEqual([
      ['body.destination_config.password', 'field required', 'value_error.missing'],
    ]);
    expect(await faultsOf('POST', path, { ...request, destination_config: masked }), 'a mask of nothing').toEqual([
      ['body.destination_config.password', 'field required', 'value_error.missing'],
    ]);
  });

  it('are changed field by field; what equals the present state changes nothing', async () => {
    const made = await create({ tags: ['a'], prefix: 'p_' });
    const { destination_name, destination_config, cron_expression, sync_on_create, prefix } = made;
    const same = {
      skip_check: true,
      destination_name,
      destination_config,
      cron_expression,
      sync_on_create,
      prefix,
      tags: ['a'],
    };
    for (const body of [undefined, {}, same]) expect(await call('PATCH', at(made.id), body)).toEqual([200, made]);
    let last = made;
    for (const change of [
      { destination_name: 'Lake' },
      { cron_expression: null },
      { cron_expression: '0 15 3 * * ?' },
      { non_breaking_changes_preference: 'disable' },
      { sync_on_create: false },
      { namespace_format: '{workspace_id}_{workspace_name}' },
      { prefix: null },
      { tags: [] },
    ]) {
      const [status, body] = await call('PATCH', at(made.id), change);
      expect([status, body]).toEqual([
        200,
        { ...last, ...change, updated_at: body.updated_at, version: last.version + 1 },
      ]);
      expect(body.updated_at > last.updated_at, JSON.stringify(change)).toBe(true);
      last = body;
    }
  });

  it('are refused with every fault of their fields', async () => {
    expect((await faultsOf('POST', path, {})).map(([loc]: string[]) => loc)).toEqual([
      'body.destination_name',
      'body.destination_definition_id',
      'body.destination_config',
    ]);
    const wrong = {
      destination_name: '',
      destination_definition_id: 7,
      destination_config: 'x',
      cron_expression: '* * * * *',
      non_breaking_changes_preference: 'panic',
      sync_on_create: 'yes',
      namespace_format: '{nobody}',
      prefix: 'a{',
      tags: 'a',
    };
    const optional = [
      [
        'body.cron_expression',
        'use a Quartz cron expression such as 0 0 * * * ?: expected 6 or 7 fields, found 5',
        'value_error.cron',
      ],
      [
        'body.namespace_format',
        'use only the placeholders {workspace_id}, {workspace_name}, {source_slug}',
        'value_error.placeholder',
      ],
      [
        'body.non_breaking_changes_preference',
        "value is not a valid enumeration member; permitted: 'ignore', 'disable', 'propagate_columns', 'propagate_fully'",
        'type_error.enum',
      ],
      ['body.prefix', 'braces must enclose a placeholder', 'value_error.placeholder'],
      ['body.sync_on_create', 'value could not be parsed to a boolean', 'type_error.bool'],
      ['body.tags', 'value is not a valid list', 'type_error.list'],
    ];
    expect((await faultsOf('POST', path, wrong)).toSorted()).toEqual(
      [
        ['body.destination_name', 'a name must not be blank', 'value_error.name'],
        ['body.destination_definition_id', 'value is not a valid uuid', 'type_error.uuid'],
        ['body.destination_config', 'value is not a valid dict', 'type_error.dict'],
        ...optional,
      ].toSorted(),
    );
    const { id } = await create();
    const { destination_name, destination_config, destination_definition_id, ...rest } = wrong;
    expect((await faultsOf('PATCH', at(id), rest)).toSorted()).toEqual(optional);
    expect(await faultsOf('PATCH', at(id), { cron_expression: 7, prefix: 7 })).toEqual([
      ['body.cron_expression', 'str type expected', 'type_error.str'],
      ['body.prefix', 'str type expected', 'type_error.str'],
    ]);
  });

  it('need a destination that exists and its whole configuration', async () => {
    for (const id of [unknownId, crmId]) {
      expect(await faultsOf('POST', path, { ...request, destination_definition_id: id })).toEqual([
        ['body.destination_definition_id', 'no destination definition has this id', 'value_error.definition'],
      ]);
    }
    expect(await faultsOf('POST', path, { ...request, destination_config: { port: 0, password: [secret] } })).toEqual([
      ['body.destination_config.host', 'field required', 'value_error.missing'],
      ['body.destination_config.port', 'ensure this value is greater than or equal to 1', 'value_error.number.not_ge'],
      ['body.destination_config.password', 'str type expected', 'type_error.str'],
    ]);
  });

  it('are filtered by tags, get and lose them, and are gone when deleted', async () => {
    const made = await create({ tags: ['x', 'y'] });
    const listed = async (query: string) =>
      (await test.request('GET', path + query)).body.data.map(({ id }: { id: string }) => id);
    expect(await listed('?tags=x&tags=y')).toEqual([made.id]);
    expect(await listed('?tags=x&tags=z')).toEqual([]);
    expect(await listed('?tags=x&tags=z&tags_mode=any')).toEqual([made.id]);
    expect(await call('DELETE', `${at(made.id)}/tags/x`)).toEqual([200, { deleted_at: expect.any(String) }]);
    expect(await call('DELETE', `${at(made.id)}/tags/x`)).toEqual([404, { detail: 'Tag not found' }]);
    expect(await call('POST', `${at(made.id)}/tags`, { tag: 'unknown' })).toEqual([404, { detail: 'Tag not found' }]);
    expect((await call('POST', `${at(made.id)}/tags`, { tag: 'x' }))[1].tags).toEqual(['x', 'y']);
    expect(await call('DELETE', at(made.id))).toEqual([200, { id: made.id, deleted_at: expect.any(String) }]);
    for (const id of [made.id, unknownId]) {
      expect(await call('GET', at(id))).toEqual(notFound);
      expect(await call('PATCH', at(id), { prefix: 'x' })).toEqual(notFound);
      expect(await call('DELETE', at(id))).toEqual(notFound);
      expect(await call('POST', `${at(id)}/tags`, { tag: 'x' })).toEqual(notFound);
      expect(await call('DELETE', `${at(id)}/tags/x`)).toEqual(notFound);
    }
    expect(await listed('?tags=x')).toEqual([]);
  });

  it("are one organization's own", async () => {
    const { id } = await create();
    const other = await addTenant(test, 'other');
    expect((await other.request('GET', path)).body.data).toEqual([]);
    const answer = await other.request('PATCH', at(id), { body: { prefix: 'stolen' } });
    expect([answer.status, answer.body]).toEqual(notFound);
  });

  it('of a destination that the registry has dropped show nothing of its configuration', async () => {
    const { id } = await create();
    await test.app.store.db
      .updateTable('connection_templates')
      .set({ definition_id: unknownId })
      .where('id', '=', id)
      .execute();
    const { body } = await test.request('GET', path);
    const shown = body.data.find((template: { id: string }) => template.id === id);
    expect(shown.destination_config).toEqual({ host: mask, port: mask, password: mask });
    await call('DELETE', at(id));
  });

  it('can be seen before they are saved: what a customer would get, refused as if it were saved', async () => {
    const preview = `${path}/preview`;
    const list = { actor_definition_id: crmId, name: 'CRM', partial_default_config: {} };
    const customization = { stream_selection_mode: 'whitelist', stream_whitelist: ['deals'] };
    const source = await test.request('POST', '/api/v1/integrations/templates/sources', {
      body: { ...list, customization },
    });
    expect(source.status, source.text).toBe(201);
    const count = async () => (await call('GET', path))[1].data.length;
    const before = await count();
    const { skip_check: _, ...draft } = request;
    const [status, shown] = await call('POST', preview, { ...draft, tags: ['b', 'a'], prefix: '{workspace_id}_' });
    expect([status, shown]).toEqual([
      200,
      {
        destination_name: 'Warehouse',
        destination_type: expect.any(String),
        cron_expression: '0 0 * * * ?',
        schedule: expect.objectContaining({ description: 'Every hour (UTC)', is_valid: true }),
        sync_on_create: true,
        namespace_format: 'workspace_{workspace_id}',
        prefix: '{workspace_id}_',
        customer_may_change: { streams: false, schedule: null },
        tags: ['a', 'b'],
        sources: [
          {
            source_template_id: source.body.id,
            name: 'CRM',
            stream_selection_mode: 'whitelist',
            streams: ['deals'],
          },
        ],
        more_sources: 0,
      },
    ]);
    expect(JSON.stringify(shown)).not.toContain(secret);
    expect(await count(), 'nothing is stored').toBe(before);
    expect(await faultsOf('POST', preview, { destination_name: 'x' })).toEqual([
      ['body.destination_definition_id', 'field required', 'value_error.missing'],
      ['body.destination_config', 'field required', 'value_error.missing'],
    ]);
    for (const fault of [{ destination_config: {} }, { namespace_format: 'one', prefix: 'same' }]) {
      expect(await faultsOf('POST', preview, { ...draft, ...fault })).toEqual(
        await faultsOf('POST', path, { ...request, ...fault }),
      );
    }

    // A change of a template: what is left out is as it was, and masks keep its secrets.
    const { id, version } = await create({ customer_may_change: { streams: true } });
    const change = { original_connection_template_id: id, destination_config: masked, cron_expression: null };
    expect(await call('POST', preview, change)).toEqual([
      200,
      expect.objectContaining({
        destination_name: 'Warehouse',
        cron_expression: null,
        schedule: null,
        customer_may_change: { streams: true, schedule: null },
      }),
    ]);
    expect((await call('GET', at(id)))[1]).toMatchObject({ version, cron_expression: '0 0 * * * ?' });
    const other = await addTenant(test, `previews ${kind}`);
    const theirs = await other.request('POST', preview, { body: change });
    expect([theirs.status, theirs.body]).toEqual(notFound);
    await call('DELETE', at(id));
    await call('DELETE', `/api/v1/integrations/templates/sources/${source.body.id}`);
  });

  it('have schedules that can be tried out', async () => {
    const describeUrl = `${path}/cron/describe`;
    const [status, valid] = await call('POST', describeUrl, { cron_expression: '0 0 * * * ?' });
    expect([status, valid]).toEqual([
      200,
      {
        description: 'Every hour (UTC)',
        is_valid: true,
        next_runs: Array(5).fill(expect.stringMatching(/:00:00.000Z$/)),
      },
    ]);
    expect(await call('POST', describeUrl, { cron_expression: '5 4 * * *' })).toEqual([
      200,
      { description: null, is_valid: false, next_runs: [], error: 'expected 6 or 7 fields, found 5' },
    ]);
    expect(await faultsOf('POST', describeUrl, { cron_expression: 7 })).toEqual([
      ['body.cron_expression', 'str type expected', 'type_error.str'],
    ]);
  });
});
