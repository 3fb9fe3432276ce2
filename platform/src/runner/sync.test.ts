import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordHead, type State } from '@inlay/protocol/protocol';
import { describe, expect, test } from 'vitest';
import {
  configured,
  isAlive,
  linesIn,
  received,
  scriptedDestination,
  scriptedSource,
  sync,
  temporaryFolder,
  testRunner,
} from '../../test/connectors.ts';
import { systemRuntime } from '../runtime.ts';
import type { SyncRequest } from './runner.ts';

const items = configured('items');
const complete = { status: ['items', 'COMPLETE'] };
const started = { status: ['items', 'STARTED'] };
const records = (to: number, from = 0, fill = '') => ({ records: { stream: 'items', from, to, fill } });
const state = (at: number) => ({ state: ['items', { at }] });
const keptState = (at: number): State => ({
  type: 'STREAM',
  stream: { stream_descriptor: { name: 'items' }, stream_state: { at } },
});
const outputFile = () => join(temporaryFolder(), 'received');

function idsIn(file: string): number[] {
  return received(file).flatMap((message) => (message.type === 'RECORD' ? [message.record.data.id] : []));
}

function completionsIn(file: string): string[] {
  return received(file).flatMap((message) =>
    message.trace?.stream_status?.status === 'COMPLETE' ? [message.trace.stream_status.stream_descriptor.name] : [],
  );
}

