/**
 * The endpoints of what is inside a workspace, twice: for a scoped token, which has its workspace built in, and for an
 * operator, who names the workspace.
 */
import {
  ChooseForConnectionRequest,
  Connection,
  ConnectionList,
  ConnectionPath,
  ConnectionStreamList,
  DeletedConnection,
  Job,
  JobList,
  ListJobsQuery,
  ListStreamsQuery,
  UpdateConnectionRequest,
} from '@inlay/contract/connections';
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
import { type Static, Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import type { OperatorPrincipal, ScopedPrincipal } from '../principals.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import * as checks from './checks.ts';
import * as changes from './connection-changes.ts';
import * as connections from './connections.ts';
import { changedBy, type PipelinesContext, type Scope } from './context.ts';
import * as lists from './lists.ts';
import * as sources from './sources.ts';

/** For whom the endpoints are: how they are called, what they ask for, and which workspace they act in. */
interface Audience {
  access: 'scoped' | 'operator';
  path: string;
  tag: string;
  /** The end of the endpoints' titles, which differs between the two audiences. */
  where: string;
  errors: ErrorCode[];
  /**
   * Further errors of endpoints that change something. A scoped token ends with its workspace, so it never sees them.
   */
  changeErrors: ErrorCode[];
  /** `connectionId`: for an operator who names a connection and no workspace. */
  scopeOf(
    principal: OperatorPrincipal | ScopedPrincipal,
    query: Record<string, unknown> | undefined,
    connectionId?: string,
  ): Promise<Scope>;
}

export function pipelineRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  routesFor(app, ctx, {
    access: 'scoped',
    path: '/api/v1/embedded',
    tag: 'Inside a workspace',
    where: '',
    errors: [],
    changeErrors: [],
    async scopeOf(principal) {
      const { organizationId, workspaceId, templateFilters } = principal as ScopedPrincipal;
      return { organizationId, workspaceId, templateFilters, audience: 'customer' };
    },
  });
  routesFor(app, ctx, {
    access: 'operator',
    path: '/api/v1/integrations',
    tag: 'Inside a workspace, for operators',
    where: ' in a workspace',
    errors: ['workspace_not_found'],
    changeErrors: ['workspace_being_deleted'],
    async scopeOf({ organizationId }, query, connectionId) {
      const workspaceId =
        query?.workspace_id === undefined && connectionId !== undefined
          ? await lists.workspaceOfConnection(ctx, organizationId, connectionId)
          : String(query?.workspace_id);
      const { id } = await getWorkspace(ctx.workspaces, organizationId, workspaceId);
      return { organizationId, workspaceId: id, audience: 'operator' };
    },
  });
}

