/*
 * What an operator with many customers has: to each workspace three sources, three connections and fifty jobs of the last
 * thirty days, ten entries in the log and ten deliveries of webhooks. A twentieth of all fails or needs somebody, for one of
 * ten reasons; some jobs run and wait. Written by statements of the database alone: quick, however many there are. The
 * indexes of the largest tables are made after the rows.
 */
import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { migrate } from '../server/src/db/migrations.ts';
import type { Db, Store } from '../server/src/db/open.ts';
import { createOrganization } from '../server/src/organizations/organizations.ts';
import { systemRuntime } from '../server/src/runtime.ts';
import { seedPipelines } from '../server/test/support/seed-pipelines.ts';

export const connectionsEach = 3;
export const jobsEach = 50;
const entriesEach = 10;
const atATime = 50_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const patienceMs = 3_600_000;

export interface ConsoleDataset {
  organizationId: string;
  /** The first of all, which does well. */
  workspaceId: string;
  connectionId: string;
  sourceId: string;
  sourceTemplateId: string;
  connectionTemplateId: string;
  definitionId: string;
  endpointId: string;
}

export const causeOf = (reason: number) => `${reason}`.padStart(32, '0');

export async function fillConsole(store: Store, workspaces: number): Promise<ConsoleDataset> {
  await migrate(store);
  const { id: organizationId } = await createOrganization(store, systemRuntime, { name: 'Bench' });
  const { seeded, ...templates } = await seedPipelines(store, { organizationId, workspaces: 1, jobsEach: 1 });
  const [first] = seeded;
  if (!first) throw new Error('nothing was made');
  const endpointId = randomUUID();
  const fill = (db: Db) => fillTables(db, { kind: store.kind, workspaces, workspaceId: first.workspaceId, endpointId });
  if (store.kind === 'postgres') {
    await store.exclusively(fill, patienceMs);
    await store.exclusively(async (db) => void (await sql`analyze`.execute(db)), patienceMs);
  } else {
    // Nobody else reads the file yet, and after a crash it is made again.
    await sql`pragma synchronous = off`.execute(store.db);
    await fill(store.db);
    await sql`pragma wal_checkpoint(truncate)`.execute(store.db);
  }
  const { workspaceId, connectionId, sourceId } = first;
  return { organizationId, workspaceId, connectionId, sourceId, ...templates, endpointId };
}

interface Filling {
  kind: Store['kind'];
  workspaces: number;
  /** Every row is a copy of a row of this workspace. */
  workspaceId: string;
  endpointId: string;
}

