import type { Stream } from '@inlay/protocol/protocol';
import { describe, expect, test } from 'vitest';
import { itInLongRun } from '../../../scripts/long-run.ts';
import { itemsStream, startSteered } from '../../test/steered.ts';
import type { ConnectionRow } from '../db/tables.ts';
import { planSync } from './sync-plan.ts';

const { properties } = itemsStream.json_schema as { properties: object };
const withFields = (fields: object): Stream => ({
  ...itemsStream,
  json_schema: { type: 'object', properties: fields },
});
const grown = withFields({ ...properties, added: { type: 'string' } });
const second: Stream = { ...itemsStream, name: 'second' };

/** A connection that has run once, and then finds another catalog. */
async function afterChange(behavior: string, catalog: Stream[], streams: object[] = [{ name: 'items' }]) {
  const { connect, ended, call } = await startSteered();
  const connection = await connect({ nonBreakingSchemaUpdatesBehavior: behavior, streams });
  expect((await ended((await connection.sync()).jobId)).status).toBe('succeeded');
  connection.setCatalog(...catalog);
  const job = await ended((await connection.sync()).jobId);
  const shown = async () => (await call('GET', connection.path)).body;
  const moved = () =>
    connection
      .catalog()
      .streams.map(({ stream }) => [stream.name, ...Object.keys(stream.json_schema.properties as object)]);
  return { ...connection, job, shown, moved, ended, call };
}

