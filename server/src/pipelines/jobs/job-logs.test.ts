/** Logs of jobs: from the platform while a job runs, from our own store after its end, with the same content. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { JobsContext } from '@inlay/platform/jobs/context';
import { fileLogs } from '@inlay/platform/jobs/file-logs';
import { openAttemptLog, readLog } from '@inlay/platform/jobs/job-logs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { type FaultyPlatform, faultyPlatform, unreachable } from '../../../test/support/faults.ts';
import { jobIdOf } from '../../../test/support/pipelines.ts';
import { type Seeded, seedPipelines } from '../../../test/support/seed-pipelines.ts';
import { sealConfiguration } from '../../catalog/definitions/sealed-configuration.ts';
import { createHousekeeping } from '../../edge/housekeeping.worker.ts';
import { createSealer } from '../../kernel/sealing.ts';

const encryptionKey = randomBytes(32);
const at = (minute: number) => new Date(Date.UTC(2026, 0, 31, 10, minute)).toISOString();

describeOnBothDatabases('logs of jobs', (kind) => {
  let test: TestApp;
  let faulty: FaultyPlatform;
  let acme: Seeded;
  const told = new Map<number, { attempts: number }>();
  const read = async (job: number, query = '') => {
    const answer = await test.request('GET', `/api/v1/integrations/jobs/${await jobIdOf(test, job)}/log${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const asked = () => faulty.sent.filter(({ path }) => path.includes('/log?')).length;

  /** The platform's own code, on files of a folder of the test. */
  const platform = () =>
    ({
      logs: fileLogs(
        () => join(test.dataDir, 'told-logs'),
        () => Date.parse(at(0)),
      ),
    }) as never;
  const jobRow = (job_id: number, attempts: number) => ({ connection_id: 'c', job_id, attempts }) as never;
  function write(job: number, attempt: number, lines: readonly string[]): void {
    const log = openAttemptLog(platform() as JobsContext, jobRow(job, attempt));
    for (const line of lines) log.write(line.startsWith('Broken') ? 'ERROR' : 'INFO', 'source', line);
    log.close();
  }

  beforeAll(async () => {
    faulty = faultyPlatform();
    test = await startTestApp(kind, {
      env: { INLAY_JOB_LOG_DAYS: '30', INLAY_ENCRYPTION_KEY: encryptionKey.toString('base64') },
      overrides: { wrapTransport: faulty.wrapTransport },
    });
    const { seeded } = await seedPipelines(test.app.store, {
      organizationId: test.organizationId,
      workspaces: 1,
      jobsEach: 0,
    });
    acme = seeded[0] as Seeded;
    const answer = (body: unknown) => ({ status: 200, headers: {}, text: JSON.stringify(body) });
    faulty.rule(async ({ method, path }) => {
      const { pathname, searchParams } = new URL(path, 'http://platform');
      if (method !== 'GET') return undefined;
      const [, job] = /^\/jobs\/(\d+)\/log$/.exec(pathname) ?? [];
      if (job !== undefined) {
        const { search, firstError, ...numbers } = Object.fromEntries(searchParams);
        const query = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)]));
        const { attempts = 0 } = told.get(Number(job)) ?? {};
        const more = { ...(search && { search }), ...(firstError && { firstError: true }) };
        const part = await readLog(platform(), jobRow(Number(job), attempts), { ...query, ...more });
        return answer(part);
      }
      return pathname === '/jobs'
        ? answer({ data: searchParams.get('offset') === '0' ? [...told.values()] : [] })
        : undefined;
    });
  });
  afterAll(() => test.stop());

  const tell = (jobId: number, job: { status: string; attempts: number }) => {
    told.set(jobId, {
      jobId,
      jobType: 'sync',
      connectionId: acme.connectionId,
      startTime: at(jobId),
      lastUpdatedAt: at(jobId + 1),
      rowsSynced: 0,
      failedAttempts: job.attempts - 1,
      ...job,
    } as never);
  };
  const pass = () => test.app.workers.jobWatch.pass();
  const queries = [
    '',
    '?offset=0&bytes=2000',
    '?offset=250000&bytes=1',
    '?offset=400001&bytes=600000',
    '?offset=99999999',
    '?tail=5',
    '?tail=2500&bytes=1000000',
    '?tail=3000',
    '?tail=3&search=error',
    '?search=BROKEN',
    '?search=BROKEN&offset=300000',
    '?search=nothing%20like%20it',
    '?first_error=true&bytes=1',
    '?attempt=1',
    '?attempt=1&tail=1',
    '?attempt=7',
  ];

  it('read the same from our own store as from the platform: range, tail, search, attempts', async () => {
    write(1, 1, ['Attempt one', 'Broken: the line was cut']);
    const many = Array.from({ length: 4_000 }, (_, line) =>
      line % 500 === 7 ? `Broken ${line} ü 🚀` : `Read page ${line} ${'x'.repeat(line % 200)}`,
    );
    write(1, 2, many);
    tell(1, { status: 'running', attempts: 2 });
    await pass();
    const before = await Promise.all(queries.map((query) => read(1, query)));
    expect(before[1].lines.length).toBeGreaterThan(10);
    expect(before[9].lines).toHaveLength(8);

    tell(1, { status: 'failed', attempts: 2 });
    await pass();
    const calls = asked();
    expect(calls).toBeGreaterThan(queries.length);
    const kept = await test.app.store.db.selectFrom('job_logs').select(['attempt', 'content']).execute();
    expect(kept.filter(({ attempt }) => attempt === 2).length).toBeGreaterThan(1);
    expect(kept.reduce((sum, { content }) => sum + content.length, 0)).toBeLessThan(before[0].total_bytes / 3);
    for (const [index, query] of queries.entries()) expect(await read(1, query), query).toEqual(before[index]);
    // Only an attempt whose log was not kept is requested.
    expect(asked()).toBe(calls + 1);

    const { first_error_offset } = await read(1, '?first_error=true&bytes=1');
    const [first] = (await read(1, `?offset=${first_error_offset}&bytes=1`)).lines;
    expect(first).toMatchObject({ level: 'ERROR', message: many.find((line) => line.startsWith('Broken')) });

    let [text, next]: [string[], number | null] = [[], 0];
    while (next !== null) {
      const page: { lines: { message: string }[]; next_offset: number | null } = await read(1, `?offset=${next}`);
      text = [...text, ...page.lines.map(({ message }) => message)];
      next = page.next_offset;
    }
    expect(text).toEqual(many);
  });

  it('are copied once the platform answers, once, and outlive the platform', async () => {
    write(2, 1, ['Hello', 'Good bye']);
    tell(2, { status: 'succeeded', attempts: 1 });
    const restore = faulty.rule(unreachable(({ path }) => path.includes('/log?')));
    await pass();
    const { db } = test.app.store;
    expect(await db.selectFrom('job_logs_wanted').select('job_id').execute()).toEqual([
      { job_id: await jobIdOf(test, 2) },
    ]);
    restore();
    await db.updateTable('job_logs_wanted').set({ due_at: 0 }).execute();
    await Promise.all([pass(), pass()]);
    expect(await db.selectFrom('job_logs_wanted').select('job_id').execute()).toEqual([]);
    const gone = faulty.rule(unreachable(() => true));
    expect((await read(2)).lines.map(({ message }: { message: string }) => message)).toEqual(['Hello', 'Good bye']);
    expect((await read(2, '?first_error=true')).first_error_offset).toBeNull();
    gone();
  });

  it('Logs go after the time that is set, and with the job and the workspace', async () => {
    const { db } = test.app.store;
    const ids = async () =>
      (await db.selectFrom('job_logs').select('job_id').distinct().execute()).map(({ job_id }) => job_id);
    const [first, second] = [await jobIdOf(test, 1), await jobIdOf(test, 2)];
    expect((await ids()).toSorted()).toEqual([first, second].toSorted());
    await db.updateTable('job_logs').set({ ended_at: Date.now() }).where('job_id', '=', second).execute();
    await db.updateTable('job_logs').set({ ended_at: 1 }).where('job_id', '=', first).execute();
    await createHousekeeping(test.app.store, { jobsMs: Date.now(), jobLogsMs: 86_400_000, deliveriesMs: 0 })();
    expect(await ids()).toEqual([second]);
    await db.deleteFrom('jobs').where('id', '=', second).execute();
    expect(await ids()).toEqual([]);
    write(3, 1, ['Last words']);
    tell(3, { status: 'succeeded', attempts: 1 });
    await pass();
    expect(await ids()).toContain(await jobIdOf(test, 3));
    // The log contains the configuration, so the source must have one that can be opened.
    const sealed_config = sealConfiguration(createSealer(encryptionKey), 'source', acme.sourceId, {});
    await db.updateTable('sources').set({ sealed_config }).where('id', '=', acme.sourceId).execute();
    expect((await test.request('DELETE', `/api/v1/workspaces/${acme.workspaceId}`)).status).toBe(200);
    expect(await ids()).toEqual([]);
  });
});
