/** Schemas for operators who look after all their customers: lists across workspaces, single jobs and logs. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid, workspaceStatuses } from '../fields.ts';
import { Workspace } from '../tenancy/workspaces.ts';
import { Connection, connectionStatuses, Job, jobStatuses } from './connections.ts';
import { audiences, causePattern, Failure, Health, type HealthState, healthStates } from './health.ts';
import { SourceSummary } from './sources.ts';

const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';
const exampleTemplateId = '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11';
const exampleConnectionId = '5f0c8f7e-3e3b-4b43-9d3c-9a1f4c0e2d55';
const exampleSourceId = '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7';
const exampleCause = '0f343b0931126a20f133d67c2b018a3b';

const Time = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', description, examples: ['2026-01-31T09:30:00Z'] }));
const Id = (description: string, example: string) => Type.Optional(Uuid(description, example));

const narrowing = {
  workspace_id: Id('Returns only items of this workspace. Defaults to all workspaces.', exampleWorkspaceId),
  source_template_id: Id('Returns only items made from this source template.', exampleTemplateId),
  definition_id: Id('Returns only items whose source has this definition.', exampleTemplateId),
};
const paging = {
  // No defaults here, because a request with only a workspace returns all of it.
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'Number of items per page. Defaults to 20.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      format: 'list-cursor',
      maxLength: 200,
      description: 'Opaque cursor from the `next` URL of an earlier page.',
    }),
  ),
};
const created = {
  created_after: Time('Returns only items created at this time or later.'),
  created_before: Time('Returns only items created before this time.'),
  sort: Type.Optional(
    Enumeration(['created_at', '-created_at'], {
      description: 'Sort order: oldest first, or newest first with a minus.',
    }),
  ),
};
const HealthFilter = Type.Optional(Enumeration(healthStates, { description: 'Returns only items with this health.' }));
const ConnectionTemplateFilter = Id('Returns only items made from this connection template.', exampleTemplateId);

export const ListConnectionsQuery = Type.Object({
  ...narrowing,
  connection_template_id: ConnectionTemplateFilter,
  health: HealthFilter,
  status: Type.Optional(Enumeration(connectionStatuses, { description: 'Returns only items with this status.' })),
  cause: Type.Optional(
    Type.String({
      pattern: causePattern,
      description: 'Returns only items that fail or need attention for this cause, as returned by the overview.',
      examples: [exampleCause],
    }),
  ),
  attention_by: Type.Optional(
    Enumeration(audiences, { description: 'Returns only items that need attention from this side.' }),
  ),
  stale: Type.Optional(
    Enumeration(['true'], {
      description:
        'Returns only overdue items, whose last success is more than three scheduled runs and a day ago. Most overdue first, regardless of `sort`.',
    }),
  ),
  ...created,
  ...paging,
});
export type ListConnectionsQuery = Static<typeof ListConnectionsQuery>;

export const ListSourcesQuery = Type.Object({ ...narrowing, health: HealthFilter, ...created, ...paging });
export type ListSourcesQuery = Static<typeof ListSourcesQuery>;

export const workspaceOrders = [
  'created_at',
  '-created_at',
  'name',
  '-name',
  'last_activity_at',
  '-last_activity_at',
  'unwell_since',
] as const;

export const ListAllWorkspacesQuery = Type.Object({
  name: Type.Optional(
    Type.String({
      format: 'search-text',
      minLength: 1,
      maxLength: 255,
      description:
        'Exact name. Returns the single workspace that a token request with this name would use, if it exists.',
      examples: ['acme-inc'],
    }),
  ),
  name_contains: Type.Optional(
    Type.String({
      format: 'search-text',
      maxLength: 255,
      description:
        'Part of the name, case-insensitive for all of Unicode. `%` and `_` are literal characters. Uses a trigram index.',
      examples: ['acme'],
    }),
  ),
  health: HealthFilter,
  status: Type.Optional(Enumeration(workspaceStatuses, { description: 'Returns only workspaces with this status.' })),
  created_after: created.created_after,
  created_before: created.created_before,
  sort: Type.Optional(
    Enumeration(workspaceOrders, {
      default: '-created_at',
      description:
        'Sort order. A minus reverses it, for example to newest first. `name` is case-insensitive. `unwell_since` lists the longest failing workspaces first and healthy ones last.',
    }),
  ),
  limit: paging.limit,
  cursor: Type.Optional(
    Type.String({
      format: 'place-cursor',
      maxLength: 2_000,
      description: 'Opaque cursor from the `next` URL of an earlier page with the same `sort`.',
    }),
  ),
});
export type ListAllWorkspacesQuery = Static<typeof ListAllWorkspacesQuery>;

export const ListAllJobsQuery = Type.Object({
  ...narrowing,
  connection_template_id: ConnectionTemplateFilter,
  source_id: Id('Returns only jobs of this source.', exampleSourceId),
  connection_id: Id('Returns only jobs of this connection.', exampleConnectionId),
  status: Type.Optional(Enumeration(jobStatuses, { description: 'Returns only jobs with this status.' })),
  failing: Type.Optional(
    Enumeration(['true'], {
      description: 'Returns only jobs that failed, or are still running after a failed attempt.',
    }),
  ),
  waiting: Type.Optional(
    Enumeration(['true'], { description: 'Returns only jobs that are queued or waiting for a retry.' }),
  ),
  started_after: Time('Returns only jobs started at this time or later.'),
  started_before: Time('Returns only jobs started before this time.'),
  ended_after: Time(
    'Returns only jobs that ended at this time or later, sorted by end time. Cannot be combined with `started_after` or `started_before`.',
  ),
  ended_before: Time('Returns only jobs that ended before this time, sorted by end time. Same rules as `ended_after`.'),
  sort: Type.Optional(
    Enumeration(['started_at', '-started_at'], {
      default: '-started_at',
      description: 'Sort order: oldest first, or newest first with a minus.',
    }),
  ),
  ...paging,
});
export type ListAllJobsQuery = Static<typeof ListAllJobsQuery>;

const Next = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'URL of the next page. Null on the last page.',
});

const place = {
  workspace_id: Uuid('Workspace of the item.', exampleWorkspaceId),
  workspace_name: Type.String({ description: 'Name of the workspace.', examples: ['acme-inc'] }),
};

const Count = Type.Integer({ minimum: 0 });
const ConnectionCounts = Type.Object(
  Object.fromEntries(healthStates.map((state) => [state, Count])) as Record<HealthState, typeof Count>,
  { title: 'Connection counts', description: 'Number of connections by health.' },
);

export const WorkspaceHealth = Type.Object(
  {
    workspace_id: place.workspace_id,
    health: Type.Object(Health.properties, {
      title: 'Health',
      description: 'Health of the worst connection. `never_synced` if there are no connections.',
    }),
    connections: ConnectionCounts,
  },
  { title: 'Workspace health' },
);
export type WorkspaceHealth = Static<typeof WorkspaceHealth>;

export const OperatorWorkspace = Type.Object(
  {
    ...Workspace.properties,
    health: WorkspaceHealth.properties.health,
    connections: ConnectionCounts,
    last_activity_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When a sync last started or ended. Null if there has been none.',
    }),
    unwell_since: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the workspace started failing or needing attention. Null if it does neither.',
    }),
  },
  { title: 'Operator workspace' },
);
export type OperatorWorkspace = Static<typeof OperatorWorkspace>;
export const OperatorWorkspacePage = Type.Object(
  { data: Type.Array(OperatorWorkspace), next: Next },
  { title: 'Operator workspace page' },
);

export const OperatorConnection = Type.Object(
  {
    ...Connection.properties,
    ...place,
    source_template_id: Uuid('Source template of the source.', exampleTemplateId),
    connection_template_id: Uuid('Connection template of the connection.', exampleTemplateId),
    cause: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description:
        'Identifies the cause of failure. Connections that fail for the same reason share it. Null while healthy.',
      examples: [exampleCause],
    }),
    stale_since: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description:
        'When the data became overdue according to the schedule. Null if it is not, or if there is no schedule.',
    }),
  },
  { title: 'Operator connection' },
);
export type OperatorConnection = Static<typeof OperatorConnection>;
export const ConnectionPage = Type.Object(
  { data: Type.Array(OperatorConnection), next: Next },
  { title: 'Connection page' },
);

export const SourcePage = Type.Object({ data: Type.Array(SourceSummary), next: Next }, { title: 'Source page' });

const Attempt = Type.Object(
  {
    attempt: Type.Integer({ minimum: 0, description: 'Number of the attempt, counted from 1.', examples: [1] }),
    status: Type.String({
      description:
        'Status of the attempt. `interrupted`: stopped by the platform itself, which does not count as a failure.',
      examples: ['failed'],
    }),
    started_at: Timestamp('When the attempt started.'),
    ended_at: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
    rows: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'Rows that arrived.' }),
    bytes: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    failure: Type.Union([Failure, Type.Null()]),
  },
  { title: 'Job attempt' },
);

const jobForOperators = {
  ...Job.properties,
  ...place,
  connection_id: Uuid('Connection of the job.', exampleConnectionId),
  source_id: Uuid('Source of the job.', exampleSourceId),
  type: Type.String({ description: 'Type of the job.', examples: ['sync'] }),
  attempts: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Number of attempts. Null if not reported by the platform.',
    examples: [3],
  }),
  failure: Type.Union([Failure, Type.Null()], { description: 'Why the job failed, or why its last attempt failed.' }),
  request_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The `X-Request-Id` of the request that started the job. Null if none did.',
    examples: ['req-1a2b3c'],
  }),
  trace_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description:
      "Trace (W3C Trace Context) of the request that started the job. For other jobs, the platform's own trace, or null if it reports none.",
    examples: ['4bf92f3577b34da6a3ce929d0e0e4736'],
  }),
};

export const OperatorJob = Type.Object(jobForOperators, { title: 'Operator job' });
export type OperatorJob = Static<typeof OperatorJob>;

export const JobPage = Type.Object({ data: Type.Array(OperatorJob), next: Next }, { title: 'Job page' });

const RowPoint = Type.Object(
  {
    at: Timestamp('Time of the measurement.'),
    attempt: Type.Integer({ minimum: 0, description: 'Number of the attempt, counted from 1.', examples: [1] }),
    rows: Type.Integer({
      minimum: 0,
      description: 'Rows that the attempt had passed to the destination by then.',
      examples: [12_000],
    }),
  },
  { title: 'Row point' },
);

export const JobDetail = Type.Object(
  {
    ...jobForOperators,
    first_error: Type.Union([Failure, Type.Null()], { description: 'Failure of the first failed attempt.' }),
    attempt_list: Type.Unsafe<Static<typeof Attempt>[] | null>({
      anyOf: [Type.Array(Attempt), Type.Null()],
      description: 'Attempts in order. Null if not reported by the platform.',
    }),
    row_points: Type.Unsafe<Static<typeof RowPoint>[] | null>({
      anyOf: [Type.Array(RowPoint), Type.Null()],
      description: 'Progress of rows over time for a chart, at most 120 points. Null if not reported by the platform.',
    }),
    last_good_job: Type.Union([Type.Object(jobForOperators, { title: 'Operator job' }), Type.Null()], {
      description: 'Previous successful sync of the same connection, for comparison. Null if none is available.',
    }),
  },
  { title: 'Job detail' },
);
export type JobDetail = Static<typeof JobDetail>;

export const JobPath = Type.Object({
  job_id: Type.String({
    format: 'job-id',
    description: 'Identifier of the job.',
    examples: ['1f0e5b7a-6c43-4d19-9b0e-3a52c8d7f416'],
  }),
});

export const JobLogQuery = Type.Object({
  attempt: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Number of the attempt, counted from 1. Defaults to the last attempt.',
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description: 'Returns only lines that start at this byte or later.',
    }),
  ),
  bytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 100_000,
      description: 'Approximate number of bytes to return, at least one line.',
    }),
  ),
  tail: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Returns only this many of the last lines. `offset` is ignored.',
    }),
  ),
  search: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Returns only lines that contain this text, case-insensitive.',
      examples: ['ERROR'],
    }),
  ),
  first_error: Type.Optional(
    Enumeration(['true'], { description: 'Whether to locate the first line with the level `ERROR` or `FATAL`.' }),
  ),
});
export type JobLogQuery = Static<typeof JobLogQuery>;

export const JobLog = Type.Object(
  {
    attempt: Type.Integer({
      minimum: 0,
      description: 'Attempt that the log belongs to. 0 if there is no log.',
      examples: [1],
    }),
    lines: Type.Array(
      Type.Object(
        {
          offset: Type.Integer({ minimum: 0, description: 'Byte offset at which the line starts.' }),
          time: Type.String({ description: 'When the line was written.', examples: ['2026-01-31T09:30:42.000Z'] }),
          level: Type.String({ examples: ['ERROR'] }),
          origin: Type.String({
            description: 'Origin of the line: `source`, `destination` or `platform`.',
            examples: ['source'],
          }),
          message: Type.String(),
        },
        { title: 'Job log line' },
      ),
    ),
    total_bytes: Type.Integer({ minimum: 0, description: 'Length of the whole log in bytes.' }),
    next_offset: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description:
        'Byte offset to continue at. Null at the end. A search examines a few megabytes per request, so a response without lines can still have a `next_offset`.',
    }),
    first_error_offset: Type.Optional(
      Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'With `first_error`, the byte offset of the first such line. Null if there is none.',
      }),
    ),
  },
  { title: 'Job log' },
);
export type JobLog = Static<typeof JobLog>;
