/** The SQL of `rollouts` and `rollout_items`. */
import type { RolloutItemState, RolloutState } from '@inlay/contract/catalog/rollouts';
import { sql } from 'kysely';
import { insertionOf } from '../kernel/db/given-rows.ts';
import { isFreeFor, leaseFor, noLease } from '../kernel/db/leases.ts';
import { now } from '../kernel/db/moments.ts';
import type { Db } from '../kernel/db/open.ts';
import type { RolloutItemRow, RolloutRow } from '../kernel/db/tables.ts';
import { uuidOf } from '../kernel/db/uuid-type.ts';
import type { TemplateRef } from '../kernel/template-ref.ts';
import { isUsed, mayBeOnPlatform } from '../pipelines/row-conditions.ts';

/**
 * The workspaces with something of the template that is to have, or still has on the platform, an older version than this
 * one. In the order of their ids, which is as good as chance.
 */
export async function listWorkspacesBehind(
  tx: Db,
  { organizationId, kind, templateId }: TemplateRef,
  version: number,
): Promise<string[]> {
  const ofSources = tx
    .selectFrom('sources')
    .select('workspace_id')
    .where('organization_id', '=', organizationId)
    .where('source_template_id', '=', templateId)
    .where('lifecycle', '=', 'live')
    .where('applied_template_version', '<', version);
  const ofConnections = tx
    .selectFrom('connections')
    .select('workspace_id')
    .where('organization_id', '=', organizationId)
    .where('connection_template_id', '=', templateId)
    .where('deleted_at', 'is', null)
    .where('is_leaving', '=', 0)
    .where('applied_template_version', '<', version);
  const ofDestinations = destinationsOf(tx, organizationId, templateId)
    .select('workspace_id')
    .where('applied_template_version', '<', version);
  const rows =
    kind === 'source'
      ? await ofSources.distinct().orderBy('workspace_id').execute()
      : await ofConnections.union(ofDestinations).orderBy('workspace_id').execute();
  return rows.map((row) => row.workspace_id);
}

/**
 * Those that a connection writes to, or that the platform has all the same, with the credentials in them: a destination
 * outlives its connections.
 */
function destinationsOf(db: Db, organizationId: string, templateId: string) {
  return db
    .selectFrom('destinations')
    .where('destinations.organization_id', '=', organizationId)
    .where('destinations.connection_template_id', '=', templateId)
    .where('destinations.deleted_at', 'is', null)
    .where((when) => when.or([mayBeOnPlatform, isUsed]));
}

