/*
 * What the log costs and how it is read: a change with its entry beside the same change without, how long an entry waits for
 * its position, and a page of events of a log with many entries beside a page of a log with few. `--workspaces` says how many
 * entries many are.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { byWorker } from '../server/src/cause.ts';
import { migrate } from '../server/src/db/migrations.ts';
import { openPostgres, openSqlite, type Store } from '../server/src/db/open.ts';
import { createArrivals } from '../server/src/events/arrivals.ts';
import { type Reader, readPage } from '../server/src/events/events.ts';
import { createJournal } from '../server/src/events/journal.ts';
import { findBounds } from '../server/src/events/log.store.ts';
import { createSequencer } from '../server/src/events/sequencer.worker.ts';
import { systemRuntime } from '../server/src/runtime.ts';
import { holdLiveWorkspace } from '../server/src/workspaces/live-workspaces.ts';
import { seedPipelines } from '../server/test/support/seed-pipelines.ts';
import { type Benchmark, type Figure, type Measured, measureInTurns, tookMs } from './benchmark.ts';
import { addSource } from './source-row.ts';

const changes = 200;
const pages = 200;
const few = 1_000;
/** A change with its entry may take this much longer than the change alone. */
const costTarget = 1.15;
/** A page of a long log may take this much longer than a page of a short one. */
const growthTarget = 1.5;
/** Nobody waits for a position, but a webhook should not be late because of it. */
const lagTargetMs = 250;

export const benchmark: Benchmark = {
  name: 'events',

  async run({ databases, folder, rounds, workspaces }) {
    const dataDir = join(folder, 'events');
    rmSync(dataDir, { recursive: true, force: true });
    mkdirSync(dataDir, { recursive: true });
    const file = join(dataDir, 'inlay.db');
    const figures = await measure('SQLite', openSqlite({ file, now: Date.now }), rounds, workspaces);
    const postgres = await databases.postgres();
    if (postgres) {
      const url = await postgres.makeEmpty('events');
      figures.push(...(await measure('PostgreSQL', openPostgres({ url, onIdleError: () => {} }), rounds, workspaces)));
    }
    return figures;
  },
};

async function measure(database: string, store: Store, rounds: number, many: number): Promise<Figure[]> {
  try {
    await migrate(store);
    const [small, large] = [await addOrganization(store), await addOrganization(store)];
    const cost = await measureCost(database, store, small, rounds);
    const lag = await measureLag(database, store);
    await fillLog(store, small, few);
    await fillLog(store, large, many);
    return [cost, lag, ...(await measureReading(database, store, { small, large }, rounds, many))];
  } finally {
    await store.close();
  }
}

async function addOrganization(store: Store): Promise<string> {
  const id = randomUUID();
  await store.db
    .insertInto('organizations')
    .values({ id, name: 'bench', platform_organization_id: id, created_at: 0 })
    .execute();
  return id;
}

