/**
 * The SQL of `connectors`, the table of sources and destinations. The API names them by id alone, so a look-up by id
 * also returns the workspace; every change is bound to that workspace.
 */
import { isListed } from '../db/listed-rows.ts';
import type { Db } from '../db/open.ts';
import type { ActorRow } from '../db/tables.ts';
import type { ListQuery } from '../fields.ts';

export async function insertActor(
  tx: Db,
  workspaceId: string,
  actor: Omit<ActorRow, 'seq' | 'workspace_id'>,
): Promise<ActorRow> {
  return await tx
    .insertInto('connectors')
    .values({ workspace_id: workspaceId, ...actor })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Oldest first. */
export async function listActors(db: Db, kind: ActorRow['kind'], query: ListQuery): Promise<ActorRow[]> {
  return await db
    .selectFrom('connectors')
    .selectAll()
    .where('kind', '=', kind)
    .where(isListed(query))
    .orderBy('seq')
    .limit(query.limit)
    .offset(query.offset)
    .execute();
}

export async function findActorById(db: Db, kind: ActorRow['kind'], actorId: string): Promise<ActorRow | undefined> {
  return await db
    .selectFrom('connectors')
    .selectAll()
    .where('kind', '=', kind)
    .where('connector_id', '=', actorId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

export async function listActorsOf(tx: Db, workspaceId: string): Promise<ActorRow[]> {
  return await tx
    .selectFrom('connectors')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .execute();
}

/** Undefined if it has been deleted. */
export async function updateActor(
  tx: Db,
  workspaceId: string,
  actorId: string,
  changes: Partial<
    Pick<ActorRow, 'name' | 'configuration' | 'credential' | 'resource_allocation' | 'is_customers_own' | 'deleted_at'>
  >,
): Promise<ActorRow | undefined> {
  return await tx
    .updateTable('connectors')
    .set(changes)
    .where('workspace_id', '=', workspaceId)
    .where('connector_id', '=', actorId)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}