describe('a sync', () => {
  test('moves records and states in order, reports what is complete, and counts', async () => {
    const file = outputFile();
    const source = scriptedSource([started, records(3), state(3), records(5, 3), state(5), complete]);
    const outcome = await sync(testRunner(), { source, destination: scriptedDestination(file), streams: [items] });
    const bytes = linesIn(file)
      .filter((line) => line.includes('"RECORD"'))
      .reduce((sum, line) => sum + line.length, 0);
    expect(outcome).toMatchObject({ status: 'succeeded', records: 5, bytes });
    expect(outcome.states).toEqual([keptState(3), keptState(5)]);
    const kinds = received(file).map(({ type }) => type);
    expect(kinds).toEqual(['RECORD', 'RECORD', 'RECORD', 'STATE', 'RECORD', 'RECORD', 'STATE', 'TRACE']);
    expect(completionsIn(file)).toEqual(['items']);
  });

  test('passes the values of a record on as they were written', async () => {
    const file = outputFile();
    const data = '{"id": 12345678901234567890, "price":1.10,"text":"\\u00e9 } \\" {"}';
    const foreign = `{"type":"RECORD","record":{"stream":"items","data":${data},"emitted_at":1}}`;
    const own = `${recordHead({ name: 'items' })}1,"data":${data}}}`;
    const source = scriptedSource([{ print: `${foreign}\n${own}\n` }, complete]);
    const destination = scriptedDestination(file);
    await sync(testRunner(), { source, destination, streams: [items] });
    expect(linesIn(file).slice(0, 2)).toEqual([foreign, own]);

    const rename = { prefix: 'raw_', namespace: () => 'lake' };
    await sync(testRunner(), { source, destination, streams: [items], rename });
    const [first = '', second = ''] = linesIn(file).slice(3);
    for (const line of [first, second]) {
      expect(line).toContain(data);
      expect(JSON.parse(line).record).toMatchObject({ stream: 'raw_items', namespace: 'lake', emitted_at: 1 });
    }
  });

  test('gives the source its state and both sides their catalogs', async () => {
    const file = outputFile();
    const note = outputFile();
    const source = scriptedSource([{ note }, complete]);
    const request = { source, destination: scriptedDestination(file), streams: [items] };
    await sync(testRunner(), { ...request, state: [keptState(7)] });
    const { given } = JSON.parse(readFileSync(note, 'utf8'));
    expect(given).toEqual({ config: {}, catalog: { streams: [items] }, state: [keptState(7)] });
    expect(JSON.parse(readFileSync(`${file}.catalog`, 'utf8'))).toEqual({ streams: [items] });

    await sync(testRunner(), { ...request, state: [{ data: { old: 'form' } }] });
    expect(JSON.parse(readFileSync(note, 'utf8')).given.state).toEqual({ old: 'form' });

    await sync(testRunner(), request);
    expect(JSON.parse(readFileSync(note, 'utf8')).files).not.toHaveProperty('state');
  });

  test('calls streams by other names at the destination, and by their own in the states it keeps', async () => {
    const file = outputFile();
    const streams = [configured('items', {}, 'sales')];
    const descriptor = { name: 'items', namespace: 'sales' };
    const forStream = { type: 'STREAM', stream: { stream_descriptor: descriptor, stream_state: { at: 1 } } };
    const forAll = {
      type: 'GLOBAL',
      global: { shared_state: { lsn: 9 }, stream_states: [{ stream_descriptor: descriptor, stream_state: {} }] },
    };
    const legacy = { data: { any: 'thing' } };
    const source = scriptedSource([
      { print: `${recordHead(descriptor)}1,"data":{"id":1}}}\n` },
      { say: { type: 'RECORD', record: { stream: 'items', namespace: 'sales', data: { id: 2 }, emitted_at: 2 } } },
      ...[forStream, forAll, legacy].map((value) => ({ say: { type: 'STATE', state: value } })),
    ]);
    const rename = { prefix: 'raw_', namespace: (from?: string) => `copy_of_${from}` };
    const outcome = await sync(testRunner(), { source, destination: scriptedDestination(file), streams, rename });
    expect(outcome.status).toBe('succeeded');
    expect(outcome.states).toEqual([forStream, forAll, legacy]);
    const messages = received(file);
    for (const { record } of messages.slice(0, 2)) {
      expect(record).toMatchObject({ stream: 'raw_items', namespace: 'copy_of_sales' });
    }
    const renamed = { name: 'raw_items', namespace: 'copy_of_sales' };
    expect(messages[2].state.stream.stream_descriptor).toEqual(renamed);
    expect(messages[3].state.global.stream_states[0].stream_descriptor).toEqual(renamed);
    expect(messages[5].trace.stream_status.stream_descriptor).toEqual(renamed);
    expect(JSON.parse(readFileSync(`${file}.catalog`, 'utf8')).streams[0].stream).toMatchObject(renamed);
  });

  test('refuses streams that would meet at the destination', async () => {
    const streams = [configured('items', {}, 'a'), configured('items', {}, 'b')];
    const rename = { prefix: '', namespace: () => undefined };
    const request = { source: scriptedSource([]), destination: scriptedDestination(outputFile()), streams, rename };
    const { status, failure } = await sync(testRunner(), request);
    expect(status).toBe('failed');
    expect(failure).toMatchObject({ origin: 'platform', type: 'config_error' });
    expect(failure?.message).toContain('a.items and b.items');
  });

  test('syncs only the selected fields', async () => {
    const file = outputFile();
    const note = outputFile();
    const source = scriptedSource([{ note }, records(2, 0, 'secret'), complete]);
    const selectedFields = new Map([['items', ['id']]]);
    const request = { source, destination: scriptedDestination(file), streams: [items], selectedFields };
    expect(await sync(testRunner(), request)).toMatchObject({ status: 'succeeded', records: 2 });
    expect(received(file)[0].record).toEqual({ stream: 'items', emitted_at: 0, data: { id: 0 } });
    for (const catalog of [
      JSON.parse(readFileSync(`${file}.catalog`, 'utf8')),
      JSON.parse(readFileSync(note, 'utf8')).given.catalog,
    ]) {
      expect(Object.keys(catalog.streams[0].stream.json_schema.properties)).toEqual(['id']);
    }
  });

  test('leaves records of other streams out and says so once', async () => {
    const file = outputFile();
    const other = { records: { stream: 'others', to: 3 } };
    const source = scriptedSource([other, records(1), complete]);
    const outcome = await sync(testRunner(), { source, destination: scriptedDestination(file), streams: [items] });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 1 });
    expect(idsIn(file)).toEqual([0]);
    expect(outcome.log.filter(({ message }) => message.includes('others'))).toHaveLength(1);
  });

  test('keeps a configuration that a connector has renewed, and hides its new secret', async () => {
    const renewed: unknown[] = [];
    const control = (config: object) => ({
      type: 'CONTROL',
      control: { type: 'CONNECTOR_CONFIG', emitted_at: 1, connectorConfig: { config } },
    });
    const source = scriptedSource([
      { say: control({ token: 'new-token' }) },
      { complain: 'using new-token\n' },
      records(1),
      state(1),
      complete,
    ]);
    const destination = scriptedDestination(outputFile(), { beforeEcho: [control({ session: 'new-session' })] });
    const keepConfiguration = async (...given: unknown[]) => void renewed.push(given);
    const outcome = await sync(testRunner(), { source, destination, streams: [items], keepConfiguration });
    expect(outcome.status).toBe('succeeded');
    expect(renewed).toContainEqual(['source', { token: 'new-token' }]);
    expect(renewed).toContainEqual(['destination', { session: 'new-session' }]);
    expect(JSON.stringify(outcome.log)).not.toContain('new-token');
  });

  test('waits until a state is kept before it hears the next', async () => {
    const order: string[] = [];
    const keepState = async (kept: State) => {
      order.push(`keep ${JSON.stringify(kept.stream?.stream_state)}`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push('kept');
    };
    const source = scriptedSource([state(1), state(2), state(3), complete]);
    await sync(testRunner(), { source, destination: scriptedDestination(outputFile()), streams: [items], keepState });
    expect(order).toEqual(['keep {"at":1}', 'kept', 'keep {"at":2}', 'kept', 'keep {"at":3}', 'kept']);
  });

  test('lets a destination confirm only the last state of a stream', async () => {
    const source = scriptedSource([state(1), state(2), complete]);
    const destination = scriptedDestination(outputFile(), { echo: 'last' });
    const outcome = await sync(testRunner(), { source, destination, streams: [items] });
    expect(outcome).toMatchObject({ status: 'succeeded', states: [keptState(2)] });
  });

  test('takes the good end of a source that reports no statuses for completion', async () => {
    const file = outputFile();
    const source = scriptedSource([records(1)]);
    const outcome = await sync(testRunner(), { source, destination: scriptedDestination(file), streams: [items] });
    expect(outcome.status).toBe('succeeded');
    expect(completionsIn(file)).toEqual(['items']);
  });

  test('takes records only as fast as the destination does', async () => {
    const file = outputFile();
    // About 100 MB, of which the runner must not read more than the pipes hold (backpressure).
    const note = outputFile();
    const source = scriptedSource([records(100_000, 0, 'x'.repeat(1000)), { note }, complete]);
    const destination = scriptedDestination(file, { stopAfter: 10, dies: 'hang' });
    const outcome = await sync(testRunner({ stuckAfterMs: 5000, graceMs: 200 }), {
      source,
      destination,
      streams: [items],
    });
    expect(outcome.failure).toMatchObject({ origin: 'destination', type: 'transient_error' });
    expect(outcome.bytes).toBeLessThan(2_000_000);
    expect(() => readFileSync(note)).toThrow('ENOENT');
  });

  test.each(['', 'raw_'])(
    'passes a state on with every field and every digit, and keeps it so, with the prefix %j',
    async (prefix) => {
      const file = outputFile();
      const kept: string[] = [];
      const streamState = '{"stream_descriptor":{"name":"items","x":1},"stream_state":{"at":9007199254740993},"y":2}';
      const states = [
        `{"type":"STREAM","stream":${streamState},"sourceStats":{"recordCount":1.0},"vendor":{"z":[]}}`,
        `{"type":"GLOBAL","global":{"shared_state":{"lsn":1.10},"stream_states":[${streamState}],"v":1},"w":12345678901234567890}`,
        `{"data":{"items":{"at":0.10000000000000000001}},"v":1}`,
      ];
      const lines = states.map(
        (each) => `{"type":"STATE","state":${each},"sourceStats":{"recordCount":3},"vendor":"v"}`,
      );
      const source = scriptedSource([{ print: `${lines.join('\n')}\n` }]);
      const keepState: SyncRequest['keepState'] = async (_, text) => void kept.push(text);
      const rename = { prefix, namespace: () => undefined };
      const request = { source, destination: scriptedDestination(file), streams: [items], keepState, rename };
      expect(await sync(testRunner(), request)).toMatchObject({ status: 'succeeded' });
      const told = lines.map((each) => each.replaceAll('"name":"items"', `"name":"${prefix}items"`));
      expect(linesIn(file).slice(0, 3)).toEqual(told);
      expect(kept).toEqual(states);
    },
  );

  test('hands a state back to the source as it was kept', async () => {
    const states = ['{"type":"STREAM","stream":{"stream_state":{"at":9007199254740993}},"vendor":1.0}'];
    const given = join(temporaryFolder(), 'given');
    const source = scriptedSource([{ copy: ['state', given] }, complete]);
    const rename = { prefix: '', namespace: () => undefined };
    const request = { source, destination: scriptedDestination(outputFile()), catalog: { streams: [items] }, rename };
    const keepState = async () => {};
    expect(await testRunner().sync({ ...request, state: states, keepState })).toMatchObject({ status: 'succeeded' });
    expect(readFileSync(given, 'utf8')).toBe(`[${states[0]}]`);
    await testRunner().sync({ ...request, state: ['{"data":{"at":1.10}}'], keepState });
    expect(readFileSync(given, 'utf8')).toBe('{"at":1.10}');
  });

  test('can empty a destination without a source', async () => {
    const file = outputFile();
    const outcome = await testRunner().clear({
      destination: scriptedDestination(file),
      catalog: { streams: [items] },
      rename: { prefix: 'raw_', namespace: () => undefined },
      keepConfiguration: async () => {},
    });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 0, bytes: 0 });
    expect(completionsIn(file)).toEqual(['raw_items']);
    expect(received(file)).toHaveLength(1);
  });
});

