/**
 * How entries of the log name sources and connections, what the audit says of them before and after, and the entries that
 * several rules write.
 */
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import { openConfiguration } from '../catalog/definitions/sealed-configuration.ts';
import { withFingerprints } from '../catalog/templates/versions.ts';
import { releaseCredential } from '../credentials/tokens/credentials.ts';
import type { Db } from '../kernel/db/open.ts';
import type { ConnectionRow, SourceRow } from '../kernel/db/tables.ts';
import type { Sealer } from '../kernel/sealing.ts';
import type { Change } from '../log/events/catalogue.ts';
import type { Journal } from '../log/events/journal.ts';
import { listConnectionNames, type NamedConnection } from './connections.store.ts';

export function aboutSource({ id, name, source_template_id }: Pick<SourceRow, 'id' | 'name' | 'source_template_id'>) {
  return { id, name, source_template_id };
}

export interface Place {
  organizationId: string;
  workspaceId: string;
}

export async function aboutConnection(tx: Db, workspaceId: string, id: string) {
  const [found] = await aboutConnections(tx, workspaceId, [id]);
  if (!found) throw new Error(`there is no connection ${id}`);
  return found;
}

/** Deleted ones as well. */
async function aboutConnections(tx: Db, workspaceId: string, ids: readonly string[]) {
  return (await listConnectionNames(tx, workspaceId, ids)).map(namedConnection);
}

function namedConnection(row: NamedConnection) {
  const { id, source_id, connection_template_id, source_name, destination_name } = row;
  return { id, name: `${source_name} → ${destination_name}`, source_id, connection_template_id };
}

/** For the audit trail: every setting of a connection. Customers see only some of them (audit/trail.ts). */
export function settingsOfConnection(row: ConnectionRow) {
  return {
    status: row.paused === 1 ? 'inactive' : 'active',
    cron_expression: row.cron_expression,
    own_schedule: row.own_schedule === 1,
    streams: row.own_streams === null ? null : JSON.parse(row.own_streams),
    schema_changes: row.schema_changes,
    namespace_format: row.namespace_format,
    prefix: row.prefix,
    customer_may_change: row.customer_may_change === null ? null : JSON.parse(row.customer_may_change),
    template_version: row.template_version,
    // Also counts a change that leaves all settings unchanged: reading the streams from the start.
    settings_version: row.version,
  };
}

export function settingsOfSource(
  { name, template_version, definition_version }: SourceRow,
  sourceConfig: Configuration,
) {
  return { name, source_config: sourceConfig, template_version, definition_version };
}

/** One entry for each of the connections. */
export async function recordConnections(
  journal: Journal,
  tx: Db,
  { organizationId, workspaceId }: Place,
  type: 'connection.created' | 'connection.deleted',
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const entries = (await listConnectionNames(tx, workspaceId, ids)).map((row) => {
    const settings = settingsOfConnection(row);
    const isNew = type === 'connection.created';
    const change = isNew ? { before: undefined, after: settings } : { before: settings, after: undefined };
    return { type, workspaceId, data: { connection: namedConnection(row) }, change } as const;
  });
  await journal.record(tx, organizationId, ...entries);
}

/** Nothing where nothing has changed. */
export async function recordConnectionUpdated(
  journal: Journal,
  tx: Db,
  { organizationId, workspaceId }: Place,
  id: string,
  changed: string[],
  change: Change,
): Promise<void> {
  if (changed.length === 0) return;
  const connection = await aboutConnection(tx, workspaceId, id);
  await journal.record(tx, organizationId, {
    type: 'connection.updated',
    workspaceId,
    data: { connection, changed },
    change,
  });
}

export async function recordDeletionRequested(journal: Journal, tx: Db, rows: readonly SourceRow[]): Promise<void> {
  const change = { before: { lifecycle: 'live' }, after: { lifecycle: 'deleting' } };
  for (const row of rows) {
    await journal.record(tx, row.organization_id, {
      type: 'source.deletion_requested',
      workspaceId: row.workspace_id,
      data: { source: aboutSource(row) },
      change,
    });
  }
}

/**
 * Rows with the configuration that they had. All of its values are fingerprints: when a source is gone, its connector may be
 * gone too, and nobody knows what was secret.
 */
export async function recordSourcesDeleted(
  { journal, sealer }: { journal: Journal; sealer: Sealer },
  tx: Db,
  rows: readonly SourceRow[],
): Promise<void> {
  for (const row of rows) {
    const given = openConfiguration(sealer, 'source', row.id, row.sealed_config);
    await journal.record(tx, row.organization_id, {
      type: 'source.deleted',
      workspaceId: row.workspace_id,
      data: { source: aboutSource(row) },
      change: {
        before: settingsOfSource(row, withFingerprints({ sealer }, undefined, row.id, given)),
        after: undefined,
      },
    });
    await releaseCredential(journal, tx, row);
  }
}
