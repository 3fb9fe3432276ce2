/*
 * Connector configurations at rest. They hold secrets, so a row's `configuration` is the whole of it sealed, written as
 * a JSON string. A configuration that is not sealed is a JSON object; such rows come from versions that did not seal,
 * and become sealed when the platform is opened.
 */
import type { Configuration } from '@inlay/contract/connector-configuration';
import type { ConnectorRow, Store } from '../db/open.ts';

export interface Sealer {
  /** `context` says what the text is and must be the same when opening: a sealed text cannot be moved elsewhere. */
  seal(text: string, context: string): string;
  open(sealed: string, context: string): string;
}

type SealedRow = Pick<ConnectorRow, 'connector_id' | 'configuration'>;

const contextOf = (connectorId: string) => `connector configuration ${connectorId}`;

export function sealConfiguration(sealer: Sealer, connectorId: string, configuration: Configuration): string {
  return JSON.stringify(sealer.seal(JSON.stringify(configuration), contextOf(connectorId)));
}

export function openConfiguration(sealer: Sealer, { connector_id, configuration }: SealedRow): Configuration {
  return JSON.parse(sealer.open(JSON.parse(configuration), contextOf(connector_id)));
}

export async function sealPlainConfigurations(store: Store, sealer: Sealer): Promise<void> {
  await store.transaction().execute(async (trx) => {
    const plain = await trx
      .selectFrom('connectors')
      .select(['connector_id', 'configuration'])
      .where('configuration', 'like', '{%')
      .execute();
    for (const row of plain) await keep(trx, row.connector_id, JSON.parse(row.configuration), sealer);
  });
}

/** Seals everything with the key that the sealer seals with now, after which the older keys are not needed any more. */
export async function resealConfigurations(store: Store, sealer: Sealer): Promise<void> {
  await store.transaction().execute(async (trx) => {
    const rows = await trx.selectFrom('connectors').select(['connector_id', 'configuration']).execute();
    for (const row of rows) await keep(trx, row.connector_id, openConfiguration(sealer, row), sealer);
  });
}

async function keep(trx: Store, connectorId: string, configuration: Configuration, sealer: Sealer): Promise<void> {
  await trx
    .updateTable('connectors')
    .set({ configuration: sealConfiguration(sealer, connectorId, configuration) })
    .where('connector_id', '=', connectorId)
    .execute();
}
