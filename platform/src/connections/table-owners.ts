/**
 * Which tables or folders a connection writes at its destination, and whether one of them belongs to a connection of
 * another workspace. Checked when a connection is created or its names change, so that its author learns of it
 * immediately. The destination checks again before it writes: it also knows tables whose connections were deleted.
 */
import { isDeepStrictEqual } from 'node:util';
import { maskSecrets } from '@inlay/contract/catalog/connector-configuration';
import { type StreamDescriptor, streamKey } from '@inlay/protocol/protocol';
import { Pieces } from '@inlay/schedule/pieces';
import { getActor } from '../actors/actors.ts';
import { findKeptCatalog } from '../actors/discovery.ts';
import { openConfiguration } from '../actors/sealed-configuration.ts';
import type { Naming } from '../attempts/desk.ts';
import { isFixed, renaming } from '../attempts/naming.ts';
import type { ActorRow, ConnectionRow } from '../db/tables.ts';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import { Problem } from '../problems.ts';
import { listConnectionsOfOthers, listMovedStreams } from './connections.store.ts';
import type { ConnectionsContext } from './context.ts';
import { shownName } from './stream-selection.ts';

type NamingColumns = Pick<ConnectionRow, 'prefix' | 'namespace_definition' | 'namespace_format'>;

export function namingOf({ prefix, namespace_definition, namespace_format }: NamingColumns): Naming {
  return { prefix, namespaceDefinition: namespace_definition, namespaceFormat: namespace_format };
}

function tableOf(naming: NamingColumns, { name, namespace }: StreamDescriptor): StreamDescriptor {
  const { prefix, namespace: rename } = renaming(namingOf(naming));
  const space = rename(namespace || undefined);
  return { name: prefix + name, ...(space !== undefined && { namespace: space }) };
}

/**
 * Throws if a table of the connection belongs to another workspace. Needs no network: uses only what is already known.
 */
export async function refuseTablesOfOthers(
  ctx: ConnectionsContext,
  connection: NamingColumns & Pick<ConnectionRow, 'source_id' | 'destination_id' | 'configurations'>,
): Promise<void> {
  const { db } = ctx.store;
  const destination = await getActor(db, 'destination', connection.destination_id);
  const { specification } = await getDefinition(ctx.actors.definitions, definitionOf(destination));
  if (specification.connectionSpecification.inlay_separates_workspaces === true) return;
  const tables = new Map<string, StreamDescriptor>();
  const pieces = new Pieces();
  for (const stream of await streamsOf(ctx, connection)) {
    const table = tableOf(connection, stream);
    tables.set(streamKey(table), table);
    if (pieces.isPauseDue) await pieces.pause();
  }
  if (tables.size === 0) return;
  const placeOf = (actor: ActorRow) =>
    maskSecrets(specification.connectionSpecification, openConfiguration(ctx.actors.sealer, actor));
  const place = placeOf(destination);
  for (const other of await listConnectionsOfOthers(db, destination.workspace_id, {
    definitionId: destination.definition_id,
    namespaceFormat: fixedNamespaceOf(connection),
  })) {
    if (pieces.isPauseDue) await pieces.pause();
    const moved = await listMovedStreams(db, other.workspace_id, other.connection_id);
    const theirs = [...namedStreams(other), ...moved].map((stream) => tableOf(other, stream));
    const shared = theirs.find((table) => tables.has(streamKey(table)));
    if (!shared) continue;
    const theirDestination = await getActor(db, 'destination', other.destination_id);
    if (!isDeepStrictEqual(placeOf(theirDestination), place)) continue;
    throw new Problem('bad-request', {
      message:
        `The table ${shownName(shared)} at the destination belongs to another workspace. ` +
        'Use a different namespace or prefix for this connection.',
    });
  }
}

/** The namespace of all tables, where it does not depend on the source. */
function fixedNamespaceOf({ namespace_definition, namespace_format }: NamingColumns): string | undefined {
  if (namespace_definition !== 'custom_format' || namespace_format === null) return undefined;
  return isFixed(namespace_format) ? namespace_format : undefined;
}

function namedStreams({ configurations }: Pick<ConnectionRow, 'configurations'>): StreamDescriptor[] {
  return (JSON.parse(configurations) as { streams: StreamDescriptor[] }).streams;
}

/** The named streams, or all known streams of the source. */
async function streamsOf(
  ctx: ConnectionsContext,
  connection: Pick<ConnectionRow, 'source_id' | 'configurations'>,
): Promise<StreamDescriptor[]> {
  const named = namedStreams(connection);
  if (named.length > 0) return named;
  const source = await getActor(ctx.store.db, 'source', connection.source_id);
  return (await findKeptCatalog(ctx.actors, source))?.streams ?? [];
}