export async function countSourcesBehind(tx: Db, { organizationId, templateId }: TemplateRef, version: number) {
  const row = await tx
    .selectFrom('sources')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', organizationId)
    .where('source_template_id', '=', templateId)
    .where('lifecycle', '=', 'live')
    .where('applied_template_version', '<', version)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Those with a source whose template has one of the tags. */
export async function listTaggedWorkspaces(db: Db, organizationId: string, tags: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('sources')
    .innerJoin('source_template_tags as tagging', 'tagging.template_id', 'sources.source_template_id')
    .innerJoin('template_tags', 'template_tags.id', 'tagging.tag_id')
    .select('sources.workspace_id')
    .distinct()
    .where('sources.organization_id', '=', organizationId)
    .where('sources.lifecycle', '=', 'live')
    .where('template_tags.name', 'in', tags)
    .execute();
  return new Set(rows.map((row) => row.workspace_id));
}

/** A rollout before a change and after it. */
export interface ChangedRollout {
  before: RolloutRow;
  after: RolloutRow;
}

/** Stops what the template has open, for a later rollout. */
export async function supersede(tx: Db, organizationId: string, templateId: string): Promise<ChangedRollout[]> {
  const open = () =>
    tx
      .updateTable('rollouts')
      .where('organization_id', '=', organizationId)
      .where('template_id', '=', templateId)
      .where('state', 'in', ['running', 'paused'])
      .returningAll();
  const locked = new Map((await open().set(nothing).execute()).map((row) => [row.id, row]));
  const stopped = await open()
    .set({ state: 'stopped', state_reason: 'Replaced by a newer rollout.', ended_at: now })
    .execute();
  return stopped.map((after) => ({ before: locked.get(after.id) ?? after, after }));
}

/** Locks a row and leaves it as it is. */
const nothing = { plan: sql<string>`plan` };

/** Includes deleted templates. */
export async function findTemplateName(db: Db, { organizationId, kind, templateId }: TemplateRef): Promise<string> {
  const [table, name] = kind === 'source' ? ['source_templates', 'name'] : ['connection_templates', 'destination_name'];
  const { rows } = await sql<{ name: string }>`
    select ${sql.ref(name)} as name from ${sql.table(table)}
    where organization_id = ${organizationId} and id = ${templateId}`.execute(db);
  return rows[0]?.name ?? '';
}

type NewRollout = Pick<RolloutRow, 'id' | 'kind' | 'template_id' | 'action' | 'version' | 'plan' | 'stage' | 'made_by'>;

export async function insertRollout(tx: Db, organizationId: string, rollout: NewRollout): Promise<RolloutRow> {
  return await tx
    .insertInto('rollouts')
    .values({
      ...rollout,
      organization_id: organizationId,
      state: 'running',
      state_reason: null,
      created_at: now,
      ended_at: null,
      ...noLease,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

const itemsAtOnce = 5_000;

export async function insertItems(
  tx: Db,
  organizationId: string,
  rolloutId: string,
  stages: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = [...stages].map(([workspace, stage]) => ({ workspace, stage: String(stage) }));
  for (let from = 0; from < rows.length; from += itemsAtOnce) {
    const insertion = insertionOf(tx, { workspace: 'uuid', stage: 'text' }, rows.slice(from, from + itemsAtOnce), {
      rollout_id: sql`cast(${rolloutId} as ${uuidOf(tx)})`,
      organization_id: sql`cast(${organizationId} as ${uuidOf(tx)})`,
      workspace_id: sql`given.workspace`,
      stage: sql`cast(given.stage as integer)`,
      state: sql`${sql.lit('waiting')}`,
      failed_before: sql`${sql.lit(0)}`,
    });
    await tx.insertInto('rollout_items').columns(insertion.columns).expression(insertion.expression).execute();
  }
}

export async function findRollout(
  db: Db,
  { organizationId, templateId }: TemplateRef,
  id: string,
): Promise<RolloutRow | undefined> {
  return await db
    .selectFrom('rollouts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('template_id', '=', templateId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Newest first. */
export async function listRollouts(
  db: Db,
  { organizationId, templateId }: TemplateRef,
  limit: number,
): Promise<RolloutRow[]> {
  return await db
    .selectFrom('rollouts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('template_id', '=', templateId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Undefined when it is in none of the states it may leave. */
export async function changeState(
  tx: Db,
  organizationId: string,
  id: string,
  change: { from: readonly RolloutState[]; to: RolloutState; reason: string | null },
): Promise<ChangedRollout | undefined> {
  const isEnd = change.to === 'stopped' || change.to === 'finished';
  const values = { state: change.to, state_reason: change.reason, ...(isEnd && { ended_at: now }) };
  return await changeRollout(tx, organizationId, id, values, ({ state }) => change.from.includes(state));
}

async function changeRollout(
  tx: Db,
  organizationId: string,
  id: string,
  values: { state: RolloutState; state_reason: string | null; stage?: number },
  mayChange: (row: RolloutRow) => boolean,
): Promise<ChangedRollout | undefined> {
  const row = () =>
    tx.updateTable('rollouts').where('organization_id', '=', organizationId).where('id', '=', id).returningAll();
  const before = await row().set(nothing).executeTakeFirst();
  if (!before || !mayChange(before)) return undefined;
  return { before, after: await row().set(values).executeTakeFirstOrThrow() };
}

/** The turn of a later stage has come. */
export async function beginStage(
  tx: Db,
  organizationId: string,
  id: string,
  begun: { stage: number; state: RolloutState; state_reason: string | null },
): Promise<ChangedRollout | undefined> {
  const mayBegin = ({ state, stage }: RolloutRow) => state === 'running' && stage < begun.stage;
  return await changeRollout(tx, organizationId, id, begun, mayBegin);
}

export interface StateCount {
  stage: number;
  state: RolloutItemState;
  count: number;
}

export async function countItems(db: Db, organizationId: string, rolloutId: string): Promise<StateCount[]> {
  const rows = await db
    .selectFrom('rollout_items')
    .select(['stage', 'state', sql<number>`count(*)`.as('count')])
    .where('organization_id', '=', organizationId)
    .where('rollout_id', '=', rolloutId)
    .groupBy(['stage', 'state'])
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

export async function listItems(
  db: Db,
  organizationId: string,
  rolloutId: string,
  {
    state,
    stage,
    after,
    limit,
  }: { state?: RolloutItemState | undefined; stage?: number; after?: string | undefined; limit: number },
): Promise<RolloutItemRow[]> {
  let query = db
    .selectFrom('rollout_items')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('rollout_id', '=', rolloutId);
  if (state !== undefined) query = query.where('state', '=', state);
  if (stage !== undefined) query = query.where('stage', '=', stage);
  if (after !== undefined) query = query.where('workspace_id', '>', after);
  return await query.orderBy('workspace_id').limit(limit).execute();
}

/** Only while it is in that state: nobody undoes what another has found. */
export async function changeItem(
  tx: Db,
  organizationId: string,
  { rollout_id, workspace_id, state: from }: RolloutItemRow,
  change: Partial<Pick<RolloutItemRow, 'state' | 'reason' | 'failed_before'>>,
): Promise<void> {
  await tx
    .updateTable('rollout_items')
    .set(change)
    .where('organization_id', '=', organizationId)
    .where('rollout_id', '=', rollout_id)
    .where('workspace_id', '=', workspace_id)
    .where('state', '=', from)
    .execute();
}

/** The rollout, unless another process is at work on it; from now on this process is. */
export async function leaseRollout(
  db: Db,
  organizationId: string,
  id: string,
  leaseId: string,
  leaseMs: number,
): Promise<RolloutRow | undefined> {
  return await db
    .updateTable('rollouts')
    .set(leaseFor(leaseId, leaseMs))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where(isFreeFor(leaseId))
    .returningAll()
    .executeTakeFirst();
}

export async function releaseRollout(db: Db, organizationId: string, id: string, leaseId: string): Promise<void> {
  await db
    .updateTable('rollouts')
    .set(noLease)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('lease_id', '=', leaseId)
    .execute();
}

/** How what was changed in a workspace does by now. */
export interface Standing {
  workspace_id: string;
  /** 0 or 1: the set-up worker has still something to do. */
  pending: number;
  /** 0 or 1: the platform does not have the version. */
  behind: number;
  failure: string | null;
}

export async function standingsOf(
  db: Db,
  { organizationId, kind, templateId }: TemplateRef,
  version: number,
  workspaceIds: string[],
): Promise<Standing[]> {
  if (workspaceIds.length === 0) return [];
  const most = (condition: ReturnType<typeof sql>) => sql<number>`max(case when ${condition} then 1 else 0 end)`;
  const query =
    kind === 'source'
      ? db
          .selectFrom('sources')
          .select('sources.workspace_id')
          .select([
            most(sql`due_at is not null`).as('pending'),
            most(sql`applied_template_version < ${version}`).as('behind'),
            sql<string | null>`max(failure)`.as('failure'),
          ])
          .where('organization_id', '=', organizationId)
          .where('source_template_id', '=', templateId)
          .where('lifecycle', '=', 'live')
          .where('workspace_id', 'in', workspaceIds)
          .groupBy('workspace_id')
      : destinationsOf(db, organizationId, templateId)
          .leftJoin('connections', (join) =>
            join
              .onRef('connections.workspace_id', '=', 'destinations.workspace_id')
              .onRef('connections.connection_template_id', '=', 'destinations.connection_template_id')
              .on('connections.deleted_at', 'is', null)
              .on('connections.is_leaving', '=', 0),
          )
          .leftJoin('sources', 'sources.id', 'connections.source_id')
          .select('destinations.workspace_id')
          .select([
            most(sql`sources.due_at is not null`).as('pending'),
            most(
              sql`connections.applied_template_version < ${version} or destinations.applied_template_version < ${version}`,
            ).as('behind'),
            sql<string | null>`max(coalesce(destinations.failure, connections.failure, sources.failure))`.as('failure'),
          ])
          .where('destinations.workspace_id', 'in', workspaceIds)
          .groupBy('destinations.workspace_id');
  return await query.execute();
}
