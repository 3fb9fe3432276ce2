import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { itemsStream, startSteered, until } from '../../test/steered.ts';

describe('the streams of a source', () => {
  test('are a bare list, with what the destination could do with them', async () => {
    const { connect, call } = await startSteered();
    const { sourceId, destinationId, setCatalog } = await connect();
    const nested = { properties: { id: {}, address: { properties: { city: {} } } } };
    setCatalog(itemsStream, {
      name: 'plain',
      namespace: 'space',
      json_schema: nested,
      supported_sync_modes: ['full_refresh'],
    });
    expect(await call('GET', `/streams?sourceId=${sourceId}&destinationId=${destinationId}`)).toEqual({
      status: 200,
      body: [
        {
          streamName: 'items',
          syncModes: [
            'full_refresh_overwrite',
            'full_refresh_append',
            'incremental_append',
            'incremental_deduped_history',
          ],
          defaultCursorField: ['id'],
          sourceDefinedCursorField: true,
          sourceDefinedPrimaryKey: [['id']],
          propertyFields: [['id'], ['name'], ['extra']],
        },
        {
          streamName: 'plain',
          streamnamespace: 'space',
          syncModes: ['full_refresh_overwrite', 'full_refresh_append'],
          defaultCursorField: [],
          sourceDefinedCursorField: false,
          sourceDefinedPrimaryKey: [],
          propertyFields: [['id'], ['address'], ['address', 'city']],
        },
      ],
    });
    const [withoutDestination] = (await call('GET', `/streams?sourceId=${sourceId}`)).body;
    expect(withoutDestination.syncModes).toBeNull();
  });

  test('are requested again when that is wanted or the configuration has changed', async () => {
    const { connect, call } = await startSteered();
    const { sourceId, setCatalog } = await connect();
    const names = async (query = '') =>
      (await call('GET', `/streams?sourceId=${sourceId}${query}`)).body.map(
        ({ streamName }: { streamName: string }) => streamName,
      );
    expect(await names()).toEqual(['items']);
    setCatalog(itemsStream, { ...itemsStream, name: 'second' });
    expect(await names()).toEqual(['items']);
    expect(await names('&ignoreCache=true')).toEqual(['items', 'second']);
    setCatalog({ ...itemsStream, name: 'third' });
    await call('PATCH', `/sources/${sourceId}`, { name: 'only the name' });
    expect(await names()).toEqual(['items', 'second']);
    await call('PATCH', `/sources/${sourceId}`, { configuration: { password: 'another' } });
    expect(await names()).toEqual(['third']);
  });

  test('are distinguished by what failed', async () => {
    const { connect, call } = await startSteered();
    const { sourceId } = await connect();
    await call('PATCH', `/sources/${sourceId}`, { configuration: { folder: '/no/such/folder' } });
    expect(await call('GET', `/streams?sourceId=${sourceId}`)).toMatchObject({
      status: 500,
      body: { title: 'unexpected-problem', data: { message: expect.any(String) } },
    });
    const unknown = randomUUID();
    expect(await call('GET', `/streams?sourceId=${unknown}`)).toMatchObject({
      status: 404,
      body: { data: { resourceType: 'source', resourceId: unknown } },
    });
    expect((await call('GET', `/streams?sourceId=${sourceId}&destinationId=${unknown}`)).status).toBe(404);
    expect((await call('GET', '/streams')).status).toBe(400);
  });

  test('are waited for only so long; the answer is there for the next request', async () => {
    const { connect, call } = await startSteered({ discoveryPatienceMs: 0 });
    const { sourceId, destinationId } = await connect();
    const tooLong = { status: 408, body: { type: 'error:request-timeout-exceeded' } };
    expect(await call('GET', `/streams?sourceId=${sourceId}`)).toMatchObject(tooLong);
    const configurations = { streams: [{ name: 'items' }] };
    const create = () => call('POST', '/connections', { sourceId, destinationId, configurations });
    await until(async () => (await create()).status === 200);
  });
});

describe('streams that a connection names', () => {
  test('are checked against the source and the destination, when created and when patched', async () => {
    const { connect, call } = await startSteered();
    const { sourceId, destinationId, path } = await connect();
    const configurations = { streams: [{ name: 'nowhere' }] };
    const refused = {
      status: 400,
      body: { title: 'bad-request', data: { message: 'The source has no stream nowhere.' } },
    };
    expect(await call('POST', '/connections', { sourceId, destinationId, configurations })).toMatchObject(refused);
    expect(await call('PATCH', path, { configurations })).toMatchObject(refused);
    expect((await call('GET', path)).body.configurations).toEqual({ streams: [] });
  });
});

test('a source with hundreds of thousands of fields is refused, with the limit in words', async () => {
  const { connect, call } = await startSteered();
  const connection = await connect();
  const names = Array.from({ length: 10_000 }, (_, index) => [`f${index}`, {}]);
  const wide = { ...itemsStream, json_schema: { type: 'object', properties: Object.fromEntries(names) } };
  connection.setCatalog(...Array.from({ length: 6 }, (_, index) => ({ ...wide, name: `wide ${index}` })));
  const reply = await call('GET', `/streams?sourceId=${connection.sourceId}&ignoreCache=true`);
  expect(reply).toMatchObject({
    status: 500,
    body: {
      data: { message: expect.stringContaining('50,000 fields') },
    },
  });
});