describe('a source that reports some of its streams', () => {
  const overwritten = (name: string) =>
    configured(name, { sync_mode: 'full_refresh', destination_sync_mode: 'overwrite' });
  const row = (stream: string) => ({ records: { stream, to: 1 } });

  test('succeeds, and what it never mentioned is not replaced, while what was added to the others stays', async () => {
    const file = outputFile();
    const source = scriptedSource([row('told'), { status: ['told', 'COMPLETE'] }, row('untold'), row('added')]);
    const streams = [overwritten('told'), overwritten('untold'), configured('added')];
    const outcome = await sync(testRunner(), { source, destination: scriptedDestination(file), streams });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 2 });
    expect(completionsIn(file)).toEqual(['told', 'added']);
    const message =
      'The source did not report whether it read untold completely. Earlier rows of this stream are kept at the destination.';
    expect(outcome.log).toContainEqual({ level: 'WARN', origin: 'source', message });
  });

  test.each([
    ['INCOMPLETE', [{ status: ['broken', 'INCOMPLETE'] }]],
    ['only that it has begun', [{ status: ['broken', 'STARTED'] }]],
  ])('fails when it said of one %s, however it ends; only what it completed is replaced', async (_, steps) => {
    const file = outputFile();
    const source = scriptedSource([row('told'), { status: ['told', 'COMPLETE'] }, row('broken'), ...steps]);
    const streams = [overwritten('told'), overwritten('broken')];
    const outcome = await sync(testRunner(), { source, destination: scriptedDestination(file), streams });
    const message = 'The source stopped before it had read these streams completely: broken.';
    expect(outcome).toMatchObject({ status: 'failed', failure: { origin: 'source', message } });
    expect(completionsIn(file)).toEqual(['told']);
  });

  test('that nobody asked for succeeds, and replaces nothing', async () => {
    const file = outputFile();
    const source = scriptedSource([row('items'), row('untold'), { status: ['foreign', 'COMPLETE'] }]);
    const streams = [items, overwritten('untold')];
    const outcome = await sync(testRunner(), { source, destination: scriptedDestination(file), streams });
    expect(outcome.status).toBe('succeeded');
    expect(completionsIn(file)).toEqual(['items']);
  });
});

