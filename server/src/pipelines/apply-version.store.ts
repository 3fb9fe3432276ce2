/** The SQL that applies a version of a template to sources, destinations and connections. */
import { sql } from 'kysely';
import { now } from '../kernel/db/moments.ts';
import type { Db } from '../kernel/db/open.ts';
import type { ConnectionRow, DestinationRow, SourceRow } from '../kernel/db/tables.ts';
import type { TemplateRef } from '../kernel/template-ref.ts';

const templateColumn = { source: 'source_template_id', connection: 'connection_template_id' } as const;

export async function lockDestination(
  tx: Db,
  workspaceId: string,
  templateId: string,
): Promise<DestinationRow | undefined> {
  return await tx
    .updateTable('destinations')
    .set({ name: sql<string>`name` })
    .where('workspace_id', '=', workspaceId)
    .where('connection_template_id', '=', templateId)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** A change that the platform does not need counts as applied as soon as it is recorded. */
export async function changeDestination(
  tx: Db,
  workspaceId: string,
  id: string,
  change: Pick<DestinationRow, 'template_version' | 'name'>,
  isTold: boolean,
): Promise<void> {
  const { template_version: version } = change;
  const applied = sql<number>`
    case when applied_template_version = template_version then ${version} else applied_template_version end`;
  await tx
    .updateTable('destinations')
    .set({ ...change, ...(isTold ? {} : { applied_template_version: applied }) })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Only those of live sources. */
export async function listConnectionsOfTemplate(
  tx: Db,
  workspaceId: string,
  { kind, templateId }: TemplateRef,
): Promise<(ConnectionRow & { slug: string; source_failure: string | null })[]> {
  return await tx
    .selectFrom('connections')
    .innerJoin('sources', 'sources.id', 'connections.source_id')
    .selectAll('connections')
    .select(['sources.slug', 'sources.failure as source_failure'])
    .where('connections.workspace_id', '=', workspaceId)
    .where(`connections.${templateColumn[kind]}`, '=', templateId)
    .where('connections.deleted_at', 'is', null)
    .where('sources.lifecycle', '=', 'live')
    .orderBy('connections.id')
    .execute();
}

export async function changeConnection(
  tx: Db,
  { workspace_id: workspaceId, id, ...row }: ConnectionRow,
  change: Partial<ConnectionRow> & Pick<ConnectionRow, 'template_version'>,
  isTold: boolean,
): Promise<void> {
  const isApplied = !isTold && row.applied_version === row.version;
  await tx
    .updateTable('connections')
    .set({
      ...change,
      ...(isTold && { version: sql<number>`version + 1` }),
      ...(isApplied && { applied_template_version: change.template_version }),
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Locked, so that neither the customer nor the set-up worker changes them meanwhile. */
export async function lockSourcesOfTemplate(tx: Db, workspaceId: string, templateId: string): Promise<SourceRow[]> {
  return await tx
    .updateTable('sources')
    .set({ name: sql<string>`name` })
    .where('workspace_id', '=', workspaceId)
    .where('source_template_id', '=', templateId)
    .where('lifecycle', '=', 'live')
    .returningAll()
    .execute();
}

/** `isConfigured`: whether the platform needs another configuration; absent if that is still open. */
export async function changeSource(
  tx: Db,
  { workspace_id: workspaceId, id, ...row }: SourceRow,
  { template_version, isConfigured }: Pick<SourceRow, 'template_version'> & { isConfigured?: boolean },
): Promise<void> {
  const isApplied = isConfigured === false && row.applied_version === row.version;
  await tx
    .updateTable('sources')
    .set({
      template_version,
      ...(isConfigured && { version: sql<number>`version + 1` }),
      ...(isApplied && { applied_template_version: template_version }),
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

export async function chooseStreamsAnew(tx: Db, workspaceId: string, sourceId: string): Promise<void> {
  await tx
    .updateTable('connections')
    .set({ streams_anew: 1, version: sql<number>`version + 1` })
    .where('workspace_id', '=', workspaceId)
    .where('source_id', '=', sourceId)
    .where('deleted_at', 'is', null)
    .execute();
}

/**
 * Makes their set-up due. A worker that is setting one up notices by its version, which grows. A source that the platform
 * has in its present version is not written again.
 */
export async function wakeSources(tx: Db, workspaceId: string, ids: string[]): Promise<void> {
  await tx
    .updateTable('sources')
    .set({
      version: sql<number>`version + 1`,
      applied_version: sql<number>`case when applied_version = version then version + 1 else applied_version end`,
      due_at: now,
      attempts: 0,
      last_error: null,
      failure: null,
      customer_failure: null,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .where('lifecycle', '=', 'live')
    .execute();
}
