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
      'Returns the state of all customers: counts by health, failing workspaces, causes of failure, who has to act, overdue and queued syncs, and completed syncs by hour and day.',
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
    description:
      'Returns jobs of all workspaces, newest first. Follow `next` until it is null. Filters can be combined and are kept in `next`.',
    query: ListAllJobsQuery,
    answer: JobPage,
    errors: ['workspace_not_found'],
  },
  get: {
    ...about,
    route: 'GET /api/v1/integrations/jobs/{job_id}',
    summary: 'Get job',
    description:
      'Returns a job with its attempts, its streams and the reason of a failure. Hosted platforms report less. Unreported values are null.',
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
      'Returns what the connectors of an attempt logged, without secrets: from a byte offset, the last lines, or the lines that contain a text.',
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
      'Starts a sync of every connection that currently has this cause, a few at a time in the background. Poll the retry for its progress. Connections that are paused, inactive or held by a quota are listed with the reason. If a retry of the cause is already running, it is returned instead. A retry stops automatically after a day.',
    body: CauseRetryRequest,
    isRepeatable: true,
    answer: CauseRetry,
    errors: ['cause_not_found'],
  },
  list: {
    ...about,
    route: 'GET /api/v1/integrations/causes/retries',
    summary: 'List retries of causes',
    description: 'Returns retries with their progress, newest first. Retries are kept for a week after they end.',
    query: ListCauseRetriesQuery,
    answer: CauseRetryList,
  },
  get: {
    ...about,
    route: 'GET /api/v1/integrations/causes/retries/{cause_retry_id}',
    summary: 'Get retry of a cause',
    description: 'Returns a retry with its progress.',
    params: CauseRetryPath,
    answer: CauseRetry,
    errors: ['cause_retry_not_found'],
  },
  listConnections: {
    ...about,
    route: 'GET /api/v1/integrations/causes/retries/{cause_retry_id}/connections',
    paging: 'cursor',
    summary: 'List connections of a retry of a cause',
    description: 'Returns the progress of each connection, and why it was skipped or refused.',
    params: CauseRetryPath,
    query: ListCauseRetryItemsQuery,
    answer: CauseRetryItemList,
    errors: ['cause_retry_not_found'],
  },
  stop: {
    ...about,
    route: 'POST /api/v1/integrations/causes/retries/{cause_retry_id}/stop',
    summary: 'Stop retry of a cause',
    description:
      'Stops the retry. No further syncs are started, and those already started continue. Does nothing if the retry has ended.',
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
      "Runs the checks of `inlay doctor` from within the running service and returns what to do: platform, database, and the organization's tokens and OAuth clients. The first organization also gets replicas, versions, migrations and settings. Secrets are only shown as set or not set.",
    answer: ServiceHealth,
  },
} as const satisfies Record<string, Operation>;
