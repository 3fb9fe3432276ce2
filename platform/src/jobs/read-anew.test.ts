/* Streams that are read from their start although a state was kept, and what the job says about it. */
import { describe, expect, test } from 'vitest';
import { itInLongRun } from '../../../scripts/long-run.ts';
import { nthGeneration } from '../../test/start-platform.ts';
import { itemsStream, type SteeredConnection, startSteered } from '../../test/steered.ts';

const deduplicated = { name: 'items', syncMode: 'incremental_deduped_history' };
const append = { name: 'items', syncMode: 'incremental_append' };
const only = (...fields: string[]) => ({ selectedFields: fields.map((field) => ({ fieldPath: [field] })) });
const gone = { stream_descriptor: { name: 'items' }, lost: 'gone' };
const itemsGiven = (connection: SteeredConnection) => connection.catalog().streams[0];

async function startSynced(stream: object = deduplicated) {
  const { connect, ended, call } = await startSteered();
  const connection = await connect({ streams: [stream] });
  const run = async (body: object = {}) => {
    const { body: job } = await call('POST', '/jobs', {
      connectionId: connection.connectionId,
      jobType: 'sync',
      ...body,
    });
    return await ended(job.jobId);
  };
  expect(await run()).toMatchObject({ status: 'succeeded', rowsSynced: 10 });
  return { connection, run, call };
}

describe('a stream that its destination has lost', () => {
  test('is read from its start in the same attempt, and once', async () => {
    const { connection, run } = await startSynced();
    connection.setLost(gone);
    expect(await run()).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      rowsSynced: 10,
      streams: [{ notices: [{ code: 'destination_gone' }] }],
    });
    expect(connection.givenState()).toBeUndefined();
    expect(itemsGiven(connection)).toMatchObject({
      generation_id: nthGeneration(2),
      minimum_generation_id: nthGeneration(2),
    });
    const next = await run();
    expect(next).toMatchObject({ status: 'succeeded', rowsSynced: 0 });
    expect(next.streams[0]).not.toHaveProperty('notices');
    expect(itemsGiven(connection)).toMatchObject({
      generation_id: nthGeneration(2),
      minimum_generation_id: 0,
      inlay_held: null,
    });
  });

  itInLongRun('is read from its start by a later job, if the source fails in this one', async () => {
    const { connection, run } = await startSynced();
    connection.setLost(gone);
    connection.steer({ records: 5, failure: { message: 'No.', failure_type: 'config_error' } });
    expect(await run()).toMatchObject({ status: 'failed', failedAttempts: 1 });
    connection.steer({});
    expect(await run()).toMatchObject({
      status: 'succeeded',
      rowsSynced: 10,
      streams: [{ notices: [{ code: 'destination_gone' }] }],
    });
  });
});

test('a stream under another name at a destination that recognizes no places is read from its start', async () => {
  const { connection, run, call } = await startSynced(append);
  await call('PATCH', connection.path, { prefix: 'other_' });
  expect(await run()).toMatchObject({ rowsSynced: 10, streams: [{ notices: [{ code: 'place_changed' }] }] });
});

test('a new cursor is reported', async () => {
  const free = { ...itemsStream, source_defined_cursor: false };
  const { connect, ended } = await startSteered();
  const connection = await connect();
  connection.setCatalog(free);
  const sync = async () => await ended((await connection.sync()).jobId);
  await connection.configure({ ...deduplicated, cursorField: ['id'] });
  await sync();
  await connection.configure({ ...deduplicated, cursorField: ['name'] });
  expect(await sync()).toMatchObject({ rowsSynced: 10, streams: [{ notices: [{ code: 'cursor_changed' }] }] });
});

describe('a field that is selected later', () => {
  test('is missing in old rows: the job says so, and names the request that fills it', async () => {
    const { connection, run, call } = await startSynced({ ...deduplicated, ...only('id') });
    await connection.configure({ ...deduplicated, ...only('id', 'name', 'extra') });
    connection.steer({ records: 12, failure: { message: 'No.', failure_type: 'config_error' } });
    expect(await run()).toMatchObject({ status: 'failed' });
    connection.steer({ records: 12 });
    const { streams } = await run();
    expect(streams[0].notices).toMatchObject([{ code: 'fields_missing', fields: ['name', 'extra'] }]);
    const [{ message }] = streams[0].notices;
    expect((await run()).streams[0]).not.toHaveProperty('notices');
    const [, method, path, body] = /(POST) (\/jobs) (\{.*\})$/.exec(message) ?? [];
    const { jobId } = (await call(method as 'POST', path ?? '', JSON.parse(body ?? ''))).body;
    const job = await call('GET', `/jobs/${jobId}`);
    expect(job.status).toBe(200);
    await expect
      .poll(async () => (await call('GET', `/jobs/${jobId}`)).body, { timeout: 180_000 })
      .toMatchObject({
        status: 'succeeded',
        rowsSynced: 12,
        streams: [{ notices: [{ code: 'refreshed' }] }],
      });
    expect(itemsGiven(connection)).toMatchObject({
      generation_id: nthGeneration(2),
      minimum_generation_id: nthGeneration(2),
    });
    expect(connection.written().at(-1)).toContain('"extra"');
  });

  itInLongRun('is also one that the source has got', async () => {
    const { connection, run, call } = await startSynced(append);
    await call('PATCH', connection.path, { nonBreakingSchemaUpdatesBehavior: 'propagate_columns' });
    const { properties, ...schema } = itemsStream.json_schema as { properties: object };
    connection.setCatalog({ ...itemsStream, json_schema: { ...schema, properties: { ...properties, added: {} } } });
    expect((await run()).streams[0].notices).toMatchObject([{ code: 'fields_missing', fields: ['added'] }]);
  });

  itInLongRun('is not missing where the source sends the records again, or every field was stored anyway', async () => {
    const { connection, run } = await startSynced({ ...append, ...only('id') });
    await connection.configure({ ...append, ...only('id', 'name') });
    connection.steer({ reports: [{ stream_descriptor: { name: 'items' }, new_fields_sent: true }] });
    expect((await run()).streams[0]).not.toHaveProperty('notices');
    const open = {
      ...itemsStream,
      json_schema: { type: 'object', properties: { id: {} }, additionalProperties: true },
    };
    connection.setCatalog(open);
    await connection.configure(append);
    await run();
    connection.setCatalog({ ...open, json_schema: { ...open.json_schema, properties: { id: {}, found: {} } } });
    await connection.configure(append);
    expect((await run()).streams[0]).not.toHaveProperty('notices');
  });
});

test('a refresh without names reads every stream from its start, and what was appended is replaced', async () => {
  const { connection, run } = await startSynced(append);
  expect(await run({ jobType: 'refresh' })).toMatchObject({ status: 'succeeded', jobType: 'sync', rowsSynced: 10 });
  expect(itemsGiven(connection)).toMatchObject({
    generation_id: nthGeneration(2),
    minimum_generation_id: nthGeneration(2),
  });
  expect(await run()).toMatchObject({ rowsSynced: 0 });
  expect(itemsGiven(connection)).toMatchObject({ generation_id: nthGeneration(2), minimum_generation_id: 0 });
});
