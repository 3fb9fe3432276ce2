/* A store, or a proxy in front of it, that responds with 200 without doing what it was asked to do. */
import { createHash } from 'node:crypto';
import { ConnectorError, type DestinationInput, type Emitter } from '@inlay/protocol/connector';
import type { ConfiguredStream, State } from '@inlay/protocol/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, type Fault, type S3Request, type S3Server, startS3Server } from '../../test/s3-server.ts';
import { type Limits, s3Destination } from './connector.ts';

const surroundings = { workspaceDir: undefined, readableDirs: [], allowPrivateNetworks: true, serviceEndpoints: [] };
const mebibyte = 1024 * 1024;

let server: S3Server;
let runs = 0;
let prefix = '';
let confirmed: State[] = [];
beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server.stop());
beforeEach(() => {
  runs += 1;
  prefix = `run-${runs}`;
  confirmed = [];
  server.faults = () => undefined;
  server.pageSize = 1_000;
  server.requests.length = 0;
});

const configuration = () => ({
  bucket: server.bucket,
  region: server.region,
  endpoint: server.url,
  prefix,
  access_key_id: server.accessKeyId,
  secret_access_key: server.secretAccessKey,
});

function users(mode: 'append' | 'overwrite', generation = 1): ConfiguredStream {
  return {
    stream: { name: 'users', json_schema: { type: 'object' }, supported_sync_modes: ['full_refresh', 'incremental'] },
    sync_mode: 'full_refresh',
    destination_sync_mode: mode,
    generation_id: generation,
    minimum_generation_id: mode === 'overwrite' ? generation : 0,
    sync_id: generation,
  };
}

const records = (from: number, to: number, fill = ''): DestinationInput[] =>
  Array.from({ length: to - from }, (_, index) => ({
    type: 'RECORD',
    record: { stream: 'users', data: { id: from + index, fill }, emitted_at: 1 },
  }));
const state: DestinationInput = {
  type: 'STATE',
  state: { type: 'STREAM', stream: { stream_descriptor: { name: 'users' }, stream_state: { at: 1 } } },
};
const complete: DestinationInput = {
  type: 'TRACE',
  trace: {
    type: 'STREAM_STATUS',
    emitted_at: 1,
    stream_status: { stream_descriptor: { name: 'users' }, status: 'COMPLETE' },
  },
};

async function write(stream: ConfiguredStream, batches: DestinationInput[][], limits: Partial<Limits> = {}) {
  const emit: Emitter = {
    record: () => undefined,
    recordOf: () => undefined,
    state: (kept) => void confirmed.push(kept),
    status: () => undefined,
    report: () => undefined,
    log: () => {},
  };
  async function* input() {
    yield* batches;
  }
  await s3Destination({ tries: 3, ...limits }).write(configuration(), { streams: [stream] }, input(), emit, {
    ...surroundings,
    workspaceId: 'acme',
  });
}

/** Fails those requests so often; every time if no number is given. */
function fault(applies: (request: S3Request) => boolean, fault: Fault, times = Number.POSITIVE_INFINITY): void {
  let left = times;
  server.faults = (request) => {
    if (left === 0 || !applies(request)) return undefined;
    left -= 1;
    return fault;
  };
}

const ids = async () => (await server.records(`${prefix}/users`)).map(({ id }) => Number(id)).sort((a, b) => a - b);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
const spoil = (change: (text: string) => string): Fault => ({
  spoil: (answer: Answer) => ({ ...answer, text: change(answer.text) }),
});
const isListing = ({ method, key, query }: S3Request) => method === 'GET' && key === '' && !query.has('uploads');
const isListOfFolder = (request: S3Request) =>
  isListing(request) && (request.query.get('prefix') ?? '').endsWith('/users/');
const isObject = ({ method, key, query }: S3Request) =>
  method === 'PUT' && key.endsWith('.jsonl.gz') && !query.has('partNumber');

const damagedListings: [string, Fault][] = [
  ['is cut off in front of its end', spoil((text) => text.slice(0, text.indexOf('</ListBucketResult>')))],
  ['is cut off in the middle of an entry', spoil((text) => text.slice(0, text.lastIndexOf('<Key>') + 12))],
  ['is cut off behind its first line', spoil((text) => text.slice(0, text.indexOf('<Contents>')))],
  ['is empty', spoil(() => '')],
  ['is a web page', spoil(() => '<!DOCTYPE html><html><body>Welcome</body></html>')],
  ['does not say whether it ends', spoil((text) => text.replace(/<IsTruncated>.*?<\/IsTruncated>/, ''))],
  [
    'has more pages and does not say where',
    spoil((text) => text.replace(/<Contents>.*<\/Contents>/s, '').replace('>false</Is', '>true</Is')),
  ],
  ['goes on from the same place for ever', spoil((text) => text.replace('>false</Is', '>true</Is'))],
  ['counts other keys than it has', spoil((text) => text.replace('<Contents>', '<KeyCount>7</KeyCount><Contents>'))],
  ['is of another folder', spoil((text) => text.replaceAll('/users/', '/users-of-others/'))],
  ['is followed by something else', spoil((text) => `${text}<ListBucketResult>`)],
];

