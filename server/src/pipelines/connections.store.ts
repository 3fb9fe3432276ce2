/** The SQL of `destinations` and `connections`. */
import { sql } from 'kysely';
import { isFreeFor, leaseFor, noLease } from '../kernel/db/leases.ts';
import { now } from '../kernel/db/moments.ts';
import type { Db } from '../kernel/db/open.ts';
import type { ConnectionRow, DestinationRow } from '../kernel/db/tables.ts';
import { isUsed } from './row-conditions.ts';
import type { FailureTexts } from './two-texts.ts';

const noFailure = { failure: null, customer_failure: null, failure_reasons: null };
const unmade = {
  ...{ platform_id: null, no_post_before: 0, unconfirmed: null },
  ...noFailure,
  ...{ created_at: now, deleted_at: null },
};

/** A connection for which nothing was chosen. */
const asItsTemplates = {
  paused: 0,
  status_version: 0,
  applied_status_version: 0,
  own_schedule: 0,
  own_streams: null,
};

interface NewDestination {
  id: string;
  organizationId: string;
  workspaceId: string;
  templateId: string;
  templateVersion: number;
  name: string;
}

/**
 * The id of the workspace's destination for the template: the existing destination, or else the given new one. A
 * destination that nobody uses any more gets the newest version, as a new one would.
 */
export async function ensureDestination(tx: Db, destination: NewDestination): Promise<string> {
  const ifUnused = (column: 'template_version' | 'name') => {
    const [there, given] = [sql.ref(`destinations.${column}`), sql.ref(`excluded.${column}`)];
    return sql<never>`
      case when destinations.template_version < excluded.template_version and not ${isUsed} then ${given} else ${there} end`;
  };
  const { id } = await tx
    .insertInto('destinations')
    .values({
      id: destination.id,
      organization_id: destination.organizationId,
      workspace_id: destination.workspaceId,
      connection_template_id: destination.templateId,
      name: destination.name,
      template_version: destination.templateVersion,
      applied_template_version: 0,
      ...noLease,
      ...unmade,
    })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'connection_template_id']).doUpdateSet({
        template_version: ifUnused('template_version'),
        name: ifUnused('name'),
        deleted_at: null,
      }),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

type NewConnection = Pick<
  ConnectionRow,
  | 'id'
  | 'connection_template_id'
  | 'source_id'
  | 'source_template_id'
  | 'definition_id'
  | 'destination_id'
  | 'cron_expression'
  | 'schema_changes'
  | 'namespace_format'
  | 'prefix'
  | 'first_sync_wanted'
  | 'template_version'
  | 'customer_may_change'
>;

const nothingWrong = { cause: null, attention_by: null, unwell_since: null, stale_at: null };