describe('a line that is meant as a record or a state and cannot be read', () => {
  const own = (data: string) => `${recordHead({ name: 'items' })}1,"data":${data}}}`;
  const foreign = (data: string) =>
    `{"type": "RECORD", "record": {"stream": "items", "data": ${data}, "emitted_at": 1}}`;
  const notUtf8 = (line: string) => ({ printBytes: Buffer.from(`${line}\n`, 'latin1').toString('base64') });

  test.each([
    ['has a comma too many', { print: `${foreign('{"id":4,}')}\n` }, 'a record of items'],
    ['has a comma too many in the compact form', { print: `${own('{"id":4,}')}\n` }, 'a record of items'],
    ['lacks a quote in the compact form', { print: `${own('{"id":"4}')}\n` }, 'a record of items'],
    ['has a number that is none', { print: `${own('{"id":NaNa}')}\n` }, 'a record of items'],
    ['stands behind something else', { print: `fetched page 3${foreign('{"id":4}')}\n` }, 'a record of items'],
    ['stands before something else', { print: `${own('{"id":4}')} done\n` }, 'a record of items'],
    ['stands on one line with another', { print: `${own('{"id":4}')}${own('{"id":5}')}\n` }, 'a record of items'],
    ['is a list of messages', { print: `[${foreign('{"id":4}')}]\n` }, 'a record of items'],
    [
      'is written as Python prints it',
      { print: `{'type': 'RECORD', 'record': {'stream': 'items'}}\n` },
      'a record of items',
    ],
    ['is not UTF-8', notUtf8(foreign('{"name":"größe"}')), 'a record of items'],
    ['is not UTF-8 in the compact form', notUtf8(own('{"name":"größe"}')), 'a record of items'],
    [
      'is a state',
      { print: '{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"items"},]}}\n' },
      'a state of items',
    ],
  ])('because it %s ends the sync, and no later state is kept', async (_, line, what) => {
    const file = outputFile();
    const steps = [started, records(3), state(3), line, records(5, 4), state(5), complete];
    const source = scriptedSource(steps, { password: 'fetched page' }, ['fetched page']);
    const outcome = await sync(testRunner(), { source, destination: scriptedDestination(file), streams: [items] });
    expect(outcome).toMatchObject({ status: 'failed', failure: { origin: 'source', type: 'system_error' } });
    expect(outcome.failure?.message).toMatch(new RegExp(`${what} that cannot be read: .*starts with: .*items`));
    expect(outcome.failure?.message).not.toContain('fetched page');
    expect(outcome.states).toEqual([keptState(3)]);
    expect(idsIn(file)).toEqual([0, 1, 2]);
    expect(completionsIn(file)).toEqual([]);
  });

  test('is no log line that quotes one', async () => {
    const quoted = JSON.stringify({ level: 'debug', sent: { type: 'RECORD', record: {} } });
    const log = JSON.stringify({ type: 'LOG', log: { level: 'INFO', message: quoted } });
    const source = scriptedSource([{ print: `${quoted}\n${log}\n` }, records(1), complete]);
    const outcome = await sync(testRunner(), {
      source,
      destination: scriptedDestination(outputFile()),
      streams: [items],
    });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 1 });
  });
});

