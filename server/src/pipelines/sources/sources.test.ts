import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import {
  type Customer,
  customer,
  httpApi,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
} from '../../../test/support/pipelines.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

describeInTurns('sources', (kind, it) => {
  let test: TestApp;
  let acme: Customer;
  beforeEach(async () => {
    test = await startTestApp(kind);
    acme = await customer(test, 'acme');
  });
  afterEach(() => test.stop());

  it('are set up on the platform with a destination and a connection for every connection template', async () => {
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test, { destination_name: 'Files', cron_expression: '0 0 * * * ?' });
    await makeConnectionTemplate(test, { destination_name: 'More files' });
    const created = await acme.request('POST', '/sources', {
      source_template_id: template,
      name: 'Shop',
      source_config: { count: 10 },
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ name: 'Shop', status: 'pending', source_config: { count: 10 } });
    expect(await acme.settled(created.body.id)).toMatchObject({ status: 'ready', status_message: null });

    const { sources, destinations, connections } = await onPlatform(test, acme.workspaceId);
    expect(sources).toHaveLength(1);
    expect(sources[0].configuration).toEqual({ count: 10, seed: 7 });
    expect(destinations).toHaveLength(2);
    expect(connections).toHaveLength(2);
    const { data } = (await acme.request('GET', '/connections')).body;
    // Made at the same moment, so in no order.
    const byName = data.toSorted((a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1));
    expect(byName).toMatchObject([
      { name: 'Shop → Files', status: 'active', cron_expression: '0 0 * * * ?', next_run_at: expect.any(String) },
      { name: 'Shop → More files', status: 'active', cron_expression: null, next_run_at: null },
    ]);
  });

  it('share the destination of their workspace, and write under names of their own', async () => {
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test);
    const ids = await Promise.all([acme.connect(template), acme.connect(template)]);
    for (const id of ids) await acme.settled(id);
    const { sources, destinations, connections } = await onPlatform(test, acme.workspaceId);
    expect([sources.length, destinations.length, connections.length]).toEqual([2, 1, 2]);
    expect(connections.map((one: { prefix: string }) => one.prefix).sort()).toEqual(['shop_', 'shop_2_']);
  });

  it('take what the template has set from the template, whatever the customer says', async () => {
    const template = await makeSourceTemplate(test, { partial_default_config: { seed: 7 } });
    const id = await acme.connect(template, { source_config: { count: 10, seed: 8 } });
    await acme.settled(id);
    expect((await onPlatform(test, acme.workspaceId)).sources[0].configuration).toEqual({ count: 10, seed: 7 });
  });

  it('are refused with the place in source_config that is wrong', async () => {
    const template = await makeSourceTemplate(test);
    const create = (source_config: unknown) =>
      acme.request('POST', '/sources', { source_template_id: template, source_config });
    expect((await create({})).body.detail).toEqual([
      { loc: ['body', 'source_config', 'count'], msg: 'field required', type: 'value_error.missing' },
    ]);
    expect((await create({ count: 'ten' })).body.detail).toEqual([
      { loc: ['body', 'source_config', 'count'], msg: 'value is not a valid integer', type: 'type_error.integer' },
    ]);
    expect((await create('count')).body.detail).toMatchObject([{ loc: ['body', 'source_config'] }]);
    expect((await acme.request('GET', '/sources')).body).toEqual({ data: [] });
  });

  it('of an unknown template, or of a template that the token is not offered, are refused alike', async () => {
    await makeSourceTemplate(test);
    const { token } = JSON.parse(
      Buffer.from(
        (
          await test.request('POST', '/api/v1/embedded/widget-token', {
            body: {
              workspace_name: 'acme',
              allowed_origin: 'https://app.example',
              selected_source_template_tags: ['pro'],
            },
          })
        ).body.token,
        'base64',
      ).toString(),
    );
    const hidden = await makeSourceTemplate(test, { tags: ['free'] });
    const create = (source_template_id: string) =>
      test.request('POST', '/api/v1/embedded/sources', {
        token,
        body: { source_template_id, source_config: { count: 1 } },
      });
    const [unknown, notOffered] = [await create(unknownId), await create(hidden)];
    expect(unknown).toMatchObject({ status: 404, body: { detail: 'Source template not found' } });
    expect(notOffered.text).toBe(unknown.text);
  });

  it('get only the connections that the tags of the token and of the request allow', async () => {
    const template = await makeSourceTemplate(test, { tags: ['pro'] });
    for (const tags of [['pro'], ['pro', 'eu'], ['free']]) {
      await makeConnectionTemplate(test, { destination_name: tags.join('+'), tags });
    }
    const answer = await test.request('POST', '/api/v1/embedded/widget-token', {
      body: {
        workspace_name: 'acme',
        allowed_origin: 'https://app.example',
        selected_connection_template_tags: ['pro'],
      },
    });
    const { token } = JSON.parse(Buffer.from(answer.body.token, 'base64').toString());
    const source = await test.request('POST', '/api/v1/embedded/sources', {
      token,
      body: {
        source_template_id: template,
        source_config: { count: 1 },
        selected_connection_template_tags: ['eu', 'free'],
      },
    });
    expect(source.status).toBe(201);
    await acme.settled(source.body.id);
    const { data } = (await acme.request('GET', '/connections')).body;
    expect(data.map((one: { destination_name: string }) => one.destination_name)).toEqual(['pro+eu']);
  });

  it('can be renamed and reconfigured', async () => {
    const template = await makeSourceTemplate(test);
    const id = await acme.connect(template);
    await acme.settled(id);
    const updated = await acme.request('PUT', `/sources/${id}`, { name: 'Store', source_config: { count: 20 } });
    expect(updated).toMatchObject({ status: 200, body: { name: 'Store', source_config: { count: 20 } } });
    await acme.settled(id);
    const [source] = (await onPlatform(test, acme.workspaceId)).sources;
    expect(source).toMatchObject({
      name: expect.stringMatching(/^Store \([0-9a-f]{12}\)$/),
      configuration: { count: 20 },
    });
    expect((await acme.request('PUT', `/sources/${id}`, { source_config: { count: 0 } })).status).toBe(422);
    expect((await acme.request('GET', `/sources/${id}`)).body.source_config).toEqual({ count: 20 });
  });

  it('are deleted with their connections, once', async () => {
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test);
    const id = await acme.connect(template);
    await acme.settled(id);
    const deleted = await acme.request('DELETE', `/sources/${id}`);
    expect(deleted).toMatchObject({ status: 200, body: { id, deleted_at: expect.any(String) } });
    expect((await acme.request('DELETE', `/sources/${id}`)).body).toEqual({ detail: 'Source not found' });
    const { sources, connections } = await onPlatform(test, acme.workspaceId);
    expect([sources, connections]).toEqual([[], []]);
    expect((await acme.request('GET', '/connections')).body).toEqual({ data: [] });
  });

  it('can be deleted while they are still being set up', async () => {
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test);
    const id = await acme.connect(template);
    expect((await acme.request('DELETE', `/sources/${id}`)).status).toBe(200);
    const { sources, connections } = await onPlatform(test, acme.workspaceId);
    expect([sources, connections]).toEqual([[], []]);
  });

  it('go with their workspace, at the same time', async () => {
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test);
    await acme.settled(await acme.connect(template));
    const { body } = await test.request('DELETE', `/api/v1/workspaces/${acme.workspaceId}`);
    const deletedAt = Date.parse(body.deleted_at);
    for (const table of ['sources', 'destinations', 'connections'] as const) {
      const rows = await test.app.store.db.selectFrom(table).select('deleted_at').execute();
      expect(rows).toEqual([{ deleted_at: deletedAt }]);
    }
  });

  it('cannot be seen by another workspace or another organization', async () => {
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test);
    const id = await acme.connect(template);
    await acme.settled(id);
    const [connection] = (await acme.request('GET', '/connections')).body.data;
    const other = await customer(test, 'other');
    const attempts: [string, string, object?][] = [
      ['GET', `/sources/${id}`],
      ['PUT', `/sources/${id}`, { name: 'mine' }],
      ['DELETE', `/sources/${id}`],
      ['POST', `/sources/${id}/check`, {}],
      ['POST', `/connections/${connection.id}/sync`],
      ['GET', `/connections/${connection.id}/jobs`],
    ];
    for (const [method, path, body] of attempts) {
      expect(await other.request(method, path, body), path).toMatchObject({
        status: 403,
        body: { detail: 'Access denied to this resource' },
      });
    }
    expect((await other.request('GET', '/sources')).body).toEqual({ data: [] });
    expect((await other.request('GET', `/sources/${unknownId}`)).body).toEqual({ detail: 'Source not found' });
  });

  it('are reached by an operator who names the workspace', async () => {
    const template = await makeSourceTemplate(test);
    const path = `/api/v1/integrations/sources?workspace_id=${acme.workspaceId}`;
    const created = await test.request('POST', path, {
      body: { source_template_id: template, source_config: { count: 3 } },
    });
    expect(created).toMatchObject({ status: 201, body: { name: 'Sample', workspace_id: acme.workspaceId } });
    expect((await test.request('GET', path)).body.data).toHaveLength(1);
    // Without a workspace the list is of all workspaces; a new source has to be in one.
    expect((await test.request('GET', '/api/v1/integrations/sources')).body.data).toHaveLength(1);
    const nowhere = await test.request('POST', '/api/v1/integrations/sources', {
      body: { source_template_id: template },
    });
    expect(nowhere.body.detail).toMatchObject([{ loc: ['query', 'workspace_id'], type: 'value_error.missing' }]);
    const unknown = await test.request('GET', `/api/v1/integrations/sources?workspace_id=${unknownId}`);
    expect(unknown).toMatchObject({ status: 404, body: { detail: 'Workspace not found' } });
  });

  it('of a template that was changed with propagate follow it, in the background', async () => {
    const template = await makeSourceTemplate(test);
    const id = await acme.connect(template);
    await acme.settled(id);
    const path = `/api/v1/integrations/templates/sources/${template}`;
    await test.request('PATCH', path, { body: { partial_default_config: { seed: 8 } } });
    await test.app.workers.setUps.pass();
    expect((await onPlatform(test, acme.workspaceId)).sources[0].configuration.seed).toBe(7);
    const patched = await test.request('PATCH', path, {
      body: { partial_default_config: { seed: 9 }, propagate: true },
    });
    expect(patched.body.propagated_sources).toBe(1);
    await test.app.workers.rollouts.pass();
    await acme.settled(id);
    expect((await onPlatform(test, acme.workspaceId)).sources[0].configuration.seed).toBe(9);
  });

  it('start disabled in an inactive workspace, and are enabled with it', async () => {
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test);
    const status = (value: string) =>
      test.request('PUT', `/api/v1/workspaces/${acme.workspaceId}`, { body: { status: value } });
    await status('inactive');
    const id = await acme.connect(template);
    await acme.settled(id);
    expect((await onPlatform(test, acme.workspaceId)).connections).toMatchObject([{ status: 'inactive' }]);
    const [connection] = (await acme.request('GET', '/connections')).body.data;
    expect(connection).toMatchObject({ status: 'inactive', next_run_at: null });
    expect(await acme.request('POST', `/connections/${connection.id}/sync`)).toMatchObject({
      status: 409,
      body: { detail: 'The workspace is inactive' },
    });
    await status('active');
    expect((await onPlatform(test, acme.workspaceId)).connections).toMatchObject([{ status: 'active' }]);
  });
});

