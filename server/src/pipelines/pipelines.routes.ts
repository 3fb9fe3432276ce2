/**
 * The endpoints of what is inside a workspace, twice: for a scoped token, which has its workspace built in, and for an
 * operator, who names one.
 */
import { ConnectionList, ConnectionPath, Job, JobList, ListJobsQuery } from '@inlay/contract/connections';
import {
  Check,
  CheckPath,
  CheckSourceRequest,
  CreateSourceRequest,
  DeletedSource,
  InWorkspaceQuery,
  RecheckSourceRequest,
  Source,
  SourceList,
  SourcePath,
  StartedCheck,
  UpdateSourceRequest,
} from '@inlay/contract/sources';
import type { FastifyInstance } from 'fastify';
import { type Static, type TProperties, Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import type { OperatorPrincipal, ScopedPrincipal } from '../tokens/principals.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import * as checks from './checks.ts';
import * as connections from './connections.ts';
import type { PipelinesContext, Scope } from './context.ts';
import * as sources from './sources.ts';

/** For whom the endpoints are: how they are called, what they ask for, and which workspace they act in. */
interface Audience {
  access: 'scoped' | 'operator';
  path: string;
  query: TProperties;
  errors: ErrorCode[];
  scopeOf(principal: OperatorPrincipal | ScopedPrincipal, query: Record<string, unknown>): Promise<Scope>;
}

export function pipelineRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  routesFor(app, ctx, {
    access: 'scoped',
    path: '/api/v1/embedded',
    query: {},
    errors: [],
    async scopeOf(principal) {
      const { organizationId, workspaceId, templateFilters } = principal as ScopedPrincipal;
      return { organizationId, workspaceId, templateFilters };
    },
  });
  routesFor(app, ctx, {
    access: 'operator',
    path: '/api/v1/integrations',
    query: InWorkspaceQuery.properties,
    errors: ['workspace_not_found'],
    async scopeOf({ organizationId }, { workspace_id }) {
      const { id } = await getWorkspace(ctx.workspaces, organizationId, String(workspace_id));
      return { organizationId, workspaceId: id };
    },
  });
}