describe('what Python programs write', () => {
  const own = (data: string) => `${recordHead({ name: 'items' })}1,"data":${data}}}`;
  const foreign = (data: string) =>
    `{"type": "RECORD", "record": {"stream": "items", "emitted_at": 1, "data": ${data}}}`;

  test('in place of numbers arrives as null, and is counted for each field', async () => {
    const file = outputFile();
    const data = '{"a": NaN, "b": [-Infinity, {"c": Infinity}], "NaN": "NaN \\" Infinity", "n": 12345678901234567890}';
    const lines = [foreign(data), own(data), own('{"a": -Infinity}'), foreign('{"a": 1}')];
    const states =
      '{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"items"},"stream_state":{"at":NaN}}}}';
    const source = scriptedSource([{ print: `${[...lines, states].join('\n')}\n` }, complete]);
    const outcome = await sync(testRunner(), { source, destination: scriptedDestination(file), streams: [items] });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 4 });
    const arrived = data
      .replace('{"a": NaN', '{"a": null')
      .replace('[-Infinity, {"c": Infinity}]', '[null, {"c": null}]');
    expect(linesIn(file).slice(0, 4)).toEqual([foreign(arrived), own(arrived), own('{"a": null}'), lines[3]]);
    expect(outcome.states).toEqual([
      { type: 'STREAM', stream: { stream_descriptor: { name: 'items' }, stream_state: { at: null } } },
    ]);
    expect(outcome.streams).toEqual([
      {
        stream: { name: 'items' },
        recordsEmitted: 4,
        valuesChanged: [
          { field: 'b', kind: 'not_a_number', count: 4, example: 'record 1' },
          { field: 'a', kind: 'not_a_number', count: 3, example: 'record 1' },
        ],
      },
    ]);
  });

  test('in front of a message does no harm: spaces and byte order marks', async () => {
    const file = outputFile();
    const lines = ['\ufeff', ' ', '\t ', '\ufeff  '].flatMap((before, id) => [
      `${before}${own(`{"id":${2 * id}}`)}`,
      `${before}${foreign(`{"id":${2 * id + 1}}`)}`,
    ]);
    const source = scriptedSource([{ print: `${lines.join('\n')}\n` }, complete]);
    const outcome = await sync(testRunner(), { source, destination: scriptedDestination(file), streams: [items] });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 8 });
    expect(idsIn(file)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});

describe('a record that is too large', () => {
  const row = (stream: string, data: object) => ({
    say: { type: 'RECORD', record: { stream, data, emitted_at: 1 } },
  });
  const big = (bytes: number, data: string) => ({
    bigLine: { before: '{"type":"RECORD","record":{"data":{"text":"', bytes, after: `"${data}},"stream":"items"}}` },
  });
  const keyed = configured('items', { primary_key: [['id'], ['place', 'zip']] });
  const runner = () => testRunner({ maxLineBytes: 1_000_000 });

  test('is skipped and counted with its key, and everything behind it arrives', async () => {
    const file = outputFile();
    const source = scriptedSource([
      row('items', { id: 1 }),
      big(3_000_000, ',"id":7,"place":{"zip":"a\\"b"}'),
      state(1),
      big(1_000_000, ''),
      {
        bigLine: {
          before: '{"record":{"stream":"items","data":{"id":"secret","text":"',
          bytes: 2_000_000,
          after: '"}},"type":"RECORD"}',
        },
      },
      row('items', { id: 2 }),
      row('others', { id: 3 }),
      { bigLine: { before: '{"type":"RECORD","record":{"stream":"nobody","data":{"a":"', bytes: 2e6, after: '"}}}' } },
      state(2),
      complete,
      { status: ['others', 'COMPLETE'] },
    ]);
    const outcome = await sync(runner(), {
      source: { ...source, secrets: ['secret'] },
      destination: scriptedDestination(file),
      streams: [keyed, configured('others')],
    });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 3 });
    expect(outcome.states).toEqual([keptState(1), keptState(2)]);
    expect(idsIn(file)).toEqual([1, 2, 3]);
    const keys = ['id 7, place.zip a"b', 'record 3', expect.stringMatching(/^id \*+$/)];
    expect(outcome.streams).toMatchObject([
      { recordsEmitted: 2, recordsSkipped: { count: 3, keys } },
      { recordsEmitted: 1 },
    ]);
    expect(outcome.streams[1]).not.toHaveProperty('recordsSkipped');
    const words = outcome.log.map(({ message }) => message);
    expect(words).toContainEqual(
      expect.stringMatching(/^Skipped .* items \(id 7, place\.zip a"b\): .* 3 MB .* 1 MB\.$/),
    );
    expect(words).toContainEqual(expect.stringMatching(/^3 records .* items: larger/));
    expect(words).toContainEqual(expect.stringMatching(/^nobody is not a configured stream/));
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });

  test('is named for the first twenty, and counted for all', async () => {
    const lines = Array.from({ length: 25 }, (_, id) => big(1_000_001, `,"id":${id}`));
    const outcome = await sync(runner(), {
      source: scriptedSource([...lines, complete]),
      destination: scriptedDestination(outputFile()),
      streams: [keyed],
    });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 0, streams: [{ recordsSkipped: { count: 25 } }] });
    expect(outcome.streams[0]?.recordsSkipped?.keys).toHaveLength(20);
    expect(outcome.log.filter(({ message }) => message.startsWith('Skipped '))).toHaveLength(20);
  });

  test.each([
    ['without a stream name', { before: '{"type":"RECORD","record":{"data":{"a":"', after: '"}}}' }],
    ['without a type', { before: '{"record":{"stream":"items","data":{"a":"', after: '"}}}' }],
    ['that was cut off', { before: '{"type":"RECORD","record":{"stream":"items","data":{"a":"', after: '', end: '' }],
    ['that is no message', { before: 'x', after: '' }],
  ])('%s fails the sync', async (_, line) => {
    const outcome = await sync(runner(), {
      source: scriptedSource([row('items', { id: 1 }), state(1), { bigLine: { bytes: 2e6, ...line } }]),
      destination: scriptedDestination(outputFile()),
      streams: [keyed],
    });
    expect(outcome).toMatchObject({ status: 'failed', failure: { origin: 'source', type: 'system_error' } });
    expect(outcome.states).toEqual([keptState(1)]);
  });
});

