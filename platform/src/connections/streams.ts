/** The streams of a source, with what a destination could do with them. */
import { isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification, Stream } from '@inlay/protocol/protocol';
import { mapInPieces } from '@inlay/schedule/pieces';
import { getActor } from '../actors/actors.ts';
import type { ActorsContext } from '../actors/context.ts';
import { awaitCatalog } from '../actors/discovery.ts';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import { possibleSyncModes } from './stream-selection.ts';

interface StreamsQuestion {
  sourceId: string;
  destinationId?: string;
  /** Ask the source even if its last answer is kept. */
  ignoreCache: boolean;
}

export async function listStreams(ctx: ActorsContext, { sourceId, destinationId, ignoreCache }: StreamsQuestion) {
  const source = await getActor(ctx.store.db, 'source', sourceId);
  const destination = destinationId === undefined ? undefined : await specificationOf(ctx, destinationId);
  const { streams } = await awaitCatalog(ctx, source, { ignoreCache });
  return await mapInPieces(streams, (stream) => presentStream(stream, destination));
}

async function specificationOf(ctx: ActorsContext, destinationId: string): Promise<ConnectorSpecification> {
  const destination = await getActor(ctx.store.db, 'destination', destinationId);
  return (await getDefinition(ctx.definitions, definitionOf(destination))).specification;
}

/** The odd spelling of `streamnamespace` is that of the API this one imitates. */
function presentStream(stream: Stream, destination: ConnectorSpecification | undefined) {
  return {
    streamName: stream.name,
    ...(stream.namespace && { streamnamespace: stream.namespace }),
    syncModes: destination ? possibleSyncModes(stream, destination) : null,
    defaultCursorField: stream.default_cursor_field ?? [],
    sourceDefinedCursorField: stream.source_defined_cursor ?? false,
    sourceDefinedPrimaryKey: stream.source_defined_primary_key ?? [],
    propertyFields: fieldsOf(stream.json_schema),
  };
}

/** Every field, those inside objects included, as paths. */
function fieldsOf({ properties }: JsonSchema, above: readonly string[] = [], found: string[][] = []): string[][] {
  if (!isObject(properties)) return found;
  for (const [name, property] of Object.entries(properties)) {
    const path = [...above, name];
    found.push(path);
    if (isObject(property)) fieldsOf(property, path, found);
  }
  return found;
}