function routesFor(app: FastifyInstance, ctx: PipelinesContext, audience: Audience): void {
  const { access, path, scopeOf } = audience;
  const query = Type.Object(audience.query);
  const about = (tag: string, ...errors: ErrorCode[]) => ({ access, tag, errors: [...audience.errors, ...errors] });
  const ofSources = (...errors: ErrorCode[]) => about('Sources', ...errors);
  const ofConnections = (...errors: ErrorCode[]) => about('Connections', ...errors);

  endpoint(app, {
    ...ofSources(),
    method: 'GET',
    url: `${path}/sources`,
    summary: 'List sources',
    description: 'All sources of the workspace, oldest first.',
    query,
    answer: SourceList,
    handle: async ({ principal, query }) => ({ data: await sources.listSources(ctx, await scopeOf(principal, query)) }),
  });

  endpoint(app, {
    ...ofSources('source_template_not_found', 'workspace_being_deleted'),
    method: 'POST',
    url: `${path}/sources`,
    summary: 'Create source',
    description:
      'Makes a source from a template, with a connection for every connection template that applies. The answer comes as soon as this is recorded; `status` tells when all of it is set up.',
    query,
    body: CreateSourceRequest,
    status: 201,
    answer: Source,
    handle: async ({ principal, query, body }) => sources.createSource(ctx, await scopeOf(principal, query), body),
  });

  endpoint(app, {
    ...ofSources('source_not_found'),
    method: 'GET',
    url: `${path}/sources/:source_id`,
    summary: 'Get source',
    params: SourcePath,
    query,
    answer: Source,
    handle: async ({ principal, query, params }) => {
      const scope = await scopeOf(principal, query);
      return sources.presentSource(ctx, await sources.getSource(ctx, scope, params.source_id));
    },
  });

  endpoint(app, {
    ...ofSources('source_not_found', 'workspace_being_deleted'),
    method: 'PUT',
    url: `${path}/sources/:source_id`,
    summary: 'Update source',
    description:
      'Both fields are optional. `source_config` replaces what was given before; asterisks keep the secret they stand for.',
    params: SourcePath,
    query,
    body: UpdateSourceRequest,
    answer: Source,
    handle: async ({ principal, query, params, body }) =>
      sources.updateSource(ctx, await scopeOf(principal, query), params.source_id, body),
  });

  endpoint(app, {
    ...ofSources('source_not_found', 'source_deletion_recorded'),
    method: 'DELETE',
    url: `${path}/sources/:source_id`,
    summary: 'Delete source',
    description: 'Deletes the source and its connections. What has arrived at destinations stays there.',
    params: SourcePath,
    query,
    answer: DeletedSource,
    handle: async ({ principal, query, params }) =>
      sources.deleteSource(ctx, await scopeOf(principal, query), params.source_id),
  });

  endpoint(app, {
    ...ofSources('source_template_not_found'),
    method: 'POST',
    url: `${path}/sources/check`,
    summary: 'Check a configuration',
    description: 'Runs the connector to see whether it would work. Ask for the outcome with the id.',
    query,
    body: CheckSourceRequest,
    answer: StartedCheck,
    handle: async ({ principal, query, body }) => ({
      id: await checks.checkNewSource(ctx, await scopeOf(principal, query), body),
    }),
  });

  endpoint(app, {
    ...ofSources('check_not_found'),
    method: 'GET',
    url: `${path}/sources/check/:check_id/status`,
    summary: 'Get check',
    params: CheckPath,
    query,
    answer: Check,
    handle: async ({ principal, query, params }) =>
      checks.getCheck(ctx, await scopeOf(principal, query), params.check_id),
  });

  endpoint(app, {
    ...ofSources('source_not_found'),
    method: 'POST',
    url: `${path}/sources/:source_id/check`,
    summary: 'Check a source',
    description: 'With the configuration it has, or with the one that is given.',
    params: SourcePath,
    query,
    body: RecheckSourceRequest,
    answer: StartedCheck,
    handle: async ({ principal, query, params, body }) => ({
      id: await checks.checkSource(ctx, await scopeOf(principal, query), params.source_id, body.source_config),
    }),
  });

  endpoint(app, {
    ...ofConnections('platform_does_not_answer'),
    method: 'GET',
    url: `${path}/connections`,
    summary: 'List connections',
    description: 'All connections of the workspace with their last and next run, oldest first.',
    query,
    answer: ConnectionList,
    handle: async ({ principal, query }) => ({
      data: await connections.listConnections(ctx, await scopeOf(principal, query)),
    }),
  });

  endpoint(app, {
    ...ofConnections(
      'connection_not_found',
      'connection_pending',
      'sync_already_running',
      'workspace_inactive',
      'platform_lost_connection',
      'platform_does_not_answer',
    ),
    method: 'POST',
    url: `${path}/connections/:connection_id/sync`,
    summary: 'Sync now',
    params: ConnectionPath,
    query,
    answer: Job,
    handle: async ({ principal, query, params }) =>
      connections.startSync(ctx, await scopeOf(principal, query), params.connection_id),
  });

  endpoint(app, {
    ...ofConnections('connection_not_found', 'platform_does_not_answer'),
    method: 'GET',
    url: `${path}/connections/:connection_id/jobs`,
    summary: 'List jobs',
    description: 'The history of the connection, newest first.',
    params: ConnectionPath,
    query: Type.Object({ ...audience.query, ...ListJobsQuery.properties }),
    answer: JobList,
    handle: async ({ principal, query, params }) => {
      const { limit = 20, offset = 0 } = query as Static<typeof ListJobsQuery>;
      const scope = await scopeOf(principal, query);
      return { data: await connections.listJobs(ctx, scope, params.connection_id, { limit, offset }) };
    },
  });
}
