/** The SQL of `template_plans` and `template_plan_items`, and of what a plan looks at. */
import type {
  PlanCounts,
  PlannedData,
  PlanOutcome,
  PlanOutcomeCounts,
  TemplatePlanItem,
} from '@inlay/contract/catalog/template-plans';
import { sql } from 'kysely';
import { insertionOf } from '../kernel/db/given-rows.ts';
import { now } from '../kernel/db/moments.ts';
import type { Db } from '../kernel/db/open.ts';
import type { ConnectionRow, SourceRow, TemplatePlanItemRow, TemplatePlanRow } from '../kernel/db/tables.ts';
import { uuidOf } from '../kernel/db/uuid-type.ts';
import type { TemplateRef } from '../kernel/template-ref.ts';

type NewPlan = Pick<TemplatePlanRow, 'id' | 'kind' | 'template_id' | 'base_version' | 'sealed_request' | 'made_by'>;

export async function insertPlan(db: Db, organizationId: string, plan: NewPlan, lifetimeMs: number): Promise<void> {
  await db
    .insertInto('template_plans')
    .values({
      ...plan,
      organization_id: organizationId,
      summary: null,
      items: 0,
      created_at: now,
      expires_at: sql<number>`now_ms() + ${sql.lit(lifetimeMs)}`,
    })
    .execute();
}

/** The outcome for a source in a plan of a source template, otherwise for a connection. */
export interface Judged
  extends Pick<
    TemplatePlanItemRow,
    'workspace_id' | 'source_id' | 'connections' | 'template_version' | 'seen' | 'outcome' | 'reason'
  > {
  id: string;
  created_at: number;
  detail: Pick<TemplatePlanItem, 'fields' | 'streams_dropped' | 'streams_left' | 'tables_moved'>;
}

export async function insertItems(db: Db, organizationId: string, planId: string, items: Judged[]): Promise<void> {
  if (items.length === 0) return;
  const rows = items.map((item) => ({
    item: item.id,
    workspace: item.workspace_id,
    source: item.source_id,
    connections: String(item.connections),
    template_version: String(item.template_version),
    seen: String(item.seen),
    outcome: item.outcome,
    reason: item.reason ?? '',
    drops_streams: item.detail.streams_dropped.length > 0 || item.detail.streams_left !== null ? '1' : '0',
    moves_tables: item.detail.tables_moved === null ? '0' : '1',
    detail: JSON.stringify(item.detail),
  }));
  const types = {
    item: 'uuid',
    workspace: 'uuid',
    source: 'uuid',
    connections: 'text',
    template_version: 'text',
    seen: 'text',
    outcome: 'text',
    reason: 'text',
    drops_streams: 'text',
    moves_tables: 'text',
    detail: 'text',
  } as const;
  const insertion = insertionOf(db, types, rows, {
    plan_id: sql`cast(${planId} as ${uuidOf(db)})`,
    organization_id: sql`cast(${organizationId} as ${uuidOf(db)})`,
    item_id: sql`given.item`,
    workspace_id: sql`given.workspace`,
    source_id: sql`given.source`,
    connections: sql`cast(given.connections as integer)`,
    template_version: sql`cast(given.template_version as integer)`,
    seen: sql`cast(given.seen as bigint)`,
    outcome: sql`given.outcome`,
    reason: sql`nullif(given.reason, '')`,
    drops_streams: sql`cast(given.drops_streams as integer)`,
    moves_tables: sql`cast(given.moves_tables as integer)`,
    detail: sql`given.detail`,
  });
  await db.insertInto('template_plan_items').columns(insertion.columns).expression(insertion.expression).execute();
}

export interface Found {
  items: number;
  touches: PlanCounts;
  outcomes: PlanOutcomeCounts;
  data: PlannedData;
}

