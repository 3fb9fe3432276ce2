/** Operations on connector definitions, including an organization's own. */
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

/** Manifests are large but cheap to accept, because a separate process reads them. */
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
      'Adds a declarative manifest as a connector that only your organization can see and use. The body is JSON, or the manifest itself as YAML, up to 4 MiB. The response lists unsupported parts, and streams that need them are skipped. Manifests without a single working stream are rejected.',
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
      'Replaces the manifest of a definition. Existing sources move to it if their configuration is still valid and their secrets would not be sent to new addresses. The response lists the sources that stay on their version. They are tried again with every further request.',
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
      'Creates a new version that repeats an earlier manifest, including its stored secrets. Existing sources move to it or stay, as with a new manifest.',
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
      'Allows sources to move to the latest version even though it sends their secrets to new addresses, or reveals values that were secret. Without confirmation, such a source stays on its version until its customer enters the secrets again.',
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
    description: 'Deletes a definition of the organization. Sources of deleted templates keep running.',
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
      'Returns the versions of a connector that the organization added, with the number of working streams. Every new manifest creates a version, and versions never change. The latest 20 are kept, and older ones as long as a source uses them.',
    params: SourceDefinitionPath,
    query: ListVersionsQuery,
    answer: SourceDefinitionVersionList,
    errors: ['source_definition_not_found'],
  },
  getVersion: {
    ...about,
    route: 'GET /api/v1/integrations/definitions/sources/{source_definition_id}/versions/{version}',
    summary: 'Get version of a source definition',
    description: 'Returns a version with its manifest. Secrets are masked.',
    params: Type.Object({
      ...SourceDefinitionPath.properties,
      version: VersionNumber('Version number.'),
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
