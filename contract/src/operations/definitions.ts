/** Operations that show operators which connectors there are, and that take connectors of their own. */
import { Type } from 'typebox';
import {
  ConfirmSourceDefinitionRequest,
  RollbackSourceDefinitionRequest,
  SourceDefinitionVersion,
  SourceDefinitionVersionList,
} from '../catalog/definition-versions.ts';
import {
  AddSourceDefinitionRequest,
  DeletedSourceDefinition,
  DestinationDefinition,
  DestinationDefinitionList,
  DestinationDefinitionPath,
  ListDefinitionsQuery,
  ReplacedSourceDefinition,
  ReplaceSourceDefinitionRequest,
  SourceDefinition,
  SourceDefinitionList,
  SourceDefinitionPath,
  SourceDefinitionQuery,
} from '../catalog/definitions.ts';
import { ListVersionsQuery, VersionNumber } from '../catalog/template-versions.ts';
import type { Operation } from './operation.ts';

/** Manifests are large, and quick to take: what reads them is a process of its own. */
const maxManifestBytes = 4 * 1024 ** 2;
const about = { access: 'operator', tag: 'Definitions' } as const;

export const sourceDefinitions = {
  list: {
    ...about,
    route: 'GET /api/v1/integrations/definitions/sources',
    summary: 'List source definitions',
    query: ListDefinitionsQuery,
    answer: SourceDefinitionList,
    errors: ['definitions_unavailable'],
  },
  get: {
    ...about,
    route: 'GET /api/v1/integrations/definitions/sources/{source_definition_id}',
    summary: 'Get source definition',
    params: SourceDefinitionPath,
    answer: SourceDefinition,
    errors: ['source_definition_not_found', 'definitions_unavailable'],
  },
  add: {
    ...about,
    route: 'POST /api/v1/integrations/definitions/sources',
    summary: 'Add source definition',
    description:
      'Adds a declarative manifest as a connector of the organization. Nobody else sees or uses it. The body is JSON, or YAML with nothing but the manifest, of at most 4 MiB. What of the manifest cannot run is named in the answer, and the streams that it touches are left out; a manifest of which no stream can run is refused.',
    query: SourceDefinitionQuery,
    body: AddSourceDefinitionRequest,
    maxBodyBytes: maxManifestBytes,
    takesYaml: true,
    status: 201,
    answer: SourceDefinition,
    errors: ['queue_full'],
  },
  replace: {
    ...about,
    route: 'PUT /api/v1/integrations/definitions/sources/{source_definition_id}',
    summary: 'Replace source definition',
    description:
      'Gives a definition of the organization a new manifest. Existing sources go on with it if its specification accepts their configuration, and if it sends their secrets to no new address. The other sources are named in the answer and stay on their version; they are tried again with every further request.',
    params: SourceDefinitionPath,
    query: SourceDefinitionQuery,
    body: ReplaceSourceDefinitionRequest,
    maxBodyBytes: maxManifestBytes,
    takesYaml: true,
    answer: ReplacedSourceDefinition,
    errors: ['source_definition_not_found', 'queue_full'],
  },
  rollBack: {
    ...about,
    route: 'POST /api/v1/integrations/definitions/sources/{source_definition_id}/rollback',
    summary: 'Roll back source definition',
    description:
      'Makes a new version that repeats the manifest of an earlier one, with the secrets that are stored in it. Existing sources go on with it or stay on their version as with a new manifest.',
    params: SourceDefinitionPath,
    body: RollbackSourceDefinitionRequest,
    answer: ReplacedSourceDefinition,
    errors: ['source_definition_not_found', 'source_definition_version_not_found', 'queue_full'],
  },
  confirm: {
    ...about,
    route: 'POST /api/v1/integrations/definitions/sources/{source_definition_id}/confirm',
    summary: 'Confirm source definition',
    description:
      'Lets sources go on with the newest version although it sends their secrets to addresses that their version does not have, or shows what was secret. Without it, such a source stays on its version until its customer enters the secrets again.',
    params: SourceDefinitionPath,
    body: ConfirmSourceDefinitionRequest,
    isRepeatable: true,
    isAdministration: true,
    answer: ReplacedSourceDefinition,
    errors: ['source_definition_not_found', 'source_definition_version_not_found'],
  },
  delete: {
    ...about,
    route: 'DELETE /api/v1/integrations/definitions/sources/{source_definition_id}',
    summary: 'Delete source definition',
    description: 'Deletes a definition of the organization. Sources of deleted templates go on with what they have.',
    params: SourceDefinitionPath,
    answer: DeletedSourceDefinition,
    errors: ['source_definition_not_found', 'definition_in_use'],
  },
  listVersions: {
    ...about,
    route: 'GET /api/v1/integrations/definitions/sources/{source_definition_id}/versions',
    paging: 'cursor',
    summary: 'List versions of a source definition',
    description:
      'The versions of a connector that the organization has added, each with what of it runs. Every new manifest makes a version. Versions never change. The newest 20 are kept, and older ones as long as a source has them.',
    params: SourceDefinitionPath,
    query: ListVersionsQuery,
    answer: SourceDefinitionVersionList,
    errors: ['source_definition_not_found'],
  },
  getVersion: {
    ...about,
    route: 'GET /api/v1/integrations/definitions/sources/{source_definition_id}/versions/{version}',
    summary: 'Get version of a source definition',
    description: 'With the manifest as it was, its secrets masked.',
    params: Type.Object({
      ...SourceDefinitionPath.properties,
      version: VersionNumber('Number of the version'),
    }),
    answer: SourceDefinitionVersion,
    errors: ['source_definition_not_found', 'source_definition_version_not_found'],
  },
} as const satisfies Record<string, Operation>;

export const destinationDefinitions = {
  list: {
    ...about,
    route: 'GET /api/v1/integrations/definitions/destinations',
    summary: 'List destination definitions',
    query: ListDefinitionsQuery,
    answer: DestinationDefinitionList,
    errors: ['definitions_unavailable'],
  },
  get: {
    ...about,
    route: 'GET /api/v1/integrations/definitions/destinations/{destination_definition_id}',
    summary: 'Get destination definition',
    params: DestinationDefinitionPath,
    answer: DestinationDefinition,
    errors: ['destination_definition_not_found', 'definitions_unavailable'],
  },
} as const satisfies Record<string, Operation>;
