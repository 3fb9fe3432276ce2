/*
 * Connections: which source feeds which destination, when, and how. They are records only; running them is the
 * scheduler's and the runner's work.
 *
 * Always true: source and destination belong to the connection's own workspace and cannot be exchanged. Streams that
 * are named existed, and could be moved as asked, when they were named. Only an active connection has a next run or a
 * job that has not ended. A deleted connection has the status `deprecated` and is found only in lists that include
 * deleted ones.
 */
import Type, { type Static } from 'typebox';
import { getConnector } from '../actors/actors.ts';
import { awaitCatalog } from '../actors/discovery.ts';
import type { Platform } from '../context.ts';
import type { ConnectionRow, JobRow, Store } from '../db/open.ts';
import { getDefinition } from '../definitions/definitions.ts';
import { isListed, type ListQuery, Uuid } from '../http/paging.ts';
import { cancelOpenJobs, findLastJobs, showJob, showTime } from '../jobs/jobs.ts';
import { Problem, resourceNotFound } from '../problems.ts';
import { Name } from '../workspaces/workspaces.ts';
import { nextRunAfter, readSchedule, ScheduleRequest, showSchedule } from './schedule.ts';
import { chooseStreams, StreamConfiguration } from './stream-selection.ts';

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
  await checkStreams(platform, request, request.configurations?.streams);
  const connection = await platform.store.transaction().execute(async (trx) => {
    const source = await getConnector(trx, 'source', request.sourceId);
    const destination = await getConnector(trx, 'destination', request.destinationId);
    if (source.workspace_id !== destination.workspace_id) {
      throw new Problem('bad-request', { message: 'The source and the destination are in different workspaces.' });
    }
    const now = platform.now();
    const { status = 'active', cron_expression = null } = given;
    return trx
      .insertInto('connections')
      .values({
        connection_id: platform.newId(),
        workspace_id: source.workspace_id,
        source_id: source.connector_id,
        destination_id: destination.connector_id,
        name: `${source.name} → ${destination.name}`,
        status,
        cron_expression,
        // No streams named means every stream the source has; which those are is found out when it runs.
        configurations: JSON.stringify({ streams: [] }),
        namespace_definition: 'destination',
        namespace_format: null,
        prefix: '',
        schema_updates_behavior: 'ignore',
        tags: '[]',
        status_reason: null,
        next_run_at: status === 'active' ? nextRunAfter(cron_expression, now) : null,
        created_at: now,
        deleted_at: null,
        ...given,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
  platform.wake();
  return connection;
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
  const given = readChanges(patch);
  if (patch.configurations?.streams?.length) {
    const { source_id, destination_id } = await getConnection(platform.store, connectionId);
    await checkStreams(platform, { sourceId: source_id, destinationId: destination_id }, patch.configurations.streams);
  }
  const connection = await platform.store.transaction().execute(async (trx) => {
    const before = await getConnection(trx, connectionId);
    if (Object.keys(given).length === 0) return before;
    const { connection_id } = before;
    const after = { ...before, ...given };
    const changes = { ...given };
    if (after.status !== before.status || after.cron_expression !== before.cron_expression) {
      const isActive = after.status === 'active';
      changes.next_run_at = isActive ? nextRunAfter(after.cron_expression, platform.now()) : null;
      if (!isActive) await cancelOpenJobs(trx, [connection_id], platform.now());
    }
    if (after.status !== before.status || after.configurations !== before.configurations) {
      // Whoever activates a connection or names its streams anew takes the source as it is now.
      await trx.deleteFrom('connection_catalogs').where('connection_id', '=', connection_id).execute();
      changes.status_reason = null;
    }
    return trx
      .updateTable('connections')
      .set(changes)
      .where('connection_id', '=', connection_id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
  platform.wake();
  return connection;
}

/** For pages and single connections alike. `statusReason`, `lastJob` and `nextRunAt` are additions of this platform. */
export async function showConnections({ store, now }: Platform, connections: readonly ConnectionRow[]) {
  const ids = connections.map(({ connection_id }) => connection_id);
  const lastJobs = await findLastJobs(store, ids);
  return connections.map((connection) => showConnection(connection, lastJobs.get(connection.connection_id), now()));
}

function showConnection(connection: ConnectionRow, lastJob: JobRow | undefined, now: number) {
  return {
    connectionId: connection.connection_id,
    name: connection.name,
    sourceId: connection.source_id,
    destinationId: connection.destination_id,
    workspaceId: connection.workspace_id,
    status: connection.status,
    ...(connection.status_reason !== null && { statusReason: connection.status_reason }),
    schedule: showSchedule(connection.cron_expression),
    configurations: JSON.parse(connection.configurations),
    namespaceDefinition: connection.namespace_definition,
    ...(connection.namespace_format !== null && { namespaceFormat: connection.namespace_format }),
    prefix: connection.prefix,
    nonBreakingSchemaUpdatesBehavior: connection.schema_updates_behavior,
    tags: JSON.parse(connection.tags),
    createdAt: Math.floor(connection.created_at / 1000),
    ...(lastJob && { lastJob: showJob(lastJob, now) }),
    ...(connection.next_run_at !== null && { nextRunAt: showTime(connection.next_run_at) }),
  };
}

/** Only the columns of the fields that were given. */
function readChanges(request: ConnectionPatch): Partial<ConnectionRow> {
  const changes: Partial<ConnectionRow> = {};
  if (request.name !== undefined) changes.name = request.name;
  if (request.status !== undefined) changes.status = request.status;
  if (request.schedule !== undefined) changes.cron_expression = readSchedule(request.schedule);
  if (request.configurations !== undefined) {
    changes.configurations = JSON.stringify({ streams: request.configurations.streams ?? [] });
  }
  if (request.namespaceDefinition !== undefined) changes.namespace_definition = request.namespaceDefinition;
  if (request.namespaceFormat !== undefined) changes.namespace_format = request.namespaceFormat;
  if (request.prefix !== undefined) changes.prefix = request.prefix;
  if (request.nonBreakingSchemaUpdatesBehavior !== undefined) {
    changes.schema_updates_behavior = request.nonBreakingSchemaUpdatesBehavior;
  }
  if (request.tags !== undefined) changes.tags = JSON.stringify(request.tags);
  return changes;
}

async function checkStreams(
  platform: Platform,
  { sourceId, destinationId }: Pick<ConnectionCreate, 'sourceId' | 'destinationId'>,
  streams: StreamConfiguration[] = [],
): Promise<void> {
  if (streams.length === 0) return;
  const source = await getConnector(platform.store, 'source', sourceId);
  const destination = await getConnector(platform.store, 'destination', destinationId);
  const { specification } = await getDefinition(platform, 'destination', destination.definition_id);
  chooseStreams(await awaitCatalog(platform, source), streams, specification);
}