test('the time of a record arrives in milliseconds, whatever unit its source has; nonsense becomes the time of arrival', async () => {
  const ms = 1_790_000_000_123;
  const times: [written: string, expected: number | 'now'][] = [
    [`"emitted_at":${ms},`, ms],
    [`"emitted_at":${ms}456,`, ms],
    [`"emitted_at":${ms}456789,`, ms],
    ['"emitted_at":1790000000,', 1_790_000_000_000],
    ['"emitted_at":0,', 0],
    ['"emitted_at":17,', 17],
    ...['-1', `-${ms}`, '1790000000.123', 'NaN', '-Infinity', '1e999', '1e25', `"${ms}"`, 'null', '[1]', 'true'].map(
      (nonsense): [string, 'now'] => [`"emitted_at":${nonsense},`, 'now'],
    ),
    ['', 'now'],
  ];
  const lines = times.flatMap(([written]) => [
    `{"type":"RECORD","record":{"stream":"items",${written}"data":{"id":12345678901234567890}}}`,
    `{"type": "RECORD", "record": {"data":{"id": 1.10}, ${written} "stream":"items"}}`,
  ]);
  const file = outputFile();
  const before = Date.now();
  const outcome = await sync(testRunner(), {
    source: scriptedSource([{ print: `${lines.join('\n')}\n` }, complete]),
    destination: scriptedDestination(file),
    streams: [items],
  });
  expect(outcome).toMatchObject({ status: 'succeeded', records: lines.length });
  const arrived = received(file).flatMap(({ record }) => (record ? [record.emitted_at] : []));
  for (const [index, [written, expected]] of times.entries()) {
    for (const time of arrived.slice(2 * index, 2 * index + 2)) {
      if (expected !== 'now') expect(time, written).toBe(expected);
      else expect(time >= before && time <= Date.now(), `${written} ${time}`).toBe(true);
    }
  }
  const texts = linesIn(file).slice(0, lines.length);
  expect(texts.filter((text) => text.includes('12345678901234567890'))).toHaveLength(times.length);
  expect(texts.filter((text) => text.includes('1.10'))).toHaveLength(times.length);
});

