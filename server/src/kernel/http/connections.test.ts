import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMetrics } from '../telemetry/metrics.ts';
import { createServer } from './server.ts';
import { createPartCompiler } from './validation.ts';

async function start(options: { maxPerAddress?: number; trustedProxies?: string[]; headersTimeoutMs?: number } = {}) {
  const metrics = createMetrics();
  const { maxPerAddress = 0, trustedProxies = [], headersTimeoutMs = 60_000 } = options;
  const app = createServer({
    log: pino({ level: 'silent' }),
    metrics,
    compilePart: createPartCompiler({}),
    trustedProxies,
    maxConnectionsPerAddress: maxPerAddress,
    headersTimeoutMs,
  });
  app.get('/here', async () => 'here');
  // On IPv6 as well, where a client's IPv4 address is written another way.
  await app.listen({ host: '::', port: 0 });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const open = () => new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));
  const refused = async () =>
    (await metrics.registry.getSingleMetric('inlay_http_connections_refused_total')?.get())?.values;
  return { port, open, refused };
}

/** Sends what the test passes and never closes on its own. */
async function stubborn(port: number, sends = '', from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(sends);
  return socket;
}

/** Everything that came until the other side closed. Unlike a stream consumer, it leaves this side open. */
async function received(socket: Socket): Promise<string> {
  let all = '';
  socket.on('data', (data) => {
    all += data;
  });
  await once(socket, 'end');
  return all;
}

/** The status of a request over a connection of its own, or undefined if there is none. */
function ask(port: number, from: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = get({ port, host: '127.0.0.1', localAddress: from, path: '/here', agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    request.on('error', () => resolve(undefined));
  });
}

describe('A connection', () => {
  it.each([
    ['says nothing', ''],
    ['sends empty lines', '\r\n\r\n'],
    ['sends half a head', 'GET /here HTTP/1.1\r\nHost: x\r\n'],
  ])('that %s is ended, even if its client does not close', async (_what, sends) => {
    const { port, open } = await start({ headersTimeoutMs: 100 });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => stubborn(port, sends)));
    const answers = await Promise.all(sockets.map((socket) => received(socket)));
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 408 .*\{"detail":"Request Timeout"\}$/s);
    await expect.poll(open).toBe(0);
  });

  it('that sends nonsense is ended as well', async () => {
    const { port, open } = await start();
    const socket = await stubborn(port, 'nonsense\r\n\r\n');
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 400 /);
    await expect.poll(open).toBe(0);
  });

  it('that has served a request is kept for the next one', async () => {
    const { port, open } = await start({ headersTimeoutMs: 100 });
    const silent = await stubborn(port);
    const kept = await stubborn(port, 'GET /here HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(String(await once(kept, 'data'))).toContain('HTTP/1.1 200');
    await received(silent);
    await expect.poll(open).toBe(1);
    kept.write('GET /here HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(String(await once(kept, 'data'))).toContain('HTTP/1.1 200');
  });
});

describe('A client address', () => {
  it('has as many connections as it may; others are served meanwhile, and so is the address once it closes some', async () => {
    const { port, open, refused } = await start({ maxPerAddress: 5 });
    const sockets = await Promise.all(Array.from({ length: 40 }, () => stubborn(port)));
    await expect.poll(refused).toEqual([{ labels: { reason: 'address' }, value: 35 }]);
    await expect.poll(open).toBe(5);
    expect(await ask(port, '127.0.0.1')).toBeUndefined();
    expect(await ask(port, '127.0.0.2')).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(open).toBe(0);
    expect(await ask(port, '127.0.0.1')).toBe(200);
  });

  it.each([['127.0.0.1'], ['127.0.0.0/8']])('of the trusted proxy %s is not counted', async (proxy) => {
    const { port, open } = await start({ maxPerAddress: 5, trustedProxies: [proxy] });
    await Promise.all(Array.from({ length: 20 }, () => stubborn(port)));
    await expect.poll(open).toBe(20);
    expect(await ask(port, '127.0.0.1')).toBe(200);
  });

  it('is not counted when the limit is off', async () => {
    const { port, open } = await start();
    await Promise.all(Array.from({ length: 20 }, () => stubborn(port)));
    await expect.poll(open).toBe(20);
  });
});
