/** For operators who look after all their customers: lists over all workspaces, and jobs. */
import {
  ConnectionPage,
  JobDetail,
  JobLog,
  JobLogQuery,
  JobPage,
  JobPath,
  ListAllJobsQuery,
  ListAllWorkspacesQuery,
  ListConnectionsQuery,
  ListSourcesQuery,
  OperatorWorkspacePage,
  SourcePage,
  WorkspaceHealth,
} from '@inlay/contract/operating';
import { Overview, OverviewQuery } from '@inlay/contract/overview';
import { WorkspacePath } from '@inlay/contract/workspaces';
import type { FastifyInstance } from 'fastify';
import { endpoint } from '../http/endpoint.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import type { PipelinesContext } from './context.ts';
import { readJobLog } from './job-logs.ts';
import * as lists from './lists.ts';
import { readOverview } from './overview.ts';
import * as sources from './sources.ts';
import { listAllWorkspaces } from './workspace-list.ts';

const path = '/api/v1/integrations';
const about = { access: 'operator' as const, tag: 'Operating' };

export function operatingRoutes(app: FastifyInstance, ctx: PipelinesContext, publicUrl: string): void {
  /** The whole answer of a list: what was asked for stays in the link to the next page. */
  function answer<T>(url: string, query: object, { data, next }: lists.Page<T>) {
    if (next === undefined) return { data, next: null };
    const given = Object.entries({ ...query, cursor: next }).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    return { data, next: `${publicUrl}${url}?${new URLSearchParams(given)}` };
  }

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${path}/overview`,
    summary: 'Get overview',
    description:
      'How all customers do: counts by health, workspaces that fail first, why connections fail, who has to do something, what is stale, what waits, and what ended by hour and by day.',
    query: OverviewQuery,
    answer: Overview,
    handle: ({ principal: { organizationId }, query: { limit, causes } }) =>
      readOverview(ctx.store, organizationId, { unwell: limit, causes }),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${path}/connections`,
    summary: 'List connections of all workspaces',
    description:
      'With their health and their last and next run, oldest first. Follow `next` until it is null. With a `workspace_id` and nothing else, all connections of the workspace at once, as the platform has them now.',
    query: ListConnectionsQuery,
    answer: ConnectionPage,
    errors: ['workspace_not_found', 'platform_does_not_answer'],
    handle: async ({ principal: { organizationId }, query }) => {
      if (query.workspace_id !== undefined && isAlone(query)) {
        const { id } = await getWorkspace(ctx.workspaces, organizationId, query.workspace_id);
        return { data: await lists.listConnectionsOfWorkspace(ctx, organizationId, id), next: null };
      }
      return answer(`${path}/connections`, query, await lists.listAllConnections(ctx, organizationId, query));
    },
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${path}/sources`,
    summary: 'List sources of all workspaces',
    description:
      'With their health, oldest first. Follow `next` until it is null. With a `workspace_id` and nothing else, all sources of the workspace at once.',
    query: ListSourcesQuery,
    answer: SourcePage,
    errors: ['workspace_not_found'],
    handle: async ({ principal: { organizationId }, query }) => {
      if (query.workspace_id !== undefined && isAlone(query)) {
        const { id } = await getWorkspace(ctx.workspaces, organizationId, query.workspace_id);
        const scope = { organizationId, workspaceId: id, audience: 'operator' } as const;
        return { data: await sources.listSources(ctx, scope), next: null };
      }
      return answer(`${path}/sources`, query, await lists.listAllSources(ctx, organizationId, query));
    },
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${path}/workspaces`,
    summary: 'List workspaces with their health',
    description:
      'With how many connections have which health, newest first unless `sort` says otherwise. Follow `next` until it is null; filters can be combined and stay in `next`.',
    query: ListAllWorkspacesQuery,
    answer: OperatorWorkspacePage,
    handle: async ({ principal: { organizationId }, query }) =>
      answer(`${path}/workspaces`, query, await listAllWorkspaces(ctx, organizationId, query)),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: '/api/v1/workspaces/:workspace_id/health',
    summary: 'Get the health of a workspace',
    description: 'The worst of its connections, and how many of them have which health.',
    params: WorkspacePath,
    answer: WorkspaceHealth,
    errors: ['workspace_not_found'],
    handle: ({ principal: { organizationId }, params }) =>
      lists.getWorkspaceHealth(ctx, organizationId, params.workspace_id),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${path}/jobs`,
    summary: 'List jobs of all workspaces',
    description: 'Newest first. Follow `next` until it is null; filters can be combined and stay in `next`.',
    query: ListAllJobsQuery,
    answer: JobPage,
    errors: ['workspace_not_found'],
    handle: async ({ principal: { organizationId }, query }) =>
      answer(`${path}/jobs`, query, await lists.listAllJobs(ctx, organizationId, query)),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${path}/jobs/:job_id`,
    summary: 'Get job',
    description:
      'With each attempt, each stream, and why it failed. Hosted platforms tell less; what they do not tell is null.',
    params: JobPath,
    answer: JobDetail,
    errors: ['job_not_found'],
    handle: async ({ principal: { organizationId }, params }) => lists.getJobDetail(ctx, organizationId, params.job_id),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${path}/jobs/:job_id/log`,
    summary: 'Read the log of a job',
    description:
      'What the connectors of an attempt have said, without secrets: from a byte on, the last lines, or the lines that hold a text.',
    params: JobPath,
    query: JobLogQuery,
    answer: JobLog,
    errors: ['job_not_found', 'log_not_told', 'platform_does_not_answer'],
    handle: async ({ principal: { organizationId }, params, query }) =>
      readJobLog(ctx, await lists.getJob(ctx, organizationId, params.job_id), query),
  });
}

const isAlone = (query: object) => Object.values(query).filter((value) => value !== undefined).length === 1;
