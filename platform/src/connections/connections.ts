/**
 * Connections: which source feeds which destination, when, and how. They are records only; running them is left to jobs/
 * and runner/.
 *
 * Invariants: source and destination belong to the connection's own workspace and never change. Named streams existed
 * and supported the requested modes when they were named. Only an active connection has a next run or an open job. A
 * deleted connection has the status `deprecated` and is found only in lists that include deleted ones.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getActor } from '../actors/actors.ts';
import { awaitCatalog } from '../actors/discovery.ts';
import type { Db } from '../db/open.ts';
import type { ActorRow, ConnectionRow } from '../db/tables.ts';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import type { ListQuery } from '../fields.ts';
import { isoTime } from '../iso-time.ts';
import { Problem, resourceNotFound } from '../problems.ts';
import * as connections from './connections.store.ts';
import type { ConnectionsContext } from './context.ts';
import type { ConnectionCreate, ConnectionPatch, StreamConfiguration } from './requests.ts';
import { nextRunAfter, presentSchedule, readSchedule } from './schedule.ts';
import { chooseStreams } from './stream-selection.ts';
import { forgetAcceptedCatalog, forgetStreams } from './stream-states.store.ts';
import { refuseTablesOfOthers } from './table-owners.ts';

/** Defaults. */
const naming = {
  // No streams named means every stream the source has; which those are is found out when it runs.
  configurations: JSON.stringify({ streams: [] }),
  namespace_definition: 'destination',
  namespace_format: null,
  prefix: '',
};

export async function createConnection(ctx: ConnectionsContext, request: ConnectionCreate): Promise<ConnectionRow> {
  const given = readChanges(request);
  await checkStreams(ctx, request, request.configurations?.streams);
  await refuseTablesOfOthers(ctx, {
    ...naming,
    ...given,
    source_id: request.sourceId,
    destination_id: request.destinationId,
  });
  const connection = await ctx.store.transaction(async (tx) => {
    const source = await getActor(tx, 'source', request.sourceId);
    const destination = await getActor(tx, 'destination', request.destinationId);
    if (source.workspace_id !== destination.workspace_id) {
      throw new Problem('bad-request', { message: 'The source and the destination must be in the same workspace.' });
    }
    const now = ctx.runtime.now();
    const { status = 'active', cron_expression = null } = given;
    return await connections.insertConnection(tx, source.workspace_id, {
      connection_id: ctx.runtime.newId(),
      source_id: source.connector_id,
      destination_id: destination.connector_id,
      name: `${source.name} → ${destination.name}`,
      status,
      cron_expression,
      ...naming,
      schema_updates_behavior: 'ignore',
      tags: '[]',
      status_reason: null,
      next_run_at: status === 'active' ? nextRunAfter(cron_expression, now) : null,
      created_at: now,
      deleted_at: null,
      ...given,
    });
  });
  ctx.wake();
  return connection;
}

export async function listConnections(ctx: ConnectionsContext, query: ListQuery): Promise<ConnectionRow[]> {
  return await connections.listConnections(ctx.store.db, query);
}

export async function getConnection(db: Db, connectionId: string): Promise<ConnectionRow> {
  const connection = await getAnyConnection(db, connectionId);
  if (connection.deleted_at !== null) throw resourceNotFound('connection', connectionId);
  return connection;
}

/** Also returns a deleted connection. */
export async function getAnyConnection(db: Db, connectionId: string): Promise<ConnectionRow> {
  const connection = await connections.findConnectionById(db, connectionId.toLowerCase());
  if (!connection) throw resourceNotFound('connection', connectionId);
  return connection;
}

/** Each field given replaces the stored one whole, streams and tags included. */
export async function patchConnection(
  ctx: ConnectionsContext,
  connectionId: string,
  patch: ConnectionPatch,
): Promise<ConnectionRow> {
  const given = readChanges(patch);
  if (patch.configurations?.streams?.length) {
    const { source_id, destination_id } = await getConnection(ctx.store.db, connectionId);
    await checkStreams(ctx, { sourceId: source_id, destinationId: destination_id }, patch.configurations.streams);
  }
  if (Object.keys(naming).some((field) => field in given)) {
    await refuseTablesOfOthers(ctx, { ...(await getConnection(ctx.store.db, connectionId)), ...given });
  }
  const connection = await ctx.store.transaction(async (tx) => {
    const before = await getConnection(tx, connectionId);
    if (Object.keys(given).length === 0) return before;
    const { workspace_id, connection_id } = before;
    const after = { ...before, ...given };
    const changes = { ...given };
    if (after.status !== before.status || after.cron_expression !== before.cron_expression) {
      const now = ctx.runtime.now();
      const isActive = after.status === 'active';
      changes.next_run_at = isActive ? nextRunAfter(after.cron_expression, now) : null;
      if (!isActive) await ctx.cancelOpenJobs(tx, workspace_id, [connection_id], now);
    }
    if (after.status !== before.status || given.configurations !== undefined) {
      // A caller who activates a connection or names its streams again accepts the current state of the source.
      await forgetAcceptedCatalog(tx, { workspaceId: workspace_id, connectionId: connection_id });
      changes.status_reason = null;
    }
    return await connections.updateConnection(tx, workspace_id, connection_id, changes);
  });
  ctx.wake();
  return connection;
}