async function fillTables(db: Db, { kind, workspaces, workspaceId, endpointId }: Filling): Promise<void> {
  const isPostgres = kind === 'postgres';
  const text = (i: string) => `cast(${i} as text)`;
  const padded = (i: string, length: number) =>
    isPostgres ? `lpad(${text(i)}, ${length}, '0')` : `printf('%0${length}d', ${i})`;
  const hex = (i: string) => (isPostgres ? `lpad(to_hex(${i}), 12, '0')` : `printf('%012x', ${i})`);
  const uuid = (which: number, i: string) => {
    const whole = `'${which}0000000-0000-4000-8000-' || ${hex(i)}`;
    return isPostgres ? `cast(${whole} as uuid)` : whole;
  };
  const id = (value: string) => (isPostgres ? `cast('${value}' as uuid)` : `'${value}'`);
  const ownerOf = (each: number) => `(i / ${each})`;
  const isUnwell = (w: string) => `${w} % 20 = 1`;
  const isNeedy = (w: string) => `${w} % 40 = 21`;
  const health = (w: string) =>
    `case when ${isNeedy(w)} then 'needs_attention' when ${isUnwell(w)} then 'failing' else 'healthy' end`;
  const now = Date.now();
  const start = now - 30 * dayMs;
  const w = ownerOf(connectionsEach);
  const unwellDetail = JSON.stringify({
    since: start,
    failuresInARow: 3,
    firstError: { kind: 'transient_error', origin: 'source', message: 'The line was cut.', customerMessage: null },
    lastGoodAt: start,
    isTryingAgain: false,
    attention: null,
  });
  const jobOf = ownerOf(jobsEach);
  // The last job of some workspaces has not ended.
  const isOpen = `i % ${jobsEach} = ${jobsEach - 1} and ${jobOf} % 100 in (2, 3, 4)`;
  const startedAt = `${start} + (i % ${jobsEach}) * ${Math.floor((30 * dayMs) / jobsEach)} + ${jobOf} % 50000 * 1000`;
  const connectionOfJob = `(${jobOf} * ${connectionsEach} + i % ${connectionsEach})`;

  await copy('workspaces', workspaces, {
    id: uuid(1, 'i'),
    name: `'customer ' || ${text('i')}`,
    name_folded: `'customer ' || ${text('i')}`,
    created_at: 'created_at + 1 + i',
    health: health('i'),
    unwell_since: `case when ${isUnwell('i')} then ${start} + i end`,
    active_at: `${start} + (i * 7919) % 100000`,
  });
  await copy('sources', workspaces * connectionsEach, {
    id: uuid(2, 'i'),
    platform_id: text(uuid(2, 'i')),
    workspace_id: uuid(1, w),
    slug: `'shop-' || ${text('i')}`,
    health: health(w),
    created_at: 'created_at + 1 + i',
  });
  await copy('destinations', workspaces, {
    id: uuid(3, 'i'),
    platform_id: text(uuid(3, 'i')),
    workspace_id: uuid(1, 'i'),
  });
  await copy('connections', workspaces * connectionsEach, {
    id: uuid(4, 'i'),
    platform_id: text(uuid(4, 'i')),
    workspace_id: uuid(1, w),
    source_id: uuid(2, 'i'),
    destination_id: uuid(3, w),
    created_at: 'created_at + 1 + i',
    health: health(w),
    health_detail: `case when ${isUnwell(w)} then '${unwellDetail}' else '{}' end`,
    cause: `case when ${isUnwell(w)} then ${padded('i % 10', 32)} end`,
    attention_by: `case when ${isNeedy(w)} then case when ${w} % 80 = 21 then 'customer' else 'operator' end end`,
    unwell_since: `case when ${isUnwell(w)} then ${start} + i end`,
    stale_at: `${start} + i % 1000 + case when i % 50 = 0 then 0 else ${100 * dayMs} end`,
  });
  await copy('jobs', workspaces * jobsEach, {
    id: text('i + 10'),
    workspace_id: uuid(1, jobOf),
    source_id: uuid(2, connectionOfJob),
    connection_id: uuid(4, connectionOfJob),
    started_at: startedAt,
    ended_at: `case when ${isOpen} then null else ${startedAt} + 30000 end`,
    status: `case when ${isOpen} then case ${jobOf} % 100 when 2 then 'running' when 3 then 'pending' else 'incomplete' end
      when ${isUnwell(jobOf)} then 'failed' when i % 997 = 0 then 'cancelled' else 'succeeded' end`,
  });
  await sql`
    insert into job_hours (organization_id, hour, status, jobs, row_count, byte_count)
    select organization_id, ended_at / 3600000 * 3600000, status, count(*), sum(row_count), sum(byte_count)
    from jobs where ended_at is not null group by 1, 2, 3`.execute(db);

  const organization = sql`select organization_id from workspaces where id = ${workspaceId}`;
  await insert('log_entries', workspaces * entriesEach, {
    id: uuid(6, 'i'),
    organization_id: organization,
    type: `case i % 5 when 0 then 'source.created' when 1 then 'sync.failed' else 'sync.succeeded' end`,
    workspace_id: uuid(1, `(i % ${workspaces})`),
    workspace_name: `'customer ' || ${text(`i % ${workspaces}`)}`,
    data: `'{}'`,
    recorded_at: `${start} + i`,
    actor_kind: `case when i % 50021 = 1 then 'operator_token' else 'worker' end`,
    actor_id: 'null',
    outcome: `case when i % 5003 = 1 then 'refused' else 'done' end`,
    trail_position: 'i + 1',
    position: 'i + 1',
    sequenced_at: `${start} + i`,
  });
  const entries = workspaces * entriesEach;
  await sql`
    insert into log_heads (organization_id, position, trail_position, sequenced_at, hash, checkpoint_position,
      checkpoint_at, cut_until, events_after)
    values ((${organization}), ${entries}, ${entries}, ${start + entries}, null, 0, 0, 0, 0)
    on conflict (organization_id) do update
      set position = excluded.position, trail_position = excluded.trail_position`.execute(db);
  await sql`
    insert into webhook_endpoints (id, organization_id, workspace_id, url, types, sealed_headers, signing, sealed_keys,
      ordered, enabled, read_until, lease_until, not_before, failing_told, created_at, updated_at)
    values (${endpointId}, (${organization}), null, 'https://example.com/hook', '["*"]', '', 'hmac', '',
      0, 1, ${entries}, 0, 0, 0, ${start}, ${start})`.execute(db);
  await insert('webhook_deliveries', entries, {
    endpoint_id: id(endpointId),
    organization_id: organization,
    event_id: uuid(6, 'i'),
    position: 'i + 1',
    event_type: `'sync.succeeded'`,
    state: `case when i % 50021 = 2 then 'failed' else 'delivered' end`,
    attempts: '1',
    created_at: `${start} + i`,
    delivered_at: `${start} + i`,
    attempt_list: `'[]'`,
  });

  /** Rows of the workspace, many times, with some columns that differ. */
  async function copy(table: string, count: number, changed: Record<string, string>): Promise<void> {
    const ofWorkspace = sql`${sql.ref(table === 'workspaces' ? 'id' : 'workspace_id')} = ${workspaceId}`;
    const { rows } = await sql<object>`select * from ${sql.table(table)} where ${ofWorkspace}`.execute(db);
    const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== 'name_parts');
    const values = Object.fromEntries(columns.map((column) => [column, changed[column] ?? `one.${column}`]));
    await insert(table, count, values, sql`(select * from ${sql.table(table)} where ${ofWorkspace}) as one cross join`);
  }

  /** In pieces: a statement on SQLite holds up everything else while it runs, also an interruption. */
  async function insert(
    table: string,
    count: number,
    values: Record<string, string | RawBuilder<unknown>>,
    from: RawBuilder<unknown> = sql``,
  ): Promise<void> {
    const columns = Object.keys(values).map((column) => sql.ref(column));
    const given = Object.values(values).map((value) => (typeof value === 'string' ? sql.raw(value) : sql`(${value})`));
    // What is done with each new workspace needs its indexes.
    const makeIndexes = table === 'workspaces' ? async () => {} : await dropIndexes(db, kind, table);
    for (let start = 0; start < count; start += atATime) {
      const last = Math.min(start + atATime, count) - 1;
      await sql`
        insert into ${sql.table(table)} (${sql.join(columns)})
        with recursive numbers (i) as (
          select cast(${sql.lit(start)} as bigint) union all select i + 1 from numbers where i < ${sql.lit(last)})
        select ${sql.join(given)} from ${from} numbers`.execute(db);
    }
    await makeIndexes();
  }
}

/** Takes away the indexes that only make reading quicker, and gives the way to have them again. */
async function dropIndexes(db: Db, kind: Store['kind'], table: string): Promise<() => Promise<void>> {
  const { rows } =
    kind === 'postgres'
      ? await sql<{ name: string; definition: string }>`
          select indexname as name, indexdef as definition from pg_indexes
          where tablename = ${table} and indexdef not like 'CREATE UNIQUE%'`.execute(db)
      : await sql<{ name: string; definition: string }>`
          select name, sql as definition from sqlite_master
          where type = 'index' and tbl_name = ${table} and sql is not null and sql not like '%unique%'`.execute(db);
  for (const { name } of rows) await sql`drop index ${sql.ref(name)}`.execute(db);
  return async () => {
    for (const { definition } of rows) await sql.raw(definition).execute(db);
  };
}
