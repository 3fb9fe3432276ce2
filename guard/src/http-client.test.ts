import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { Surroundings } from '@inlay/protocol/connector';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Handler, startHttpServer } from '../test/http-server.ts';
import { type HttpAnswer, type HttpClientOptions, type HttpRequest, httpClient } from './http-client.ts';

const open: Surroundings = {
  workspaceDir: undefined,
  readableDirs: [],
  allowPrivateNetworks: true,
  serviceEndpoints: [],
};

function start(options: HttpClientOptions = {}, surroundings = open) {
  const waits: number[] = [];
  const clock = {
    time: Date.UTC(2030, 0, 1),
    now: () => clock.time,
    wait: async (ms: number) => {
      waits.push(ms);
      clock.time += ms;
    },
  };
  const client = httpClient(surroundings, { clock, ...options });
  onTestFinished(() => client.close());
  const readAll = async ({ status, body }: HttpAnswer) => `${status} ${await text(body)}`;
  const get = (url: string, more: Partial<HttpRequest> = {}) => client.get({ url: new URL(url), ...more }, readAll);
  return { client, get, waits };
}

async function startTcpServer(onConnection: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer(onConnection);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a redirect', () => {
  const redirectTo = (location: string, status = 302) =>
    ((_, reply) => void reply.writeHead(status, { location }).end('gone')) satisfies Handler;

  test('is followed with the credentials as long as the origin stays the same', async () => {
    const { origin, asked } = await startHttpServer(({ path }, reply) => {
      if (path === '/there') return 'here';
      reply.writeHead(301, { location: '../there?page=2' }).end();
    });
    const { get } = start();
    expect(await get(`${origin}/a/b`, { credentials: { 'x-key': 'k' } })).toBe('200 "here"');
    expect(asked.map(({ path, query, headers }) => [path, query, headers['x-key']])).toEqual([
      ['/a/b', {}, 'k'],
      ['/there', { page: '2' }, 'k'],
    ]);
  });

  test.each([301, 302, 303, 307, 308])('%i to another origin takes no credentials along, nor back', async (status) => {
    let home = '';
    const other = await startHttpServer((asked, reply) => redirectTo(`${home}/back`, status)(asked, reply));
    const { origin, asked } = await startHttpServer((one, reply) =>
      one.path === '/back' ? 'back' : redirectTo(`${other.origin}/other`, status)(one, reply),
    );
    home = origin;
    const { get } = start();
    const credentials = { authorization: 'Bearer b', 'x-key': 'k', cookie: 'c=1' };
    expect(await get(origin, { headers: { 'x-plain': 'p' }, credentials })).toBe('200 "back"');
    expect(asked[0]?.headers).toMatchObject({ ...credentials, 'x-plain': 'p' });
    for (const { headers } of [other.asked[0], asked[1]].filter((one) => one !== undefined)) {
      expect(headers['x-plain']).toBe('p');
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining([expect.stringMatching(/auth|x-key|cookie/)]));
    }
  });

  test('is followed five times and no more', async () => {
    const { origin, asked } = await startHttpServer(({ query: { n } }, reply) => {
      if (n === '0') return 'done';
      reply.writeHead(302, { location: `/?n=${Number(n) - 1}` }).end();
    });
    const { get } = start();
    expect(await get(`${origin}/?n=5`)).toBe('200 "done"');
    expect(asked).toHaveLength(6);
    await expect(get(`${origin}/?n=6`)).rejects.toThrow(`${origin} redirects more than 5 times`);
    expect(asked).toHaveLength(12);
  });

  test('to an address that may not be reached is refused, since each hop is judged', async () => {
    let allowPrivateNetworks = true;
    const surroundings = {
      ...open,
      get allowPrivateNetworks() {
        return allowPrivateNetworks;
      },
    };
    const inside = await startHttpServer(() => 'secret', '127.0.0.2');
    const { origin } = await startHttpServer((asked, reply) => {
      allowPrivateNetworks = false;
      redirectTo(inside.origin)(asked, reply);
    });
    const { get } = start({}, surroundings);
    await expect(get(origin)).rejects.toThrow('127.0.0.2 is not on');
    expect(inside.asked).toEqual([]);
  });

  test('to the service itself is refused', async () => {
    const service = await startHttpServer(() => 'secret', '127.0.0.2');
    const { origin } = await startHttpServer(redirectTo(service.origin));
    const own = { host: '127.0.0.1', port: Number(new URL(service.origin).port) };
    const { get } = start({}, { ...open, serviceEndpoints: [own] });
    await expect(get(origin)).rejects.toThrow(`port ${own.port} is Inlay`);
    expect(service.asked).toEqual([]);
  });

  test.each(['file:///etc/passwd', 'ftp://x/', 'http://', 'data:,x'])('to %s is refused', async (location) => {
    const { origin } = await startHttpServer(redirectTo(location));
    await expect(start().get(origin)).rejects.toThrow('not an http or https URL');
  });
});

