/** Operations on connections: for customers, whose token has its workspace built in, and for operators, who name it. */
import type { TSchema } from 'typebox';
import {
  ChooseForConnectionRequest,
  Connection,
  ConnectionList,
  ConnectionPath,
  ConnectionStreamList,
  DeletedConnection,
  Job,
  JobList,
  UpdateConnectionRequest,
} from '../pipelines/connections.ts';
import { ConnectionPage, ListConnectionsQuery } from '../pipelines/operating.ts';
import { type Audience, customers, operators } from './audiences.ts';
import type { Operation, OperationPath } from './operation.ts';

const changingErrors = [
  'connection_not_found',
  'connection_pending',
  'definitions_unavailable',
  'platform_lost_connection',
  'platform_does_not_answer',
] as const;

function connectionsFor<
  A extends Operation['access'],
  P extends OperationPath,
  Query extends Operation['query'],
  StreamsQuery extends TSchema,
  SyncQuery extends Operation['query'],
  JobsQuery extends TSchema,
>(
  audience: Audience & {
    access: A;
    path: P;
    connectionQuery: Query;
    streamsQuery: StreamsQuery;
    syncQuery: SyncQuery;
    jobsQuery: JobsQuery;
  },
) {
  const { access, path, tag, where, connectionQuery: query, streamsQuery, syncQuery, jobsQuery, errors } = audience;
  const about = { access, tag, params: ConnectionPath } as const;
  return {
    get: {
      ...about,
      route: `GET ${path}/connections/{connection_id}`,
      summary: `Get connection${where}`,
      description: 'Returns a connection with its current health, its last run and its next run.',
      query,
      answer: Connection,
      errors: [...errors, 'connection_not_found'],
    },
    listStreams: {
      ...about,
      route: `GET ${path}/connections/{connection_id}/streams`,
      paging: 'offset',
      summary: `List streams${where}`,
      description: audience.streamsDescription,
      query: streamsQuery,
      answer: ConnectionStreamList,
      errors: [
        ...errors,
        'connection_not_found',
        'connection_pending',
        'definitions_unavailable',
        'platform_does_not_answer',
      ],
    },
    cancelSync: {
      ...about,
      route: `POST ${path}/connections/{connection_id}/cancel`,
      summary: `Cancel sync${where}`,
      description: 'Cancels the running or queued sync, or one that is waiting for a retry.',
      query,
      isRepeatable: true,
      answer: Job,
      errors: [...errors, 'connection_not_found', 'connection_pending', 'no_sync_running', 'platform_does_not_answer'],
    },
    sync: {
      ...about,
      route: `POST ${path}/connections/{connection_id}/sync`,
      summary: `Sync now${where}`,
      query: syncQuery,
      answer: Job,
      errors: [
        ...errors,
        'connection_not_found',
        'connection_pending',
        'connection_paused',
        'sync_already_running',
        'queue_full',
        'workspace_inactive',
        'quota_reached',
        'platform_lost_connection',
        'platform_does_not_answer',
        ...audience.syncErrors,
      ],
    },
    listJobs: {
      ...about,
      route: `GET ${path}/connections/{connection_id}/jobs`,
      paging: 'offset',
      summary: `List jobs${where}`,
      description: 'Returns the jobs of the connection, newest first.',
      query: jobsQuery,
      answer: JobList,
      errors: [...errors, 'connection_not_found'],
    },
  } as const;
}

export const embeddedConnections = {
  list: {
    route: 'GET /api/v1/embedded/connections',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'List connections',
    description: 'Returns all connections of the workspace with their health, last run and next run, oldest first.',
    answer: ConnectionList,
    errors: ['platform_does_not_answer'],
  },
  choose: {
    route: 'PATCH /api/v1/embedded/connections/{connection_id}',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'Choose streams and schedule',
    description:
      'Chooses streams and schedule, as far as `customer_may_change` allows. The choice is kept when the templates change. Responds as soon as the choice is recorded. `applied` turns true once the platform has it.',
    params: ConnectionPath,
    body: ChooseForConnectionRequest,
    answer: Connection,
    errors: [...changingErrors, 'choice_not_offered'],
  },
  ...connectionsFor(customers),
} as const satisfies Record<string, Operation>;

const { access, tag, connectionQuery: query, errors, changeErrors } = operators;
const about = { access, tag, params: ConnectionPath, query } as const;

export const connections = {
  list: {
    route: 'GET /api/v1/integrations/connections',
    paging: 'cursor',
    access: 'operator',
    tag: 'Operating',
    summary: 'List connections of all workspaces',
    description:
      'Returns connections with their health, last run and next run, oldest first. Follow `next` until it is null. With only `workspace_id`, returns all connections of the workspace at once, live from the platform.',
    query: ListConnectionsQuery,
    answer: ConnectionPage,
    errors: ['workspace_not_found', 'platform_does_not_answer'],
  },
  update: {
    ...about,
    route: 'PATCH /api/v1/integrations/connections/{connection_id}',
    summary: 'Update connection',
    description:
      'Updates schedule, streams or status of a connection. These settings override the templates until `follow_template` names them. Responds as soon as the change is recorded. `applied` turns true once the platform has it.',
    body: UpdateConnectionRequest,
    answer: Connection,
    errors: [...errors, ...changingErrors, ...changeErrors],
  },
  delete: {
    ...about,
    route: 'DELETE /api/v1/integrations/connections/{connection_id}',
    summary: 'Delete connection',
    description: 'Deletes the connection. Its source, data already written, and its job records are kept.',
    answer: DeletedConnection,
    errors: [...errors, 'connection_not_found', 'connection_deletion_recorded', ...changeErrors],
  },
  refresh: {
    ...about,
    route: 'POST /api/v1/integrations/connections/{connection_id}/refresh',
    summary: 'Refresh streams',
    description:
      'Discovers the streams and fields of the source again and updates the connection. Responds immediately. `applied` turns true once done.',
    answer: Connection,
    errors: [...errors, 'connection_not_found', 'platform_lost_connection', ...changeErrors],
  },
  ...connectionsFor(operators),
} as const satisfies Record<string, Operation>;
