/** Schemas for connector definitions. Field names inside a definition are the hosted platform's own. */
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

/** What a connector reports about itself: its configuration schema and how it can be authorized. */
export const ConnectorSpecification = Type.Object(
  {
    documentationUrl: Type.Optional(Type.String({ description: 'Page that describes the set-up.' })),
    connectionSpecification: AnyObject<JsonSchema>(
      'JSON Schema (draft 07) of the configuration, with annotations for rendering a form.',
      { examples: [exampleSchema] },
    ),
    advanced_auth: Type.Optional(AnyObject<Record<string, unknown>>('How the connector can be authorized with OAuth.')),
    supported_destination_sync_modes: Type.Optional(
      Type.Array(Type.String(), { description: 'Write modes that a destination supports.', examples: [['append']] }),
    ),
  },
  { title: 'Connector specification' },
);
export type ConnectorSpecification = Static<typeof ConnectorSpecification>;

const definitionFields = {
  name: Type.String({ description: 'Name of the connector.', examples: ['Sample Data'] }),
  dockerRepository: TextOrNull("Location of the connector's image.", { examples: ['inlay/source-sample-data'] }),
  iconUrl: TextOrNull("URL of the connector's icon.", {
    examples: ['https://inlay.example.com/icons/5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14/0f2e6a1b9c3d4e5f'],
  }),
  custom: Type.Boolean({ description: 'Whether the operator added the connector.', examples: [false] }),
  supportLevel: TextOrNull('Support level of the connector, as the registry reports it.', { examples: ['certified'] }),
};

const detailFields = {
  dockerImageTag: TextOrNull('Version of the connector.', { examples: ['0.1.0'] }),
  documentationUrl: TextOrNull('Page that describes the set-up.'),
  documentation: TextOrNull("Short text about the connector's purpose and set-up."),
  spec: ConnectorSpecification,
};

const sourceId = Uuid('Identifier of the definition.', exampleId);
const destinationId = Uuid('Identifier of the definition.', 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815');

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

/** One format for both types of connector. Each connector's specification is in its own response. */
export const Connector = Type.Object(
  {
    id: sourceId,
    name: definitionFields.name,
    type: Enumeration(['source', 'destination'], { description: 'Type of the connector.' }),
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
const inOurShape = 'The same connectors, in the list format used across this API.';

export const SourceDefinitionList = Type.Object(
  {
    definitions: Type.Array(SourceDefinitionSummary, { description: 'Connectors, sorted by name.' }),
    data: Type.Array(Connector, { description: inOurShape }),
  },
  { title: 'Source definition list' },
);
export type SourceDefinitionList = Static<typeof SourceDefinitionList>;

const ManifestPlace = Type.Object(
  {
    path: Type.String({
      description: 'Path in the manifest. Empty for the whole manifest.',
      examples: ['streams[3].retriever.requester.authenticator'],
    }),
    message: Type.String({
      description: 'The problem in words.',
      examples: ['CustomAuthenticator "source_x.components.Auth" needs code'],
    }),
  },
  { title: 'Manifest place' },
);
const ManifestStream = Type.Object(
  {
    name: Type.String({ description: 'Name of the stream.', examples: ['books'] }),
    is_dynamic: Type.Boolean({
      description: 'Whether this is a template for streams that are discovered at run time.',
    }),
    is_left_out: Type.Boolean({ description: 'Whether the stream cannot run and is skipped.' }),
    problems: Type.Array(ManifestPlace, { description: 'Why the stream cannot run.' }),
  },
  { title: 'Manifest stream' },
);
export const ManifestAnswer = Type.Object(
  {
    version: Type.Integer({ description: 'Increases with every new manifest.', examples: [1] }),
    language_version: Type.String({ description: 'Version of the manifest language.', examples: ['6.44.0'] }),
    streams: Type.Array(ManifestStream, { description: 'Streams of the manifest.' }),
    warnings: Type.Array(ManifestPlace, {
      description: 'Unknown parts of the manifest that are ignored, such as options of a newer language version.',
    }),
    content: Type.Optional(
      AnyObject<Record<string, unknown>>(
        'The manifest, with embedded secrets masked. Present only when a single definition is requested.',
      ),
    ),
    created_at: Timestamp('When the definition was added.'),
    updated_at: Timestamp('When the definition was last changed.'),
  },
  { title: 'Manifest answer' },
);
export type ManifestAnswer = Static<typeof ManifestAnswer>;

const StayingSource = Type.Object(
  {
    id: Uuid('The source.', exampleId),
    name: Type.String({ description: 'Name of the source.', examples: ['Our library'] }),
    workspace_id: Uuid('Workspace of the source.', exampleId),
    version: Type.Integer({ description: 'Version that the source keeps.', examples: [1] }),
    reason: Type.String({
      description: 'The setting that the new specification rejects, or the new address that would receive secrets.',
      examples: ['region: field required'],
    }),
    needs_confirmation: Type.Boolean({
      description:
        'Whether the source can move to the new version once somebody with the role `full` confirms where its secrets are sent.',
      examples: [false],
    }),
  },
  { title: 'Staying source' },
);
export const MovedSources = Type.Object(
  {
    moved: Type.Integer({ description: 'Number of sources that moved to the new version.', examples: [12] }),
    staying: Type.Array(StayingSource, { description: 'Sources that stay on their version.' }),
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
  { id: sourceId, deleted_at: Timestamp('When the definition was deleted.') },
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
  description: 'Declarative manifest, as an object or as YAML or JSON text.',
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
  description: 'Image as a `data:` URL (PNG, JPEG, GIF or WebP, at most 16 kB) or an https URL.',
  examples: ['https://app.example.com/icons/books.png'],
});
const titleByDefault = "Defaults to the title of the manifest's specification.";

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
    name: Type.Optional(Type.String({ ...definitionName, description: 'Unchanged if omitted.' })),
    icon: Type.Optional(DefinitionIcon),
  },
  { title: 'Replace source definition request' },
);
export type ReplaceSourceDefinitionRequest = Static<typeof ReplaceSourceDefinitionRequest>;

/** For YAML bodies, which contain only the manifest. */
export const SourceDefinitionQuery = Type.Object({
  name: Type.Optional(
    Type.String({ ...definitionName, description: 'Name of the connector, for requests with a YAML body.' }),
  ),
  icon: Type.Optional(
    Type.String({
      format: 'icon-address',
      description: 'Icon of the connector, for requests with a YAML body.',
      examples: ['https://app.example.com/icons/books.png'],
    }),
  ),
});
export type SourceDefinitionQuery = Static<typeof SourceDefinitionQuery>;

export const DestinationDefinitionList = Type.Object(
  {
    destinations: Type.Array(DestinationDefinitionSummary, { description: 'Connectors, sorted by name.' }),
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
      description: 'Part of the name, case-insensitive.',
      examples: ['sample'],
    }),
  ),
});
export type ListDefinitionsQuery = Static<typeof ListDefinitionsQuery>;

export const SourceDefinitionPath = Type.Object({ source_definition_id: sourceId });
export type SourceDefinitionPath = Static<typeof SourceDefinitionPath>;

export const DestinationDefinitionPath = Type.Object({ destination_definition_id: destinationId });
export type DestinationDefinitionPath = Static<typeof DestinationDefinitionPath>;