describe('trying again', () => {
  test.each([408, 420, 425, 429, 500, 502, 503, 504, 507, 520, 529])('helps when %i was passing', async (status) => {
    let left = 2;
    const { origin, asked } = await startHttpServer((_, reply) => {
      if (left-- === 0) return 'well';
      reply.writeHead(status).end();
    });
    const { get, waits } = start();
    expect(await get(origin)).toBe('200 "well"');
    expect(asked).toHaveLength(3);
    expect(waits).toHaveLength(2);
    for (const [index, ms] of waits.entries()) {
      expect(ms).toBeGreaterThanOrEqual(500 * 2 ** index);
      expect(ms).toBeLessThanOrEqual(1000 * 2 ** index);
    }
  });

  test('ends after six attempts, as a passing failure without the address details', async () => {
    const { origin, asked } = await startHttpServer((_, reply) => void reply.writeHead(503).end('secret detail'));
    const retries: unknown[] = [];
    const { get, waits } = start({ onRetry: ({ message }, waitMs) => retries.push([message, waitMs]) });
    const message = `${origin} returned a server error (503). Try again later.`;
    const failure = { message, failureType: 'transient_error' };
    await expect(get(`${origin}/path?key=hidden`)).rejects.toMatchObject(failure);
    expect([asked.length, waits.length]).toEqual([6, 5]);
    expect(retries).toEqual(waits.map((waitMs) => [message, waitMs]));
  });

  test('waits as long as Retry-After says, in seconds or as a date', async () => {
    const replies = ['7', 'Tue, 01 Jan 2030 00:00:37 GMT', 'Mon, 01 Jan 2029 00:00:00 GMT', '0'];
    const { origin } = await startHttpServer((_, reply) => {
      const retryAfter = replies.shift();
      if (retryAfter === undefined) return 'well';
      reply.writeHead(429, { 'retry-after': retryAfter }).end();
    });
    const { get, waits } = start();
    expect(await get(origin)).toBe('200 "well"');
    expect(waits).toEqual([7000, 30_000, 0, 0]);
  });

  test.each([
    ['Retry-After', { 'retry-after': '7' }],
    ['no more requests left, by seconds', { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '7' }],
    ['no more requests left, by a time', { 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': '1893456007' }],
    ['no more requests left, by milliseconds', { 'RateLimit-Remaining': '0', 'x-ratelimit-reset': '1893456007000' }],
    ['no more requests left, in one header', { RateLimit: '"burst";r=0;t=7' }],
  ])('waits after a 403 or 429 with %s', async (_, headers) => {
    for (const status of [403, 429]) {
      const replies = [status];
      const { origin } = await startHttpServer((_asked, reply) => {
        const refused = replies.shift();
        if (refused === undefined) return 'well';
        reply.writeHead(refused, headers).end();
      });
      const { get, waits } = start();
      expect(await get(origin)).toBe('200 "well"');
      expect(waits).toEqual([7000]);
    }
  });

  test('after a 403 with Retry-After ends as a passing failure that says so', async () => {
    const { origin } = await startHttpServer((_, reply) => void reply.writeHead(403, { 'retry-after': '1' }).end());
    await expect(start().get(origin)).rejects.toMatchObject({
      message: expect.stringMatching(/rate limit \(403\)/),
      failureType: 'transient_error',
    });
  });

  test.each([
    ['nothing about a limit', {}],
    ['requests left', { 'x-ratelimit-remaining': '3' }],
    ['requests left, in one header', { RateLimit: '"burst";r=30;t=7' }],
  ])('is not done for a 403 with %s', async (_, headers) => {
    const { origin, asked } = await startHttpServer((_asked, reply) => void reply.writeHead(403, headers).end('no'));
    expect(await start().get(origin)).toBe('403 no');
    expect(asked).toHaveLength(1);
  });

  test('is left for later when the server asks for a long wait', async () => {
    const { origin, asked } = await startHttpServer(
      (_, reply) => void reply.writeHead(429, { 'retry-after': '3600' }).end(),
    );
    const message = `${origin} rejected the request because of a rate limit (429) and asks to wait 60 minutes.`;
    await expect(start().get(origin)).rejects.toThrow(message);
    expect(asked).toHaveLength(1);
  });

  test('reads again an answer that broke off', async () => {
    let left = 1;
    const { origin, asked } = await startHttpServer((_, reply, request) => {
      if (left-- === 0) return 'whole';
      reply.writeHead(200, { 'content-length': '100' }).write('half');
      setImmediate(() => request.socket.resetAndDestroy());
    });
    expect(await start().get(origin)).toBe('200 "whole"');
    expect(asked).toHaveLength(2);
  });

  const broken: [string, string][] = [
    ['the announced length is not reached', 'content-length: 100\r\n\r\n{"half'],
    ['the chunks have no end', 'transfer-encoding: chunked\r\n\r\n6\r\n{"half\r\n'],
    ['a chunk is cut', 'transfer-encoding: chunked\r\n\r\n60\r\n{"half'],
    ['a chunk has no size', 'transfer-encoding: chunked\r\n\r\n6\r\n{"half"\r\nzz\r\n'],
    ['the compressed data is damaged', 'content-encoding: gzip\r\ncontent-length: 6\r\n\r\n{"half'],
  ];
  test.each(broken)('reads again an answer of which %s, and fails as transient if it stays so', async (_, rest) => {
    let left = 1;
    const origin = await startTcpServer((socket) =>
      socket.once('data', () => {
        if (left-- > 0) socket.end(`HTTP/1.1 200 OK\r\n${rest}`);
        else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwhole');
      }),
    );
    expect(await start().get(origin)).toBe('200 whole');
    left = 1000;
    await expect(start().get(origin)).rejects.toMatchObject({ failureType: 'transient_error' });
  });

  test('is not done for what is not passing', async () => {
    const { origin, asked } = await startHttpServer((_, reply) => void reply.writeHead(404).end('no'));
    expect(await start().get(origin)).toBe('404 no');
    expect(asked).toHaveLength(1);
  });

  test('does not hide a bug of the reader', async () => {
    const { origin, asked } = await startHttpServer(() => 1);
    const bug = new TypeError('a bug');
    await expect(
      start().client.get({ url: new URL(origin) }, async () => {
        throw bug;
      }),
    ).rejects.toBe(bug);
    expect(asked).toHaveLength(1);
  });
});

describe('the pace', () => {
  test('keeps the requests a second within the limit, redirects included', async () => {
    const { origin } = await startHttpServer(({ path }, reply) => {
      if (path === '/end') return 1;
      reply.writeHead(302, { location: '/end' }).end();
    });
    const { get, waits } = start({ requestsPerSecond: 4 });
    await get(origin);
    await get(origin);
    expect(waits).toEqual([250, 250, 250]);
  });
});

describe('an answer', () => {
  test('is unpacked when the server packs it', async () => {
    const { origin } = await startHttpServer(
      (_, reply) => void reply.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed')),
    );
    expect(await start().get(origin)).toBe('200 packed');
  });

  test('in an unasked coding, or damaged, is refused', async () => {
    const { origin } = await startHttpServer(({ path }, reply) => {
      const coding = path === '/br' ? 'br' : 'gzip';
      reply.writeHead(200, { 'content-encoding': coding }).end('not packed at all');
    });
    const { get } = start();
    await expect(get(`${origin}/br`)).rejects.toThrow('unsupported compression');
    await expect(get(`${origin}/gzip`)).rejects.toThrow('sent damaged compressed data.');
  });
});

describe('in words, a server that', () => {
  const config = 'config_error';
  const transient = 'transient_error';

  test('is not there', async () => {
    const { origin } = await startHttpServer(() => 1, '127.0.0.3');
    const gone = origin.replace('127.0.0.3', '127.0.0.4');
    await expect(start().get(gone)).rejects.toMatchObject({
      message: expect.stringContaining(`${gone} refused the connection`),
      failureType: transient,
    });
  });

  test('never answers, or stops in the middle', async () => {
    const { origin } = await startHttpServer(({ path }, reply) => {
      if (path === '/half') reply.writeHead(200).write('half');
    });
    const { get } = start({ silenceMs: 50, attempts: 2 });
    const failure = { message: `${origin} took too long to respond.`, failureType: transient };
    await expect(get(`${origin}/never`)).rejects.toMatchObject(failure);
    await expect(get(`${origin}/half`)).rejects.toMatchObject(failure);
  });

  test('closes the connection', async () => {
    const origin = await startTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    await expect(start().get(origin)).rejects.toMatchObject({
      message: expect.stringContaining(`${origin} closed the connection`),
      failureType: transient,
    });
  });

  test('speaks something else', async () => {
    const origin = await startTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    await expect(start().get(origin)).rejects.toMatchObject({
      message: expect.stringContaining(`${origin} did not respond with HTTP`),
      failureType: config,
    });
  });

  test('speaks no TLS', async () => {
    const { origin } = await startHttpServer(() => 1);
    await expect(start().get(origin.replace('http:', 'https:'))).rejects.toMatchObject({
      message: expect.stringMatching(/does not support TLS/),
      failureType: config,
    });
  });

  test('has a certificate nobody vouches for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'inlay-certificate-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const make = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost`;
    execFileSync('openssl', [...make.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' });
    const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, reply) => reply.end());
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
    await expect(start().get(origin)).rejects.toMatchObject({
      message: expect.stringMatching(/has an untrusted certificate/),
      failureType: config,
    });
  });
});
