/** The listener of the bundled platform where it runs alone. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../kernel/config/config.ts';
import { openDataDir } from '../kernel/config/data-dir.ts';
import { openSealer } from '../kernel/config/encryption-keys.ts';
import { openBundledPlatform, platformCredentials } from './bundled-platform.ts';

async function start(env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-platform-alone-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { config, secrets } = readConfig({ INLAY_DATA_DIR: folder, ...env }, { runs: 'platform' });
  const dataDir = openDataDir(config.dataDir);
  const parts = {
    ...{ dataDir, databaseUrl: secrets.platformDatabaseUrl, sealer: openSealer(secrets, dataDir) },
    ...{ log: pino({ level: 'silent' }), isInternal: false },
  };
  const { app, close } = await openBundledPlatform(config, platformCredentials(secrets, dataDir), parts);
  onTestFinished(close);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const open = () => new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));
  return { port, open };
}

async function connectTo(port: number, sends = '', from = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(sends);
  return socket;
}

it('a platform that runs alone gives one address only so many connections, and serves others meanwhile', async () => {
  const { port, open } = await start({ INLAY_MAX_CONNECTIONS_PER_ADDRESS: '5' });
  const sockets = await Promise.all(Array.from({ length: 20 }, () => connectTo(port)));
  for (const socket of sockets) socket.resume();
  await expect.poll(() => sockets.filter(({ readableEnded, closed }) => readableEnded || closed).length).toBe(15);
  expect(await open()).toBe(5);
  const other = await connectTo(port, 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n', '127.0.0.2');
  expect(String(await once(other, 'data'))).toMatch(/^HTTP\/1.1 200 /);
});

it('a platform that runs alone ends a connection that it has refused, even if its client does not close', async () => {
  const { port, open } = await start({});
  const socket = await connectTo(port, 'nonsense\r\n\r\n');
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 400 /);
  await expect.poll(open).toBe(0);
});

it('a platform does not start on PostgreSQL beside data of its own in a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-platform-moved-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'platform.db'), '');
  const env = { INLAY_DATA_DIR: folder, INLAY_PLATFORM_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  await expect(start(env)).rejects.toThrow(/platform migrate-store/);
  rmSync(join(folder, 'platform.db'));
  await expect(start(env)).rejects.toThrow(/ECONNREFUSED/);
});
