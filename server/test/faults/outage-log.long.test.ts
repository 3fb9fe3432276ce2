/** What a service logs while its database is away or locked: that it is, once, and that it is over. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../../platform/test/steered.ts';
import { openProxy } from '../security/support.ts';
import { createTestDatabase } from '../support/databases.ts';
import { call, operatorToken, requestToken } from '../support/deployment.ts';
import { type Service, startService } from '../support/service.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-outage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function start(dataDir: string, env = {}): Promise<Service> {
  const service = await startService({ dataDir, env: { INLAY_OPERATOR_TOKEN: operatorToken, ...env } });
  onTestFinished(() => service.kill());
  return service;
}

interface Line {
  level: string;
  msg: string;
  linesLeftOut?: number;
}
/** Without the access log. */
const linesOf = (service: Service): Line[] =>
  service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
const complaints = (service: Service) => linesOf(service).filter(({ level }) => level !== 'info' && level !== 'debug');
const isOver = (service: Service) => linesOf(service).find(({ linesLeftOut }) => linesLeftOut !== undefined);
const requests = 30;

it('PostgreSQL that goes away and comes back is a line each, on every connection and in every worker', async () => {
  const database = await createTestDatabase('postgres', { migrated: true });
  const way = await openProxy(new URL(database.url ?? ''));
  onTestFinished(async () => {
    await way.close();
    await database.drop();
  });
  const service = await start(temporaryFolder(), { INLAY_DATABASE_URL: way.url });
  // Many connections, which are all lost.
  await Promise.all(Array.from({ length: requests }, (_, index) => requestToken(service, `before ${index}`)));
  const before = complaints(service).length;
  for (const round of [1, 2]) {
    way.set('cut');
    await until(() => complaints(service).length > before);
    for (let asked = 0; asked < requests; asked++)
      expect((await call(service, 'GET', '/api/v1/workspaces')).status).toBe(503);
    way.set('open');
    await until(async () => (await call(service, 'GET', '/health/ready')).status === 200);
    await until(() => linesOf(service).filter(({ linesLeftOut }) => linesLeftOut !== undefined).length === round);
    const said = complaints(service).slice(before);
    expect(said.map(({ level, msg }) => [level, msg])).toEqual(
      Array(round).fill(['error', expect.stringMatching(/not responding.*503/)]),
    );
  }
  expect(isOver(service)).toMatchObject({ level: 'info', msg: expect.stringMatching(/responding again/) });
  expect(isOver(service)?.linesLeftOut).toBeGreaterThanOrEqual(requests);
});

it.each(['inlay.db', 'platform.db'])('SQLite that another process has locked is a line each: %s', async (file) => {
  const dataDir = temporaryFolder();
  const service = await start(dataDir);
  expect((await requestToken(service, 'before')).status).toBe(200);
  const other = new SqliteConnection(join(dataDir, file));
  other.exec('begin immediate');
  for (let asked = 0; asked < 5; asked++) {
    const { status } = await requestToken(service, `while it is locked ${asked}`);
    expect([502, 503]).toContain(status);
  }
  other.exec('rollback');
  other.close();
  await until(() => isOver(service) !== undefined);
  expect(complaints(service).map(({ level, msg }) => [level, msg])).toEqual([
    ['error', expect.stringMatching(/locked by another process.*503/)],
  ]);
  expect(isOver(service)).toMatchObject({ level: 'info', msg: expect.stringMatching(/no longer locked/) });
  expect((await requestToken(service, 'after')).status).toBe(200);
});