export async function sumUp(db: Db, organizationId: string, planId: string): Promise<Found> {
  const items = db
    .selectFrom('template_plan_items')
    .where('organization_id', '=', organizationId)
    .where('plan_id', '=', planId);
  const counts = await items
    .select(['outcome', sql<number>`count(*)`.as('count')])
    .groupBy('outcome')
    .execute();
  const touched = await items
    .select([
      sql<number>`count(distinct workspace_id)`.as('workspaces'),
      sql<number>`count(distinct source_id)`.as('sources'),
      sql<number>`coalesce(sum(connections), 0)`.as('connections'),
    ])
    .where('outcome', '<>', 'unchanged')
    .executeTakeFirstOrThrow();
  const data = await items
    .select([
      sql<number>`coalesce(sum(drops_streams), 0)`.as('streams_dropped'),
      sql<number>`coalesce(sum(moves_tables), 0)`.as('tables_moved'),
    ])
    .executeTakeFirstOrThrow();
  const countOf = (outcome: PlanOutcome) => Number(counts.find((one) => one.outcome === outcome)?.count ?? 0);
  return {
    items: counts.reduce((total, { count }) => total + Number(count), 0),
    touches: {
      workspaces: Number(touched.workspaces),
      sources: Number(touched.sources),
      connections: Number(touched.connections),
    },
    outcomes: {
      changes: countOf('changes'),
      unchanged: countOf('unchanged'),
      needs_customer: countOf('needs_customer'),
      breaks: countOf('breaks'),
    },
    data: { streams_dropped: Number(data.streams_dropped), tables_moved: Number(data.tables_moved) },
  };
}