export async function deleteConnection(ctx: ConnectionsContext, connectionId: string): Promise<void> {
  const deletedAt = ctx.runtime.now();
  await ctx.store.transaction(async (tx) => {
    const { workspace_id, connection_id } = await getConnection(tx, connectionId);
    await recordDeleted(ctx, tx, workspace_id, { connection_id }, deletedAt);
  });
  ctx.wake();
}

/** All of a workspace. */
export async function recordConnectionsDeleted(
  ctx: ConnectionsContext,
  tx: Db,
  workspaceId: string,
  deletedAt: number,
): Promise<void> {
  await recordDeleted(ctx, tx, workspaceId, {}, deletedAt);
}

/** All of a source or a destination. */
export async function recordConnectionsOfActorDeleted(
  ctx: ConnectionsContext,
  tx: Db,
  { workspace_id, kind, connector_id }: ActorRow,
  deletedAt: number,
): Promise<void> {
  const which = kind === 'source' ? { source_id: connector_id } : { destination_id: connector_id };
  await recordDeleted(ctx, tx, workspace_id, which, deletedAt);
}

async function recordDeleted(
  ctx: ConnectionsContext,
  tx: Db,
  workspaceId: string,
  which: connections.WhichConnections,
  deletedAt: number,
): Promise<void> {
  const ids = await connections.recordConnectionsDeleted(tx, workspaceId, which, deletedAt);
  await ctx.cancelOpenJobs(tx, workspaceId, ids, deletedAt);
  for (const connectionId of ids) {
    await forgetAcceptedCatalog(tx, { workspaceId, connectionId });
    await forgetStreams(tx, { workspaceId, connectionId });
  }
}

/** After a run that found something a person has to look at. */
export async function stopConnection(
  tx: Db,
  { workspace_id, connection_id }: Pick<ConnectionRow, 'workspace_id' | 'connection_id'>,
  reason: string,
): Promise<void> {
  const changes = { status: 'inactive', status_reason: reason, next_run_at: null } as const;
  await connections.updateConnection(tx, workspace_id, connection_id, changes);
}

/** Records which streams a run moves, unless they were named again in the meantime. */
export async function followSource(
  tx: Db,
  { workspace_id, connection_id, configurations }: ConnectionRow,
  followed: { streams: StreamConfiguration[] },
): Promise<void> {
  const change = { before: configurations, after: JSON.stringify(followed) };
  await connections.replaceConfigurations(tx, workspace_id, connection_id, change);
}

/**
 * For pages and single connections alike. `statusReason`, `lastJob` and `nextRunAt` are extensions of this platform.
 */
export async function presentConnections(ctx: ConnectionsContext, rows: readonly ConnectionRow[]) {
  const lastJobs = await ctx.presentLastJobs(rows);
  return rows.map((connection) => presentConnection(connection, lastJobs.get(connection.connection_id)));
}

function presentConnection(connection: ConnectionRow, lastJob: object | undefined) {
  return {
    connectionId: connection.connection_id,
    name: connection.name,
    sourceId: connection.source_id,
    destinationId: connection.destination_id,
    workspaceId: connection.workspace_id,
    status: connection.status,
    ...(connection.status_reason !== null && { statusReason: connection.status_reason }),
    schedule: presentSchedule(connection.cron_expression),
    configurations: JSON.parse(connection.configurations),
    namespaceDefinition: connection.namespace_definition,
    ...(connection.namespace_format !== null && { namespaceFormat: connection.namespace_format }),
    prefix: connection.prefix,
    nonBreakingSchemaUpdatesBehavior: connection.schema_updates_behavior,
    tags: JSON.parse(connection.tags),
    createdAt: Math.floor(connection.created_at / 1000),
    ...(lastJob && { lastJob }),
    ...(connection.next_run_at !== null && { nextRunAt: isoTime(connection.next_run_at) }),
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
  ctx: ConnectionsContext,
  { sourceId, destinationId }: Pick<ConnectionCreate, 'sourceId' | 'destinationId'>,
  streams: StreamConfiguration[] = [],
): Promise<void> {
  if (streams.length === 0) return;
  const source = await getActor(ctx.store.db, 'source', sourceId);
  const destination = await getActor(ctx.store.db, 'destination', destinationId);
  const { specification } = await getDefinition(ctx.actors.definitions, definitionOf(destination));
  const catalog = await awaitCatalog(ctx.actors, source);
  // Selecting among thousands of streams takes long enough to yield to the event loop.
  await nextTurn();
  chooseStreams(catalog, streams, specification);
  await nextTurn();
}
