/** Schemas for discovering the streams of a source with values that are not stored. */
import { type Static, Type } from 'typebox';
import type { Configuration } from '../catalog/connector-configuration.ts';
import { Enumeration } from '../fields.ts';
import { NullableReason } from '../reasons.ts';

const exampleDefinitionId = '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14';

export const DiscoverStreamsRequest = Type.Object(
  {
    source_definition_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Definition of the connector. Required unless a template is given.',
        examples: [exampleDefinitionId],
      }),
    ),
    source_template_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Source template whose connector is used, instead of a definition.',
        examples: ['9a4e7c30-1c55-4b8f-a1d7-0c6f2b8e4d21'],
      }),
    ),
    source_config: Type.Unsafe<Configuration>({
      type: 'object',
      additionalProperties: true,
      description:
        'Complete configuration of the source. With a template, masked secrets stand for those of the template, unless an address differs.',
      examples: [{ count: 10 }],
    }),
  },
  {
    title: 'Discover streams request',
    examples: [{ source_definition_id: exampleDefinitionId, source_config: { count: 10 } }],
  },
);
export type DiscoverStreamsRequest = Static<typeof DiscoverStreamsRequest>;

export const DiscoveredStream = Type.Object(
  {
    name: Type.String({ description: 'Name of the stream, as used in `stream_whitelist`.', examples: ['users'] }),
    namespace: Type.Optional(Type.String({ description: 'Namespace of the stream at the source, such as a schema.' })),
  },
  { title: 'Discovered stream' },
);

export const DiscoveredStreams = Type.Object(
  {
    status: Enumeration(['succeeded', 'failed'], { description: 'Whether the source works with this configuration.' }),
    error_message: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Why the source does not work. Null if it does.',
      examples: [null],
    }),
    error_reason: NullableReason('The error as a code and parameters.'),
    streams: Type.Array(DiscoveredStream, { description: 'Streams of the source. Empty if the source does not work.' }),
  },
  { title: 'Discovered streams' },
);
export type DiscoveredStreams = Static<typeof DiscoveredStreams>;
