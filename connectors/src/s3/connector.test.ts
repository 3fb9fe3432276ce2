import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  type Configuration,
  ConnectorError,
  type DestinationInput,
  type Emitter,
  type Surroundings,
} from '@inlay/protocol/connector';
import {
  type ConfiguredCatalog,
  type ConfiguredStream,
  type Message,
  type State,
  type StreamHolding,
  type StreamReport,
  streamHoldingType,
} from '@inlay/protocol/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { isLongRun, itInLongRun } from '../../../scripts/long-run.ts';
import { type S3Request, type S3Server, startS3Server } from '../../test/s3-server.ts';
import { s3Client } from './client.ts';
import { connector, type Limits, s3Destination } from './connector.ts';
import { readSettings } from './settings.ts';

const surroundings: Surroundings = {
  workspaceDir: undefined,
  readableDirs: [],
  allowPrivateNetworks: true,
  serviceEndpoints: [],
};

let server: S3Server;
let runs = 0;
let prefix = '';
/** What the latest run said, even if it failed. */
let written: Written;

beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server.stop());
beforeEach(() => {
  runs += 1;
  prefix = `run-${runs}`;
  server.faults = () => undefined;
  server.clockAheadMs = 0;
  server.pageSize = 1_000;
  server.requests.length = 0;
});

function configuration(changes: Record<string, unknown> = {}) {
  return {
    bucket: server.bucket,
    region: server.region,
    endpoint: server.url,
    prefix,
    access_key_id: server.accessKeyId,
    secret_access_key: server.secretAccessKey,
    ...changes,
  };
}

function stream(name: string, changes: Partial<ConfiguredStream> = {}): ConfiguredStream {
  return {
    stream: { name, json_schema: { type: 'object' }, supported_sync_modes: ['full_refresh', 'incremental'] },
    sync_mode: 'incremental',
    destination_sync_mode: 'append',
    generation_id: 0,
    minimum_generation_id: 0,
    sync_id: 1,
    ...changes,
  };
}

const replaced = (name: string, generation: number): ConfiguredStream =>
  stream(name, {
    sync_mode: 'full_refresh',
    destination_sync_mode: 'overwrite',
    generation_id: generation,
    minimum_generation_id: generation,
    sync_id: generation,
  });

const record = (name: string, data: Record<string, unknown>): DestinationInput => ({
  type: 'RECORD',
  record: { stream: name, data, emitted_at: 1 },
});
const records = (name: string, from: number, to: number): DestinationInput[] =>
  Array.from({ length: to - from }, (_, index) => record(name, { id: from + index }));
const stateOf = (name: string, id: number): State => ({
  type: 'STREAM',
  stream: { stream_descriptor: { name }, stream_state: { id } },
});
const state = (name: string, id: number): DestinationInput => ({ type: 'STATE', state: stateOf(name, id) });
const complete = (name: string): DestinationInput => ({
  type: 'TRACE',
  trace: {
    type: 'STREAM_STATUS',
    emitted_at: 1,
    stream_status: { stream_descriptor: { name }, status: 'COMPLETE' },
  },
});

interface Written {
  /** The states that were confirmed, each with how many records were visible then. */
  confirmed: { state: State; visible: number }[];
  logs: string[];
  reports: StreamReport[];
  holdings: StreamHolding[];
}

async function write(
  streams: ConfiguredStream[],
  input: DestinationInput[][] | AsyncIterable<DestinationInput[]>,
  limits: Partial<Limits> = {},
  config: Configuration = {},
): Promise<Written> {
  written = { confirmed: [], logs: [], reports: [], holdings: [] };
  const emit: Emitter = {
    record: () => undefined,
    recordOf: () => undefined,
    async state(state) {
      confirmed.push({ state, visible: (await stored()).length });
    },
    status: () => undefined,
    report(report) {
      written.reports.push(report);
      return undefined;
    },
    holding(holding) {
      written.holdings.push(holding);
      return undefined;
    },
    log: (level, message) => void written.logs.push(`${level} ${message}`),
  };
  const { confirmed } = written;
  const batches = Array.isArray(input)
    ? (async function* () {
        yield* input;
      })()
    : input;
  await s3Destination(limits).write({ ...configuration(), ...config }, { streams }, batches, emit, surroundings);
  return written;
}

