import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  fillWorkspace,
  publicUrl,
  type RunningPlatform,
  startPlatform,
  testOnStores as test,
} from '../../test/start-platform.ts';
import { bundledDefinitions } from '../definitions/bundled-definitions.ts';
import type { Definition } from '../definitions/definitions.ts';
import { openConfiguration } from './sealed-configuration.ts';

const MASK = '**********';
const errorIdOnly = { errorId: expect.any(String) };

async function createWorkspace({ call }: RunningPlatform): Promise<string> {
  return (await call('POST', '/workspaces', { name: 'w' })).body.workspaceId;
}

const kinds = [
  { kind: 'source', slug: 'sample-data', good: { count: 5 }, bad: { count: 0 }, change: { seed: 7 } },
  {
    kind: 'destination',
    slug: 'local-files',
    good: { path: 'a/b' },
    bad: { path: '../up' },
    change: { format: 'csv' },
  },
] as const;

describe.each(kinds)('a $kind', ({ kind, slug, good, bad, change }) => {
  const collection = `/${kind}s`;
  const definition = bundledDefinitions.find((known) => known.slug === slug);
  const typed = { ...good, [`${kind}Type`]: slug };

  async function start() {
    const running = await startPlatform();
    const workspaceId = await createWorkspace(running);
    const create = async (more: object = {}) =>
      running.call('POST', collection, { name: 'mine', workspaceId, configuration: typed, ...more });
    return { ...running, workspaceId, create };
  }

  test('is created by slug, shown without it in the configuration, and read back', async () => {
    const { call, create, workspaceId } = await start();
    const reply = await create();
    expect(reply).toEqual({
      status: 200,
      body: {
        [`${kind}Id`]: expect.any(String),
        name: 'mine',
        [`${kind}Type`]: slug,
        definitionId: definition?.definitionId,
        workspaceId,
        configuration: good,
        createdAt: Date.UTC(2030, 0, 1) / 1000,
      },
    });
    expect(await call('GET', `${collection}/${reply.body[`${kind}Id`]}`)).toEqual(reply);
  });

  test('is created by definition id, with a resource allocation', async () => {
    const { create } = await start();
    const resourceAllocation = { default: { cpu_limit: '1' } };
    const request = { definitionId: definition?.definitionId, configuration: good, resourceAllocation };
    expect((await create(request)).body).toMatchObject({ [`${kind}Type`]: slug, resourceAllocation });
  });

  test('may have the name of another one', async () => {
    const { create } = await start();
    expect((await create()).body[`${kind}Id`]).not.toBe((await create()).body[`${kind}Id`]);
  });

  test('needs to say which connector it is', async () => {
    const { create } = await start();
    const unprocessable = { status: 422, body: { title: 'unprocessable-entity' } };
    expect(await create({ configuration: good })).toMatchObject(unprocessable);
    expect(await create({ configuration: { ...good, [`${kind}Type`]: 5 } })).toMatchObject(unprocessable);
    expect(await create({ configuration: { ...good, [`${kind}Type`]: 'unknown' } })).toMatchObject({
      status: 400,
      body: { title: 'value-not-found', data: { value: 'unknown' } },
    });
    const definitionId = randomUUID();
    expect(await create({ definitionId })).toMatchObject({
      status: 404,
      body: { title: 'resource-not-found', data: { resourceType: `${kind}_definition`, resourceId: definitionId } },
    });
  });

  test('cannot be made from a definition of the other kind', async () => {
    const { create } = await start();
    const other = bundledDefinitions.find((known) => known.kind !== kind);
    expect((await create({ definitionId: other?.definitionId })).status).toBe(404);
    expect((await create({ configuration: { ...good, [`${kind}Type`]: other?.slug } })).status).toBe(400);
  });

  test('is refused when its configuration breaks the specification', async () => {
    const { create, call } = await start();
    const reply = await create({ configuration: { ...typed, ...bad } });
    const field = Object.keys(bad)[0];
    expect(reply).toMatchObject({ status: 422, body: { title: 'unprocessable-entity' } });
    expect(reply.body.data.message).toContain(`configuration.${field}`);
    expect((await create({ configuration: { [`${kind}Type`]: slug } })).status).toBe(422);
    expect((await call('GET', collection)).body.data).toEqual([]);
  });

  it.each([{ name: '' }, { workspaceId: 'x' }, { configuration: 'x' }, { name: undefined }])(
    'is refused with 400 for %j',
    async (wrong) => {
      const { create } = await start();
      expect(await create(wrong)).toEqual({ status: 400, body: errorIdOnly });
    },
  );

  test('is patched deep and put whole', async () => {
    const { call, create } = await start();
    const path = `${collection}/${(await create()).body[`${kind}Id`]}`;
    expect(await call('PATCH', path, { configuration: { ...change, [`${kind}Type`]: slug } })).toMatchObject({
      status: 200,
      body: { name: 'mine', configuration: { ...good, ...change } },
    });
    expect((await call('PATCH', path, { name: 'renamed' })).body).toMatchObject({
      name: 'renamed',
      configuration: { ...good, ...change },
    });
    const put = await call('PUT', path, { name: 'put', configuration: good });
    expect([put.status, put.body.name, put.body.configuration]).toEqual([200, 'put', good]);
    expect((await call('GET', path)).body).toEqual(put.body);
    expect(await call('PUT', path, { name: 'no configuration' })).toEqual({ status: 400, body: errorIdOnly });
    expect((await call('PATCH', path, { configuration: bad })).status).toBe(422);
    expect((await call('GET', path)).body).toEqual(put.body);
  });

  test('is listed by workspace, in pages', async () => {
    const { call, create, ...running } = await start();
    for (const name of ['a', 'b', 'c']) await create({ name });
    const elsewhere = await createWorkspace({ call, ...running });
    await create({ name: 'd', workspaceId: elsewhere });
    const list = async (query: string) => {
      const { body } = await call('GET', `${collection}${query}`);
      return { ...body, names: body.data.map(({ name }: { name: string }) => name) };
    };
    expect((await list('')).names).toEqual(['a', 'b', 'c', 'd']);
    expect((await list(`?workspaceIds=${elsewhere}`)).names).toEqual(['d']);
    const { names, next, previous } = await list('?limit=2&offset=1');
    expect(names).toEqual(['b', 'c']);
    expect(next).toBe(`${publicUrl}${collection}?includeDeleted=false&limit=2&offset=3`);
    expect(previous).toBe(`${publicUrl}${collection}?includeDeleted=false&limit=2&offset=0`);
    expect((await call('GET', `${collection}?limit=101`)).status).toBe(400);
  });

  test('takes its connections along when deleted', async () => {
    const running = await startPlatform();
    const { call } = running;
    const ids = await fillWorkspace(running);
    const id = ids[`${kind}Id`];
    expect(await call('DELETE', `${collection}/${id}`)).toEqual({ status: 204, body: undefined });
    const notFound = { status: 404, body: { data: { resourceType: kind, resourceId: id } } };
    for (const method of ['GET', 'DELETE'] as const) {
      expect(await call(method, `${collection}/${id}`)).toMatchObject(notFound);
    }
    expect(await call('PATCH', `${collection}/${id}`, { name: 'x' })).toMatchObject(notFound);
    expect((await call('GET', `/connections/${ids.connectionId}`)).status).toBe(404);
    expect((await call('GET', collection)).body.data).toEqual([]);
    expect((await call('GET', `${collection}?includeDeleted=true`)).body.data).toHaveLength(1);
    expect((await call('GET', `/workspaces/${ids.workspaceId}`)).status).toBe(200);
  });

  test('is not found under the other kind', async () => {
    const { call, create } = await start();
    const id = (await create()).body[`${kind}Id`];
    const other = kind === 'source' ? 'destinations' : 'sources';
    expect((await call('GET', `/${other}/${id}`)).status).toBe(404);
    expect((await call('DELETE', `/${other}/${id}`)).status).toBe(404);
  });
});