describe('a listing that', () => {
  beforeEach(async () => {
    await write(users('overwrite', 1), [[...records(0, 20), complete]]);
    confirmed = [];
  });

  it.each(damagedListings)('%s is requested again, and what is replaced goes', async (_, damage) => {
    fault(isListOfFolder, damage, 2);
    await write(users('overwrite', 2), [[...records(20, 40), state, complete]]);
    expect(await ids()).toEqual(range(20, 40));
    expect(confirmed).toHaveLength(1);
  });

  it.each(damagedListings)('%s every time fails the run, with no state confirmed', async (_, damage) => {
    fault(isListOfFolder, damage);
    const failure = await write(users('overwrite', 2), [[...records(20, 40), state, complete]]).catch((error) => error);
    expect(failure).toBeInstanceOf(ConnectorError);
    expect(failure).toMatchObject({ failureType: 'transient_error' });
    expect(failure.message).toMatch(/could not list objects: /);
    expect(confirmed).toEqual([]);
  });

  it('repeats its first page fails the run', async () => {
    server.pageSize = 1;
    await write(users('overwrite', 2), [[...records(0, 2), complete]], { objectBytes: 1 });
    let first: string | undefined;
    fault(
      isListOfFolder,
      spoil((text) => {
        first ??= text;
        return first;
      }),
    );
    await server.seed([1, 2, 3].map((n) => `${prefix}/users/1/1-1-0000${n}.jsonl.gz`));
    await expect(write(users('overwrite', 3), [[...records(5, 6), complete]])).rejects.toThrow(
      /list objects.* returned the same page again/,
    );
  });

  it('reports owners is read as strictly', async () => {
    fault(
      ({ query }) => (query.get('prefix') ?? '').includes('_inlay_owner-'),
      spoil(() => '<ListBucketResult>'),
    );
    await expect(write(users('append'), [[...records(0, 1), state]])).rejects.toThrow('could not list objects');
    expect(server.requests.filter(({ method }) => method === 'PUT' && !isObject)).toEqual([]);
  });

  it.each([
    ['is cut off', (text: string) => text.slice(0, -10)],
    ['has more pages and does not say where', (text: string) => text.replace('>false</Is', '>true</Is')],
    [
      'goes on from the same place for ever',
      (text: string) =>
        text.replace(
          '<IsTruncated>false',
          '<NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker><IsTruncated>true',
        ),
    ],
    ['is a web page', () => '<html></html>'],
  ])('reports unfinished uploads and %s fails the run', async (_, change) => {
    fault(({ query }) => query.has('uploads'), spoil(change));
    await expect(write(users('append'), [[...records(0, 1), state]])).rejects.toThrow('could not list unfinished');
    expect(confirmed).toEqual([]);
  });
});

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const done = (etag: string): Answer => ({ status: 200, headers: { etag: `"${etag}"` }, text: '' });
const unstored: [string, Fault][] = [
  ['nothing', { pretend: done(md5('anything')) }],
  ['nothing, without an ETag', { pretend: { status: 200, headers: {}, text: '' } }],
  ['nothing, behind a web page', { pretend: { status: 200, headers: {}, text: '<html>Welcome</html>' } }],
  ['half of the object', { damage: (body) => body.subarray(0, body.length / 2) }],
  ['other bytes of the same length', { damage: (body) => Buffer.alloc(body.length, 1) }],
];

