/**
 * `kill -9` while the service writes down what the platform's jobs did: at each commit, before the database has it or right
 * after. In the end each job is there once, counted once, and has its log once.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { migrate } from '../../src/kernel/db/migrations.ts';
import { openPostgres, openSqlite } from '../../src/kernel/db/open.ts';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { createOrganization } from '../../src/tenancy/organizations/organizations.ts';
import { useCrashingProgram } from '../support/crashing-program.ts';
import { createTestDatabase, describeOnOneDatabase } from '../support/databases.ts';
import { eventually, operatorToken } from '../support/deployment.ts';
import { seedPipelines } from '../support/seed-pipelines.ts';
import { startService } from '../support/service.ts';

const organizationId = '6d7f3c2e-3a5b-4c8e-9f10-2b3c4d5e6f70';
const rowsOfJob = 10;
const program = useCrashingProgram();

/** A platform that reports more and more jobs, and holds the list back until the test releases it. */
async function startTellingPlatform(connectionId: () => string) {
  const jobs: object[] = [];
  let waiting: ServerResponse[] = [];
  let isHeld = false;
  const answer = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const page = (response: ServerResponse) => answer(response, 200, { data: jobs });
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://platform');
    request.resume();
    if (pathname.endsWith('/applications/token')) answer(response, 200, { access_token: 'x', expires_in: 3600 });
    else if (/\/jobs\/\d+\/log$/.test(pathname)) {
      const lines = [
        { offset: 0, time: '2026-01-31T10:00:00.000Z', level: 'INFO', origin: 'source', message: 'Hello' },
      ];
      answer(response, 200, { attempt: 1, lines, totalBytes: 90, nextOffset: null });
    } else if (pathname.endsWith('/jobs') && searchParams.get('offset') === '0') {
      if (isHeld) waiting.push(response);
      else page(response);
    } else answer(response, 200, { data: [] });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    addJob() {
      const [jobId, at] = [jobs.length + 1, new Date(Date.now() - 1_000).toISOString()];
      const counts = { rowsSynced: rowsOfJob, bytesSynced: 100, attempts: 1, failedAttempts: 0 };
      jobs.push({
        ...{ jobId, jobType: 'sync', connectionId: connectionId(), status: 'succeeded', ...counts },
        ...{ startTime: at, lastUpdatedAt: at },
      });
    },
    hold() {
      isHeld = true;
    },
    isAsked: () => waiting.length > 0,
    release() {
      isHeld = false;
      for (const response of waiting) page(response);
      waiting = [];
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describeOnOneDatabase('a service killed while it reads jobs', (kind) => {
  it('loses none, counts none twice, and keeps each log once', async () => {
    const database = await createTestDatabase(kind, { migrated: true });
    const store = database.url
      ? openPostgres({ url: database.url, maxConnections: 2 })
      : openSqlite({ file: join(database.dataDir, 'inlay.db'), now: Date.now, busyTimeoutMs: 10_000 });
    await migrate(store);
    await createOrganization(store, systemRuntime, { name: 'Acme', id: organizationId });
    const { seeded } = await seedPipelines(store, { organizationId, workspaces: 1, jobsEach: 0 });
    const platform = await startTellingPlatform(() => seeded[0]?.connectionId ?? '');
    onTestFinished(async () => {
      await store.close();
      await platform.stop();
      await database.drop();
    });
    const start = () =>
      startService({
        program,
        dataDir: database.dataDir,
        env: {
          INLAY_PLATFORM_URL: platform.url,
          INLAY_PLATFORM_CLIENT_ID: 'the-client',
          INLAY_PLATFORM_CLIENT_SECRET: 'the-secret-of-the-client-in-tests',
          INLAY_ORGANIZATION_ID: organizationId,
          INLAY_OPERATOR_TOKEN: operatorToken,
          INLAY_JOB_LOG_DAYS: '3650',
          LOG_LEVEL: 'silent',
          ...(database.url && { INLAY_DATABASE_URL: database.url }),
        },
      });
    const letLeaseEnd = () => store.db.updateTable('job_watch').set({ lease_until: 0 }).execute();

    // The databases share the commits of a pass between them, the kept logs included: most of the time goes into starts.
    const commits = isLongRun ? [1, 2, 3, 4, 5, 6] : kind === 'sqlite' ? [1, 5] : [4, 6];
    const kills = commits.length;
    for (const [index, at] of commits.entries()) {
      platform.addJob();
      platform.addJob();
      platform.hold();
      const service = await start();
      await eventually('the service asks for jobs', platform.isAsked);
      await service.tell({ at, edge: index % 2 === 0 ? 'after' : 'before' });
      platform.release();
      expect((await service.exited).signal).toBe('SIGKILL');
      await letLeaseEnd();
    }
    const service = await start();
    const { db } = store;
    const count = async (table: 'jobs' | 'job_logs' | 'job_logs_wanted') =>
      Number(
        (
          await db
            .selectFrom(table)
            .select(({ fn }) => fn.countAll().as('n'))
            .executeTakeFirstOrThrow()
        ).n,
      );
    await eventually('all logs are kept', async () => (await count('job_logs')) === 2 * kills);
    await service.kill();
    expect(await count('jobs')).toBe(2 * kills);
    expect(await count('job_logs_wanted')).toBe(0);
    // In as many hours and days as the test has seen.
    const sum = (rows: { row_count: number; byte_count: number }[], counts: number[]) => ({
      counted: counts.reduce((total, each) => total + Number(each), 0),
      rows: rows.reduce((total, { row_count }) => total + Number(row_count), 0),
      bytes: rows.reduce((total, { byte_count }) => total + Number(byte_count), 0),
    });
    const hours = await db.selectFrom('job_hours').selectAll().execute();
    const days = await db.selectFrom('usage_days').selectAll().execute();
    const once = { counted: 2 * kills, rows: 2 * kills * rowsOfJob, bytes: 2 * kills * 100 };
    expect(
      sum(
        hours,
        hours.map(({ jobs }) => jobs),
      ),
    ).toEqual(once);
    expect(
      sum(
        days,
        days.map(({ syncs }) => syncs),
      ),
    ).toEqual(once);
  });
});