const stored = (folder = '') => server.records(`${prefix}/${folder}`);
const idsOf = (found: Record<string, unknown>[]) => found.map(({ id }) => Number(id)).sort((a, b) => a - b);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
const keys = () => server.keys(prefix);
const uploads = async () => (await server.uploads()).filter(({ key }) => key.startsWith(`${prefix}/`));
/** Text that is compressed to about so many bytes. */
const noise = (bytes: number) => randomBytes(bytes).toString('base64');
const mebibyte = 1024 * 1024;

describe('the report of a sync', () => {
  it('counts the records that are visible, over several objects', async () => {
    const limits = { flushBytes: 1, flushAfterMs: 0, objectBytes: 1 };
    const input = [
      [...records('a', 0, 3), state('a', 1)],
      [...records('a', 3, 5), ...records('b', 0, 4)],
      [complete('a'), complete('b')],
    ];
    const { reports } = await write([stream('a'), replaced('b', 1)], input, limits);
    expect(reports).toEqual([
      { stream_descriptor: { name: 'a' }, records_written: 5 },
      { stream_descriptor: { name: 'b' }, records_written: 4 },
    ]);
  });

  it('counts none of a stream that was to be replaced and is not complete', async () => {
    const { reports } = await write([replaced('a', 1)], [records('a', 0, 3)]);
    expect(reports).toEqual([{ stream_descriptor: { name: 'a' }, records_written: 0 }]);
  });
});

describe('a check', () => {
  it('writes and deletes an object', async () => {
    await connector.check(configuration(), surroundings);
    expect(server.requests.map(({ method, status }) => `${method} ${status}`)).toEqual([
      'PUT 200',
      'HEAD 200',
      'GET 200',
      'DELETE 204',
    ]);
    expect(await keys()).toEqual([]);
  });

  const refuse = (method: string) => () => {
    server.faults = (request) => (request.method === method ? { status: 403, code: 'AccessDenied' } : undefined);
  };
  it.each<[string, Record<string, unknown>, () => void, RegExp]>([
    ['a missing bucket', { bucket: 'another' }, () => {}, /The bucket another does not exist/],
    ['a wrong region', { region: 'us-east-1' }, () => {}, /not in the region us-east-1\. Set the region to eu-test-1/],
    ['an unknown key', { access_key_id: 'nobody' }, () => {}, /Unknown access key ID/],
    ['a wrong secret', { secret_access_key: 'hunter2' }, () => {}, /secret access key does not match/],
    ['no permission to write', {}, refuse('PUT'), /not allowed to write objects in the bucket/],
    ['no permission to list', {}, refuse('GET'), /not allowed to list objects/],
    ['no permission to delete', {}, refuse('DELETE'), /not allowed to delete objects/],
    [
      'a clock that is wrong',
      {},
      () => {
        server.clockAheadMs = 3_600_000;
      },
      /clocks of this machine and the store/,
    ],
    ['a host that does not exist', { endpoint: 'http://store.invalid' }, () => {}, /Unknown host store\.invalid/],
    [
      'a port nobody listens on',
      { endpoint: 'http://127.0.0.1:1' },
      () => {},
      /http:\/\/127\.0\.0\.1:1 refused the connection/,
    ],
    [
      'a store that is down',
      {},
      () => {
        server.faults = () => ({ status: 503, code: 'SlowDown' });
      },
      /repeatedly returned .*SlowDown/,
    ],
    [
      'a refusal nobody foresaw',
      {},
      () => {
        server.faults = () => ({ status: 400, code: 'Odd' });
      },
      /refused to write objects: Odd\. The test says Odd/,
    ],
    ['a setting left out', { bucket: '' }, () => {}, /The setting bucket is missing/],
    ['an endpoint that is none', { endpoint: 'http://' }, () => {}, /not a valid URL/],
  ])('names %s', async (_, changes, arrange, words) => {
    arrange();
    const failure = await connector.check(configuration(changes), surroundings).catch((error) => error);
    expect(failure).toBeInstanceOf(ConnectorError);
    expect(failure.message).toMatch(words);
    expect(failure.message).not.toContain(server.secretAccessKey);
    expect(failure.message).not.toContain('hunter2');
  });

  it('distinguishes a store from other hosts, and https from http', async () => {
    const website = createServer((_, answer) => answer.writeHead(405).end('<html>not here</html>'));
    website.listen(0, '127.0.0.1');
    await once(website, 'listening');
    onTestFinished(() => void website.close());
    const { port } = website.address() as AddressInfo;
    const check = (endpoint: string) => connector.check(configuration({ endpoint }), surroundings);
    await expect(check(`http://127.0.0.1:${port}`)).rejects.toThrow('S3-compatible');
    await expect(check(`https://127.0.0.1:${port}`)).rejects.toThrow('does not support TLS');
  });

  it('does not reach into private networks unless the operator allows it', async () => {
    const guarded = { ...surroundings, allowPrivateNetworks: false };
    await expect(connector.check(configuration(), guarded)).rejects.toThrow('public internet');
    expect(server.requests).toEqual([]);
  });

  it('does not reach the service itself, even where private networks are allowed', async () => {
    const own = { host: 'localhost', port: Number(new URL(server.url).port) };
    const check = connector.check(configuration(), { ...surroundings, serviceEndpoints: [own] });
    await expect(check).rejects.toThrow('is Inlay itself');
    expect(server.requests).toEqual([]);
  });
});