describe('a PUT after which the store has', () => {
  it.each(unstored)('%s is made again', async (_, fake) => {
    fault(isObject, fake, 2);
    await write(users('append'), [[...records(0, 20), state]]);
    expect(await ids()).toEqual(range(0, 20));
    expect(confirmed).toHaveLength(1);
  });

  it.each(unstored)('%s every time fails the run, with no state confirmed', async (_, fake) => {
    fault(isObject, fake);
    const failure = await write(users('append'), [[...records(0, 20), state]]).catch((error) => error);
    expect(failure).toBeInstanceOf(ConnectorError);
    expect(failure).toMatchObject({ failureType: 'transient_error' });
    expect(failure.message).toMatch(/could not write objects: /);
    expect(confirmed).toEqual([]);
  });

  it.each(unstored)('%s in place of an owner mark is noticed', async (_, fake) => {
    fault(({ method, key }) => method === 'PUT' && key.includes('_inlay_owner-'), fake);
    const failing = write(users('append'), [[...records(0, 20), state]]);
    // An empty object cannot be halved or damaged.
    if ('damage' in (fake as object)) await failing;
    else await expect(failing).rejects.toThrow('could not write objects');
  });

  it('what a checksum in its answer does not match is made again', async () => {
    const checksum = { 'x-amz-checksum-crc64nvme': 'AAAAAAAAAAA=' };
    fault(isObject, { spoil: (answer) => ({ ...answer, headers: { ...answer.headers, ...checksum } }) });
    await expect(write(users('append'), [[...records(0, 20), state]])).rejects.toThrow('could not write objects');
  });

  it('an encrypted object, whose ETag is no MD5, is believed by its size', async () => {
    const encrypted = { 'x-amz-server-side-encryption': 'aws:kms', etag: `"${md5('anything')}"` };
    fault(({ method, key }) => (method === 'PUT' || method === 'HEAD') && key !== '', {
      spoil: (answer) => ({ ...answer, headers: { ...answer.headers, ...encrypted } }),
    });
    await write(users('append'), [[...records(0, 20), state]]);
    expect(await ids()).toEqual(range(0, 20));
  });

  it('everything is looked at with one HEAD, or with a listing where the key may not read objects', async () => {
    await write(users('append'), [[...records(0, 20), state]]);
    const heads = () => server.requests.filter(({ method, key }) => method === 'HEAD' && key.endsWith('.gz'));
    expect(heads()).toHaveLength(1);
    server.requests.length = 0;
    fault(({ method }) => method === 'HEAD', { status: 403, code: 'AccessDenied' });
    await write(users('append'), [[...records(20, 40), state]]);
    expect(confirmed).toHaveLength(2);
    const half: Fault = { damage: (body) => body.subarray(0, body.length / 2) };
    server.faults = (request) =>
      request.method === 'HEAD' ? { status: 403, code: 'AccessDenied' } : isObject(request) ? half : undefined;
    await expect(write(users('append'), [[...records(40, 60), state]])).rejects.toThrow('could not write objects');
  });
});

describe('a large object', () => {
  const noise = Array.from({ length: 6 * mebibyte }, (_, index) =>
    String.fromCharCode(33 + ((index * 7919) % 90)),
  ).join('');
  const limits = { heldBytes: 0 };
  const isCompletion = ({ method, query }: S3Request) => method === 'POST' && query.has('uploadId');
  const large = () => write(users('overwrite'), [[...records(0, 20, noise.slice(0, 1000)), state], [complete]], limits);

  it('whose end is answered with an error, cut off or not at all is ended again', async () => {
    for (const text of ['<Error><Code>InternalError</Code></Error>', '   <CompleteMulti', '', '<html></html>']) {
      fault(isCompletion, { pretend: { status: 200, headers: {}, text } }, 1);
      await large();
      expect(await ids()).toEqual(range(0, 20));
    }
  });

  it('that is not there after its end fails the run', async () => {
    const text = '<CompleteMultipartUploadResult><ETag>"a-1"</ETag></CompleteMultipartUploadResult>';
    fault(isCompletion, { pretend: { status: 200, headers: {}, text } });
    await expect(large()).rejects.toThrow('could not write objects');
    expect(confirmed).toEqual([]);
  });

  it.each<[string, Fault]>([
    ['is lost', { pretend: { status: 200, headers: {}, text: '' } }],
    ['is damaged', { damage: (body) => Buffer.alloc(body.length, 1) }],
  ])('of which a part %s sends it again', async (_, fake) => {
    fault(({ method, query }) => method === 'PUT' && query.has('partNumber'), fake, 1);
    await large();
    expect(await ids()).toEqual(range(0, 20));
  });

  it('whose upload has no id is begun again', async () => {
    fault(
      ({ method, query }) => method === 'POST' && query.has('uploads'),
      spoil((text) => text.slice(0, 60)),
      1,
    );
    await large();
    expect(await ids()).toEqual(range(0, 20));
  });
});

describe('a DELETE that', () => {
  const isDeletion = ({ method, key }: S3Request) => method === 'DELETE' && key.endsWith('.jsonl.gz');
  beforeEach(async () => {
    await write(users('overwrite', 1), [[...records(0, 20), complete]]);
    confirmed = [];
  });

  it('deletes nothing is made again', async () => {
    fault(isDeletion, { pretend: { status: 204, headers: {}, text: '' } }, 1);
    await write(users('overwrite', 2), [[...records(20, 40), state, complete]]);
    expect(await ids()).toEqual(range(20, 40));
  });

  it('never deletes anything fails the run, with no state confirmed', async () => {
    fault(isDeletion, { pretend: { status: 204, headers: {}, text: '' } });
    await expect(write(users('overwrite', 2), [[...records(20, 40), state, complete]])).rejects.toThrow(
      'could not delete objects',
    );
    expect(confirmed).toEqual([]);
  });
});

it('a check does not believe a web page that answers 200 to everything', async () => {
  server.faults = () => ({
    pretend: { status: 200, headers: { 'content-length': '20' }, text: '<html>Welcome</html>' },
  });
  await expect(s3Destination().check(configuration(), surroundings)).rejects.toThrow('could not write objects');
});
