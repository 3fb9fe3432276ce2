/** Every number of the overview is the length of the list that it links to, whatever happens, on both databases. */
import { healthStates } from '@inlay/contract/pipelines/health';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { startTestApp, type TestApp } from '../../test/support/app.ts';
import { describeOnBothDatabases } from '../../test/support/databases.ts';
import { faultyPlatform, unreachable } from '../../test/support/faults.ts';
import { customer, makeConnectionTemplate, makeSourceTemplate } from '../../test/support/pipelines.ts';
import { type Seeded, seedPipelines } from '../../test/support/seed-pipelines.ts';
import { systemRuntime } from '../kernel/runtime.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { holdHealth, recordJobs, refreshHealth, type WordedJob } from '../pipelines/jobs/jobs.ts';
import * as sources from '../pipelines/sources.store.ts';

const path = '/api/v1/integrations';
const hourMs = 3_600_000;

describeOnBothDatabases('Each number of the overview', (kind) => {
  const faulty = faultyPlatform();
  let test: TestApp;
  let seeded: Seeded[];
  beforeAll(async () => {
    test = await startTestApp(kind, { overrides: { wrapTransport: faulty.wrapTransport } });
    const options = { organizationId: test.organizationId, workspaces: 6, jobsEach: 0 };
    ({ seeded } = await seedPipelines(test.app.store, options));
  });
  afterAll(() => test.stop());

  const get = async (rest: string) => {
    const answer = await test.request('GET', `${path}${rest}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  async function listed(rest: string) {
    const items: { rows?: number | null }[] = [];
    for (let url: string | null = `${rest}&limit=100`; url !== null; ) {
      const page: { data: typeof items; next: string | null } = await get(url);
      items.push(...page.data);
      url = page.next === null ? null : page.next.slice(page.next.indexOf(path) + path.length);
    }
    return items;
  }
  const count = async (rest: string) => (await listed(rest)).length;

  /** The numbers, and the lengths of their lists. */
  async function compare() {
    const overview = await get('/overview?limit=100&causes=100');
    const { hours, days } = overview;
    type Period = { from: string; succeeded: number; failed: number; cancelled: number; rows: number };
    const sum = (periods: Period[], field: Exclude<keyof Period, 'from'>) =>
      periods.reduce((total, period) => total + period[field], 0);
    const numbers: Record<string, number> = {};
    const lists: Record<string, number> = {};
    for (const what of ['connections', 'sources', 'workspaces']) {
      for (const health of healthStates) {
        numbers[`${what} ${health}`] = overview[what][health];
        lists[`${what} ${health}`] = await count(`/${what}?health=${health}`);
      }
    }
    for (const { cause, connections } of overview.causes) {
      numbers[cause] = (numbers[cause] ?? 0) + connections;
      lists[cause] = await count(`/connections?cause=${cause}`);
    }
    for (const by of ['customer', 'operator']) {
      numbers[by] = overview.attention[by];
      lists[by] = await count(`/connections?attention_by=${by}`);
    }
    Object.assign(numbers, { stale: overview.stale, ...overview.queue, unwell: overview.unwell.length });
    numbers.unwell += overview.more_unwell;
    lists.stale = await count('/connections?stale=true');
    lists.waiting = await count('/jobs?waiting=true');
    lists.running = await count('/jobs?status=running');
    lists.unwell = (await count('/workspaces?health=failing')) + (await count('/workspaces?health=needs_attention'));
    delete numbers.oldest_waiting_since;
    for (const [name, periods] of Object.entries({ day: hours.slice(-24), hours, days }) as [string, Period[]][]) {
      for (const status of ['succeeded', 'failed', 'cancelled'] as const) {
        numbers[`${name} ${status}`] = sum(periods, status);
        lists[`${name} ${status}`] = await count(`/jobs?status=${status}&ended_after=${periods[0]?.from}`);
      }
      numbers[`${name} rows`] = sum(periods, 'rows');
      const ended = await listed(`/jobs?ended_after=${periods[0]?.from}`);
      lists[`${name} rows`] = ended.reduce((total, { rows }) => total + (rows ?? 0), 0);
    }
    return { numbers, lists };
  }

  const silent = { record: async () => {} } as unknown as PipelinesContext['journal'];

  async function tell({ workspaceId, connectionId }: Seeded, job: Partial<WordedJob>) {
    const { store } = test.app;
    await store.transaction(async (tx) => {
      await holdHealth(store, tx, [workspaceId]);
      const connection = await tx
        .selectFrom('connections')
        .selectAll()
        .where('id', '=', connectionId)
        .executeTakeFirstOrThrow();
      const told = {
        connectionId,
        type: 'sync',
        attemptCount: 1,
        failure: null,
        attempts: undefined,
        streams: undefined,
        moreStreams: 0,
        bytes: 10,
        ...job,
      } as unknown as WordedJob;
      await recordJobs({ jobLogMs: 0, journal: silent, runtime: systemRuntime }, tx, connection, [told]);
      await refreshHealth({ store, journal: silent }, tx, [workspaceId], { ids: [connectionId] });
    });
  }

  const failureOf = (reason: number) => ({
    kind: reason === 0 ? ('config_error' as const) : ('transient_error' as const),
    origin: 'source' as const,
    message: ['Wrong password', 'The line was cut', 'No room'][reason] ?? '',
    customerMessage: null,
    whose: 'customer' as const,
  });

  const one = fc.nat({ max: 5 });
  const operation = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        what: fc.constant('job' as const),
        of: one,
        id: fc.integer({ min: 1, max: 9 }),
        status: fc.constantFrom('pending', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled'),
        hoursAgo: fc.nat({ max: 60 }),
        rows: fc.nat({ max: 1_000 }),
        reason: fc.nat({ max: 2 }),
      }),
    },
    fc.record({ what: fc.constant('stale' as const), of: one, at: fc.constantFrom(null, 1, 9_000_000_000_000) }),
    fc.record({ what: fc.constantFrom('delete source', 'delete connection', 'forget', 'close'), of: one }),
  );
  type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

  async function apply(doing: Operation): Promise<void> {
    const { store } = test.app;
    const place = seeded[doing.of] as Seeded;
    if (doing.what === 'job') {
      const { id, status, hoursAgo, rows, reason } = doing as Extract<Operation, { what: 'job' }>;
      const ended = new Date(Date.now() - hoursAgo * hourMs).toISOString();
      await tell(place, {
        id: `${doing.of}${id}`,
        status: status as WordedJob['status'],
        rows,
        startedAt: new Date(Date.now() - (hoursAgo + 30) * hourMs).toISOString(),
        endedAt: ['failed', 'succeeded', 'cancelled'].includes(status) ? ended : null,
        failure: status === 'failed' || status === 'incomplete' ? failureOf(reason) : null,
      });
    } else if (doing.what === 'stale') {
      const { at } = doing as Extract<Operation, { what: 'stale' }>;
      await store.db.updateTable('connections').set({ stale_at: at }).where('id', '=', place.connectionId).execute();
    } else if (doing.what === 'delete source') {
      await store.transaction((tx) =>
        sources.changeSource(tx, place.workspaceId, place.sourceId, { lifecycle: 'deleting' }),
      );
    } else if (doing.what === 'delete connection') {
      const gone = store.db.updateTable('connections').set({ deleted_at: 1 });
      await gone.where('id', '=', place.connectionId).execute();
    } else if (doing.what === 'forget') {
      // Nothing has reported its open jobs for long, and nothing will.
      await store.db.updateTable('connections').set({ deleted_at: 1 }).where('id', '=', place.connectionId).execute();
      await store.db.updateTable('jobs').set({ seen_at: 0 }).where('connection_id', '=', place.connectionId).execute();
      await test.app.workers.jobWatch.pass();
    } else {
      const gone = store.db.updateTable('workspaces').set({ lifecycle: 'deleted', deleted_at: 1 });
      await gone.where('id', '=', place.workspaceId).execute();
    }
  }

  /** As it was after the start, without jobs. */
  async function beginAgain(): Promise<void> {
    const { db } = test.app.store;
    await db.deleteFrom('jobs').execute();
    await db.deleteFrom('job_hours').execute();
    const well = { health: 'never_synced', unwell_since: null, deleted_at: null } as const;
    await db
      .updateTable('workspaces')
      .set({ ...well, lifecycle: 'live' })
      .execute();
    await db.updateTable('sources').set({ health: 'never_synced', deleted_at: null, lifecycle: 'live' }).execute();
    await db
      .updateTable('connections')
      .set({ ...well, health_detail: '{}', cause: null, attention_by: null, stale_at: null })
      .execute();
  }

  it('equals the length of its list after any sequence of changes', async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(operation, { minLength: 1, maxLength: 15 }), async (operations) => {
          for (const doing of operations) await apply(doing);
          const { numbers, lists } = await compare();
          expect(numbers).toEqual(lists);
        })
        .beforeEach(beginAgain),
      { numRuns: isLongRun ? 200 : 8 },
    );
  });

  it('follows a source that is being deleted at once, while the platform does not answer', async () => {
    await beginAgain();
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test, { tags: ['numbers'] });
    const acme = await customer(test, 'acme');
    const source = await acme.settled(await acme.connect(template, { selected_connection_template_tags: ['numbers'] }));
    const [connection] = (await acme.request('GET', '/connections')).body.data;
    const of = { workspaceId: acme.workspaceId, connectionId: connection.id } as Seeded;
    const [startedAt, endedAt] = [new Date(Date.now() - hourMs).toISOString(), new Date().toISOString()];
    await tell(of, { id: '900', status: 'failed', rows: 3, startedAt, endedAt, failure: failureOf(0) });
    const { db } = test.app.store;
    await db.updateTable('connections').set({ stale_at: 1 }).where('id', '=', connection.id).execute();
    const before = await get('/overview');
    expect(before.causes).toHaveLength(1);
    expect([before.stale, before.connections.needs_attention, before.attention.customer]).toEqual([1, 1, 1]);

    const restore = faulty.rule(unreachable(() => true));
    expect((await acme.request('DELETE', `/sources/${source.id}`)).status).toBe(503);
    const { numbers, lists } = await compare();
    expect(numbers).toEqual(lists);
    expect(numbers).toMatchObject({
      stale: 0,
      customer: 0,
      'connections needs_attention': 0,
      // What is being deleted is nothing that a customer has to do something about.
      'workspaces needs_attention': 0,
    });
    restore();
  });

  it('is corrected when an ended job is reported again', async () => {
    await beginAgain();
    const place = seeded[0] as Seeded;
    const endedAt = new Date(Date.now() - hourMs).toISOString();
    const ended = { id: '1', startedAt: endedAt, endedAt };
    await tell(place, { ...ended, status: 'cancelled', rows: 5 });
    await tell(place, { ...ended, status: 'succeeded', rows: 7 });
    const { rows } = await sql<{ status: string; jobs: number; row_count: number }>`
      select status, jobs, row_count from job_hours where jobs > 0 or row_count > 0`.execute(test.app.store.db);
    expect(rows).toEqual([{ status: 'succeeded', jobs: 1, row_count: 7 }]);
    const { numbers, lists } = await compare();
    expect(numbers).toEqual(lists);
  });
});