describe('appending', () => {
  it('stores every record once, in an object named after stream, generation and sync', async () => {
    const namespaced = stream('users', { sync_id: 12, generation_id: 3 });
    namespaced.stream.namespace = 'crm/eu';
    const input = records('users', 0, 500).map((message) =>
      message.type === 'RECORD' ? { ...message, record: { ...message.record, namespace: 'crm/eu' } } : message,
    );
    await write([namespaced], [input]);
    expect(await keys()).toEqual([expect.stringMatching(/^run-\d+\/crm!2Feu\/users\/3\/12-\d+-00001\.jsonl\.gz$/)]);
    expect(idsOf(await stored())).toEqual(range(0, 500));
  });

  it('confirms a state only when everything before it is visible, and in order', async () => {
    const batches = range(0, 20).map((n) => [
      ...records('users', n * 10, n * 10 + 10),
      state('users', n),
      ...records('orders', n * 10, n * 10 + 10),
      state('orders', n),
    ]);
    const { confirmed } = await write([stream('users'), stream('orders')], batches, { flushAfterMs: 0 });
    expect(confirmed.map(({ state }) => state)).toEqual(
      range(0, 20).flatMap((n) => [stateOf('users', n), stateOf('orders', n)]),
    );
    for (const [index, { visible }] of confirmed.entries()) expect(visible).toBeGreaterThanOrEqual((index + 1) * 10);
  });

  itInLongRun('does not make an object for every state', async () => {
    const batches = range(0, 200).map((n) => [...records('users', n, n + 1), state('users', n)]);
    const { confirmed } = await write([stream('users')], batches);
    expect(confirmed).toHaveLength(200);
    expect(await keys()).toHaveLength(1);
  });

  it('keeps the records of a source that failed, and confirms its states', async () => {
    const { confirmed } = await write(
      [stream('users')],
      [[...records('users', 0, 10), state('users', 9), ...records('users', 10, 15)]],
    );
    expect(confirmed.map(({ state }) => state)).toEqual([stateOf('users', 9)]);
    expect(idsOf(await stored())).toEqual(range(0, 15));
  });

  it('never writes over the objects of an earlier run of the same sync', async () => {
    await write([stream('users')], [records('users', 0, 10)]);
    await write([stream('users')], [records('users', 10, 20)]);
    expect(idsOf(await stored())).toEqual(range(0, 20));
  });

  it('removes generations below the minimum once the stream is complete', async () => {
    await write([stream('users', { generation_id: 1 })], [records('users', 0, 10), [complete('users')]]);
    await write([stream('users', { generation_id: 2 })], [records('users', 10, 20), [complete('users')]]);
    const cleared = stream('users', { generation_id: 3, minimum_generation_id: 2 });
    await write([cleared], [records('users', 20, 30)]);
    expect(idsOf(await stored())).toEqual(range(0, 30));
    await write([cleared], [[complete('users')]]);
    expect(idsOf(await stored())).toEqual(range(10, 30));
  });

  itInLongRun('uploads a large object in parts of at least 5 MiB', async () => {
    const batches = range(0, 22).map((id) => [record('users', { id, noise: noise(mebibyte / 2) })]);
    await write([stream('users')], batches, { partBytes: 5 * mebibyte });
    const parts = server.requests.filter(({ query, method }) => method === 'PUT' && query.has('partNumber'));
    expect(parts.map(({ query }) => query.get('partNumber'))).toEqual(['1', '2', '3']);
    expect(parts[0]?.bytes).toBeGreaterThanOrEqual(5 * mebibyte);
    expect(idsOf(await stored())).toEqual(range(0, 22));
    expect(await uploads()).toEqual([]);
  });

  itInLongRun('begins another object when one is large enough', async () => {
    const batches = range(0, 8).map((id) => [record('users', { id, noise: noise(100_000) })]);
    await write([stream('users')], batches, { objectBytes: 200_000 });
    expect((await keys()).length).toBeGreaterThan(2);
    expect(idsOf(await stored())).toEqual(range(0, 8));
  });

  it('keeps the data as it is and adds when it was sent and in which sync', async () => {
    await write(
      [stream('users', { sync_id: 12 })],
      [[record('users', { id: 1, nested: { list: [null, 'ü'] } }), record('users', {})]],
    );
    const added = { _inlay_emitted_at: '1970-01-01T00:00:00.001Z', _inlay_sync_id: 12 };
    expect(await stored()).toEqual([{ id: 1, nested: { list: [null, 'ü'] }, ...added }, added]);
  });

  it('refuses to remove duplicates, which objects cannot', async () => {
    const keyed = stream('users', { destination_sync_mode: 'append_dedup', primary_key: [['id']] });
    await expect(write([keyed], [records('users', 0, 1)])).rejects.toThrow('users cannot use append_dedup');
  });

  it('refuses a record of an unknown stream', async () => {
    await expect(write([stream('users')], [records('orders', 0, 1)])).rejects.toThrow('stream orders is not');
  });
});

