/** The SQL of `connectors` for work over all workspaces: sealing, and what the operator asks on the command line. */
import type { Db } from '../db/open.ts';
import type { ActorRow } from '../db/tables.ts';

type SealedRow = Pick<ActorRow, 'connector_id' | 'configuration'>;

/** Deleted ones included: what is left of their configurations is sealed as well. */
export async function listConfigurations(tx: Db): Promise<SealedRow[]> {
  return await tx.selectFrom('connectors').select(['connector_id', 'configuration']).execute();
}

/** Those that are a JSON object; a sealed configuration is a JSON string. */
export async function listPlainConfigurations(tx: Db): Promise<SealedRow[]> {
  return await tx
    .selectFrom('connectors')
    .select(['connector_id', 'configuration'])
    .where('configuration', 'like', '{%')
    .execute();
}

export async function findSealedConfiguration(db: Db): Promise<SealedRow | undefined> {
  return await db
    .selectFrom('connectors')
    .select(['connector_id', 'configuration'])
    .where('configuration', 'like', '"%')
    .limit(1)
    .executeTakeFirst();
}

export async function replaceConfiguration(tx: Db, actorId: string, before: string, after: string): Promise<void> {
  await tx
    .updateTable('connectors')
    .set({ configuration: after })
    .where('connector_id', '=', actorId)
    .where('configuration', '=', before)
    .execute();
}

export async function listNamesByDefinition(tx: Db, definitionId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('connectors')
    .select('name')
    .where('definition_id', '=', definitionId)
    .where('deleted_at', 'is', null)
    .execute();
  return rows.map(({ name }) => name);
}
