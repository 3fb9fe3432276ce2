/*
 * Connections: which source feeds which destination, when, and how. They are records only; running them is the
 * scheduler's and the runner's work.
 *
 * Always true: source and destination belong to the connection's own workspace and cannot be exchanged. A deleted
 * connection has the status `deprecated` and is found only in lists that include deleted ones.
 */
import Type, { type Static } from 'typebox';
import { getConnector } from './connectors.ts';
import { isListed, type ListQuery, Uuid } from './paging.ts';
import type { Platform } from './platform.ts';
import { Problem, resourceNotFound } from './problems.ts';
import { readSchedule, ScheduleRequest, showSchedule } from './schedule.ts';
import type { ConnectionRow, Store } from './store.ts';
import { Name } from './workspaces.ts';

const StreamConfiguration = Type.Object({
  name: Type.String({ minLength: 1 }),
  namespace: Type.Optional(Type.String()),
  syncMode: Type.Optional(
    Type.Enum([
      'full_refresh_overwrite',
      'full_refresh_overwrite_deduped',
      'full_refresh_append',
      'full_refresh_update',
      'full_refresh_soft_delete',
      'incremental_append',
      'incremental_deduped_history',
      'incremental_update',
      'incremental_soft_delete',
    ]),
  ),
  cursorField: Type.Optional(Type.Array(Type.String())),
  primaryKey: Type.Optional(Type.Array(Type.Array(Type.String()))),
  selectedFields: Type.Optional(Type.Array(Type.Object({ fieldPath: Type.Array(Type.String()) }))),
  includeFiles: Type.Optional(Type.Boolean()),
  destinationObjectName: Type.Optional(Type.String()),
  mappers: Type.Optional(Type.Array(Type.Object({ type: Type.String() }))),
});
type StreamConfiguration = Static<typeof StreamConfiguration>;

const changeable = {
  name: Type.Optional(Name),
  status: Type.Optional(Type.Enum(['active', 'inactive'])),
  schedule: Type.Optional(ScheduleRequest),
  configurations: Type.Optional(
    Type.Object({ streams: Type.Optional(Type.Array(StreamConfiguration)) }, { additionalProperties: false }),
  ),
  namespaceDefinition: Type.Optional(Type.Enum(['source', 'destination', 'custom_format'])),
  namespaceFormat: Type.Optional(Type.String()),
  prefix: Type.Optional(Type.String()),
  nonBreakingSchemaUpdatesBehavior: Type.Optional(
    Type.Enum(['ignore', 'disable_connection', 'propagate_columns', 'propagate_fully']),
  ),
  tags: Type.Optional(
    Type.Array(
      Type.Object(
        { tagId: Uuid, workspaceId: Uuid, name: Type.String(), color: Type.String() },
        { additionalProperties: false },
      ),
    ),
  ),
};

export const ConnectionPatch = Type.Object(changeable);
export type ConnectionPatch = Static<typeof ConnectionPatch>;

export const ConnectionCreate = Type.Object({ sourceId: Uuid, destinationId: Uuid, ...changeable });
export type ConnectionCreate = Static<typeof ConnectionCreate>;

export async function createConnection(platform: Platform, request: ConnectionCreate): Promise<ConnectionRow> {
  const given = readChanges(request);
  return platform.store.transaction().execute(async (trx) => {
    const source = await getConnector(trx, 'source', request.sourceId);
    const destination = await getConnector(trx, 'destination', request.destinationId);
    if (source.workspace_id !== destination.workspace_id) {
      throw new Problem('bad-request', { message: 'The source and the destination are in different workspaces.' });
    }
    return trx
      .insertInto('connections')
      .values({
        connection_id: platform.newId(),
        workspace_id: source.workspace_id,
        source_id: source.connector_id,
        destination_id: destination.connector_id,
        name: `${source.name} → ${destination.name}`,
        status: 'active',
        cron_expression: null,
        // No streams named means every stream the source has; which those are is found out when it runs.
        configurations: JSON.stringify({ streams: [] }),
        namespace_definition: 'destination',
        namespace_format: null,
        prefix: '',
        schema_updates_behavior: 'ignore',
        tags: '[]',
        created_at: platform.now(),
        deleted_at: null,
        ...given,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

export async function listConnections({ store }: Platform, query: ListQuery): Promise<ConnectionRow[]> {
  return store
    .selectFrom('connections')
    .selectAll()
    .where(isListed(query))
    .orderBy('seq')
    .limit(query.limit)
    .offset(query.offset)
    .execute();
}

export async function getConnection(store: Store, connectionId: string): Promise<ConnectionRow> {
  const connection = await store
    .selectFrom('connections')
    .selectAll()
    .where('connection_id', '=', connectionId.toLowerCase())
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!connection) throw resourceNotFound('connection', connectionId);
  return connection;
}

/** Each field given replaces the stored one whole, streams and tags included. */
export async function patchConnection(platform: Platform, connectionId: string, patch: ConnectionPatch) {
  const changes = readChanges(patch);
  return platform.store.transaction().execute(async (trx) => {
    const connection = await getConnection(trx, connectionId);
    if (Object.keys(changes).length === 0) return connection;
    return trx
      .updateTable('connections')
      .set(changes)
      .where('connection_id', '=', connection.connection_id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

export function showConnection(connection: ConnectionRow) {
  return {
    connectionId: connection.connection_id,
    name: connection.name,
    sourceId: connection.source_id,
    destinationId: connection.destination_id,
    workspaceId: connection.workspace_id,
    status: connection.status,
    schedule: showSchedule(connection.cron_expression),
    configurations: JSON.parse(connection.configurations),
    namespaceDefinition: connection.namespace_definition,
    ...(connection.namespace_format !== null && { namespaceFormat: connection.namespace_format }),
    prefix: connection.prefix,
    nonBreakingSchemaUpdatesBehavior: connection.schema_updates_behavior,
    tags: JSON.parse(connection.tags),
    createdAt: Math.floor(connection.created_at / 1000),
  };
}

/** Only the columns of the fields that were given. */
function readChanges(request: ConnectionPatch): Partial<ConnectionRow> {
  const changes: Partial<ConnectionRow> = {};
  if (request.name !== undefined) changes.name = request.name;
  if (request.status !== undefined) changes.status = request.status;
  if (request.schedule !== undefined) changes.cron_expression = readSchedule(request.schedule);
  if (request.configurations !== undefined) changes.configurations = readStreams(request.configurations.streams);
  if (request.namespaceDefinition !== undefined) changes.namespace_definition = request.namespaceDefinition;
  if (request.namespaceFormat !== undefined) changes.namespace_format = request.namespaceFormat;
  if (request.prefix !== undefined) changes.prefix = request.prefix;
  if (request.nonBreakingSchemaUpdatesBehavior !== undefined) {
    changes.schema_updates_behavior = request.nonBreakingSchemaUpdatesBehavior;
  }
  if (request.tags !== undefined) changes.tags = JSON.stringify(request.tags);
  return changes;
}

function readStreams(streams: StreamConfiguration[] = []): string {
  const seen = new Set<string>();
  for (const { name, namespace } of streams) {
    const key = JSON.stringify([namespace ?? null, name]);
    if (seen.has(key)) throw new Problem('bad-request', { message: `The stream ${name} is configured twice.` });
    seen.add(key);
  }
  return JSON.stringify({ streams });
}