describe('overwriting', () => {
  it('shows new records only when the stream is complete, then deletes the old ones', async () => {
    await write([replaced('users', 1)], [records('users', 0, 10), [complete('users')]]);
    server.requests.length = 0;
    let visibleBefore: number[] = [];
    await write(
      [replaced('users', 2)],
      (async function* () {
        yield records('users', 100, 120);
        visibleBefore = idsOf(await stored());
        yield [complete('users')];
      })(),
      // No memory at all: what waits has to wait at the store.
      { heldBytes: 0 },
    );
    expect(visibleBefore).toEqual(range(0, 10));
    expect(idsOf(await stored())).toEqual(range(100, 120));
    const changes = server.requests.map(({ method, query }) =>
      query.has('uploadId') && method === 'POST' ? 'show' : method,
    );
    expect(changes.filter((change) => ['show', 'DELETE'].includes(change))).toEqual(['show', 'DELETE']);
    expect(await uploads()).toEqual([]);
  });

  it('leaves the old records and nothing else when the stream does not complete', async () => {
    await write([replaced('users', 1)], [records('users', 0, 10), [complete('users')]]);
    const before = await keys();
    for (const heldBytes of [0, mebibyte]) {
      await write([replaced('users', 2)], [records('users', 100, 120)], { heldBytes });
      expect(await keys()).toEqual(before);
      expect(await uploads()).toEqual([]);
    }
  });

  it('empties a stream that has no records any more', async () => {
    await write([replaced('users', 1)], [records('users', 0, 10), [complete('users')]]);
    await write([replaced('users', 2)], [[complete('users')]]);
    expect(await keys()).toEqual([]);
  });

  itInLongRun('replaces what an earlier run of the same generation has shown', async () => {
    await write([replaced('users', 1)], [records('users', 0, 10), [complete('users')]]);
    await write([replaced('users', 1)], [records('users', 0, 12), [complete('users')]]);
    expect(idsOf(await stored())).toEqual(range(0, 12));
  });

  it('deletes only its own objects of that stream', async () => {
    const foreign = [
      `${prefix}/users/notes.txt`,
      `${prefix}/users/1/notes.jsonl.gz`,
      `${prefix}/users2/1/1-1-00001.jsonl.gz`,
    ];
    await server.seed(foreign);
    await write([replaced('users', 2)], [[complete('users')]]);
    expect(await keys()).toEqual(foreign.sort());
  });

  it('deletes nothing of a later run when it was given up for dead and still completes', async () => {
    await write(
      [replaced('users', 2)],
      (async function* () {
        yield records('users', 0, 10);
        await server.seed([`${prefix}/users/3/3-${Date.now() + 1_000}-00001.jsonl.gz`]);
        yield [complete('users')];
      })(),
    );
    expect(await keys()).toEqual([expect.stringContaining('/users/2/2-'), expect.stringContaining('/users/3/3-')]);
  });

  it('knows earlier from later attempts by their epochs, whatever the clock of its machine says', async () => {
    const others = [4_000, 6_000].map((epoch) => `${prefix}/users/2/2-${epoch}-00001.jsonl.gz`);
    await server.seed(others);
    const attempt = { ...replaced('users', 2), inlay_writer: 'connection', inlay_epoch: 5_000 };
    await write([attempt], [[...records('users', 0, 3), complete('users')]]);
    expect(await keys()).toEqual([`${prefix}/users/2/2-5000-00001.jsonl.gz`, others[1]]);
  });

  itInLongRun('replaces more objects than a listing has on a page', async () => {
    server.pageSize = 10;
    await server.seed(range(0, 45).map((n) => `${prefix}/users/1/1-1-${String(n).padStart(5, '0')}.jsonl.gz`));
    await write([replaced('users', 2)], [records('users', 0, 3), [complete('users')]]);
    expect(await keys()).toEqual([expect.stringContaining('/users/2/2-')]);
  });

  it('holds its own states back until it is complete, and those of no other stream', async () => {
    const streams = [stream('users'), replaced('totals', 1)];
    const input = [
      [...records('totals', 0, 10), state('totals', 9), ...records('users', 0, 10), state('users', 9)],
      [...records('totals', 10, 20), ...records('users', 10, 20), state('users', 19)],
    ];
    const users = [
      { state: stateOf('users', 9), visible: 10 },
      { state: stateOf('users', 19), visible: 20 },
    ];
    expect((await write(streams, input, { flushAfterMs: 0 })).confirmed).toEqual(users);
    expect(await stored('totals')).toEqual([]);
    const { confirmed } = await write(streams, [...input, [complete('totals')]], { flushAfterMs: 0 });
    expect(confirmed.map(({ state }) => state)).toEqual([
      stateOf('users', 9),
      stateOf('users', 19),
      stateOf('totals', 9),
    ]);
  });
});