async function measureCost(database: string, store: Store, organizationId: string, rounds: number): Promise<Figure> {
  // As in a request: the entry says where it came from.
  const where = () => ({ address: '203.0.113.7', userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' });
  const journal = createJournal({ runtime: systemRuntime, cause: { ...byWorker, where } });
  const { seeded, ...ids } = await seedPipelines(store, { organizationId, workspaces: 1, jobsEach: 0 });
  const workspaceId = seeded[0]?.workspaceId ?? '';
  const round = (hasEntry: boolean) => async (): Promise<Measured> => {
    const startedAt = performance.now();
    for (let count = 0; count < changes; count++) {
      await store.transaction(async (tx) => {
        await holdLiveWorkspace(tx, organizationId, workspaceId);
        const id = await addSource(tx, { organizationId, workspaceId, ...ids });
        if (!hasEntry) return;
        const data = { source: { id, name: id, source_template_id: ids.sourceTemplateId } };
        const after = { name: id, source_config: { count: 10 }, template_version: 1, definition_version: 0 };
        const change = { before: undefined, after };
        await journal.record(tx, organizationId, { type: 'source.created', workspaceId, data, change });
      });
    }
    return { tookMs: performance.now() - startedAt, usage: {} };
  };
  const works = { without: round(false), entry: round(true) };
  const { without, entry } = await measureInTurns(works, Math.max(rounds, 1), tookMs);
  await store.db.deleteFrom('log_pending').execute();
  return {
    work: `${database}: recording a source with its entry in the log`,
    value: entry.tookMs / changes,
    unit: 'ms',
    reference: { name: 'without the entry', value: without.tookMs / changes },
    ratio: entry.tookMs / without.tookMs,
    target: { of: 'ratio', atMost: costTarget },
  };
}

/** So many entries at once that no statement comes near its time limit, however long the log is. */
const filledAtOnce = 50_000;

/**
 * As the sequencer would leave it: one type in a thousand is rare, and a tenth belongs to each of ten workspaces. Ids come in
 * order: no page is read by id, and random ids would take most of the time with millions of entries.
 */
async function fillLog(store: Store, organizationId: string, count: number): Promise<void> {
  const isPostgres = store.kind === 'postgres';
  const uuid = sql.raw(isPostgres ? 'uuid' : 'text');
  const hex = isPostgres ? sql`lpad(to_hex(n), 12, '0')` : sql`printf('%012x', n)`;
  const id = sql`cast(${organizationId.slice(0, 8)} || '-0000-4000-8000-' || ${hex} as ${uuid})`;
  const workspace = sql`cast('00000000-0000-4000-8000-00000000000' || cast(n % 10 as text) as ${uuid})`;
  for (let from = 1; from <= count; from += filledAtOnce) {
    const [first, last] = [sql.lit(from), sql.lit(Math.min(from + filledAtOnce - 1, count))];
    const numbers = isPostgres
      ? sql`(select generate_series(${first}, ${last}) as n) as numbers`
      : sql`(with recursive counted (n) as (select ${first} union all select n + 1 from counted where n < ${last}) select n from counted) as numbers`;
    await store.transaction(async (tx) => {
      await sql`
        insert into log_entries (id, organization_id, type, workspace_id, workspace_name, data, recorded_at, actor_kind,
          outcome, trail_position, position, sequenced_at)
        select ${id}, cast(${organizationId} as ${uuid}),
          case when n % 1000 = 0 then 'sync.failed' else 'sync.succeeded' end,
          ${workspace}, 'acme', '{"rows":1000}', n, 'worker', 'done', n, n, n
        from ${numbers}`.execute(tx);
    });
  }
  await sql`
    insert into log_heads (organization_id, position, trail_position, sequenced_at)
    values (${organizationId}, ${count}, ${count}, ${count})`.execute(store.db);
  if (isPostgres) await sql`analyze log_entries`.execute(store.db);
}

const [writers, written] = [4, 250];

/**
 * How long after its commit an entry has a position that readers see, while a few clients make changes all the time: 99 of 100
 * entries are not later. As in the service, the sequencer runs by itself and is woken by what is written.
 */
async function measureLag(database: string, store: Store): Promise<Figure> {
  const organizationId = await addOrganization(store);
  const committedAt: number[] = [];
  const placedAt: number[] = [];
  const looking: Promise<void>[] = [];
  const look = async (now: number): Promise<void> => {
    const { head } = await findBounds(store.db, organizationId);
    while (placedAt.length < head) placedAt.push(now);
  };
  const sequencer = createSequencer({
    store,
    runtime: systemRuntime,
    log: pino({ level: 'silent' }),
    onSequenced: () => void looking.push(look(performance.now())),
  });
  const journal = createJournal({ runtime: systemRuntime, cause: byWorker, onRecorded: sequencer.soon });
  sequencer.start();
  try {
    const write = async () => {
      for (let count = 0; count < written; count++) {
        const tag = { id: randomUUID(), name: 'crm' };
        const change = { before: undefined, after: { name: tag.name } };
        await store.transaction((tx) =>
          journal.record(tx, organizationId, { type: 'tag.created', data: { tag }, change }),
        );
        committedAt.push(performance.now());
        await systemRuntime.sleep(Math.random() * 20);
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
    while (placedAt.length < writers * written) await Promise.all([look(performance.now()), systemRuntime.sleep(20)]);
    await Promise.all(looking);
  } finally {
    await sequencer.stop();
  }
  // Positions are in the order of writing, which is near the order of commits.
  const placed = placedAt.sort((a, b) => a - b);
  const lags = committedAt.map((at, index) => Math.max(0, (placed[index] ?? at) - at)).sort((a, b) => a - b);
  return {
    work: `${database}: from the commit of an entry to its position, 99 of 100`,
    value: lags[Math.ceil(lags.length * 0.99) - 1] ?? 0,
    unit: 'ms',
    records: lags.length,
    target: { of: 'value', atMost: lagTargetMs },
  };
}

const questions: Record<string, Partial<Reader>> = {
  'a page of events': {},
  'a page of a rare type': { types: 'sync.failed' },
  "a page of a workspace's events of some types": {
    workspaceId: '00000000-0000-4000-8000-000000000007',
    types: 'sync.*',
  },
};

async function measureReading(
  database: string,
  store: Store,
  { small, large }: { small: string; large: string },
  rounds: number,
  many: number,
): Promise<Figure[]> {
  const ctx = { store, runtime: systemRuntime, arrivals: createArrivals(store, systemRuntime) };
  const figures: Figure[] = [];
  for (const [question, filter] of Object.entries(questions)) {
    const round = (organizationId: string, size: number) => async (): Promise<Measured> => {
      const base = { organizationId, workspaceId: undefined, isCustomer: false, types: undefined, since: undefined };
      const startedAt = performance.now();
      for (let page = 0; page < pages; page++) {
        // From all over the log.
        const after = Math.floor((size * page) / pages / 2);
        await readPage(ctx, { ...base, ...filter }, { after, limit: 1 });
      }
      return { tookMs: performance.now() - startedAt, usage: {} };
    };
    const works = { few: round(small, few), many: round(large, many) };
    const { few: short, many: long } = await measureInTurns(works, Math.max(rounds, 1), tookMs);
    figures.push({
      work: `${database}: ${question}, of ${many.toLocaleString('en')} entries`,
      value: long.tookMs / pages,
      unit: 'ms',
      reference: { name: `of ${few.toLocaleString('en')}`, value: short.tookMs / pages },
      ratio: long.tookMs / short.tookMs,
      target: { of: 'ratio', atMost: growthTarget },
    });
  }
  return figures;
}
