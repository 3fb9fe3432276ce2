/*
 * What the console asks for, with many customers, on both databases: three connections and fifty jobs to a workspace, a
 * twentieth of all fails for one of ten reasons. Each answer is compared with one row that is found by its key, which
 * cannot be avoided. `--workspaces` sets the size; at most 100,000 are made.
 */
import { join } from 'node:path';
import { sql } from 'kysely';
import { migrate } from '../server/src/db/migrations.ts';
import { openPostgres, openSqlite, type Store } from '../server/src/db/open.ts';
import { createOrganization } from '../server/src/organizations/organizations.ts';
import type { PipelinesContext } from '../server/src/pipelines/context.ts';
import { getJobDetail, listAllConnections, listAllJobs } from '../server/src/pipelines/lists.ts';
import { readOverview } from '../server/src/pipelines/overview.ts';
import { listAllWorkspaces } from '../server/src/pipelines/workspace-list.ts';
import { systemRuntime } from '../server/src/runtime.ts';
import { seedPipelines } from '../server/test/support/seed-pipelines.ts';
import { type Benchmark, type BenchmarkOptions, type Figure, measureInTurns } from './benchmark.ts';

const mostWorkspaces = 100_000;
const connectionsEach = 3;
const jobsEach = 50;
const asked = 15;
const atATime = 5_000;
const atMostMs = 200;

export const benchmark: Benchmark = {
  name: 'console',

  async run(options) {
    const figures = await measure('SQLite', options, () =>
      openSqlite({ file: join(options.folder, 'console.db'), now: Date.now }),
    );
    const postgres = await options.databases.postgres();
    if (!postgres) return figures;
    const url = await postgres.makeEmpty('console');
    const open = () => openPostgres({ url, maxConnections: 2, onIdleError: () => {} });
    return [...figures, ...(await measure('PostgreSQL', options, open))];
  },
};

async function measure(database: string, options: BenchmarkOptions, open: () => Store): Promise<Figure[]> {
  const store = open();
  try {
    const workspaces = Math.min(options.workspaces, mostWorkspaces);
    const screens = await screensOf(store, workspaces);
    const turns = Object.fromEntries(Object.entries(screens).map(([name, ask]) => [name, () => medianMs(ask)]));
    const took = await measureInTurns(turns, options.rounds, (ms) => ms);
    const row = took[oneRow] ?? 0;
    return Object.keys(screens)
      .filter((name) => name !== oneRow)
      .map((name) => ({
        work: `${database}: ${name} with ${(workspaces * jobsEach).toLocaleString('en')} jobs, median answer`,
        value: took[name] ?? 0,
        unit: 'ms',
        reference: { name: oneRow, value: row },
        ratio: (took[name] ?? 0) / row,
        target: { of: 'value', atMost: atMostMs },
      }));
  } finally {
    await store.close();
  }
}

const oneRow = 'one row by its key';

async function screensOf(store: Store, workspaces: number): Promise<Record<string, () => Promise<unknown>>> {
  await migrate(store);
  const { id: organizationId } = await createOrganization(store, systemRuntime, { name: 'Bench' });
  const { seeded } = await seedPipelines(store, { organizationId, workspaces: 1, jobsEach: 1 });
  const [first] = seeded;
  if (!first) throw new Error('nothing was made');
  await multiply(store, workspaces, first);
  const templates = { store, publicUrl: 'http://localhost' };
  const ctx = { store, workspaces: { store }, runtime: systemRuntime, templates } as unknown as PipelinesContext;
  const customers = (query: object) => () => listAllWorkspaces(ctx, organizationId, query);
  const connections = (query: object) => () => listAllConnections(ctx, organizationId, query);
  const jobs = (query: object) => () => listAllJobs(ctx, organizationId, query);
  return {
    [oneRow]: () => store.db.selectFrom('workspaces').selectAll().where('id', '=', first.workspaceId).execute(),
    overview: () => readOverview(store, organizationId),
    customers: customers({}),
    'customers by name': customers({ sort: 'name' }),
    'customers by activity': customers({ sort: '-last_activity_at' }),
    'customers, the longest unwell first': customers({ sort: 'unwell_since' }),
    'failing customers by name': customers({ sort: 'name', health: 'failing' }),
    'customers, a rare name, by activity': customers({ name_contains: 'customer 17', sort: '-last_activity_at' }),
    'customers, a common name, by name': customers({ name_contains: 'customer', sort: 'name' }),
    'connections of a cause': connections({ cause: causeOf(3) }),
    'connections that need their customer': connections({ attention_by: 'customer' }),
    'stale connections': connections({ stale: 'true' }),
    jobs: jobs({}),
    'failing jobs': jobs({ failing: 'true' }),
    'jobs of a customer': jobs({ workspace_id: first.workspaceId }),
    'a job with the last good one': () => getJobDetail(ctx, organizationId, '1'),
  };
}

