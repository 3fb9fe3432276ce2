import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fillWorkspace, publicUrl, startPlatform, testOnStores as test } from '../../test/start-platform.ts';
import { itemsStream, startSteered } from '../../test/steered.ts';

const errorIdOnly = { errorId: expect.any(String) };

async function start() {
  const running = await startPlatform();
  const ids = await fillWorkspace(running);
  const { sourceId, destinationId } = ids;
  const create = (more: object = {}) => running.call('POST', '/connections', { sourceId, destinationId, ...more });
  return { ...running, ids, create, path: `/connections/${ids.connectionId}` };
}

describe('creating a connection', () => {
  test('fills in the defaults', async () => {
    const { call, create, ids } = await start();
    const reply = await create();
    expect(reply).toEqual({
      status: 200,
      body: {
        connectionId: expect.any(String),
        name: 'src → dst',
        sourceId: ids.sourceId,
        destinationId: ids.destinationId,
        workspaceId: ids.workspaceId,
        status: 'active',
        schedule: { scheduleType: 'manual' },
        configurations: { streams: [] },
        namespaceDefinition: 'destination',
        prefix: '',
        nonBreakingSchemaUpdatesBehavior: 'ignore',
        tags: [],
        createdAt: Date.UTC(2030, 0, 1) / 1000,
      },
    });
    expect(await call('GET', `/connections/${reply.body.connectionId}`)).toEqual(reply);
  });

  test('keeps everything it is given', async () => {
    const { call, connect } = await startSteered();
    const ids = await connect();
    const { sourceId, destinationId } = ids;
    const create = (more: object) => call('POST', '/connections', { sourceId, destinationId, ...more });
    const given = {
      name: 'mine',
      status: 'inactive',
      configurations: {
        streams: [
          {
            name: 'items',
            syncMode: 'incremental_deduped_history',
            cursorField: ['id'],
            primaryKey: [['id']],
            selectedFields: [{ fieldPath: ['id'] }],
          },
        ],
      },
      namespaceDefinition: 'custom_format',
      namespaceFormat: `$${'{SOURCE_NAMESPACE}'}`,
      prefix: 'p_',
      nonBreakingSchemaUpdatesBehavior: 'propagate_fully',
      tags: [{ tagId: randomUUID(), workspaceId: ids.workspaceId, name: 't', color: 'FFFFFF' }],
    };
    const schedule = { scheduleType: 'cron', cronExpression: '0 */10 * * * ? UTC' };
    expect((await create({ ...given, schedule })).body).toMatchObject({ ...given, schedule });
  });

  test('echoes a cron expression with its zone, and allows more than one run an hour', async () => {
    const { create } = await start();
    const reply = await create({ schedule: { scheduleType: 'cron', cronExpression: '0 * * * * ?' } });
    expect(reply.status).toBe(200);
    expect(reply.body.schedule).toEqual({ scheduleType: 'cron', cronExpression: '0 * * * * ? UTC' });
  });

  test('refuses a cron expression that is none', async () => {
    const { create } = await start();
    expect(await create({ schedule: { scheduleType: 'cron', cronExpression: '0 * * * *' } })).toMatchObject({
      status: 400,
      body: {
        type: 'error:cron-validation/invalid-expression',
        data: { cronExpression: '0 * * * *', validationErrorMessage: expect.any(String) },
      },
    });
    expect(await create({ schedule: { scheduleType: 'cron' } })).toMatchObject({
      status: 400,
      body: { title: 'bad-request' },
    });
  });

  it.each(['sourceId', 'destinationId'])('needs a %s that exists', async (field) => {
    const { create, call, ids } = await start();
    const missing = randomUUID();
    const resourceType = field.replace('Id', '');
    const notFound = {
      status: 404,
      body: { title: 'resource-not-found', data: { resourceType, resourceId: missing } },
    };
    expect(await create({ [field]: missing })).toMatchObject(notFound);
    expect(await create({ [field]: undefined })).toEqual({ status: 400, body: errorIdOnly });
    await call('DELETE', `/${resourceType}s/${ids[field as 'sourceId' | 'destinationId']}`);
    expect((await create()).status).toBe(404);
  });

  test('does not join two workspaces', async () => {
    const running = await startPlatform();
    const { sourceId } = await fillWorkspace(running);
    const { destinationId } = await fillWorkspace(running);
    expect(await running.call('POST', '/connections', { sourceId, destinationId })).toMatchObject({
      status: 400,
      body: { title: 'bad-request', data: { message: expect.stringContaining('same workspace') } },
    });
  });

  it.each([
    { status: 'deprecated' },
    { status: 'running' },
    { schedule: { scheduleType: 'basic' } },
    { schedule: 'daily' },
    { configurations: { streams: [{ name: 'users', syncMode: 'sometimes' }] } },
    { namespaceDefinition: 'mine' },
    { nonBreakingSchemaUpdatesBehavior: 'panic' },
    { tags: [{ name: 'only a name' }] },
    { name: '' },
  ])('refuses %j with 400', async (wrong) => {
    const { create, call, path } = await start();
    expect(await create(wrong)).toEqual({ status: 400, body: errorIdOnly });
    expect(await call('PATCH', path, wrong)).toEqual({ status: 400, body: errorIdOnly });
  });
});