describe('secrets of a source', () => {
  let test: TestApp;
  beforeEach(async () => {
    test = await startTestApp('sqlite');
  });
  afterEach(() => test.stop());

  it('are stored sealed, shown masked, and kept when the mask comes back', async () => {
    const { body } = await test.request('GET', '/api/v1/integrations/definitions/sources?name=postgres');
    const definition = body.definitions[0].sourceDefinitionId;
    const template = await makeSourceTemplate(test, {
      actor_definition_id: definition,
      name: 'Database',
      partial_default_config: { port: 5432 },
    });
    const acme = await customer(test, 'acme');
    const source_config = { host: 'db.example.com', database: 'shop', username: 'reader', password: 'hunter2-hunter2' };
    const id = await acme.connect(template, { source_config });
    const shown = (await acme.request('GET', `/sources/${id}`)).body.source_config;
    expect(shown).toEqual({ ...source_config, password: '**********' });
    await acme.request('PUT', `/sources/${id}`, { source_config: { ...shown, database: 'store' } });
    expect((await acme.request('GET', `/sources/${id}`)).body.source_config.password).toBe('**********');
    await test.app.workers.setUps.pass();
    for (const file of ['inlay.db', 'inlay.db-wal', 'platform.db', 'platform.db-wal']) {
      expect(readFileSync(join(test.dataDir, file)).includes('hunter2'), file).toBe(false);
    }
  });

  it('stay with their address: with a new address they have to be given again, in checks and changes, on both APIs', async () => {
    const heard: unknown[] = [];
    const listener = createServer((request, response) => {
      heard.push(request.headers.authorization);
      response.end('[]');
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const elsewhere = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const template = await makeSourceTemplate(test, {
      actor_definition_id: httpApi,
      name: 'API',
      partial_default_config: {},
    });
    const acme = await customer(test, 'acme');
    const source_config = {
      base_url: 'http://127.0.0.1:9',
      authentication: { type: 'bearer', token: 'hunter2-hunter2' },
      streams: [{ name: 'things', path: '/things' }],
    };
    const id = await acme.connect(template, { source_config });
    const shown = (await acme.request('GET', `/sources/${id}`)).body.source_config;
    const moved = { source_config: { ...shown, base_url: elsewhere } };
    const operator = `/api/v1/integrations/sources/${id}`;
    const inWorkspace = `workspace_id=${acme.workspaceId}`;
    const refused = {
      status: 422,
      body: {
        detail: [
          {
            loc: ['body', 'source_config', 'authentication', 'token'],
            msg: 'enter this secret again because its address has changed',
            type: 'value_error.secret',
          },
        ],
      },
    };
    expect(await acme.request('POST', `/sources/${id}/check`, moved)).toMatchObject(refused);
    expect(await acme.request('PUT', `/sources/${id}`, moved)).toMatchObject(refused);
    expect(await test.request('POST', `${operator}/check?${inWorkspace}`, { body: moved })).toMatchObject(refused);
    expect(await test.request('PUT', `${operator}?${inWorkspace}`, { body: moved })).toMatchObject(refused);
    await test.app.workers.setUps.pass();
    expect(heard).toEqual([]);

    const given = { source_config: { ...moved.source_config, authentication: { type: 'bearer', token: 'a-new-one' } } };
    expect((await acme.request('PUT', `/sources/${id}`, given)).status).toBe(200);
    await acme.settled(id);
    await new Promise((resolve) => listener.close(resolve));
    expect(heard.every((header) => header === 'Bearer a-new-one')).toBe(true);
  });
});