export async function finishPlan(
  db: Db,
  organizationId: string,
  id: string,
  found: { summary: string; items: number },
): Promise<TemplatePlanRow> {
  return await db
    .updateTable('template_plans')
    .set(found)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A plan that is still being made, or was left half-made, is not found. */
export async function findPlan(
  db: Db,
  { organizationId, templateId }: TemplateRef,
  id: string,
): Promise<TemplatePlanRow | undefined> {
  return await db
    .selectFrom('template_plans')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('template_id', '=', templateId)
    .where('id', '=', id)
    .where('summary', 'is not', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

export async function listItems(
  db: Db,
  organizationId: string,
  planId: string,
  { outcome, after, limit }: { outcome: PlanOutcome | undefined; after: string | undefined; limit: number },
): Promise<(TemplatePlanItemRow & { workspace_name: string })[]> {
  let query = db
    .selectFrom('template_plan_items')
    .innerJoin('workspaces', 'workspaces.id', 'template_plan_items.workspace_id')
    .selectAll('template_plan_items')
    .select('workspaces.name as workspace_name')
    .where('template_plan_items.organization_id', '=', organizationId)
    .where('plan_id', '=', planId);
  if (outcome !== undefined) query = query.where('outcome', '=', outcome);
  if (after !== undefined) query = query.where('item_id', '>', after);
  return await query.orderBy('item_id').limit(limit).execute();
}

export async function deletePlan(db: Db, organizationId: string, id: string): Promise<void> {
  for (const [table, column] of [
    ['template_plan_items', 'plan_id'],
    ['template_plans', 'id'],
  ] as const) {
    await db
      .deleteFrom(table)
      .where('organization_id', '=', organizationId)
      .where(sql.ref<string>(column), '=', id)
      .execute();
  }
}

/** Those of the template beyond the newest. */
export async function deleteOlder(db: Db, { organizationId, templateId }: TemplateRef, kept: number): Promise<void> {
  const rows = await db
    .selectFrom('template_plans')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('template_id', '=', templateId)
    .where('summary', 'is not', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(100)
    .offset(kept)
    .execute();
  for (const { id } of rows) await deletePlan(db, organizationId, id);
}

interface Page {
  after: Pick<Judged, 'created_at' | 'id'> | undefined;
  limit: number;
}

export async function listSources(
  db: Db,
  { organizationId, templateId }: TemplateRef,
  { after, limit }: Page,
): Promise<SourceRow[]> {
  let query = db
    .selectFrom('sources')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('source_template_id', '=', templateId)
    .where('lifecycle', '=', 'live')
    .where('deleted_at', 'is', null);
  if (after) query = query.where(sql<boolean>`(created_at, id) > (${after.created_at}, ${after.id})`);
  return await query.orderBy('created_at').orderBy('id').limit(limit).execute();
}

/** By source. */
export async function countConnections(
  db: Db,
  organizationId: string,
  sourceIds: string[],
): Promise<Map<string, number>> {
  if (sourceIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('connections')
    .select(['source_id', sql<number>`count(*)`.as('count')])
    .where('organization_id', '=', organizationId)
    .where('source_id', 'in', sourceIds)
    .where('deleted_at', 'is', null)
    .groupBy('source_id')
    .execute();
  return new Map(rows.map((row) => [row.source_id, Number(row.count)]));
}

/**
 * Stream names from the latest job that reported any, for each connection of the source whose streams follow the
 * template.
 */
export async function listSyncedStreams(db: Db, organizationId: string, sourceId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('connections')
    .select(
      sql<string | null>`(
        select streams from jobs where jobs.connection_id = connections.id and streams is not null
        order by started_at desc, length(jobs.platform_id) desc, jobs.platform_id desc limit 1)`.as('streams'),
    )
    .where('organization_id', '=', organizationId)
    .where('source_id', '=', sourceId)
    .where('own_streams', 'is', null)
    .where('deleted_at', 'is', null)
    .execute();
  const names = rows.flatMap(({ streams }) =>
    (JSON.parse(streams ?? '[]') as { name: string }[]).map(({ name }) => name),
  );
  return new Set(names);
}

export type PlannedConnection = ConnectionRow & { slug: string; workspace_name: string; destination_version: number };

export async function listConnections(
  db: Db,
  { organizationId, templateId }: TemplateRef,
  { after, limit }: Page,
): Promise<PlannedConnection[]> {
  let query = db
    .selectFrom('connections')
    .innerJoin('sources', 'sources.id', 'connections.source_id')
    .innerJoin('destinations', 'destinations.id', 'connections.destination_id')
    .innerJoin('workspaces', 'workspaces.id', 'connections.workspace_id')
    .selectAll('connections')
    .select([
      'sources.slug',
      'workspaces.name as workspace_name',
      'destinations.template_version as destination_version',
    ])
    .where('connections.organization_id', '=', organizationId)
    .where('connections.connection_template_id', '=', templateId)
    .where('connections.deleted_at', 'is', null)
    .where('sources.lifecycle', '=', 'live');
  if (after) {
    query = query.where(sql<boolean>`(connections.created_at, connections.id) > (${after.created_at}, ${after.id})`);
  }
  return await query.orderBy('connections.created_at').orderBy('connections.id').limit(limit).execute();
}

/** How many sources or connections of the template there are, and how many are as the plan saw them. */
export async function compare(
  tx: Db,
  { organizationId, kind, templateId }: TemplateRef,
  planId: string,
): Promise<{ present: number; same: number }> {
  const live =
    kind === 'source'
      ? tx
          .selectFrom('sources')
          .leftJoin('template_plan_items as seen', (join) =>
            join
              .onRef('seen.item_id', '=', 'sources.id')
              .on('seen.plan_id', '=', planId)
              .onRef('seen.seen', '=', 'sources.updated_at')
              .onRef('seen.template_version', '=', 'sources.template_version'),
          )
          .select([sql<number>`count(*)`.as('present'), sql<number>`count(seen.item_id)`.as('same')])
          .where('sources.organization_id', '=', organizationId)
          .where('sources.source_template_id', '=', templateId)
          .where('sources.lifecycle', '=', 'live')
          .where('sources.deleted_at', 'is', null)
      : tx
          .selectFrom('connections')
          .innerJoin('sources', 'sources.id', 'connections.source_id')
          .leftJoin('template_plan_items as seen', (join) =>
            join
              .onRef('seen.item_id', '=', 'connections.id')
              .on('seen.plan_id', '=', planId)
              .onRef('seen.seen', '=', 'connections.version')
              .onRef('seen.template_version', '=', 'connections.template_version'),
          )
          .select([sql<number>`count(*)`.as('present'), sql<number>`count(seen.item_id)`.as('same')])
          .where('connections.organization_id', '=', organizationId)
          .where('connections.connection_template_id', '=', templateId)
          .where('connections.deleted_at', 'is', null)
          .where('sources.lifecycle', '=', 'live');
  const { present, same } = await live.executeTakeFirstOrThrow();
  return { present: Number(present), same: Number(same) };
}