describe('secrets', () => {
  const vault: Definition = {
    definitionId: '11111111-2222-4333-8444-555555555555',
    kind: 'source',
    slug: 'vault',
    name: 'Vault',
    version: '1.0.0',
    documentation: '',
    specification: {
      connectionSpecification: {
        type: 'object',
        required: ['user', 'login'],
        properties: {
          user: { type: 'string' },
          login: {
            type: 'object',
            properties: { password: { type: 'string', airbyte_secret: true } },
            required: ['password'],
          },
        },
      },
    },
  };

  async function createVault() {
    const running = await startPlatform({ moreDefinitions: [vault] });
    const workspaceId = await createWorkspace(running);
    const configuration = { sourceType: 'vault', user: 'u', login: { password: 'first-secret' } };
    const reply = await running.call('POST', '/sources', { name: 'v', workspaceId, configuration });
    const stored = async () => {
      const row = await running.platform.store.db.selectFrom('connectors').selectAll().executeTakeFirstOrThrow();
      return openConfiguration(running.platform.sealer, row);
    };
    return { ...running, workspaceId, reply, path: `/sources/${reply.body.sourceId}`, stored };
  }

  test('are masked in every reply', async () => {
    const { call, reply, path } = await createVault();
    const masked = { user: 'u', login: { password: MASK } };
    expect(reply.body.configuration).toEqual(masked);
    expect((await call('GET', path)).body.configuration).toEqual(masked);
    expect((await call('GET', '/sources')).body.data[0].configuration).toEqual(masked);
    expect((await call('PATCH', path, { name: 'n' })).body.configuration).toEqual(masked);
  });

  test('stay when the mask is sent back, and change when a new one is', async () => {
    const { call, path, stored } = await createVault();
    await call('PATCH', path, { configuration: { user: 'x', login: { password: MASK } } });
    expect(await stored()).toEqual({ user: 'x', login: { password: 'first-secret' } });
    await call('PUT', path, { name: 'v', configuration: { user: 'y', login: { password: '************' } } });
    expect(await stored()).toEqual({ user: 'y', login: { password: 'first-secret' } });
    await call('PATCH', path, { configuration: { login: { password: 'second-secret' } } });
    expect(await stored()).toEqual({ user: 'y', login: { password: 'second-secret' } });
  });

  test('stay with their address: with another one they have to be entered again', async () => {
    const { call, path, stored, workspaceId, reply } = await createVault();
    const home = { user: 'u', server: 'https://home.example', login: { password: 'first-secret' } };
    await call('PUT', path, { name: 'v', configuration: home });
    const message = 'configuration.login.password must be entered again, because an address it is sent to has changed.';
    const refused = { status: 422, body: { title: 'unprocessable-entity', data: { message } } };
    const away = { server: 'https://away.example' };
    const masked = { ...home, ...away, login: { password: MASK } };
    expect(await call('PUT', path, { name: 'v', configuration: masked })).toMatchObject(refused);
    expect(await call('PATCH', path, { configuration: away }), 'a secret that is left out').toMatchObject(refused);
    const check = { workspaceId, sourceId: reply.body.sourceId, configuration: masked };
    expect(await call('POST', '/sources/check_connection', check)).toMatchObject(refused);
    expect(await stored()).toEqual(home);
    const anew = { ...away, login: { password: 'second-secret' } };
    expect((await call('PATCH', path, { configuration: anew })).status).toBe(200);
    expect(await stored()).toEqual({ user: 'u', ...anew });
  });

  test('cannot be created from a mask', async () => {
    const { call, workspaceId } = await createVault();
    const configuration = { sourceType: 'vault', user: 'u', login: { password: MASK } };
    expect((await call('POST', '/sources', { name: 'v', workspaceId, configuration })).status).toBe(422);
  });

  it.each(['source', 'workspace'])('leave the row when its %s is deleted', async (which) => {
    const { call, path, workspaceId, stored } = await createVault();
    await call('DELETE', which === 'source' ? path : `/workspaces/${workspaceId}`);
    expect(await stored()).toEqual({ user: 'u', login: { password: MASK } });
  });

  test('stay hidden when the definition that marks them is gone', async () => {
    const { file, path, stop } = await createVault();
    await stop();
    const without = await startPlatform({ file });
    expect((await without.call('GET', path)).body).toMatchObject({ sourceType: '', configuration: {} });
    expect((await without.call('PATCH', path, { configuration: {} })).status).toBe(404);
    expect((await without.call('DELETE', path)).status).toBe(204);
  });
});

