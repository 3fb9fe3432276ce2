/** What crosses the wire for connector definitions. Field names inside a definition are the hosted platform's own. */
import { type Static, Type } from 'typebox';
import type { JsonSchema } from './connector-configuration.ts';
import { Enumeration, Uuid } from './fields.ts';

const exampleId = '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14';
const exampleSchema = {
  type: 'object',
  required: ['count'],
  properties: { count: { type: 'integer', title: 'Users', default: 1000 } },
};

const AnyObject = <T>(description: string, options: object = {}) =>
  Type.Unsafe<T>({ type: 'object', additionalProperties: true, description, ...options });

const TextOrNull = (description: string, options: object = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, ...options });

/** How a connector describes itself: the schema of its configuration, and how a person may authorise it. */
export const ConnectorSpecification = Type.Object(
  {
    documentationUrl: Type.Optional(Type.String({ description: 'A page on how to set it up' })),
    connectionSpecification: AnyObject<JsonSchema>(
      'JSON Schema (draft 07) of the configuration, with annotations for drawing a form',
      { examples: [exampleSchema] },
    ),
    advanced_auth: Type.Optional(AnyObject<Record<string, unknown>>('How a person may authorise it with OAuth')),
    supported_destination_sync_modes: Type.Optional(
      Type.Array(Type.String(), { description: 'For a destination: how it can write', examples: [['append']] }),
    ),
  },
  { title: 'Connector specification' },
);
export type ConnectorSpecification = Static<typeof ConnectorSpecification>;

const definitionFields = {
  name: Type.String({ description: 'Name of the connector', examples: ['Sample Data'] }),
  dockerRepository: TextOrNull('Where its image is', { examples: ['inlay/source-sample-data'] }),
  iconUrl: TextOrNull('Address of its icon', {
    examples: ['https://inlay.example.com/icons/5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14/0f2e6a1b9c3d4e5f'],
  }),
  custom: Type.Boolean({ description: 'Whether the operator added it', examples: [false] }),
  supportLevel: TextOrNull('How well it is maintained, in the words of the registry', { examples: ['certified'] }),
};

const detailFields = {
  dockerImageTag: TextOrNull('Its version', { examples: ['0.1.0'] }),
  documentationUrl: TextOrNull('A page on how to set it up'),
  documentation: TextOrNull('In a few words, what it is for and how to set it up'),
  spec: ConnectorSpecification,
};

const sourceId = Uuid('Identifier of the definition', exampleId);
const destinationId = Uuid('Identifier of the definition', 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815');

const SourceDefinitionSummary = Type.Object(
  { sourceDefinitionId: sourceId, ...definitionFields },
  { title: 'Source definition summary' },
);
const SourceDefinitionDetail = Type.Object(
  { sourceDefinitionId: sourceId, ...definitionFields, ...detailFields },
  { title: 'Source definition detail' },
);
const DestinationDefinitionSummary = Type.Object(
  { id: destinationId, name: definitionFields.name, icon: definitionFields.iconUrl },
  { title: 'Destination definition summary' },
);
const DestinationDefinitionDetail = Type.Object(
  { destinationDefinitionId: destinationId, ...definitionFields, ...detailFields },
  { title: 'Destination definition detail' },
);

/** One shape for connectors of both kinds; what a connector asks for is in its own answer. */
export const Connector = Type.Object(
  {
    id: sourceId,
    name: definitionFields.name,
    type: Enumeration(['source', 'destination'], { description: 'What kind of connector it is' }),
    icon: definitionFields.iconUrl,
    version: detailFields.dockerImageTag,
    documentation: detailFields.documentation,
    documentation_url: detailFields.documentationUrl,
    support_level: definitionFields.supportLevel,
    custom: definitionFields.custom,
  },
  { title: 'Connector' },
);
export type Connector = Static<typeof Connector>;
const inOurShape = 'The same connectors, in the shape that all lists of this service have';

export const SourceDefinitionList = Type.Object(
  {
    definitions: Type.Array(SourceDefinitionSummary, { description: 'By name' }),
    data: Type.Array(Connector, { description: inOurShape }),
  },
  { title: 'Source definition list' },
);
export type SourceDefinitionList = Static<typeof SourceDefinitionList>;

export const SourceDefinition = Type.Object(
  {
    id: sourceId,
    definition: SourceDefinitionDetail,
  },
  { title: 'Source definition' },
);
export type SourceDefinition = Static<typeof SourceDefinition>;

export const DestinationDefinitionList = Type.Object(
  {
    destinations: Type.Array(DestinationDefinitionSummary, { description: 'By name' }),
    data: Type.Array(Connector, { description: inOurShape }),
  },
  { title: 'Destination definition list' },
);
export type DestinationDefinitionList = Static<typeof DestinationDefinitionList>;

export const DestinationDefinition = Type.Object(
  {
    id: destinationId,
    definition: DestinationDefinitionDetail,
  },
  { title: 'Destination definition' },
);
export type DestinationDefinition = Static<typeof DestinationDefinition>;

export const ListDefinitionsQuery = Type.Object({
  name: Type.Optional(
    Type.String({
      format: 'search-text',
      maxLength: 255,
      description: 'Part of the name, case-insensitive',
      examples: ['sample'],
    }),
  ),
});
export type ListDefinitionsQuery = Static<typeof ListDefinitionsQuery>;

export const SourceDefinitionPath = Type.Object({ source_definition_id: sourceId });
export type SourceDefinitionPath = Static<typeof SourceDefinitionPath>;

export const DestinationDefinitionPath = Type.Object({ destination_definition_id: destinationId });
export type DestinationDefinitionPath = Static<typeof DestinationDefinitionPath>;