describe('changing a connection', () => {
  test('changes only what is given, each field whole', async () => {
    const { call, connect } = await startSteered();
    const { path, setCatalog } = await connect();
    setCatalog(itemsStream, { ...itemsStream, name: 'others' });
    const before = (await call('GET', path)).body;
    expect(await call('PATCH', path, {})).toEqual({ status: 200, body: before });
    expect((await call('PATCH', path, { status: 'inactive' })).body).toEqual({ ...before, status: 'inactive' });
    await call('PATCH', path, { configurations: { streams: [{ name: 'items' }, { name: 'others' }] } });
    const schedule = { scheduleType: 'cron', cronExpression: '0 0 3 * * ? UTC' };
    const changes = { status: 'active', configurations: { streams: [{ name: 'others' }] }, schedule, name: 'n' };
    const after = { ...before, ...changes };
    expect((await call('PATCH', path, changes)).body).toEqual({ ...after, nextRunAt: '2030-01-01T03:00:00Z' });
    const manual = await call('PATCH', path, { schedule: { scheduleType: 'manual' } });
    expect(manual.body).toEqual({ ...after, schedule: { scheduleType: 'manual' } });
    expect((await call('GET', path)).body).toEqual(manual.body);
  });

  test('never exchanges its source', async () => {
    const { call, path, ids } = await start();
    expect((await call('PATCH', path, { sourceId: randomUUID() })).body.sourceId).toBe(ids.sourceId);
  });
});

describe('deleting a connection', () => {
  test('makes it deprecated, hidden and gone, and leaves its ends', async () => {
    const { call, path, ids } = await start();
    expect(await call('DELETE', path)).toEqual({ status: 204, body: undefined });
    const notFound = { status: 404, body: { data: { resourceType: 'connection', resourceId: ids.connectionId } } };
    expect(await call('GET', path)).toMatchObject(notFound);
    expect(await call('PATCH', path, { status: 'active' })).toMatchObject(notFound);
    expect(await call('DELETE', path)).toMatchObject(notFound);
    expect((await call('GET', '/connections')).body).toEqual({ data: [], next: '', previous: '' });
    const { data } = (await call('GET', '/connections?includeDeleted=true')).body;
    expect(data).toMatchObject([{ connectionId: ids.connectionId, status: 'deprecated' }]);
    expect((await call('GET', `/sources/${ids.sourceId}`)).status).toBe(200);
    expect((await call('GET', `/destinations/${ids.destinationId}`)).status).toBe(200);
  });
});

test('connections are listed by workspace, in pages', async () => {
  const { call, create, ids, ...running } = await start();
  await create({ name: 'second' });
  const elsewhere = await fillWorkspace({ call, ...running });
  const list = async (query: string) => (await call('GET', `/connections?${query}`)).body;
  expect((await list('')).data).toHaveLength(3);
  expect((await list(`workspaceIds=${elsewhere.workspaceId}`)).data).toMatchObject([
    { connectionId: elsewhere.connectionId },
  ]);
  const { data, next, previous } = await list('limit=1&offset=1');
  expect(data).toMatchObject([{ name: 'second' }]);
  expect(next).toBe(`${publicUrl}/connections?includeDeleted=false&limit=1&offset=2`);
  expect(previous).toBe(`${publicUrl}/connections?includeDeleted=false&limit=1&offset=0`);
  expect((await call('GET', '/connections?limit=0')).status).toBe(400);
});
