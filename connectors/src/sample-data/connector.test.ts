import { describe, expect, test } from 'vitest';
import { bundled, configured, runConnector, testRunner } from '../../../platform/test/connectors.ts';
import { sampleStreams } from './made-up-records.ts';
import { specification } from './specification.ts';

type Data = Record<string, unknown> & { id: number; updated_at: string };

interface ReadOptions {
  state?: unknown[];
  mode?: 'incremental' | 'full_refresh';
  streams?: string[];
}

function read(config: object, { state, mode = 'incremental', streams = ['users'] }: ReadOptions = {}) {
  const catalog = { streams: streams.map((name) => configured(name, { sync_mode: mode })) };
  const { messages, code } = runConnector('sample-data', 'read', { config, catalog, ...(state && { state }) });
  expect(code).toBe(0);
  return {
    messages,
    records: (stream = 'users'): Data[] =>
      messages.flatMap(({ record }) => (record?.stream === stream ? [record.data] : [])),
    states: messages.flatMap(({ state }) => (state ? [state] : [])),
  };
}

describe('sample data', () => {
  test('answers as a program of the protocol', async () => {
    const runner = testRunner();
    const source = (config: Record<string, unknown>) => bundled('source', 'sample-data', config);
    await expect(runner.readSpecification(source({}))).resolves.toEqual(specification);
    await expect(runner.check(source({ count: 5 }))).resolves.toEqual({ status: 'succeeded' });
    const message = 'count must be a whole number of at least 1.';
    await expect(runner.check(source({ count: 0.5 }))).resolves.toEqual({
      status: 'failed',
      message,
      fields: ['count'],
    });
    const { streams } = await runner.discover(source({ count: 5 }));
    expect(streams.map(({ name }) => name)).toEqual(['users', 'products', 'purchases']);
    expect(streams[0]).toMatchObject({ default_cursor_field: ['updated_at'], source_defined_primary_key: [['id']] });
  });

  test('is the same for the same seed, other for another, and a larger count only adds to it', () => {
    const small = read({ count: 50 }).records();
    const large = read({ count: 80, seed: 1 }).records();
    expect(small).toHaveLength(50);
    expect(large.slice(0, 50)).toEqual(small);
    expect(read({ count: 50, seed: 2 }).records()).not.toEqual(small);
    expect(small[0]).toEqual({
      id: 1,
      name: expect.stringMatching(/^\S+ \S+$/),
      email: expect.stringMatching(/^[a-z.]+\.1@example\.com$/),
      age: expect.any(Number),
      country: expect.stringMatching(/^[A-Z]{2}$/),
      occupation: expect.any(String),
      is_subscribed: expect.any(Boolean),
      created_at: expect.stringMatching(/^20\d\d-/),
      updated_at: '2024-01-01T00:00:10.000Z',
    });
  });

  test('has only the fields it declares, refers only to what exists, and its cursor grows', () => {
    const { records } = read({ count: 200, seed: 9 }, { streams: ['users', 'products', 'purchases'] });
    const counts = Object.fromEntries(sampleStreams.map(({ name }) => [name, records(name).length]));
    expect(counts).toEqual({ users: 200, products: 20, purchases: 400 });
    for (const { name, json_schema } of sampleStreams) {
      const cursors = records(name).map(({ updated_at }) => updated_at);
      expect(cursors).toEqual([...new Set(cursors)].toSorted());
      expect(cursors.every((cursor) => new Date(cursor).toISOString() === cursor)).toBe(true);
      const declared = Object.keys(json_schema.properties as object);
      for (const record of records(name)) expect(Object.keys(record)).toEqual(declared);
    }
    for (const { id, user_id, product_id } of records('purchases')) {
      expect(user_id).toBeLessThanOrEqual(Math.ceil(id / 2));
      expect(product_id).toBeLessThanOrEqual(Math.ceil(Math.ceil(id / 2) / 10));
    }
  });

  test('is read on from the state: nothing new until the count grows', () => {
    const first = read({ count: 30 });
    const state = [first.states.at(-1)];
    const again = read({ count: 30 }, { state });
    expect(again.records()).toEqual([]);
    expect(again.states).toEqual(state);
    expect(
      read({ count: 33 }, { state })
        .records()
        .map(({ id }) => id),
    ).toEqual([31, 32, 33]);
    expect(read({ count: 20 }, { state }).records()).toEqual([]);
    expect(read({ count: 30, seed: 5 }, { state }).records()).toHaveLength(30);
    expect(read({ count: 30 }, { state, mode: 'full_refresh' }).records()).toHaveLength(30);
  });

  test('reports a state after at most 10,000 records, each behind what it covers, and what is complete', () => {
    const { messages } = read({ count: 25_000 });
    let records = 0;
    const reached: number[] = [];
    for (const { type, state } of messages) {
      if (type === 'RECORD') records++;
      if (type === 'STATE') {
        reached.push(state.stream.stream_state.id);
        expect(state.stream.stream_state.id).toBe(records);
      }
    }
    expect(reached).toEqual([10_000, 20_000, 25_000]);
    const statuses = messages.flatMap(({ trace }) => (trace ? [trace.stream_status.status] : []));
    expect(statuses).toEqual(['STARTED', 'COMPLETE']);
    expect(messages.at(-1).trace.stream_status.status).toBe('COMPLETE');
  });

  test('comes no faster than configured', () => {
    const { messages } = read({ count: 31, records_per_second: 30 });
    const times = messages.flatMap(({ record }) => (record ? [record.emitted_at] : []));
    expect(times).toHaveLength(31);
    expect(times.at(-1) - times[0]).toBeGreaterThan(900);
  });

  test('fails with a reason when a stream does not exist', () => {
    const catalog = { streams: [configured('sellers')] };
    const { messages, code } = runConnector('sample-data', 'read', { config: { count: 1 }, catalog });
    expect(code).toBe(1);
    expect(messages.at(-1).trace.error).toMatchObject({
      failure_type: 'config_error',
      message: expect.stringMatching(/stream sellers /),
    });
  });
});