describe('when a source has changed', () => {
  itInLongRun('ignore continues with the fields there were', async () => {
    const { job, moved } = await afterChange('ignore', [grown, second]);
    expect(job.status).toBe('succeeded');
    expect(moved()).toEqual([['items', 'id', 'name', 'extra']]);
  });

  test('propagate_columns moves the new fields', async () => {
    const { job, moved, shown } = await afterChange('propagate_columns', [grown, second]);
    expect(job.status).toBe('succeeded');
    expect(moved()).toEqual([['items', 'id', 'name', 'extra', 'added']]);
    expect((await shown()).configurations.streams).toEqual([{ name: 'items' }]);
  });

  test('propagate_fully moves new streams as well and drops those that are gone', async () => {
    const { job, moved, shown, setCatalog, sync, ended } = await afterChange('propagate_fully', [grown, second]);
    expect(job.status).toBe('succeeded');
    expect(moved()).toEqual([
      ['items', 'id', 'name', 'extra', 'added'],
      ['second', 'id', 'name', 'extra'],
    ]);
    expect((await shown()).configurations.streams).toEqual([{ name: 'items' }, { name: 'second' }]);
    setCatalog(second);
    expect((await ended((await sync()).jobId)).status).toBe('succeeded');
    expect((await shown()).configurations.streams).toEqual([{ name: 'second' }]);
  });

  test('disable_connection stops the connection until someone activates it', async () => {
    const { job, shown, moved, call, path, sync, ended } = await afterChange('disable_connection', [
      itemsStream,
      second,
    ]);
    const message = 'The streams or fields of the source have changed. Review them, then reactivate the connection.';
    expect(job).toMatchObject({ status: 'failed', attempts: 1, failureReason: { message, type: 'config_error' } });
    expect(await shown()).toMatchObject({ status: 'inactive', statusReason: message });
    const activated = await call('PATCH', path, { status: 'active' });
    expect(activated.body).not.toHaveProperty('statusReason');
    expect((await ended((await sync()).jobId)).status).toBe('succeeded');
    expect(moved()).toHaveLength(1);
  });

  itInLongRun('a source that has not changed is none of this', async () => {
    const { job } = await afterChange('disable_connection', [{ ...itemsStream }]);
    expect(job.status).toBe('succeeded');
  });

  itInLongRun('a source that can do more with the same fields is none of this', async () => {
    const { default_cursor_field: _field, ...stream } = itemsStream;
    const { job } = await afterChange('disable_connection', [stream]);
    expect(job.status).toBe('succeeded');
  });

  test('a named stream that is gone fails the job and leaves the connection active', async () => {
    const { job, shown } = await afterChange('ignore', [second]);
    expect(job).toMatchObject({
      status: 'failed',
      attempts: 1,
      failureReason: { message: expect.stringMatching(/ stream items\. /) },
    });
    expect((await shown()).status).toBe('active');
  });

  test('a named stream that is gone leaves the others to be moved, and the job says which one it is', async () => {
    const { connect, ended, call } = await startSteered();
    const third: Stream = { ...itemsStream, name: 'third' };
    const connection = await connect({ nonBreakingSchemaUpdatesBehavior: 'ignore', streams: [{ name: 'items' }] });
    connection.setCatalog(itemsStream, second, third);
    await connection.configure({ name: 'second' }, { name: 'items' }, { name: 'third' });
    expect((await ended((await connection.sync()).jobId)).status).toBe('succeeded');
    connection.setCatalog(itemsStream, third);
    const before = connection.written().length;
    const job = await ended((await connection.sync()).jobId);
    expect(job).toMatchObject({
      status: 'failed',
      attempts: 1,
      failureReason: {
        message: expect.stringMatching(/ stream second\. .*other streams were synced/),
        type: 'config_error',
      },
    });
    expect(connection.catalog().streams.map(({ stream }) => stream.name)).toEqual(['items', 'third']);
    const replaced = connection
      .written()
      .slice(before)
      .filter((line) => line.startsWith('replace'));
    expect(replaced).toEqual(['replace items', 'replace third']);
    expect((await call('GET', connection.path)).body).toMatchObject({ status: 'active' });
  });

  test.each(['ignore', 'propagate_fully'])(
    'a cursor that is gone stops the connection, also with %s',
    async (behavior) => {
      const open: Stream = { ...itemsStream, source_defined_cursor: false, source_defined_primary_key: [] };
      const { id: _gone, ...rest } = properties as Record<string, object>;
      const { json_schema } = withFields(rest);
      const streams = [{ name: 'items', syncMode: 'incremental_append' }];
      const { job, shown } = await afterChange(behavior, [{ ...open, json_schema }], streams);
      const message = 'The stream items has no field id, which is configured as its cursor.';
      expect(job).toMatchObject({ status: 'failed', failureReason: { message } });
      expect(await shown()).toMatchObject({ status: 'inactive', statusReason: message });
    },
  );

  itInLongRun('a catalog that writes what it does not have as null is read as one that leaves it out', async () => {
    const { connect, ended } = await startSteered();
    const connection = await connect({ nonBreakingSchemaUpdatesBehavior: 'disable_connection' });
    const nothing = { namespace: null, default_cursor_field: null, source_defined_cursor: null };
    const spelled = { ...itemsStream, ...nothing, source_defined_primary_key: null } as unknown as Stream;
    connection.setCatalog(spelled);
    expect(await ended((await connection.sync()).jobId)).toMatchObject({ status: 'succeeded', rowsSynced: 10 });
    expect(connection.catalog().streams[0]?.stream).not.toHaveProperty('namespace');
    await connection.configure({ name: 'items', syncMode: 'incremental_append', cursorField: ['id'] });
    expect(await ended((await connection.sync()).jobId)).toMatchObject({ status: 'succeeded', rowsSynced: 10 });
    const { default_cursor_field, source_defined_cursor, source_defined_primary_key, ...bare } = itemsStream;
    connection.setCatalog(bare);
    expect(await ended((await connection.sync()).jobId)).toMatchObject({ status: 'succeeded', rowsSynced: 0 });
  });

  test('a connection that names no streams moves whatever there is', async () => {
    const { job, moved } = await afterChange('ignore', [second], []);
    expect(job.status).toBe('succeeded');
    expect(moved()).toEqual([['second', 'id', 'name', 'extra']]);
  });
});

describe('the plan for thousands of streams', () => {
  test.each(['ignore', 'propagate_fully'])('looks at each of them a few times at the most: %s', (behavior) => {
    let looks = 0;
    const counted = (name: string): Stream => ({
      ...itemsStream,
      get name() {
        looks++;
        return name;
      },
    });
    const names = Array.from({ length: 3_000 }, (_, index) => `stream ${index}`);
    const catalog = () => ({ streams: names.map(counted) });
    const connection = {
      schema_updates_behavior: behavior,
      configurations: JSON.stringify({ streams: names.slice(1, -1).map((name) => ({ name })) }),
    } as ConnectionRow;
    const accepted = { streams: [...names.slice(0, -1), 'gone'].map(counted) };
    const plan = planSync(connection, catalog(), accepted, { connectionSpecification: {} });
    expect(plan.streams.length).toBeGreaterThanOrEqual(2_998);
    expect(looks).toBeLessThan(50 * names.length);
  });
});