/** Its id, which is the old one where a connection comes back; undefined when there is one already. */
export async function insertConnection(
  tx: Db,
  organizationId: string,
  workspaceId: string,
  connection: NewConnection,
): Promise<string | undefined> {
  const row = await tx
    .insertInto('connections')
    .values({
      ...connection,
      organization_id: organizationId,
      workspace_id: workspaceId,
      ...unmade,
      is_set_up: 0,
      starting_until: 0,
      status: 'pending',
      health: 'never_synced',
      health_detail: '{}',
      platform_state: null,
      platform_reason: null,
      is_leaving: 0,
      ...nothingWrong,
      // The set-up itself sees what the platform has.
      slowed_cron: null,
      looked_at: now,
      history_wanted: 0,
      applied_template_version: 0,
      version: 1,
      applied_version: 0,
      streams_anew: 0,
      removal_due: 0,
      ...asItsTemplates,
    })
    // A connection of the two that was deleted comes back, with its history.
    .onConflict((conflict) =>
      conflict
        .columns(['source_id', 'connection_template_id'])
        .doUpdateSet((given) => ({
          deleted_at: null,
          ...noFailure,
          // What is still to be removed from the platform is removed first; see take-down-connections.ts.
          platform_id: sql<string | null>`case when connections.removal_due = 1 then connections.platform_id end`,
          no_post_before: sql<number>`case when connections.removal_due = 1 then connections.no_post_before else 0 end`,
          ...asItsTemplates,
          customer_may_change: given.ref('excluded.customer_may_change'),
          destination_id: given.ref('excluded.destination_id'),
          cron_expression: given.ref('excluded.cron_expression'),
          schema_changes: given.ref('excluded.schema_changes'),
          namespace_format: given.ref('excluded.namespace_format'),
          prefix: given.ref('excluded.prefix'),
          first_sync_wanted: given.ref('excluded.first_sync_wanted'),
          template_version: given.ref('excluded.template_version'),
          is_set_up: 0,
          health: 'never_synced',
          health_detail: '{}',
          platform_state: null,
          platform_reason: null,
          ...nothingWrong,
          applied_template_version: 0,
          version: sql<number>`connections.version + 1`,
          applied_version: 0,
          streams_anew: 0,
        }))
        .where('connections.deleted_at', 'is not', null),
    )
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

/** For entries of the log; of deleted connections as well. */
export type NamedConnection = ConnectionRow & { source_name: string; destination_name: string };

export async function listConnectionNames(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<NamedConnection[]> {
  return await db
    .selectFrom('connections')
    .innerJoin('sources', 'sources.id', 'connections.source_id')
    .innerJoin('destinations', 'destinations.id', 'connections.destination_id')
    .selectAll('connections')
    .select(['sources.name as source_name', 'destinations.name as destination_name'])
    .where('connections.workspace_id', '=', workspaceId)
    .where('connections.id', 'in', ids)
    .orderBy('connections.id')
    .execute();
}

export async function listConnectionsOfSource(db: Db, workspaceId: string, sourceId: string): Promise<ConnectionRow[]> {
  return await db
    .selectFrom('connections')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('source_id', '=', sourceId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export type ConnectionWithNames = ConnectionRow & {
  source_name: string;
  destination_name: string;
  destination_failure: string | null;
  destination_customer_failure: string | null;
  destination_failure_reasons: string | null;
  destination_template_version: number;
  destination_applied_template_version: number;
};

function withNames(db: Db, workspaceId: string) {
  return db
    .selectFrom('connections')
    .innerJoin('sources', 'sources.id', 'connections.source_id')
    .innerJoin('destinations', 'destinations.id', 'connections.destination_id')
    .selectAll('connections')
    .select([
      'sources.name as source_name',
      'destinations.name as destination_name',
      'destinations.failure as destination_failure',
      'destinations.customer_failure as destination_customer_failure',
      'destinations.failure_reasons as destination_failure_reasons',
      'destinations.template_version as destination_template_version',
      'destinations.applied_template_version as destination_applied_template_version',
    ])
    .where('connections.workspace_id', '=', workspaceId)
    .where('connections.deleted_at', 'is', null)
    .where('sources.lifecycle', '=', 'live');
}

export async function listConnections(db: Db, workspaceId: string): Promise<ConnectionWithNames[]> {
  return await withNames(db, workspaceId).orderBy('connections.created_at').orderBy('connections.id').execute();
}

export async function findConnection(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<ConnectionWithNames | undefined> {
  return await withNames(db, workspaceId).where('connections.id', '=', id).executeTakeFirst();
}

/** Which workspace a connection is in. */
export async function findWorkspaceOfConnection(
  db: Db,
  organizationId: string,
  id: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('connections')
    .select('workspace_id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.workspace_id;
}

/** Takes the lease on the destination and returns it; undefined while another worker is making it. */
export async function leaseDestination(
  db: Db,
  workspaceId: string,
  id: string,
  leaseId: string,
  leaseMs: number,
): Promise<DestinationRow | undefined> {
  return await db
    .updateTable('destinations')
    .set(leaseFor(leaseId, leaseMs))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(isFreeFor(leaseId))
    .returningAll()
    .executeTakeFirst();
}

export async function findDestination(db: Db, workspaceId: string, id: string): Promise<DestinationRow | undefined> {
  return await db
    .selectFrom('destinations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function releaseDestination(db: Db, workspaceId: string, id: string, leaseId: string): Promise<void> {
  await db
    .updateTable('destinations')
    .set(noLease)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('lease_id', '=', leaseId)
    .execute();
}

export async function recordFailure(
  db: Db,
  table: 'destinations' | 'connections',
  workspaceId: string,
  id: string,
  texts: FailureTexts | null,
): Promise<void> {
  await db
    .updateTable(table)
    .set(
      texts
        ? {
            failure: texts.operator,
            customer_failure: texts.customer,
            failure_reasons: JSON.stringify(texts.reasons),
          }
        : noFailure,
    )
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** The platform has the destination in this version. */
export async function recordDestinationApplied(
  db: Db,
  workspaceId: string,
  id: string,
  { templateVersion, name }: { templateVersion: number; name: string },
): Promise<void> {
  await db
    .updateTable('destinations')
    .set({
      applied_template_version: templateVersion,
      // A recreated destination got the newest version. If that is wanted in the meantime, it stays wanted.
      template_version: sql<number>`case when template_version < ${templateVersion} then ${templateVersion} else template_version end`,
      name: sql<string>`case when template_version <= ${templateVersion} then ${name} else name end`,
      failure: null,
      customer_failure: null,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** The platform has the connection as this row says. */
export async function recordConnectionApplied(db: Db, workspaceId: string, row: ConnectionRow): Promise<void> {
  await db
    .updateTable('connections')
    .set({
      applied_version: row.version,
      applied_template_version: row.template_version,
      // A newer change may want the streams again.
      streams_anew: sql<number>`case when version = ${row.version} then 0 else streams_anew end`,
      failure: null,
      customer_failure: null,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', row.id)
    .execute();
}

export async function recordSetUp(db: Db, workspaceId: string, id: string): Promise<void> {
  await db
    .updateTable('connections')
    .set({ is_set_up: 1, ...noFailure })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

export async function forgetFirstSync(db: Db, workspaceId: string, id: string): Promise<void> {
  await db
    .updateTable('connections')
    .set({ first_sync_wanted: 0 })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** What the platform said of the connections' status before their workspace changed its own. */
export async function forgetInactive(tx: Db, workspaceId: string): Promise<void> {
  await tx
    .updateTable('connections')
    .set({ platform_state: null, platform_reason: null })
    .where('workspace_id', '=', workspaceId)
    .where('platform_state', '=', 'inactive')
    .execute();
}

/** Recorded before the platform gets this schedule in place of the connection's own. */
export async function putSlowed(db: Db, workspaceId: string, id: string, slowed: string | null): Promise<void> {
  await db
    .updateTable('connections')
    .set({ slowed_cron: slowed })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** The same, as a change that still has to reach the platform. */
export async function changeSlowed(tx: Db, workspaceId: string, id: string, slowed: string | null): Promise<void> {
  await tx
    .updateTable('connections')
    .set({ slowed_cron: slowed, version: sql<number>`version + 1` })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** First syncs that waited for the workspace are started by the set-up of their sources. */
export async function wakeFirstSyncs(tx: Db, workspaceId: string): Promise<void> {
  await tx
    .updateTable('sources')
    .set({ due_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('lifecycle', '=', 'live')
    .where('due_at', 'is', null)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('connections')
        .select('source_id')
        .where('workspace_id', '=', workspaceId)
        .where('is_set_up', '=', 1)
        .where('first_sync_wanted', '=', 1)
        .where('deleted_at', 'is', null),
    )
    .execute();
}

export async function recordConnectionsDeleted(
  tx: Db,
  workspaceId: string,
  sourceId: string,
  deletedAt: number,
): Promise<string[]> {
  const ofSource = () =>
    tx.updateTable('connections').where('workspace_id', '=', workspaceId).where('source_id', '=', sourceId);
  await ofSource().set({ removal_due: 0 }).where('removal_due', '=', 1).execute();
  const deleted = await ofSource()
    .set({ deleted_at: deletedAt })
    .where('deleted_at', 'is', null)
    .returning('id')
    .execute();
  return deleted.map(({ id }) => id);
}

/** What the connections of other workspaces with the same template, made earlier, call their streams. */
export async function listNamesOfOthers(
  db: Db,
  organizationId: string,
  { workspace_id, connection_template_id, created_at, id }: ConnectionRow,
): Promise<Pick<ConnectionRow, 'namespace_format' | 'prefix'>[]> {
  return await db
    .selectFrom('connections')
    .select(['namespace_format', 'prefix'])
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('connection_template_id', '=', connection_template_id)
    .where('workspace_id', '!=', workspace_id)
    .where('deleted_at', 'is', null)
    .where(({ eb, and, or }) =>
      or([eb('created_at', '<', created_at), and([eb('created_at', '=', created_at), eb('id', '<', id)])]),
    )
    .execute();
}