describe('a store that fails', () => {
  const manyCalls = () => [
    ...range(0, 11).map((id) => [record('large', { id, noise: noise(mebibyte / 2) })]),
    ...range(0, 5).map((n) => [...records('users', n * 10, n * 10 + 10), state('users', n)]),
    [...records('totals', 0, 10), complete('totals')],
  ];
  const partBytes = 5 * mebibyte;
  const streams = () => [stream('large'), stream('users'), replaced('totals', 2)];
  const kindOf = ({ method, query }: S3Request) =>
    `${method} ${['uploads', 'partNumber', 'uploadId', 'marker'].find((name) => query.has(name)) ?? 'object'}`;

  it.each([
    ['answers 500', { status: 500, code: 'InternalError' }],
    ['asks to slow down', { status: 503, code: 'SlowDown' }],
    ['times out', { status: 400, code: 'RequestTimeout' }],
    ['drops connections', 'reset'],
    ['loses answers', 'lose the answer'],
  ] as const)('is tried again when it %s, whatever the call', async (_, fault) => {
    await write([replaced('totals', 1)], [[...records('totals', 50, 60), complete('totals')]]);
    const failedOnce = new Set<string>();
    server.faults = (request) => {
      const kind = kindOf(request);
      if (failedOnce.has(kind)) return undefined;
      failedOnce.add(kind);
      return fault;
    };
    const { confirmed } = await write(streams(), manyCalls(), { partBytes, flushAfterMs: 0 });
    expect([...failedOnce].sort()).toEqual([
      'DELETE object',
      'GET marker',
      'GET uploads',
      'HEAD object',
      'POST uploadId',
      'POST uploads',
      'PUT object',
      'PUT partNumber',
    ]);
    expect(confirmed).toHaveLength(5);
    expect(idsOf(await stored('users'))).toEqual(range(0, 50));
    expect(idsOf(await stored('large'))).toEqual(range(0, 11));
    expect(idsOf(await stored('totals'))).toEqual(range(0, 10));
  });

  it('is tried again when it says 200 and fails while completing an object', async () => {
    let failures = 0;
    server.faults = ({ method, query }) => {
      if (method !== 'POST' || !query.has('uploadId') || failures > 0) return undefined;
      failures += 1;
      return { status: 200, code: 'InternalError' };
    };
    await write(streams(), manyCalls(), { partBytes });
    expect(failures).toBe(1);
    expect(idsOf(await stored('large'))).toEqual(range(0, 11));
  });

  it('ends the run when it stays down, with nothing confirmed that is not stored and no upload left', async () => {
    server.faults = ({ method, key }) =>
      method === 'PUT' && key.includes('/users/') ? { status: 503, code: 'SlowDown' } : undefined;
    const failure = await write(streams(), manyCalls(), { tries: 2, flushAfterMs: 0, heldBytes: 0 }).catch(
      (error) => error,
    );
    expect(failure).toBeInstanceOf(ConnectorError);
    expect(failure.failureType).toBe('transient_error');
    expect(written.confirmed).toEqual([]);
    expect(await stored('users')).toEqual([]);
    expect(await uploads()).toEqual([]);
  });

  itInLongRun('ends the run when a part is refused for good, and takes the rest of the object back', async () => {
    server.faults = ({ query }) =>
      query.get('partNumber') === '1' ? { status: 403, code: 'AccessDenied' } : undefined;
    await expect(write(streams(), manyCalls(), { partBytes })).rejects.toThrow('not allowed to write');
    expect(written.confirmed).toEqual([]);
    expect(await uploads()).toEqual([]);
    expect(await stored('large')).toEqual([]);
  });

  itInLongRun('names the reason of the failure even if cleaning up fails as well', async () => {
    server.faults = ({ method, query }) => {
      if (query.get('partNumber') === '1') return { status: 403, code: 'AccessDenied' };
      return method === 'DELETE' ? { status: 500, code: 'InternalError' } : undefined;
    };
    await expect(write(streams(), manyCalls(), { partBytes, tries: 1 })).rejects.toThrow('not allowed to write');
    expect(await uploads()).toHaveLength(1);
  });

  it('is rid of what killed runs left in it with the next run, and of nothing else', async () => {
    const client = s3Client(readSettings(configuration()), surroundings, 1);
    onTestFinished(() => client.close());
    const foreign = await client.startUpload(`${prefix}/users/their-own.bin`);
    for (const generation of [0, 4]) {
      const upload = await client.startUpload(`${prefix}/users/${generation}/1-1-00001.jsonl.gz`);
      await client.uploadPart(upload, 1, Buffer.from('half a record'));
    }
    const { logs } = await write([stream('users')], [records('users', 0, 10)]);
    expect(logs).toEqual([expect.stringMatching(/^INFO .* 2 unfinished uploads/)]);
    expect(await uploads()).toEqual([foreign]);
  });

  it('does not keep a run from working when it cannot list unfinished uploads', async () => {
    server.faults = ({ query }) => (query.has('uploads') ? { status: 501, code: 'NotImplemented' } : undefined);
    const { logs } = await write([stream('users')], [records('users', 0, 10)]);
    expect(logs).toEqual([expect.stringMatching(/^WARN .* not removed/)]);
    expect(await stored()).toHaveLength(10);
  });
});