describe('definitions', () => {
  test('are listed by type', async () => {
    const { call } = await startPlatform();
    for (const type of ['source', 'destination'] as const) {
      const data = bundledDefinitions
        .filter(({ kind }) => kind === type)
        .map(({ definitionId: id, slug, name, version, documentation, icon, specification }) => ({
          id,
          name,
          connectorDefinitionType: type,
          version,
          dockerRepository: `inlay/${type}-${slug}`,
          documentation,
          iconUrl: icon,
          // How rows travel matters only to the runner.
          specification: { ...specification, inlay_row_blocks: undefined },
        }));
      expect(await call('GET', `/connector_definitions?type=${type}`)).toEqual({ status: 200, body: { data } });
    }
    expect(await call('GET', '/connector_definitions')).toEqual({ status: 400, body: errorIdOnly });
    expect((await call('GET', `/connector_definitions?type=source&workspaceId=${randomUUID()}`)).status).toBe(404);
  });

  it.each(kinds)('of a workspace show how to configure a $kind', async ({ kind, slug }) => {
    const running = await startPlatform();
    const { call } = running;
    const base = `/workspaces/${await createWorkspace(running)}/definitions/${kind}s`;
    const { status, body } = await call('GET', base);
    expect(status).toBe(200);
    expect(body.data).toHaveLength(bundledDefinitions.filter((definition) => definition.kind === kind).length);
    expect(body.data[0]).toMatchObject({ dockerRepository: `inlay/${kind}-${slug}`, dockerImageTag: '0.1.0' });
    expect(body.data[0].connectionSpecification.properties).toBeDefined();
    expect((await call('GET', `${base}/${body.data[0].id}`)).body).toEqual(body.data[0]);
    expect((await call('GET', `${base}/${randomUUID()}`)).status).toBe(404);
    expect((await call('GET', `/workspaces/${randomUUID()}/definitions/${kind}s`)).status).toBe(404);
    expect((await call('POST', base, { name: 'mine' })).status).toBe(404);
  });

  it.each(['.', '..', '/etc', 'a/../b', 'a//b', 'a/', '.hidden', 'a\\b', 'a\nb', ''])(
    'let no folder be called %j',
    async (path) => {
      const running = await startPlatform();
      const workspaceId = await createWorkspace(running);
      const configuration = { destinationType: 'local-files', path };
      const reply = await running.call('POST', '/destinations', { name: 'd', workspaceId, configuration });
      expect(reply.status).toBe(422);
    },
  );
});
