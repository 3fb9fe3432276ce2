/** Operations for operators who look after all their customers, and after the service itself. */

import { ServiceHealth } from '../log/service-health.ts';
import {
  CauseRetry,
  CauseRetryItemList,
  CauseRetryList,
  CauseRetryPath,
  CauseRetryRequest,
  ListCauseRetriesQuery,
  ListCauseRetryItemsQuery,
} from '../pipelines/cause-retries.ts';
import { JobDetail, JobLog, JobLogQuery, JobPage, JobPath, ListAllJobsQuery } from '../pipelines/operating.ts';
import { Overview, OverviewQuery } from '../pipelines/overview.ts';
import type { Operation } from './operation.ts';

const about = { access: 'operator', tag: 'Operating' } as const;

export const overview = {
  get: {
    ...about,
    route: 'GET /api/v1/integrations/overview',
    summary: 'Get overview',
    description:
      'How all customers do: counts by health, workspaces that fail first, why connections fail, who has to do something, what is stale, what waits, and what ended by hour and by day.',
    query: OverviewQuery,
    answer: Overview,
  },
} as const satisfies Record<string, Operation>;

export const jobs = {
  list: {
    ...about,
    route: 'GET /api/v1/integrations/jobs',
    paging: 'cursor',
    summary: 'List jobs of all workspaces',
    description: 'Newest first. Follow `next` until it is null; filters can be combined and stay in `next`.',
    query: ListAllJobsQuery,
    answer: JobPage,
    errors: ['workspace_not_found'],
  },
  get: {
    ...about,
    route: 'GET /api/v1/integrations/jobs/{job_id}',
    summary: 'Get job',
    description:
      'With each attempt, each stream, and why it failed. Hosted platforms tell less; what they do not tell is null.',
    params: JobPath,
    answer: JobDetail,
    errors: ['job_not_found'],
  },
  getLog: {
    ...about,
    route: 'GET /api/v1/integrations/jobs/{job_id}/log',
    paging: 'offset',
    summary: 'Read the log of a job',
    description:
      'What the connectors of an attempt have said, without secrets: from a byte on, the last lines, or the lines that hold a text.',
    params: JobPath,
    query: JobLogQuery,
    answer: JobLog,
    errors: ['job_not_found', 'log_not_told', 'platform_does_not_answer'],
  },
} as const satisfies Record<string, Operation>;

export const causeRetries = {
  start: {
    ...about,
    route: 'POST /api/v1/integrations/causes/retries',
    summary: 'Retry all connections that fail for one reason',
    description:
      'Starts a sync of each connection that has this cause now, a few at a time, in the background: look at the retry to see how far it is. Connections that are paused, inactive or held back by a quota are named with the reason. While a retry of the cause runs, the answer is that retry. It stops by itself after a day.',
    body: CauseRetryRequest,
    isRepeatable: true,
    answer: CauseRetry,
    errors: ['cause_not_found'],
  },
  list: {
    ...about,
    route: 'GET /api/v1/integrations/causes/retries',
    summary: 'List retries of causes',
    description: 'Newest first, with how far each is. They are kept for a week after their end.',
    query: ListCauseRetriesQuery,
    answer: CauseRetryList,
  },
  get: {
    ...about,
    route: 'GET /api/v1/integrations/causes/retries/{cause_retry_id}',
    summary: 'Get retry of a cause',
    description: 'With how far it is.',
    params: CauseRetryPath,
    answer: CauseRetry,
    errors: ['cause_retry_not_found'],
  },
  listConnections: {
    ...about,
    route: 'GET /api/v1/integrations/causes/retries/{cause_retry_id}/connections',
    paging: 'cursor',
    summary: 'List connections of a retry of a cause',
    description: 'How far each connection is, and why it was skipped or refused.',
    params: CauseRetryPath,
    query: ListCauseRetryItemsQuery,
    answer: CauseRetryItemList,
    errors: ['cause_retry_not_found'],
  },
  stop: {
    ...about,
    route: 'POST /api/v1/integrations/causes/retries/{cause_retry_id}/stop',
    summary: 'Stop retry of a cause',
    description: 'No further sync is started. Syncs that were started go on. A retry that has ended stays as it is.',
    params: CauseRetryPath,
    isRepeatable: true,
    answer: CauseRetry,
    errors: ['cause_retry_not_found'],
  },
} as const satisfies Record<string, Operation>;

export const serviceHealth = {
  get: {
    ...about,
    route: 'GET /api/v1/integrations/health',
    summary: 'Get the health of the service',
    description:
      'What `inlay doctor` checks, from within the running service, with what to do: the platform, the database, tokens and OAuth clients of the organization. For the first organization also replicas, versions, migrations and settings; secrets only as set or not set.',
    answer: ServiceHealth,
  },
} as const satisfies Record<string, Operation>;