function routesFor(app: FastifyInstance, ctx: PipelinesContext, audience: Audience): void {
  const { access, path, scopeOf } = audience;
  const isOperator = access === 'operator';
  const query = isOperator ? InWorkspaceQuery : undefined;
  // A connection's id tells its workspace.
  const connectionQuery = isOperator ? Type.Partial(InWorkspaceQuery) : undefined;
  const about = (...errors: ErrorCode[]) => ({ access, tag: audience.tag, errors: [...audience.errors, ...errors] });

  // Operators list those of all workspaces; see operating.routes.ts.
  if (access === 'scoped') {
    endpoint(app, {
      ...about(),
      method: 'GET',
      url: `${path}/sources`,
      summary: 'List sources',
      description: 'All sources of the workspace, oldest first.',
      answer: SourceList,
      handle: async ({ principal }) => ({
        data: await sources.listSources(ctx, await scopeOf(principal, undefined)),
      }),
    });

    endpoint(app, {
      ...about('platform_does_not_answer'),
      method: 'GET',
      url: `${path}/connections`,
      summary: 'List connections',
      description: 'All connections of the workspace with their health, their last and next run, oldest first.',
      answer: ConnectionList,
      handle: async ({ principal }) => ({
        data: await connections.listConnections(ctx, await scopeOf(principal, undefined)),
      }),
    });
  }

  endpoint(app, {
    ...about('source_template_not_found', 'definitions_unavailable', 'quota_reached', ...audience.changeErrors),
    method: 'POST',
    url: `${path}/sources`,
    summary: `Create source${audience.where}`,
    description:
      'Makes a source from a template, with a connection for every connection template that applies. The answer comes as soon as this is recorded; `status` tells when everything is set up.',
    query,
    body: CreateSourceRequest,
    status: 201,
    answer: Source,
    handle: async ({ principal, query, body, cause }) =>
      sources.createSource(changedBy(ctx, cause), await scopeOf(principal, query), body),
  });

  endpoint(app, {
    ...about('source_not_found'),
    method: 'GET',
    url: `${path}/sources/:source_id`,
    summary: `Get source${audience.where}`,
    params: SourcePath,
    query,
    answer: Source,
    handle: async ({ principal, query, params }) => {
      const scope = await scopeOf(principal, query);
      return sources.presentSource(ctx, scope, await sources.getSource(ctx, scope, params.source_id));
    },
  });

  endpoint(app, {
    ...about('source_not_found', 'definitions_unavailable', ...audience.changeErrors),
    method: 'PUT',
    url: `${path}/sources/:source_id`,
    summary: `Update source${audience.where}`,
    description:
      'Both fields are optional. `source_config` replaces what was given before; asterisks keep the secret they stand for, unless an address changes: then secrets have to be given again.',
    params: SourcePath,
    query,
    body: UpdateSourceRequest,
    answer: Source,
    handle: async ({ principal, query, params, body, cause }) =>
      sources.updateSource(changedBy(ctx, cause), await scopeOf(principal, query), params.source_id, body),
  });

  endpoint(app, {
    ...about('source_not_found', 'source_deletion_recorded'),
    method: 'DELETE',
    url: `${path}/sources/:source_id`,
    summary: `Delete source${audience.where}`,
    description: 'Deletes the source and its connections. What has arrived at destinations stays there.',
    params: SourcePath,
    query,
    answer: DeletedSource,
    handle: async ({ principal, query, params, cause }) =>
      sources.deleteSource(changedBy(ctx, cause), await scopeOf(principal, query), params.source_id),
  });

  endpoint(app, {
    ...about('source_template_not_found', 'queue_full'),
    method: 'POST',
    url: `${path}/sources/check`,
    isRepeatable: true,
    summary: `Check a configuration${audience.where}`,
    description: 'Runs the connector to see whether it would work. Ask for the outcome with the id.',
    query,
    body: CheckSourceRequest,
    answer: StartedCheck,
    handle: async ({ principal, query, body }) => ({
      id: await checks.checkNewSource(ctx, await scopeOf(principal, query), body),
    }),
  });

  endpoint(app, {
    ...about('check_not_found'),
    method: 'GET',
    url: `${path}/sources/check/:check_id/status`,
    summary: `Get check${audience.where}`,
    params: CheckPath,
    query,
    answer: Check,
    handle: async ({ principal, query, params }) =>
      checks.getCheck(ctx, await scopeOf(principal, query), params.check_id),
  });

  endpoint(app, {
    ...about('source_not_found', 'queue_full'),
    method: 'POST',
    url: `${path}/sources/:source_id/check`,
    isRepeatable: true,
    summary: `Check a source${audience.where}`,
    description: 'With the configuration that the source has, or with the given one.',
    params: SourcePath,
    query,
    body: RecheckSourceRequest,
    answer: StartedCheck,
    handle: async ({ principal, query, params, body }) => ({
      id: await checks.checkSource(ctx, await scopeOf(principal, query), params.source_id, body),
    }),
  });

  endpoint(app, {
    ...about('connection_not_found'),
    method: 'GET',
    url: `${path}/connections/:connection_id`,
    summary: `Get connection${audience.where}`,
    description: 'With its health, as it was last seen, and its last and next run.',
    params: ConnectionPath,
    query: connectionQuery,
    answer: Connection,
    handle: async ({ principal, query, params }) =>
      connections.getOneConnection(ctx, await scopeOf(principal, query, params.connection_id), params.connection_id),
  });

  endpoint(app, {
    ...about('connection_not_found', 'connection_pending', 'definitions_unavailable', 'platform_does_not_answer'),
    method: 'GET',
    url: `${path}/connections/:connection_id/streams`,
    summary: `List streams${audience.where}`,
    description: isOperator
      ? 'All streams that the source had when it was last read, and which of them are synced.'
      : 'The streams to choose from, as the source had them when it was last read, and which of them are synced.',
    params: ConnectionPath,
    query: Type.Object({ ...connectionQuery?.properties, ...ListStreamsQuery.properties }),
    answer: ConnectionStreamList,
    handle: async ({ principal, query, params }) => {
      const { limit = 1000, offset = 0 } = query as Static<typeof ListStreamsQuery>;
      const scope = await scopeOf(principal, query, params.connection_id);
      return changes.listStreams(ctx, scope, params.connection_id, { limit, offset });
    },
  });

  const changing = about(
    'connection_not_found',
    'connection_pending',
    'definitions_unavailable',
    'platform_lost_connection',
    'platform_does_not_answer',
    ...audience.changeErrors,
  );
  if (access === 'scoped') {
    endpoint(app, {
      ...changing,
      errors: [...changing.errors, 'choice_not_offered'],
      method: 'PATCH',
      url: `${path}/connections/:connection_id`,
      summary: 'Choose streams and schedule',
      description:
        'Within `customer_may_change`. The choice is kept when the templates change. The answer comes as soon as it is recorded; `applied` tells when the platform has it.',
      params: ConnectionPath,
      body: ChooseForConnectionRequest,
      answer: Connection,
      handle: async ({ principal, params, body, cause }) =>
        changes.chooseForConnection(
          changedBy(ctx, cause),
          await scopeOf(principal, undefined),
          params.connection_id,
          body,
        ),
    });
  } else {
    endpoint(app, {
      ...changing,
      method: 'PATCH',
      url: `${path}/connections/:connection_id`,
      summary: 'Update connection',
      description:
        'Schedule, streams and status of one connection. What is chosen here is kept when the templates change, until `follow_template` names it. The answer comes as soon as the change is recorded; `applied` tells when the platform has it.',
      params: ConnectionPath,
      query: connectionQuery,
      body: UpdateConnectionRequest,
      answer: Connection,
      handle: async ({ principal, query, params, body, cause }) =>
        changes.updateConnection(
          changedBy(ctx, cause),
          await scopeOf(principal, query, params.connection_id),
          params.connection_id,
          body,
        ),
    });

    endpoint(app, {
      ...about('connection_not_found', 'connection_deletion_recorded', ...audience.changeErrors),
      method: 'DELETE',
      url: `${path}/connections/:connection_id`,
      summary: 'Delete connection',
      description:
        'Its source stays. What has arrived at the destination stays there, and its jobs can still be read by their ids.',
      params: ConnectionPath,
      query: connectionQuery,
      answer: DeletedConnection,
      handle: async ({ principal, query, params, cause }) =>
        changes.deleteConnection(
          changedBy(ctx, cause),
          await scopeOf(principal, query, params.connection_id),
          params.connection_id,
        ),
    });

    endpoint(app, {
      ...about('connection_not_found', 'platform_lost_connection', ...audience.changeErrors),
      method: 'POST',
      url: `${path}/connections/:connection_id/refresh`,
      summary: 'Read streams anew',
      description:
        'The source is asked for its streams and their fields, and the connection takes them over as they are now. The answer comes at once; `applied` tells when it is done.',
      params: ConnectionPath,
      query: connectionQuery,
      answer: Connection,
      handle: async ({ principal, query, params, cause }) =>
        changes.refreshConnection(
          changedBy(ctx, cause),
          await scopeOf(principal, query, params.connection_id),
          params.connection_id,
        ),
    });
  }

  endpoint(app, {
    ...about('connection_not_found', 'connection_pending', 'no_sync_running', 'platform_does_not_answer'),
    method: 'POST',
    url: `${path}/connections/:connection_id/cancel`,
    isRepeatable: true,
    summary: `Cancel sync${audience.where}`,
    description: 'Cancels the sync that runs, waits for its turn or is to be tried again.',
    params: ConnectionPath,
    query: connectionQuery,
    answer: Job,
    handle: async ({ principal, query, params, cause }) =>
      connections.cancelSync(
        changedBy(ctx, cause),
        await scopeOf(principal, query, params.connection_id),
        params.connection_id,
      ),
  });

  endpoint(app, {
    ...about(
      'connection_not_found',
      'connection_pending',
      'connection_paused',
      'sync_already_running',
      'queue_full',
      'workspace_inactive',
      'quota_reached',
      'platform_lost_connection',
      'platform_does_not_answer',
    ),
    method: 'POST',
    url: `${path}/connections/:connection_id/sync`,
    summary: `Sync now${audience.where}`,
    params: ConnectionPath,
    query: connectionQuery,
    answer: Job,
    handle: async ({ principal, query, params, cause }) =>
      connections.startSync(
        changedBy(ctx, cause),
        await scopeOf(principal, query, params.connection_id),
        params.connection_id,
      ),
  });

  endpoint(app, {
    ...about('connection_not_found'),
    method: 'GET',
    url: `${path}/connections/:connection_id/jobs`,
    summary: `List jobs${audience.where}`,
    description: 'The history of the connection, newest first.',
    params: ConnectionPath,
    query: Type.Object({ ...connectionQuery?.properties, ...ListJobsQuery.properties }),
    answer: JobList,
    handle: async ({ principal, query, params }) => {
      const { limit = 20, offset = 0 } = query as Static<typeof ListJobsQuery>;
      const scope = await scopeOf(principal, query, params.connection_id);
      return { data: await connections.listJobs(ctx, scope, params.connection_id, { limit, offset }) };
    },
  });
}