describe('a source that fails', () => {
  const error = { message: 'The table is gone.', failure_type: 'config_error' };
  const tell = { say: { type: 'TRACE', trace: { type: 'ERROR', emitted_at: 1, error } } };

  test.each([
    ['says why', [tell, { exit: 1 }], { type: 'config_error', message: 'The table is gone.' }],
    ['says why and exits as if all was well', [tell], { type: 'config_error', message: 'The table is gone.' }],
    ['is killed', [{ kill: 'SIGKILL' }], { type: 'system_error', message: expect.stringContaining('SIGKILL') }],
    [
      'dies in the middle of a record',
      [{ print: `${recordHead({ name: 'items' })}1,"data":{"a":{"b":{"c":1}}}` }, { kill: 'SIGKILL' }],
      { type: 'system_error', message: expect.stringContaining('SIGKILL') },
    ],
    [
      'exits without a word',
      [{ exit: 7 }],
      { type: 'system_error', message: expect.stringContaining('exited with code 7') },
    ],
    [
      'ends without completing',
      [],
      { type: 'system_error', message: 'The source stopped before it had read these streams completely: items.' },
    ],
    [
      'sends a record without data',
      [{ say: { type: 'RECORD', record: { stream: 'items', data: 1 } } }, complete],
      { type: 'system_error', message: expect.stringMatching(/record of items: its data is not an object/) },
    ],
    [
      'sends a huge message',
      [{ say: { type: 'LOG', log: { level: 'INFO', message: 'x'.repeat(100_000) } } }, { bigState: 2_000_000 }],
      { type: 'system_error', message: 'The source sent a message larger than 1 MB.' },
    ],
    [
      'goes silent',
      [{ ignoreSigterm: true }, { hang: true }],
      { type: 'transient_error', message: 'The source was stopped because no data moved for 5 s.' },
    ],
  ])('because it %s fails the sync, and what the destination has confirmed is kept', async (_, steps, failure) => {
    const file = outputFile();
    const runner = testRunner({ maxLineBytes: 1_000_000, stuckAfterMs: 5000, graceMs: 500 });
    const source = scriptedSource([started, records(3), state(3), records(4, 3), ...steps]);
    const outcome = await sync(runner, { source, destination: scriptedDestination(file), streams: [items] });
    expect(outcome).toMatchObject({ status: 'failed', failure: { origin: 'source', ...failure } });
    expect(outcome.states).toEqual([keptState(3)]);
    expect(idsIn(file).slice(0, 3)).toEqual([0, 1, 2]);
    expect(completionsIn(file)).toEqual([]);
    expect(readdirSync(runner.folder)).toEqual([]);
  });

  test('because its access token has ended, and it gives nothing more, fails the sync', async () => {
    const file = outputFile();
    const longMs = 300_000;
    const runtime = {
      ...systemRuntime,
      sleep: (ms: number, signal?: AbortSignal) => systemRuntime.sleep(ms === longMs ? 3_000 : ms, signal),
    };
    const signIn = {
      ...{ generation: 1, startedAt: 0, values: {}, fields: {}, handsOver: false },
      fresh: () => Promise.reject(new Error('nobody asks')),
      takeBack: async () => {},
    };
    const source = scriptedSource([started, records(3), state(3), { hang: true }]);
    const run = (expiresAt: number) =>
      sync(testRunner({ runtime, stuckAfterMs: 30_000, graceMs: 500 }), {
        source: { ...source, signIn: { ...signIn, expiresAt } },
        destination: scriptedDestination(file),
        streams: [items],
      });
    const outcome = await run(Date.now() - 1);
    const message = 'The access token expired, and the source sent no more data.';
    expect(outcome.failure).toMatchObject({ origin: 'source', type: 'transient_error', message });
    expect(outcome).toMatchObject({ states: [keptState(3)], unfinished: [{ name: 'items' }] });
  });

  test('because its last line was cut off, and would be missing, fails the sync though it ended well', async () => {
    const file = outputFile();
    const source = scriptedSource([records(2), { print: '{"type":"RECORD","record":{"stream":"items","da' }]);
    const outcome = await sync(testRunner(), { source, destination: scriptedDestination(file), streams: [items] });
    expect(outcome).toMatchObject({
      status: 'failed',
      records: 2,
      failure: { origin: 'source', type: 'system_error' },
    });
    expect(outcome.failure?.message).toContain('of items that cannot');
    expect(idsIn(file)).toEqual([0, 1]);
    expect(completionsIn(file)).toEqual([]);
  });

  test('is not taken from a cut-off log line', async () => {
    const source = scriptedSource([records(2), complete, { print: '{"type":"LOG","log":{"lev' }]);
    const outcome = await sync(testRunner(), {
      source,
      destination: scriptedDestination(outputFile()),
      streams: [items],
    });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 2 });
    expect(outcome.log).toContainEqual(expect.objectContaining({ level: 'WARN', origin: 'source' }));
  });

  test('because it cannot be started fails the sync', async () => {
    const source = { ...scriptedSource([]), program: '/no/such/program' };
    const destination = scriptedDestination(outputFile());
    const { failure } = await sync(testRunner(), { source, destination, streams: [items] });
    expect(failure).toMatchObject({ origin: 'source', message: expect.stringContaining('not start') });
  });
});

