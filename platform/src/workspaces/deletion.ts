/*
 * Deleting, and what goes with it: a workspace takes everything inside it along, a source or destination its
 * connections. Rows stay as tombstones.
 *
 * Always true: a deletion is one transaction with one time on every row it touches, so nobody ever sees half of it;
 * no living row refers to a deleted one and no job of one goes on; the secrets of a deleted connector are gone from its
 * row. What was written to a destination stays there.
 */
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely';
import { configurationWithoutSecrets, getConnector } from '../actors/actors.ts';
import { type Sealer, sealConfiguration } from '../actors/sealed-configuration.ts';
import { getConnection } from '../connections/connections.ts';
import type { Platform } from '../context.ts';
import type { ConnectorRow, Store, Tables } from '../db/open.ts';
import { type ConnectorKind, type Definition, findDefinition, listDefinitions } from '../definitions/definitions.ts';
import { cancelOpenJobs } from '../jobs/jobs.ts';
import { getWorkspace } from './workspaces.ts';

export async function deleteWorkspace(platform: Platform, workspaceId: string): Promise<void> {
  const deletedAt = platform.now();
  const definitions = await listDefinitions(platform);
  await platform.store.transaction().execute(async (trx) => {
    const { workspace_id } = await getWorkspace(trx, workspaceId);
    await deprecateConnections(trx, deletedAt, (eb) => eb('workspace_id', '=', workspace_id));
    const connectors = await trx
      .selectFrom('connectors')
      .selectAll()
      .where('workspace_id', '=', workspace_id)
      .where('deleted_at', 'is', null)
      .execute();
    for (const connector of connectors) {
      await tombstoneConnector(trx, connector, { sealer: platform.sealer, definitions, deletedAt });
    }
    await trx
      .updateTable('workspaces')
      .set({ deleted_at: deletedAt })
      .where('workspace_id', '=', workspace_id)
      .execute();
  });
  platform.wake();
}

export async function deleteConnector(platform: Platform, kind: ConnectorKind, connectorId: string): Promise<void> {
  const deletedAt = platform.now();
  const definitions = await listDefinitions(platform);
  await platform.store.transaction().execute(async (trx) => {
    const connector = await getConnector(trx, kind, connectorId);
    await deprecateConnections(trx, deletedAt, (eb) => eb(`${kind}_id`, '=', connector.connector_id));
    await tombstoneConnector(trx, connector, { sealer: platform.sealer, definitions, deletedAt });
  });
  platform.wake();
}

export async function deleteConnection(platform: Platform, connectionId: string): Promise<void> {
  const deletedAt = platform.now();
  await platform.store.transaction().execute(async (trx) => {
    const { connection_id } = await getConnection(trx, connectionId);
    await deprecateConnections(trx, deletedAt, (eb) => eb('connection_id', '=', connection_id));
  });
  platform.wake();
}

type WhichConnections = (
  eb: ExpressionBuilder<Tables, 'connections'>,
) => ExpressionWrapper<Tables, 'connections', SqlBool>;

async function deprecateConnections(trx: Store, deletedAt: number, which: WhichConnections): Promise<void> {
  const deprecated = await trx
    .updateTable('connections')
    .set({ status: 'deprecated', next_run_at: null, deleted_at: deletedAt })
    .where(which)
    .where('deleted_at', 'is', null)
    .returning('connection_id')
    .execute();
  const ids = deprecated.map(({ connection_id }) => connection_id);
  if (ids.length === 0) return;
  await cancelOpenJobs(trx, ids, deletedAt);
  for (const table of ['connection_catalogs', 'connection_streams', 'connection_states'] as const) {
    await trx.deleteFrom(table).where('connection_id', 'in', ids).execute();
  }
}

interface Tombstone {
  sealer: Sealer;
  definitions: readonly Definition[];
  deletedAt: number;
}

async function tombstoneConnector(
  trx: Store,
  connector: ConnectorRow,
  { sealer, definitions, deletedAt }: Tombstone,
): Promise<void> {
  const { connector_id, kind, definition_id } = connector;
  const shown = configurationWithoutSecrets(sealer, findDefinition(definitions, kind, definition_id), connector);
  await trx
    .updateTable('connectors')
    .set({ configuration: sealConfiguration(sealer, connector_id, shown), deleted_at: deletedAt })
    .where('connector_id', '=', connector_id)
    .execute();
  await trx.deleteFrom('discovered_catalogs').where('source_id', '=', connector_id).execute();
}