const causeOf = (reason: number) => `${reason}`.padStart(32, '0');

/** Copies of the workspace that is there, by statements of the database alone: quick, however many. */
async function multiply(store: Store, workspaces: number, { workspaceId }: { workspaceId: string }): Promise<void> {
  const isPostgres = store.kind === 'postgres';
  const seededFirst = (table: string) =>
    sql`${sql.ref(table === 'workspaces' ? 'id' : 'workspace_id')} = ${workspaceId}`;
  const hex = (i: string) => (isPostgres ? `lpad(to_hex(${i}), 12, '0')` : `printf('%012x', ${i})`);
  const uuid = (kind: number, i: string) =>
    isPostgres
      ? `cast('${kind}0000000-0000-4000-8000-' || ${hex(i)} as uuid)`
      : `'${kind}0000000-0000-4000-8000-' || ${hex(i)}`;
  const of = (each: number) => `(i / ${each})`;
  const isUnwell = (w: string) => `${w} % 20 = 0`;
  const health = (w: string) =>
    `case when ${isUnwell(w)} then case ${w} % 40 when 0 then 'failing' else 'needs_attention' end else 'healthy' end`;
  const text = (i: string) => `cast(${i} as text)`;
  const copies: [table: string, count: number, changed: Record<string, string>][] = [
    [
      'workspaces',
      workspaces,
      {
        id: uuid(1, 'i'),
        name: `'customer ' || ${text('i')}`,
        name_folded: `'customer ' || ${text('i')}`,
        created_at: 'created_at + 1 + i',
        health: health('i'),
        unwell_since: `case when ${isUnwell('i')} then created_at + i end`,
        active_at: 'created_at + (i * 7919) % 100000',
      },
    ],
    [
      'sources',
      workspaces * connectionsEach,
      {
        id: uuid(2, 'i'),
        platform_id: text(uuid(2, 'i')),
        workspace_id: uuid(1, of(connectionsEach)),
        slug: `'shop-' || ${text('i')}`,
      },
    ],
    ['destinations', workspaces, { id: uuid(3, 'i'), platform_id: text(uuid(3, 'i')), workspace_id: uuid(1, 'i') }],
    [
      'connections',
      workspaces * connectionsEach,
      {
        id: uuid(4, 'i'),
        platform_id: text(uuid(4, 'i')),
        workspace_id: uuid(1, of(connectionsEach)),
        source_id: uuid(2, 'i'),
        destination_id: uuid(3, of(connectionsEach)),
        created_at: 'created_at + 1 + i',
        health: health(of(connectionsEach)),
        cause: `case when ${isUnwell(of(connectionsEach))} then substr('${'0'.repeat(32)}' || ${text('i % 10')}, -32) end`,
        attention_by: `case when ${of(connectionsEach)} % 40 = 20 then 'customer' end`,
        unwell_since: `case when ${isUnwell(of(connectionsEach))} then created_at + i end`,
        stale_at: 'created_at + i % 1000 + case when i % 50 = 0 then 0 else 900000000000 end',
      },
    ],
    [
      'jobs',
      workspaces * jobsEach,
      {
        id: text('i + 10'),
        workspace_id: uuid(1, of(jobsEach)),
        source_id: uuid(2, `(${of(jobsEach)} * ${connectionsEach})`),
        connection_id: uuid(4, `(${of(jobsEach)} * ${connectionsEach})`),
        started_at: 'started_at + 1 + i * 20',
        ended_at: 'ended_at + 1 + i * 20',
        status: `case when ${isUnwell(of(jobsEach))} then 'failed' else 'succeeded' end`,
      },
    ],
  ];
  for (const [table, count, changed] of copies) {
    if (isPostgres) changed.cause &&= changed.cause.replace(/^(.*)substr\((.*), -32\) end$/, '$1right($2, 32) end');
    const { rows } = await sql<object>`select * from ${sql.table(table)} where ${seededFirst(table)}`.execute(store.db);
    const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== 'name_parts');
    const values = columns.map((column) => sql.raw(changed[column] ?? column));
    // In pieces: a statement must not take longer than the service allows one.
    for (let from = 0; from < count; from += atATime) {
      const last = Math.min(from + atATime, count) - 1;
      await sql`
        insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
        with recursive numbers (i) as (
          select ${sql.lit(from)} union all select i + 1 from numbers where i < ${sql.lit(last)})
        select ${sql.join(values)} from (select * from ${sql.table(table)} where ${seededFirst(table)}) as one
        cross join numbers`.execute(store.db);
    }
  }
  if (isPostgres) await sql`analyze`.execute(store.db);
}

async function medianMs(ask: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let count = 0; count < asked; count += 1) {
    const from = performance.now();
    await ask();
    took.push(performance.now() - from);
  }
  return took.toSorted((a, b) => a - b)[Math.floor(asked / 2)] ?? 0;
}
