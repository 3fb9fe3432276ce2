/** How entries of the log name sources and connections, and the entries that several rules write. */
import type { Db } from '../db/open.ts';
import type { RolloutRow, SourceRow } from '../db/tables.ts';
import type { Change, Entry } from '../events/catalogue.ts';
import type { Journal } from '../events/journal.ts';
import { listConnectionNames } from './connections.store.ts';
import { findTemplateName } from './rollouts.store.ts';

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
  const rows = await listConnectionNames(tx, workspaceId, ids);
  return rows.map(({ id, source_id, connection_template_id, source_name, destination_name }) => ({
    id,
    name: `${source_name} → ${destination_name}`,
    source_id,
    connection_template_id,
  }));
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
  const found = await aboutConnections(tx, workspaceId, ids);
  await journal.record(
    tx,
    organizationId,
    ...found.map((connection) => ({ type, workspaceId, data: { connection } }) as const),
  );
}

/** Nothing where nothing has changed. */
export async function recordConnectionUpdated(
  journal: Journal,
  tx: Db,
  { organizationId, workspaceId }: Place,
  id: string,
  changed: string[],
  change?: Change,
): Promise<void> {
  if (changed.length === 0) return;
  const connection = await aboutConnection(tx, workspaceId, id);
  await journal.record(tx, organizationId, {
    type: 'connection.updated',
    workspaceId,
    data: { connection, changed },
    ...(change && { change }),
  });
}

export async function recordSources(
  journal: Journal,
  tx: Db,
  type: 'source.created' | 'source.deletion_requested' | 'source.deleted',
  rows: readonly SourceRow[],
): Promise<void> {
  for (const row of rows) {
    const entry: Entry = { type, workspaceId: row.workspace_id, data: { source: aboutSource(row) } };
    await journal.record(tx, row.organization_id, entry);
  }
}

type RolloutEntry = Extract<Entry, { type: `template.rollout_${string}` }>['type'];

export async function recordRollout(
  journal: Journal,
  tx: Db,
  row: Pick<RolloutRow, 'id' | 'organization_id' | 'kind' | 'template_id' | 'action' | 'version' | 'state_reason'>,
  type: RolloutEntry,
  workspaces = 0,
): Promise<void> {
  const { organization_id: organizationId, kind, template_id: id, action, version, state_reason: reason } = row;
  const template = { kind, id, name: await findTemplateName(tx, { organizationId, kind, templateId: id }) };
  const about = { template, rollout: { id: row.id, action, version } };
  const entry: Entry =
    type === 'template.rollout_started'
      ? { type, data: { ...about, workspaces } }
      : type === 'template.rollout_stopped' || type === 'template.rollout_paused'
        ? { type, data: { ...about, reason } }
        : { type, data: about };
  await journal.record(tx, organizationId, entry);
}
