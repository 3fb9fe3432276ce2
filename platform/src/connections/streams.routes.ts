/* The streams of a source, with what a destination could do with them. */
import { isObject, type JsonSchema } from '@inlay/contract/connector-configuration';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { getConnector } from '../actors/actors.ts';
import { awaitCatalog } from '../actors/discovery.ts';
import type { Platform } from '../context.ts';
import { getDefinition } from '../definitions/definitions.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { Uuid } from '../http/paging.ts';
import type { ConnectorSpecification, Stream } from '../protocol.ts';
import { possibleSyncModes } from './stream-selection.ts';

const querystring = Type.Object({
  sourceId: Uuid,
  destinationId: Type.Optional(Uuid),
  ignoreCache: Type.Boolean({ default: false }),
});

export function streamRoutes(app: FastifyInstance, platform: Platform): void {
  app
    .withTypeProvider<SchemaTypes>()
    .get('/streams', { ...access('platform'), schema: { querystring } }, async ({ query }) => {
      const { sourceId, destinationId, ignoreCache } = query;
      const source = await getConnector(platform.store, 'source', sourceId);
      const destination = destinationId === undefined ? undefined : await specificationOf(platform, destinationId);
      const { streams } = await awaitCatalog(platform, source, { ignoreCache });
      return streams.map((stream) => showStream(stream, destination));
    });
}

async function specificationOf(platform: Platform, destinationId: string): Promise<ConnectorSpecification> {
  const { definition_id } = await getConnector(platform.store, 'destination', destinationId);
  return (await getDefinition(platform, 'destination', definition_id)).specification;
}

/** The odd spelling of `streamnamespace` is that of the API this one imitates. */
function showStream(stream: Stream, destination: ConnectorSpecification | undefined) {
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
function fieldsOf({ properties }: JsonSchema, above: readonly string[] = []): string[][] {
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, property]) => {
    const path = [...above, name];
    return [path, ...(isObject(property) ? fieldsOf(property, path) : [])];
  });
}