describe('as a program', () => {
  const program = fileURLToPath(new URL('../../../server/dist/connectors/main.js', import.meta.url));

  function start(catalog: ConfiguredCatalog): { child: ChildProcess; messages: AsyncIterator<Message> } {
    const folder = mkdtempSync(join(tmpdir(), 'inlay-s3-program-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'config.json'), JSON.stringify(configuration()));
    writeFileSync(join(folder, 'catalog.json'), JSON.stringify(catalog));
    const options = ['--config', join(folder, 'config.json'), '--catalog', join(folder, 'catalog.json')];
    const child = spawn(process.execPath, [program, 's3', 'write', ...options], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdin.on('error', () => {});
    return { child, messages: readMessages(child) };
  }

  async function* readMessages(child: ChildProcess): AsyncGenerator<Message> {
    if (!child.stdout) throw new Error('The program has no output.');
    for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line) as Message;
  }

  const send = (child: ChildProcess, messages: DestinationInput[]) =>
    child.stdin?.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));

  it('confirms states and ends with 0 when its input ends', async () => {
    const { child, messages } = start({ streams: [stream('users')] });
    send(child, [...records('users', 0, 100), state('users', 99)]);
    child.stdin?.end();
    expect((await messages.next()).value).toMatchObject({ trace: { analytics: { type: streamHoldingType } } });
    expect((await messages.next()).value).toEqual(state('users', 99));
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
    expect(idsOf(await stored())).toEqual(range(0, 100));
  });

  it('loses nothing that it confirmed when it is killed, and the next run puts things right', async () => {
    await write([replaced('totals', 1)], [[...records('totals', 0, 10), complete('totals')]]);
    const catalog = { streams: [stream('users'), replaced('totals', 2)] };
    const large = (id: number) => record('users', { id, noise: noise(mebibyte / 4) });
    let next = 0;
    // States are confirmed with every 8 MiB, so each of the killed runs gets so far.
    const runsToKill = isLongRun ? 2 : 1;
    const total = 30 + 40 * runsToKill;
    let kills = 0;
    while (next < total) {
      const { child, messages } = start(catalog);
      const ended = once(child, 'exit');
      send(child, records('totals', 100, 110));
      for (const id of range(next, total)) send(child, [large(id), ...(id % 10 === 9 ? [state('users', id + 1)] : [])]);
      const isLast = kills === runsToKill;
      if (isLast) {
        send(child, [complete('users'), complete('totals')]);
        child.stdin?.end();
      }
      for (let answer = await messages.next(); !answer.done; answer = await messages.next()) {
        const message = answer.value;
        if (message.type !== 'STATE') continue;
        next = Number(Object.values(message.state.stream?.stream_state ?? {})[0]);
        if (!isLast) child.kill('SIGKILL');
      }
      await ended;
      expect(idsOf(await stored('users'))).toEqual(expect.arrayContaining(range(0, next)));
      if (!isLast) {
        kills += 1;
        expect(idsOf(await stored('totals'))).toEqual(range(0, 10));
      }
    }
    expect(kills).toBe(runsToKill);
    const found = idsOf(await stored('users'));
    expect(found.length).toBeGreaterThanOrEqual(total);
    expect([...new Set(found)]).toEqual(range(0, total));
    expect(idsOf(await stored('totals'))).toEqual(range(100, 110));
    expect(await uploads()).toEqual([]);
  });
});

