/** Operations on sources: for customers, whose token has its workspace built in, and for operators, who name it. */
import { ListSourcesQuery, SourcePage } from '../pipelines/operating.ts';
import {
  Check,
  CheckPath,
  CheckSourceRequest,
  CreateSourceRequest,
  DeletedSource,
  RecheckSourceRequest,
  Source,
  SourceList,
  SourcePath,
  StartedCheck,
  UpdateSourceRequest,
} from '../pipelines/sources.ts';
import { DiscoveredStreams, DiscoverStreamsRequest } from '../pipelines/stream-discovery.ts';
import { type Audience, customers, operators } from './audiences.ts';
import type { Operation, OperationPath } from './operation.ts';

function sourcesFor<A extends Operation['access'], P extends OperationPath, Q extends Operation['query']>(
  audience: Audience & { access: A; path: P; query: Q },
) {
  const { access, path, tag, where, query, errors, changeErrors } = audience;
  const about = { access, tag, query } as const;
  return {
    create: {
      ...about,
      route: `POST ${path}/sources`,
      summary: `Create source${where}`,
      description:
        'Creates a source from a template, and a connection for every connection template that applies. Responds as soon as this is recorded. `status` shows when everything is set up.',
      body: CreateSourceRequest,
      status: 201,
      answer: Source,
      errors: [...errors, 'source_template_not_found', 'definitions_unavailable', 'quota_reached', ...changeErrors],
    },
    get: {
      ...about,
      route: `GET ${path}/sources/{source_id}`,
      summary: `Get source${where}`,
      params: SourcePath,
      answer: Source,
      errors: [...errors, 'source_not_found'],
    },
    update: {
      ...about,
      route: `PUT ${path}/sources/{source_id}`,
      summary: `Update source${where}`,
      description:
        'Updates a source. Both fields are optional. `source_config` replaces the earlier configuration. Masked values keep their secrets unless an address changes, in which case secrets must be entered again.',
      params: SourcePath,
      body: UpdateSourceRequest,
      answer: Source,
      errors: [...errors, 'source_not_found', 'definitions_unavailable', ...changeErrors],
    },
    delete: {
      ...about,
      route: `DELETE ${path}/sources/{source_id}`,
      summary: `Delete source${where}`,
      description: 'Deletes the source and its connections. Data already written to destinations is kept.',
      params: SourcePath,
      answer: DeletedSource,
      errors: [...errors, 'source_not_found', 'source_deletion_recorded'],
    },
    check: {
      ...about,
      route: `POST ${path}/sources/check`,
      summary: `Check a configuration${where}`,
      description: 'Runs the connector to test a configuration. Poll for the result with the returned ID.',
      body: CheckSourceRequest,
      isRepeatable: true,
      answer: StartedCheck,
      errors: [...errors, 'source_template_not_found', 'queue_full'],
    },
    getCheck: {
      ...about,
      route: `GET ${path}/sources/check/{check_id}/status`,
      summary: `Get check${where}`,
      params: CheckPath,
      answer: Check,
      errors: [...errors, 'check_not_found'],
    },
    recheck: {
      ...about,
      route: `POST ${path}/sources/{source_id}/check`,
      summary: `Check a source${where}`,
      description: "Tests the source's stored configuration, or the given one.",
      params: SourcePath,
      body: RecheckSourceRequest,
      isRepeatable: true,
      answer: StartedCheck,
      errors: [...errors, 'source_not_found', 'queue_full'],
    },
  } as const;
}

export const embeddedSources = {
  list: {
    route: 'GET /api/v1/embedded/sources',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'List sources',
    description: 'Returns all sources of the workspace, oldest first.',
    answer: SourceList,
  },
  ...sourcesFor(customers),
} as const satisfies Record<string, Operation>;

export const sources = {
  discoverStreams: {
    route: 'POST /api/v1/integrations/sources/discover',
    access: 'operator',
    tag: 'Source templates',
    summary: 'Discover streams',
    description:
      'Runs the connector with the given configuration and returns the streams it offers. Needs no customer and stores nothing. The request waits up to 50 seconds for the connector. Hosted platforms do not support this.',
    body: DiscoverStreamsRequest,
    isRepeatable: true,
    answer: DiscoveredStreams,
    errors: [
      'source_template_not_found',
      'definitions_unavailable',
      'definition_unusable',
      'queue_full',
      'stream_discovery_unsupported',
      'stream_discovery_unavailable',
    ],
  },
  list: {
    route: 'GET /api/v1/integrations/sources',
    paging: 'cursor',
    access: 'operator',
    tag: 'Operating',
    summary: 'List sources of all workspaces',
    description:
      'Returns sources with their health, oldest first. Follow `next` until it is null. With only `workspace_id`, returns all sources of the workspace at once.',
    query: ListSourcesQuery,
    answer: SourcePage,
    errors: ['workspace_not_found'],
  },
  ...sourcesFor(operators),
} as const satisfies Record<string, Operation>;
