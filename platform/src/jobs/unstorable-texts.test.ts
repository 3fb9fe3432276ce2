/** Connector output may contain U+0000, which the database cannot store, and lone surrogates, which it changes. */
import { describe, expect, test } from 'vitest';
import { itemsStream, startSteered } from '../../test/steered.ts';

describe('a job', () => {
  test.each([
    ['name', 'U+0000', { name: 'odd\0one' }, 'odd\ufffdone'],
    ['namespace', 'U+0000', { name: 'items', namespace: 'odd\0one' }, 'odd\ufffdone.items'],
    ['name', 'half of a surrogate pair', { name: 'odd\ud800' }, 'odd\ufffd'],
  ])('fails at once where the %s of a stream has %s, and says which and why', async (_what, why, odd, shown) => {
    const { connect, ended, call } = await startSteered();
    const connection = await connect();
    connection.setCatalog(itemsStream, { ...itemsStream, ...odd });
    const message =
      `The name of the stream ${shown} contains a character that cannot be stored (${why}). ` +
      'Rename the stream at the source, or exclude it in the settings.';
    expect(await ended((await connection.sync()).jobId)).toMatchObject({
      status: 'failed',
      attempts: 1,
      failureReason: { message, origin: 'source', type: 'config_error' },
    });
    const streams = await call('GET', `/streams?sourceId=${connection.sourceId}&ignoreCache=true`);
    expect(streams).toMatchObject({ status: 500, body: { data: { message } } });
    expect((await call('GET', connection.path)).body.status).toBe('active');
  });

  test('runs with such characters in the names of fields, and in what connectors report', async () => {
    const { connect, ended } = await startSteered();
    const connection = await connect();
    const properties = { id: { type: 'integer' }, 'odd\0field\ud800': { type: 'string' } };
    connection.setCatalog({ ...itemsStream, json_schema: { type: 'object', properties } });
    const change = { field: 'odd\0field\ud800', kind: 'nulled', count: 1, example: 'record \0' };
    connection.steer({ reports: [{ stream_descriptor: { name: 'items' }, values_changed: [change] }] });
    const job = await ended((await connection.sync()).jobId);
    expect(job).toMatchObject({ status: 'succeeded', rowsSynced: 10, streams: [{ valuesChanged: [change] }] });
  });

  test('keeps the words of a failure, without such characters, for itself and for a connection that it stops', async () => {
    const { connect, ended, call } = await startSteered();
    const { source_defined_cursor: _cursor, source_defined_primary_key: _key, ...plain } = itemsStream;
    const withCursor = {
      ...plain,
      json_schema: { properties: { id: {}, 'at\0': {} } },
      default_cursor_field: ['at\0'],
    };
    const connection = await connect();
    connection.setCatalog(withCursor);
    await connection.configure({ name: 'items', syncMode: 'incremental_append', cursorField: ['at\0'] });
    connection.setCatalog({ ...plain, json_schema: { properties: { id: {} } } });
    const message = 'The stream items has no field at\ufffd, which is configured as its cursor.';
    expect(await ended((await connection.sync()).jobId)).toMatchObject({
      status: 'failed',
      failureReason: { message, type: 'config_error' },
    });
    expect((await call('GET', connection.path)).body).toMatchObject({ status: 'inactive', statusReason: message });
  });
});
