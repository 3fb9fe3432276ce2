/*
 * A real S3-compatible server on loopback for tests: s3rver stores the objects. A layer in front of it adds what s3rver
 * lacks: it verifies signatures and body hashes, compares regions and the clock, refuses small parts, lists and aborts
 * unfinished uploads. It can also refuse, drop or truncate responses.
 */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import S3rver from 's3rver';
import { Agent, request } from 'undici';

/**
 * How a request goes wrong: it is refused before it is carried out, or its answer is lost or spoiled after; it is answered
 * as if it had been carried out, or other bytes are stored than were sent.
 */
export type Fault =
  | { status: number; code: string }
  | 'reset'
  | 'lose the answer'
  | { spoil: (answer: Answer) => Answer }
  | { pretend: Answer }
  | { damage: (body: Buffer) => Buffer };

export interface S3Request {
  method: string;
  key: string;
  query: URLSearchParams;
}

export interface S3Server {
  url: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Every request that arrived, with what it was answered. */
  requests: (S3Request & { status: number | undefined; bytes: number })[];
  /** Asked about every request before it is carried out. */
  faults: (request: S3Request) => Fault | undefined;
  /** How far the clock of the server is ahead. */
  clockAheadMs: number;
  /** Page size of listings; a store may return fewer keys than requested. */
  pageSize: number;
  /** Puts empty objects there, without a request. */
  seed(keys: readonly string[]): Promise<void>;
  /** The keys of all objects below a folder, in order. */
  keys(folder?: string): Promise<string[]>;
  /** The records in all objects below a folder, in the order of the keys. */
  records(folder?: string): Promise<Record<string, unknown>[]>;
  /** The same as JSON texts. */
  texts(folder?: string): Promise<string[]>;
  uploads(): Promise<{ key: string; uploadId: string }[]>;
  stop(): Promise<void>;
}

const smallestPart = 5 * 1024 * 1024;

/**
 * In one step, as a store lists objects: the store runs in this process and continues only after this. If read piece by
 * piece, neither an old object nor its replacement might be found.
 */