describe('objects that someone else has removed', () => {
  const run = async (held?: string | null, config?: Configuration) => {
    const goesOn = held === undefined ? {} : { inlay_held: held };
    const input = [[...records('a', 0, 1), state('a', 1), complete('a')]];
    return await write([{ ...stream('a'), ...goesOn }], input, {}, config);
  };
  const removeAll = async () => {
    const client = s3Client(readSettings(configuration()), surroundings, 1);
    for (const key of await keys()) await client.delete(key);
    await client.close();
  };

  it('are reported once, and not sent again', async () => {
    const { held = '' } = (await run()).holdings[0] ?? {};
    expect((await run(held)).holdings).toEqual([]);
    await removeAll();
    const { holdings, confirmed } = await run(held);
    expect(holdings).toMatchObject([{ is_emptied: true }]);
    expect(confirmed).toHaveLength(1);
    expect((await run(held)).holdings).toEqual([]);
  });

  it('are lost where the stream is to be stored in another place', async () => {
    const { held = '' } = (await run()).holdings[0] ?? {};
    const { holdings, confirmed } = await run(held, { prefix: `${prefix}/elsewhere` });
    expect(holdings).toMatchObject([{ lost: 'gone' }]);
    expect(confirmed).toEqual([]);
    expect((await run(held)).holdings).toEqual([]);
  });
});
