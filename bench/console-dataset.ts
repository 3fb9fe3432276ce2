/*
 * What an operator with many customers has: to each workspace three sources, three connections and fifty jobs of the last
 * thirty days, ten entries in the log and ten deliveries of webhooks. A twentieth of all fails or needs someone, for one of
 * ten reasons; some jobs run and wait.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { fill, fillLog, orderedId, organizationId } from './dataset.ts';
import { type Store, seedPipelines } from './product.ts';

const connectionsEach = 3;
export const jobsEach = 50;
const entriesEach = 10;
const dayMs = 24 * 3_600_000;
const patienceMs = 3_600_000;

/** The workspace is the first of all, which does well. */
export type ConsoleDataset = Record<
  | 'workspaceId'
  | 'connectionId'
  | 'sourceId'
  | 'sourceTemplateId'
  | 'connectionTemplateId'
  | 'definitionId'
  | 'endpointId',
  string
>;

export const causeOf = (reason: number) => `${reason}`.padStart(32, '0');

export async function fillConsole(store: Store, workspaces: number, signal: AbortSignal): Promise<ConsoleDataset> {
  const { seeded, ...templates } = await seedPipelines(store, { organizationId, workspaces: 1, jobsEach: 1 });
  const [first] = seeded;
  if (!first) throw new Error('nothing was created');
  const { workspaceId, connectionId, sourceId } = first;
  const endpointId = randomUUID();
  const { db } = store;
  const entries = workspaces * entriesEach;
  const start = Date.now() - 30 * dayMs;
  const isUnwell = (workspace: number) => workspace % 20 === 1;
  const isNeedy = (workspace: number) => workspace % 40 === 21;
  const healthOf = (workspace: number) => ({
    health: isNeedy(workspace) ? 'needs_attention' : isUnwell(workspace) ? 'failing' : 'healthy',
  });
  const unwellDetail = JSON.stringify({
    since: start,
    failuresInARow: 3,
    firstError: { kind: 'transient_error', origin: 'source', message: 'The line was cut.', customerMessage: null },
    lastGoodAt: start,
    isTryingAgain: false,
    attention: null,
  });

  /** Rows of the workspace, many times, with some columns that differ. */
  async function copy(table: string, count: number, changed: (index: number) => object): Promise<void> {
    const ofWorkspace = sql`${sql.ref(table === 'workspaces' ? 'id' : 'workspace_id')} = ${workspaceId}`;
    const { rows } = await sql<object>`select * from ${sql.table(table)} where ${ofWorkspace}`.execute(db);
    const { name_parts: _, ...same } = rows[0] as Record<string, unknown>;
    const { created_at: first } = same;
    const later = (index: number) => (first === undefined ? {} : { created_at: Number(first) + 1 + index });
    const rowOf = (index: number) => ({ ...later(index), ...changed(index) });
    const work = () => fill(db, table, { count, same, rowOf, signal });
    // What is done with each new workspace needs its indexes.
    await (table === 'workspaces' ? work() : withoutIndexes(store, table, work));
  }
  await copy('workspaces', workspaces, (i) => ({
    id: orderedId(1, i),
    name: `customer ${i}`,
    name_folded: `customer ${i}`,
    ...healthOf(i),
    unwell_since: isUnwell(i) ? start + i : null,
    active_at: start + ((i * 7919) % 100_000),
  }));
  const placeOf = (table: number, i: number) => {
    const workspace = Math.floor(i / (table === 3 ? 1 : connectionsEach));
    return {
      workspace,
      ids: { id: orderedId(table, i), platform_id: orderedId(table, i), workspace_id: orderedId(1, workspace) },
    };
  };
  await copy('sources', workspaces * connectionsEach, (i) => {
    const { workspace, ids } = placeOf(2, i);
    return { ...ids, slug: `shop-${i}`, ...healthOf(workspace) };
  });
  await copy('destinations', workspaces, (i) => placeOf(3, i).ids);
  await copy('connections', workspaces * connectionsEach, (i) => {
    const { workspace, ids } = placeOf(4, i);
    const whose = workspace % 80 === 21 ? 'customer' : 'operator';
    return {
      ...ids,
      source_id: orderedId(2, i),
      destination_id: orderedId(3, workspace),
      ...healthOf(workspace),
      health_detail: isUnwell(workspace) ? unwellDetail : '{}',
      cause: isUnwell(workspace) ? causeOf(i % 10) : null,
      attention_by: isNeedy(workspace) ? whose : null,
      unwell_since: isUnwell(workspace) ? start + i : null,
      stale_at: start + (i % 1000) + (i % 50 === 0 ? 0 : 100 * dayMs),
    };
  });
  await copy('jobs', workspaces * jobsEach, (i) => {
    const workspace = Math.floor(i / jobsEach);
    const connection = workspace * connectionsEach + (i % connectionsEach);
    const started_at = start + (i % jobsEach) * Math.floor((30 * dayMs) / jobsEach) + (workspace % 50_000) * 1000;
    // The last job of some workspaces has not ended.
    const open = i % jobsEach === jobsEach - 1 ? { 2: 'running', 3: 'pending', 4: 'incomplete' }[workspace % 100] : '';
    const ended = isUnwell(workspace) ? 'failed' : i % 997 === 0 ? 'cancelled' : 'succeeded';
    return {
      id: `${i + 10}`,
      platform_id: `${i + 10}`,
      workspace_id: orderedId(1, workspace),
      source_id: orderedId(2, connection),
      connection_id: orderedId(4, connection),
      started_at,
      ended_at: open ? null : started_at + 30_000,
      status: open || ended,
    };
  });
  await sql`
    insert into job_hours (organization_id, hour, status, jobs, row_count, byte_count)
    select organization_id, ended_at / 3600000 * 3600000, status, count(*), sum(row_count), sum(byte_count)
    from jobs where ended_at is not null group by 1, 2, 3`.execute(db);

  const entryOf = (i: number) => ({
    type: ['source.created', 'sync.failed'][i % 5] ?? 'sync.succeeded',
    workspace_id: orderedId(1, i % workspaces),
    workspace_name: `customer ${i % workspaces}`,
    recorded_at: start + i,
    actor_kind: i % 50_021 === 1 ? 'operator_token' : 'worker',
    outcome: i % 5003 === 1 ? 'refused' : 'done',
    sequenced_at: start + i,
  });
  await withoutIndexes(store, 'log_entries', () => fillLog(db, { count: entries, rowOf: entryOf, signal }));
  const owner = { organization_id: organizationId };
  await fill(db, 'webhook_endpoints', {
    count: 1,
    same: { ...owner, url: 'https://example.com/hook', types: '["*"]', sealed_headers: '', signing: 'hmac' },
    rowOf: () => ({
      ...{ id: endpointId, sealed_keys: '', ordered: 0, enabled: 1, read_until: entries, lease_until: 0 },
      ...{ not_before: 0, failing_told: 0, created_at: start, updated_at: start },
    }),
  });
  const delivery = { ...owner, endpoint_id: endpointId, event_type: 'sync.succeeded', attempts: 1, attempt_list: '[]' };
  const deliveryOf = (i: number) => ({
    event_id: orderedId(6, i),
    position: i + 1,
    state: i % 50_021 === 2 ? 'failed' : 'delivered',
    created_at: start + i,
    delivered_at: start + i,
  });
  await withoutIndexes(store, 'webhook_deliveries', () =>
    fill(db, 'webhook_deliveries', { count: entries, same: delivery, rowOf: deliveryOf, signal }),
  );
  return { workspaceId, connectionId, sourceId, ...templates, endpointId };
}

/** Takes away the indexes that only make reading quicker, and makes them again after the work. */
async function withoutIndexes(store: Store, table: string, work: () => Promise<void>): Promise<void> {
  const { rows } =
    store.kind === 'postgres'
      ? await sql<{ name: string; definition: string }>`
          select indexname as name, indexdef as definition from pg_indexes
          where tablename = ${table} and indexdef not like 'CREATE UNIQUE%'`.execute(store.db)
      : await sql<{ name: string; definition: string }>`
          select name, sql as definition from sqlite_master
          where type = 'index' and tbl_name = ${table} and sql is not null and sql not like '%unique%'`.execute(
          store.db,
        );
  for (const { name } of rows) await sql`drop index ${sql.ref(name)}`.execute(store.db);
  await work();
  await store.exclusively(async (db) => {
    for (const { definition } of rows) await sql.raw(definition).execute(db);
  }, patienceMs);
}
