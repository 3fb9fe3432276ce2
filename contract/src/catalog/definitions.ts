/** What crosses the wire for connector definitions. Field names inside a definition are the hosted platform's own. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import type { JsonSchema } from './connector-configuration.ts';

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

const ManifestPlace = Type.Object(
  {
    path: Type.String({
      description: 'Where in the manifest; empty for the whole manifest',
      examples: ['streams[3].retriever.requester.authenticator'],
    }),
    message: Type.String({
      description: 'What it is about',
      examples: ['CustomAuthenticator "source_x.components.Auth" needs code'],
    }),
  },
  { title: 'Manifest place' },
);
const ManifestStream = Type.Object(
  {
    name: Type.String({ description: 'Its name', examples: ['books'] }),
    is_dynamic: Type.Boolean({ description: 'Whether it stands for streams that are found out when it runs' }),
    is_left_out: Type.Boolean({ description: 'Whether it cannot run, and is left out' }),
    problems: Type.Array(ManifestPlace, { description: 'What keeps it from running' }),
  },
  { title: 'Manifest stream' },
);
export const ManifestAnswer = Type.Object(
  {
    version: Type.Integer({ description: 'Counts up with every new manifest', examples: [1] }),
    language_version: Type.String({ description: 'Of the language of manifests', examples: ['6.44.0'] }),
    streams: Type.Array(ManifestStream, { description: 'What it reads' }),
    warnings: Type.Array(ManifestPlace, {
      description: 'What is not known here and passed over, such as an option of a newer version',
    }),
    content: Type.Optional(
      AnyObject<Record<string, unknown>>(
        'The manifest itself, where one definition is asked for. Secrets that are written into it are masked',
      ),
    ),
    created_at: Timestamp('When the definition was added'),
    updated_at: Timestamp('When it was last changed'),
  },
  { title: 'Manifest answer' },
);
export type ManifestAnswer = Static<typeof ManifestAnswer>;

const StayingSource = Type.Object(
  {
    id: Uuid('The source', exampleId),
    name: Type.String({ description: 'Its name', examples: ['Our library'] }),
    workspace_id: Uuid('Its workspace', exampleId),
    version: Type.Integer({ description: 'The version that it keeps', examples: [1] }),
    reason: Type.String({
      description: 'Which setting the new specification does not accept, or where its secrets would go',
      examples: ['region: field required'],
    }),
    needs_confirmation: Type.Boolean({
      description:
        'Whether it would go on with the new version if somebody with the role `full` confirmed where secrets go',
      examples: [false],
    }),
  },
  { title: 'Staying source' },
);
export const MovedSources = Type.Object(
  {
    moved: Type.Integer({ description: 'How many sources go on with the new version', examples: [12] }),
    staying: Type.Array(StayingSource, { description: 'The sources that stay on their version' }),
  },
  { title: 'Moved sources' },
);
export type MovedSources = Static<typeof MovedSources>;

const ownManifest = Type.Optional(ManifestAnswer);
export const SourceDefinition = Type.Object(
  {
    id: sourceId,
    definition: SourceDefinitionDetail,
    manifest: ownManifest,
  },
  { title: 'Source definition' },
);
export type SourceDefinition = Static<typeof SourceDefinition>;

export const ReplacedSourceDefinition = Type.Object(
  {
    id: sourceId,
    definition: SourceDefinitionDetail,
    manifest: ownManifest,
    sources: MovedSources,
  },
  { title: 'Replaced source definition' },
);
export type ReplacedSourceDefinition = Static<typeof ReplacedSourceDefinition>;

export const DeletedSourceDefinition = Type.Object(
  { id: sourceId, deleted_at: Timestamp('When it was deleted') },
  { title: 'Deleted source definition' },
);
export type DeletedSourceDefinition = Static<typeof DeletedSourceDefinition>;

const exampleManifest = {
  version: '6.44.0',
  type: 'DeclarativeSource',
  check: { type: 'CheckStream', stream_names: ['books'] },
  streams: [
    {
      type: 'DeclarativeStream',
      name: 'books',
      retriever: {
        type: 'SimpleRetriever',
        requester: { type: 'HttpRequester', url_base: 'https://api.example.com', path: '/books' },
        record_selector: { type: 'RecordSelector', extractor: { type: 'DpathExtractor', field_path: ['data'] } },
      },
      schema_loader: {
        type: 'InlineSchemaLoader',
        schema: { type: 'object', properties: { id: { type: 'integer' } } },
      },
    },
  ],
  spec: { type: 'Spec', connection_specification: { type: 'object', title: 'Books Spec', properties: {} } },
};
const Manifest = Type.Unsafe<Record<string, unknown> | string>({
  type: ['object', 'string'],
  additionalProperties: true,
  description: 'A declarative manifest: an object, or its text in YAML or JSON',
  examples: [exampleManifest],
});
const definitionName = {
  format: 'name',
  minLength: 1,
  maxLength: 255,
  examples: ['Books'],
};
const DefinitionIcon = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'icon-address',
  description: 'An image as a `data:` address (PNG, JPEG, GIF or WebP, at most 16 kB), or an https address',
  examples: ['https://app.example.com/icons/books.png'],
});
const titleByDefault = "The title of the manifest's specification by default";

export const AddSourceDefinitionRequest = Type.Object(
  {
    manifest: Manifest,
    name: Type.Optional(Type.String({ ...definitionName, description: titleByDefault })),
    icon: Type.Optional(DefinitionIcon),
  },
  { title: 'Add source definition request' },
);
export type AddSourceDefinitionRequest = Static<typeof AddSourceDefinitionRequest>;

export const ReplaceSourceDefinitionRequest = Type.Object(
  {
    manifest: Manifest,
    name: Type.Optional(Type.String({ ...definitionName, description: 'As before by default' })),
    icon: Type.Optional(DefinitionIcon),
  },
  { title: 'Replace source definition request' },
);
export type ReplaceSourceDefinitionRequest = Static<typeof ReplaceSourceDefinitionRequest>;

/** For a body of YAML, which holds nothing but the manifest. */
export const SourceDefinitionQuery = Type.Object({
  name: Type.Optional(Type.String({ ...definitionName, description: 'With a body of YAML: what to call it' })),
  icon: Type.Optional(
    Type.String({
      format: 'icon-address',
      description: 'With a body of YAML: its icon',
      examples: ['https://app.example.com/icons/books.png'],
    }),
  ),
});
export type SourceDefinitionQuery = Static<typeof SourceDefinitionQuery>;

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