function listFiles(folder: string): string[] {
  for (;;) {
    try {
      return readdirSync(folder, { recursive: true, encoding: 'utf8' });
    } catch (error) {
      // The store removes a folder with its last object.
      if (!existsSync(folder)) return [];
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'inlay-s3-'));
  const bucket = 'inlay-test';
  const store = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const storePort = (await store.run()).port;
  const agent = new Agent();
  const uploadsDirectory = join(directory, bucket, '._S3rver_uploads');

  const front = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error) => outgoing.destroy(error));
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');

  const server: S3Server = {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    bucket,
    region: 'eu-test-1',
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'a+secret/that=needs+encoding',
    requests: [],
    faults: () => undefined,
    clockAheadMs: 0,
    pageSize: 1_000,
    async seed(keys) {
      for (const key of keys) {
        await mkdir(dirname(objectFile(key)), { recursive: true });
        await writeFile(objectFile(key), '');
      }
    },
    async keys(folder = '') {
      const files = listFiles(join(directory, bucket, folder));
      return files.flatMap((file) => /^(.*)\._S3rver_object$/.exec(join(folder, file))?.[1] ?? []).sort();
    },
    async texts(folder = '') {
      const keys = (await server.keys(folder)).filter((key) => key.endsWith('.jsonl.gz'));
      const texts = keys.map(async (key) => gunzipSync(await readFile(objectFile(key))).toString('utf8'));
      return (await Promise.all(texts)).flatMap((text) => text.split('\n').filter(Boolean));
    },
    async records(folder = '') {
      return (await server.texts(folder)).map((line) => JSON.parse(line));
    },
    async uploads() {
      const ids = await readdir(uploadsDirectory).catch(() => []);
      return Promise.all(
        ids.map(async (uploadId) => ({
          key: await readFile(join(uploadsDirectory, uploadId, 'key'), 'utf8'),
          uploadId,
        })),
      );
    },
    async stop() {
      front.closeAllConnections();
      await new Promise((closed) => front.close(closed));
      await agent.destroy();
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };

  const objectFile = (key: string) => join(directory, bucket, `${key}._S3rver_object`);

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', server.url);
    const [, bucketName = '', ...keyParts] = url.pathname.split('/').map(decodeURIComponent);
    const wanted: S3Request = { method: incoming.method ?? '', key: keyParts.join('/'), query: url.searchParams };
    const entry = { ...wanted, status: undefined as number | undefined, bytes: 0 };
    server.requests.push(entry);
    const body = await buffer(incoming);
    entry.bytes = body.length;

    const fault = server.faults(wanted);
    if (fault === 'reset') return void incoming.socket.destroy();
    const refused =
      typeof fault === 'object' && 'code' in fault
        ? refusal(fault.status, fault.code)
        : (verify(incoming, url, body) ?? (await refuseLikeAStore(bucketName, wanted, body)));
    const pretended = typeof fault === 'object' && 'pretend' in fault ? fault.pretend : undefined;
    const stored = typeof fault === 'object' && 'damage' in fault ? fault.damage(body) : body;
    const carriedOut =
      refused ?? pretended ?? (await answerOfFront(wanted)) ?? (await forward(incoming, url, wanted, stored));
    const { status, headers, text, bytes } =
      typeof fault === 'object' && 'spoil' in fault ? fault.spoil(carriedOut) : carriedOut;
    if (fault === 'lose the answer') return void incoming.socket.destroy();
    entry.status = status;
    outgoing.writeHead(status, headers);
    outgoing.end(incoming.method === 'HEAD' ? undefined : (bytes ?? text));
  }

  function verify(incoming: IncomingMessage, url: URL, body: Buffer): Answer | undefined {
    const header = incoming.headers.authorization ?? '';
    const found =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d+)\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
        header,
      );
    if (!found) return refusal(403, 'AccessDenied');
    const [, keyId, date = '', region = '', signedHeaders = '', signature] = found;
    if (keyId !== server.accessKeyId) return refusal(403, 'InvalidAccessKeyId');
    if (region !== server.region) {
      return refusal(400, 'AuthorizationHeaderMalformed', `<Region>${server.region}</Region>`);
    }
    const sentAt = String(incoming.headers['x-amz-date']);
    const sentAtMs = Date.parse(sentAt.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
    if (Math.abs(Date.now() + server.clockAheadMs - sentAtMs) > 15 * 60_000)
      return refusal(403, 'RequestTimeTooSkewed');
    const bodyHash = String(incoming.headers['x-amz-content-sha256']);
    const canonical = [
      incoming.method,
      url.pathname.split('/').map(decodeURIComponent).map(encode).join('/'),
      [...url.searchParams]
        .map(([name, value]) => `${encode(name)}=${encode(value)}`)
        .sort()
        .join('&'),
      ...signedHeaders.split(';').map((name) => `${name}:${String(incoming.headers[name]).trim()}`),
      '',
      signedHeaders,
      bodyHash,
    ].join('\n');
    const scope = `${date}/${region}/s3/aws4_request`;
    const toSign = ['AWS4-HMAC-SHA256', sentAt, scope, sha256(canonical)].join('\n');
    const key = [date, region, 's3', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${server.secretAccessKey}`);
    if (hmac(key, toSign).toString('hex') !== signature) return refusal(403, 'SignatureDoesNotMatch');
    if (!signedHeaders.split(';').includes('host')) return refusal(403, 'SignatureDoesNotMatch');
    return bodyHash === sha256(body) ? undefined : refusal(400, 'XAmzContentSHA256Mismatch');
  }

  async function refuseLikeAStore(bucketName: string, wanted: S3Request, body: Buffer): Promise<Answer | undefined> {
    if (bucketName !== bucket) return refusal(404, 'NoSuchBucket');
    const uploadId = wanted.query.get('uploadId');
    if (uploadId === null) return undefined;
    const upload = (await server.uploads()).find((known) => known.uploadId === uploadId && known.key === wanted.key);
    if (!upload) return refusal(404, 'NoSuchUpload');
    if (wanted.method !== 'POST') return undefined;
    const parts = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)];
    for (const [index, [, number = '', etag]] of parts.entries()) {
      const part = join(uploadsDirectory, uploadId, number);
      const md5 = await readFile(`${part}.md5`, 'utf8').catch(() => undefined);
      if (etag?.replaceAll(/"|&#34;/g, '') !== md5) return refusal(400, 'InvalidPart');
      const isLast = index === parts.length - 1;
      if (!isLast && (await stat(part)).size < smallestPart) return refusal(400, 'EntityTooSmall');
    }
    return undefined;
  }

  /** What s3rver does not do. */
  async function answerOfFront({ method, query }: S3Request): Promise<Answer | undefined> {
    const uploadId = query.get('uploadId');
    if (method === 'DELETE' && uploadId !== null) {
      await rm(join(uploadsDirectory, uploadId), { recursive: true });
      return { status: 204, headers: {}, text: '' };
    }
    if (method === 'GET' && query.has('uploads')) {
      const uploads = (await server.uploads()).filter(({ key }) => key.startsWith(query.get('prefix') ?? ''));
      const entries = uploads.map(
        ({ key, uploadId: id }) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`,
      );
      const text = `<ListMultipartUploadsResult>${entries.join('')}<IsTruncated>false</IsTruncated></ListMultipartUploadsResult>`;
      return { status: 200, headers: {}, text };
    }
    return undefined;
  }

  async function forward(incoming: IncomingMessage, url: URL, wanted: S3Request, body: Buffer): Promise<Answer> {
    const { host, authorization, connection, ...headers } = incoming.headers;
    const written = await fileWrittenBy(wanted, body);
    if (url.searchParams.has('max-keys')) url.searchParams.set('max-keys', String(server.pageSize));
    const stored = await request(`http://127.0.0.1:${storePort}${url.pathname}${url.search}`, {
      dispatcher: agent,
      method: wanted.method as 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE',
      headers: { ...headers, 'content-length': String(body.length) },
      body: ['GET', 'HEAD'].includes(wanted.method) ? null : body,
    });
    const bytes = Buffer.from(await stored.body.arrayBuffer());
    const text = bytes.toString();
    // s3rver answers before the file is written to its end.
    while (written && (await stat(written.file)).size !== written.bytes) await delay(1);
    const shown = ['etag', ...(wanted.method === 'HEAD' ? ['content-length'] : [])].flatMap((name) =>
      stored.headers[name] === undefined ? [] : [[name, String(stored.headers[name])]],
    );
    const isContent = wanted.method === 'GET' && wanted.key !== '' && stored.statusCode < 300;
    return { status: stored.statusCode, headers: Object.fromEntries(shown), text, ...(isContent && { bytes }) };
  }

  async function fileWrittenBy({ method, key, query }: S3Request, body: Buffer) {
    const upload = join(uploadsDirectory, query.get('uploadId') ?? '');
    const partNumber = query.get('partNumber');
    if (method === 'PUT') {
      return { file: partNumber === null ? objectFile(key) : join(upload, partNumber), bytes: body.length };
    }
    if (method !== 'POST' || !query.has('uploadId')) return undefined;
    const parts = (await readdir(upload)).filter((name) => /^\d+$/.test(name));
    const sizes = await Promise.all(parts.map(async (part) => (await stat(join(upload, part))).size));
    return { file: objectFile(key), bytes: sizes.reduce((sum, size) => sum + size, 0) };
  }

  return server;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** Of an object, instead of the text. */
  bytes?: Buffer;
}

function refusal(status: number, code: string, more = ''): Answer {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>The test says ${code}.</Message>${more}</Error>`;
  return { status, headers: { 'content-type': 'application/xml' }, text };
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
