/** For operators who look after all their customers: lists over all workspaces, and jobs. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../kernel/http/endpoint.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { readJobLog } from '../pipelines/jobs/job-logs.ts';
import * as lists from '../pipelines/sources/lists.ts';
import * as sources from '../pipelines/sources/sources.ts';
import { getWorkspace } from '../tenancy/workspaces/workspaces.ts';
import { readOverview } from './overview.ts';
import { listAllWorkspaces } from './workspace-list.ts';

const path = '/api/v1/integrations';

export function operatingRoutes(app: FastifyInstance, ctx: PipelinesContext, publicUrl: string): void {
  /** The whole answer of a list: what was requested stays in the link to the next page. */
  function answer<T>(url: string, query: object, { data, next }: lists.Page<T>) {
    if (next === undefined) return { data, next: null };
    const given = Object.entries({ ...query, cursor: next }).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    return { data, next: `${publicUrl}${url}?${new URLSearchParams(given)}` };
  }

  serve(app, operations.overview, {
    get: ({ principal: { organizationId }, query: { limit, causes } }) =>
      readOverview(ctx.store, organizationId, { unwell: limit, causes }),
  });

  serve(app, operations.connections, {
    list: async ({ principal: { organizationId }, query }) => {
      if (query.workspace_id !== undefined && isAlone(query)) {
        const { id } = await getWorkspace(ctx.workspaces, organizationId, query.workspace_id);
        return { data: await lists.listConnectionsOfWorkspace(ctx, organizationId, id), next: null };
      }
      return answer(`${path}/connections`, query, await lists.listAllConnections(ctx, organizationId, query));
    },
  });

  serve(app, operations.sources, {
    list: async ({ principal: { organizationId }, query }) => {
      if (query.workspace_id !== undefined && isAlone(query)) {
        const { id } = await getWorkspace(ctx.workspaces, organizationId, query.workspace_id);
        const scope = { organizationId, workspaceId: id, audience: 'operator' } as const;
        return { data: await sources.listSources(ctx, scope), next: null };
      }
      return answer(`${path}/sources`, query, await lists.listAllSources(ctx, organizationId, query));
    },
  });

  serve(app, operations.workspaces, {
    listWithHealth: async ({ principal: { organizationId }, query }) =>
      answer(`${path}/workspaces`, query, await listAllWorkspaces(ctx, organizationId, query)),

    getHealth: ({ principal: { organizationId }, params }) =>
      lists.getWorkspaceHealth(ctx, organizationId, params.workspace_id),
  });

  serve(app, operations.jobs, {
    list: async ({ principal: { organizationId }, query }) =>
      answer(`${path}/jobs`, query, await lists.listAllJobs(ctx, organizationId, query)),

    get: async ({ principal: { organizationId }, params }) => lists.getJobDetail(ctx, organizationId, params.job_id),

    getLog: async ({ principal: { organizationId }, params, query }) =>
      readJobLog(ctx, await lists.getJob(ctx, organizationId, params.job_id), query),
  });
}

const isAlone = (query: object) => Object.values(query).filter((value) => value !== undefined).length === 1;