describe('a destination that fails', () => {
  const steps = [records(3), state(3), records(100_000, 3, 'x'.repeat(100)), state(100_000), complete];
  const error = { message: 'The disk is full.', failure_type: 'transient_error' };

  test.each([
    ['is killed', { stopAfter: 10, dies: 'kill' }, { message: expect.stringContaining('SIGKILL') }],
    [
      'exits with a code',
      { stopAfter: 10, dies: 'exit', code: 4 },
      { message: expect.stringContaining('exited with code 4') },
    ],
    [
      'exits too early as if all was well',
      { stopAfter: 10, dies: 'exit' },
      { message: 'The destination stopped before it had read all data.' },
    ],
    [
      'closes its input and hangs',
      { stopAfter: 10, dies: 'close' },
      { message: 'The destination was stopped because no data moved for 5 s.' },
    ],
    [
      'says why at the end',
      { atEnd: [{ type: 'TRACE', trace: { type: 'ERROR', emitted_at: 1, error } }], code: 1 },
      { type: 'transient_error', message: 'The disk is full.' },
    ],
  ])('because it %s fails the sync, and the source is stopped', async (_, configuration, failure) => {
    const note = outputFile();
    const runner = testRunner({ stuckAfterMs: 5000, graceMs: 500 });
    const source = scriptedSource([{ note }, ...steps]);
    const destination = scriptedDestination(outputFile(), configuration);
    const outcome = await sync(runner, { source, destination, streams: [items] });
    expect(outcome).toMatchObject({ status: 'failed', failure: { origin: 'destination', ...failure } });
    expect(outcome.states[0]).toEqual(keptState(3));
    expect(isAlive(JSON.parse(readFileSync(note, 'utf8')).pid)).toBe(false);
    expect(readdirSync(runner.folder)).toEqual([]);
  });

  test('while the source has nothing to say fails the sync at once', async () => {
    const source = scriptedSource([records(11), { hang: true }]);
    const destination = scriptedDestination(outputFile(), { stopAfter: 10, dies: 'kill' });
    const { failure } = await sync(testRunner(), { source, destination, streams: [items] });
    expect(failure).toMatchObject({ origin: 'destination', type: 'system_error' });
  });

  test('to confirm what it was sent has failed, however it ends', async () => {
    const source = scriptedSource([records(3), state(3), complete]);
    const destination = scriptedDestination(outputFile(), { echo: 'none' });
    const { status, failure, states } = await sync(testRunner(), { source, destination, streams: [items] });
    expect(status).toBe('failed');
    expect(failure?.message).toMatch(/^The destination .*without confirming/);
    expect(states).toEqual([]);
  });
});

describe('a sync that is interrupted', () => {
  test('by a cancellation ends both sides, even those that do not listen, and keeps what was confirmed', async () => {
    const note = outputFile();
    const abort = new AbortController();
    const runner = testRunner({ graceMs: 500 });
    const source = scriptedSource([{ ignoreSigterm: true }, { note }, records(3), state(3), { hang: true }]);
    const kept: State[] = [];
    const keepState = async (value: State) => {
      kept.push(value);
      abort.abort();
    };
    const request = { source, destination: scriptedDestination(outputFile()), streams: [items], keepState };
    const outcome = await sync(runner, { ...request, signal: abort.signal });
    expect(outcome).toMatchObject({ status: 'cancelled', records: 3 });
    expect(outcome).not.toHaveProperty('failure');
    expect(kept).toEqual([keptState(3)]);
    expect(isAlive(JSON.parse(readFileSync(note, 'utf8')).pid)).toBe(false);
    expect(readdirSync(runner.folder)).toEqual([]);
    expect((await sync(runner, { ...request, signal: abort.signal })).status).toBe('cancelled');
  });

  test('because a state cannot be kept is a failure of the platform, and keeps no later state', async () => {
    const source = scriptedSource([state(1), state(2), { hang: true }]);
    let calls = 0;
    const keepState = async () => {
      calls++;
      throw new Error('database is locked');
    };
    const destination = scriptedDestination(outputFile());
    const { status, failure } = await sync(testRunner({ graceMs: 500 }), {
      source,
      destination,
      streams: [items],
      keepState,
    });
    expect(status).toBe('failed');
    expect(failure).toMatchObject({ origin: 'platform', type: 'system_error' });
    expect(failure?.internalMessage).toContain('database is locked');
    expect(calls).toBe(1);
  });

  test.each([
    ['source', [0, 60, 61, 5000], undefined],
    ['destination', [], 12_345],
  ])('by a kill of the %s and run again with the kept state loses nothing', async (_, deaths, destinationDeath) => {
    const file = outputFile();
    const runner = testRunner();
    const total = 20_000;
    const steps = (from: number, dieAt?: number) => {
      const plan: object[] = [started];
      for (let at = from; at < total; at += 100) {
        if (dieAt !== undefined && dieAt < at + 100) return [...plan, records(dieAt, at), { kill: 'SIGKILL' }];
        plan.push(records(at + 100, at), state(at + 100));
      }
      return [...plan, complete];
    };
    let from = 0;
    const statuses: string[] = [];
    const run = async (dieAt: number | undefined, configuration: object) => {
      const source = scriptedSource(steps(from, dieAt));
      const destination = scriptedDestination(file, { ...configuration });
      const outcome = await sync(runner, { source, destination, streams: [items] });
      statuses.push(outcome.status);
      const last = outcome.states.at(-1)?.stream?.stream_state as { at: number } | undefined;
      from = last?.at ?? from;
    };
    for (const death of deaths) await run(from + death, {});
    if (destinationDeath) await run(undefined, { stopAfter: destinationDeath, dies: 'kill' });
    await run(undefined, {});
    expect(statuses.slice(0, -1).every((status) => status === 'failed')).toBe(true);
    expect(statuses.at(-1)).toBe('succeeded');
    expect(new Set(idsIn(file)).size).toBe(total);
    expect(completionsIn(file)).toEqual(['items']);
  });
});
