/**
 * The endpoints of what is inside a workspace, twice: for a scoped token, which has its workspace built in, and for an
 * operator, who names the workspace.
 */

import { operations } from '@inlay/contract/operations';
import type { ListJobsQuery, ListStreamsQuery, SyncQuery } from '@inlay/contract/pipelines/connections';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { serve } from '../kernel/http/endpoint.ts';
import type { OperatorPrincipal, ScopedPrincipal } from '../kernel/principals.ts';
import { getWorkspace } from '../tenancy/workspaces/workspaces.ts';
import * as checks from './checks/checks.ts';
import * as changes from './connections/connection-changes.ts';
import * as connections from './connections/connections.ts';
import { changedBy, type PipelinesContext, type Scope } from './context.ts';
import * as lists from './sources/lists.ts';
import * as sources from './sources/sources.ts';

/** For whom the endpoints are: their operations, and which workspace they act in. */
interface Audience {
  isOperator: boolean;
  sourceOperations: typeof operations.sources | typeof operations.embeddedSources;
  connectionOperations: typeof operations.connections | typeof operations.embeddedConnections;
  /** `connectionId`: for an operator who names a connection and no workspace. */
  scopeOf(
    principal: OperatorPrincipal | ScopedPrincipal,
    query: Record<string, unknown> | undefined,
    connectionId?: string,
  ): Promise<Scope>;
}

export function pipelineRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  routesFor(app, ctx, {
    isOperator: false,
    sourceOperations: operations.embeddedSources,
    connectionOperations: operations.embeddedConnections,
    async scopeOf(principal) {
      const { organizationId, workspaceId, templateFilters } = principal as ScopedPrincipal;
      return { organizationId, workspaceId, templateFilters, audience: 'customer' };
    },
  });
  routesFor(app, ctx, {
    isOperator: true,
    sourceOperations: operations.sources,
    connectionOperations: operations.connections,
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
  const { sourceOperations, connectionOperations, scopeOf } = audience;

  // Operators list those of all workspaces; see operating.routes.ts.
  if (!audience.isOperator) {
    serve(app, operations.embeddedSources, {
      list: async ({ principal }) => ({
        data: await sources.listSources(ctx, await scopeOf(principal, undefined)),
      }),
    });

    serve(app, operations.embeddedConnections, {
      list: async ({ principal }) => ({
        data: await connections.listConnections(ctx, await scopeOf(principal, undefined)),
      }),
    });
  }

  serve(app, sourceOperations, {
    create: async ({ principal, query, body, cause }) =>
      sources.createSource(changedBy(ctx, cause), await scopeOf(principal, query), body),

    get: async ({ principal, query, params }) => {
      const scope = await scopeOf(principal, query);
      return sources.presentSource(ctx, scope, await sources.getSource(ctx, scope, params.source_id));
    },

    update: async ({ principal, query, params, body, cause }) =>
      sources.updateSource(changedBy(ctx, cause), await scopeOf(principal, query), params.source_id, body),

    delete: async ({ principal, query, params, cause }) =>
      sources.deleteSource(changedBy(ctx, cause), await scopeOf(principal, query), params.source_id),

    check: async ({ principal, query, body }) => ({
      id: await checks.checkNewSource(ctx, await scopeOf(principal, query), body),
    }),

    getCheck: async ({ principal, query, params }) =>
      checks.getCheck(ctx, await scopeOf(principal, query), params.check_id),

    recheck: async ({ principal, query, params, body }) => ({
      id: await checks.checkSource(ctx, await scopeOf(principal, query), params.source_id, body),
    }),
  });

  serve(app, connectionOperations, {
    get: async ({ principal, query, params }) =>
      connections.getOneConnection(ctx, await scopeOf(principal, query, params.connection_id), params.connection_id),

    listStreams: async ({ principal, query, params }) => {
      const { limit = 1000, offset = 0 } = query as Static<typeof ListStreamsQuery>;
      const scope = await scopeOf(principal, query, params.connection_id);
      return changes.listStreams(ctx, scope, params.connection_id, { limit, offset });
    },
  });

  if (audience.isOperator) {
    serve(app, operations.connections, {
      update: async ({ principal, query, params, body, cause }) =>
        changes.updateConnection(
          changedBy(ctx, cause),
          await scopeOf(principal, query, params.connection_id),
          params.connection_id,
          body,
        ),

      delete: async ({ principal, query, params, cause }) =>
        changes.deleteConnection(
          changedBy(ctx, cause),
          await scopeOf(principal, query, params.connection_id),
          params.connection_id,
        ),

      refresh: async ({ principal, query, params, cause }) =>
        changes.refreshConnection(
          changedBy(ctx, cause),
          await scopeOf(principal, query, params.connection_id),
          params.connection_id,
        ),
    });
  } else {
    serve(app, operations.embeddedConnections, {
      choose: async ({ principal, params, body, cause }) =>
        changes.chooseForConnection(
          changedBy(ctx, cause),
          await scopeOf(principal, undefined),
          params.connection_id,
          body,
        ),
    });
  }

  serve(app, connectionOperations, {
    cancelSync: async ({ principal, query, params, cause }) =>
      connections.cancelSync(
        changedBy(ctx, cause),
        await scopeOf(principal, query, params.connection_id),
        params.connection_id,
      ),

    sync: async ({ principal, query, params, cause }) => {
      const scope = await scopeOf(principal, query, params.connection_id);
      const { from_start: fromStart } = (query ?? {}) as Static<typeof SyncQuery>;
      const by = changedBy(ctx, cause);
      return await connections.startSync(by, scope, params.connection_id, undefined, {
        ...(fromStart !== undefined && { fromStart }),
      });
    },

    listJobs: async ({ principal, query, params }) => {
      const { limit = 20, offset = 0 } = query as Static<typeof ListJobsQuery>;
      const scope = await scopeOf(principal, query, params.connection_id);
      return { data: await connections.listJobs(ctx, scope, params.connection_id, { limit, offset }) };
    },
  });
}
