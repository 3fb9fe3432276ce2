/*
 * Deleting, and what goes with it: a workspace takes everything inside it along, a source or destination its
 * connections. Rows stay as tombstones.
 *
 * Always true: a deletion is one transaction with one time on every row it touches, so nobody ever sees half of it;
 * no living row refers to a deleted one; the secrets of a deleted connector are gone from its row.
 */
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely';
import { getConnection } from './connections.ts';
import { configurationWithoutSecrets, getConnector } from './connectors.ts';
import type { ConnectorKind } from './definitions.ts';
import type { Platform } from './platform.ts';
import type { ConnectorRow, Store, Tables } from './store.ts';
import { getWorkspace } from './workspaces.ts';

export async function deleteWorkspace(platform: Platform, workspaceId: string): Promise<void> {
  const deletedAt = platform.now();
  await platform.store.transaction().execute(async (trx) => {
    const { workspace_id } = await getWorkspace(trx, workspaceId);
    await deprecateConnections(trx, deletedAt, (eb) => eb('workspace_id', '=', workspace_id));
    const connectors = await trx
      .selectFrom('connectors')
      .selectAll()
      .where('workspace_id', '=', workspace_id)
      .where('deleted_at', 'is', null)
      .execute();
    for (const connector of connectors) await tombstoneConnector(platform, trx, connector, deletedAt);
    await trx
      .updateTable('workspaces')
      .set({ deleted_at: deletedAt })
      .where('workspace_id', '=', workspace_id)
      .execute();
  });
}

export async function deleteConnector(platform: Platform, kind: ConnectorKind, connectorId: string): Promise<void> {
  const deletedAt = platform.now();
  await platform.store.transaction().execute(async (trx) => {
    const connector = await getConnector(trx, kind, connectorId);
    await deprecateConnections(trx, deletedAt, (eb) => eb(`${kind}_id`, '=', connector.connector_id));
    await tombstoneConnector(platform, trx, connector, deletedAt);
  });
}

export async function deleteConnection(platform: Platform, connectionId: string): Promise<void> {
  const deletedAt = platform.now();
  await platform.store.transaction().execute(async (trx) => {
    const { connection_id } = await getConnection(trx, connectionId);
    await deprecateConnections(trx, deletedAt, (eb) => eb('connection_id', '=', connection_id));
  });
}

type WhichConnections = (
  eb: ExpressionBuilder<Tables, 'connections'>,
) => ExpressionWrapper<Tables, 'connections', SqlBool>;

async function deprecateConnections(trx: Store, deletedAt: number, which: WhichConnections): Promise<void> {
  await trx
    .updateTable('connections')
    .set({ status: 'deprecated', deleted_at: deletedAt })
    .where(which)
    .where('deleted_at', 'is', null)
    .execute();
}

async function tombstoneConnector(platform: Platform, trx: Store, connector: ConnectorRow, deletedAt: number) {
  await trx
    .updateTable('connectors')
    .set({
      configuration: JSON.stringify(configurationWithoutSecrets(platform, connector)),
      deleted_at: deletedAt,
    })
    .where('connector_id', '=', connector.connector_id)
    .execute();
}
