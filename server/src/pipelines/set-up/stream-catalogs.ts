/**
 * Which streams the source of a connection has, as last reported by the platform, and which of them are synced. Cached in
 * our own table, so that forms open at once: asking a source can take minutes.
 */
import type { ConnectionStream, WantedStream } from '@inlay/contract/pipelines/connections';
import { definitionOf, getDefinition } from '../../catalog/definitions/definitions.ts';
import { customizationOf } from '../../catalog/templates/source-templates.ts';
import type { ConnectionCatalogRow, ConnectionRow, SourceRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import type { PlatformStream } from '../../kernel/platform/pipelines-port.ts';
import * as connections from '../connections.store.ts';
import type { PipelinesContext } from '../context.ts';
import { versionedTemplateOf } from '../source-template.ts';
import * as sources from '../sources.store.ts';
import * as catalogs from './stream-catalogs.store.ts';
import { chooseStreams, type StreamWishes, streamKey } from './streams.ts';

export interface StreamCatalog {
  streams: PlatformStream[];
  readAt: number;
  /** What decides which of them are synced now. */
  wishes: StreamWishes;
}

export async function streamWishes(
  ctx: PipelinesContext,
  source: SourceRow,
  connection: ConnectionRow,
): Promise<StreamWishes> {
  const template = await versionedTemplateOf(ctx, source);
  const definition = await getDefinition(ctx.templates, definitionOf(template));
  return {
    customization: customizationOf(template),
    suggested: definition.suggestedStreams,
    own: ownStreamsIn(connection),
  };
}

export function ownStreamsIn({ own_streams }: Pick<ConnectionRow, 'own_streams'>): WantedStream[] | undefined {
  return own_streams === null ? undefined : JSON.parse(own_streams);
}

/** What the source has just said. */
export async function keepCatalog(
  ctx: PipelinesContext,
  { organization_id, workspace_id, id }: ConnectionRow,
  streams: readonly PlatformStream[],
): Promise<ConnectionCatalogRow> {
  const catalog = { connectionId: id, streams: JSON.stringify(streams) };
  return await catalogs.putCatalog(ctx.store.db, organization_id, workspace_id, catalog);
}

/** A connection of before catalogs were kept asks the platform once. */
export async function getCatalog(ctx: PipelinesContext, connection: ConnectionRow): Promise<StreamCatalog> {
  const { db } = ctx.store;
  const { workspace_id: workspaceId } = connection;
  const source = await sources.findSource(db, workspaceId, connection.source_id);
  if (!source) throw new AppError('connection_not_found');
  const kept =
    (await catalogs.findCatalog(db, workspaceId, connection.id)) ?? (await readCatalog(ctx, source, connection));
  return {
    streams: JSON.parse(kept.streams),
    readAt: kept.read_at,
    wishes: await streamWishes(ctx, source, connection),
  };
}

async function readCatalog(ctx: PipelinesContext, source: SourceRow, connection: ConnectionRow) {
  const { db } = ctx.store;
  const destination = await connections.findDestination(db, connection.workspace_id, connection.destination_id);
  const [sourceId, destinationId] = [source.platform_id, destination?.platform_id ?? null];
  if (connection.platform_id === null || sourceId === null || destinationId === null) {
    throw new AppError('connection_pending');
  }
  const streams = await ctx.platform.listStreams(sourceId, destinationId);
  return await keepCatalog(ctx, connection, streams);
}

/** Every stream, or those that a customer may choose from: what the templates select, and what is synced now. */
export function presentStreams({ streams, wishes }: StreamCatalog, isForCustomer: boolean): ConnectionStream[] {
  const chosenBy = (by: StreamWishes) => {
    const choice = chooseStreams(streams, by);
    return new Map('streams' in choice ? choice.streams.map((stream) => [streamKey(stream), stream]) : []);
  };
  const synced = chosenBy(wishes);
  const offered = isForCustomer ? chosenBy({ ...wishes, own: undefined }) : undefined;
  return streams
    .filter((stream) => !offered || offered.has(streamKey(stream)) || synced.has(streamKey(stream)))
    .map((stream) => {
      const chosen = synced.get(streamKey(stream));
      const { name, namespace, syncModes, defaultCursorField, sourceDefinedPrimaryKey } = stream;
      return {
        name,
        ...(namespace !== undefined && { namespace }),
        selected: chosen !== undefined,
        sync_mode: chosen?.syncMode ?? null,
        sync_modes: syncModes,
        cursor_field: chosen?.cursorField ?? defaultCursorField,
        primary_key: chosen?.primaryKey ?? sourceDefinedPrimaryKey,
      };
    });
}
