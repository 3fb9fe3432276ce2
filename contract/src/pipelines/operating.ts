/** What crosses the wire for operators who look after all their customers: lists over all workspaces, single jobs, logs. */
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
  workspace_id: Id('Only those of this workspace; without it, those of all workspaces', exampleWorkspaceId),
  source_template_id: Id('Only those made from this source template', exampleTemplateId),
  definition_id: Id('Only those whose source has this definition', exampleTemplateId),
};
const paging = {
  // No defaults here: a request that names nothing but a workspace asks for all of it.
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Items on a page; 20 if not given' })),
  cursor: Type.Optional(
    Type.String({
      format: 'list-cursor',
      maxLength: 200,
      description: 'Opaque; taken from the `next` of an earlier page, never built',
    }),
  ),
};
const created = {
  created_after: Time('Only those created at this time or later'),
  created_before: Time('Only those created before this time'),
  sort: Type.Optional(
    Enumeration(['created_at', '-created_at'], { description: 'Oldest first, or with a minus newest first' }),
  ),
};
const HealthFilter = Type.Optional(Enumeration(healthStates, { description: 'Only those with this health' }));
const ConnectionTemplateFilter = Id('Only those made from this connection template', exampleTemplateId);

export const ListConnectionsQuery = Type.Object({
  ...narrowing,
  connection_template_id: ConnectionTemplateFilter,
  health: HealthFilter,
  status: Type.Optional(Enumeration(connectionStatuses, { description: 'Only those with this status' })),
  cause: Type.Optional(
    Type.String({
      pattern: causePattern,
      description: 'Only those that fail or need attention for this reason; taken from the overview',
      examples: [exampleCause],
    }),
  ),
  attention_by: Type.Optional(
    Enumeration(audiences, { description: 'Only those that need attention, and of this side' }),
  ),
  stale: Type.Optional(
    Enumeration(['true'], {
      description:
        'Only those that have missed three runs of their schedule, and a day, since a sync last succeeded; the longest stale first, whatever `sort` says',
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
        'The whole name: only the workspace that a token request with this name would be for, if there is one',
      examples: ['acme-inc'],
    }),
  ),
  name_contains: Type.Optional(
    Type.String({
      format: 'search-text',
      maxLength: 255,
      description:
        'Part of the name, anywhere in it, found in an index of parts of three characters; case-insensitive for all of Unicode; `%` and `_` are ordinary characters',
      examples: ['acme'],
    }),
  ),
  health: HealthFilter,
  status: Type.Optional(Enumeration(workspaceStatuses, { description: 'Only those with this status' })),
  created_after: created.created_after,
  created_before: created.created_before,
  sort: Type.Optional(
    Enumeration(workspaceOrders, {
      default: '-created_at',
      description:
        'With a minus the other way round, such as newest first. `name` does not tell upper from lower case; `unwell_since`: the longest unwell first, those that do well last',
    }),
  ),
  limit: paging.limit,
  cursor: Type.Optional(
    Type.String({
      format: 'place-cursor',
      maxLength: 2_000,
      description: 'Opaque; taken from the `next` of an earlier page with the same `sort`, never built',
    }),
  ),
});
export type ListAllWorkspacesQuery = Static<typeof ListAllWorkspacesQuery>;

export const ListAllJobsQuery = Type.Object({
  ...narrowing,
  connection_template_id: ConnectionTemplateFilter,
  source_id: Id('Only those of this source', exampleSourceId),
  connection_id: Id('Only those of this connection', exampleConnectionId),
  status: Type.Optional(Enumeration(jobStatuses, { description: 'Only those with this status' })),
  failing: Type.Optional(
    Enumeration(['true'], {
      description: 'Only those that failed, and those that go on although an attempt of them has failed',
    }),
  ),
  waiting: Type.Optional(
    Enumeration(['true'], { description: 'Only those that wait for their turn or for their next try' }),
  ),
  started_after: Time('Only those started at this time or later'),
  started_before: Time('Only those started before this time'),
  ended_after: Time(
    'Only those that ended at this time or later, in the order of their ends. Not together with `started_after` or `started_before`',
  ),
  ended_before: Time('Only those that ended before this time, in the order of their ends; as `ended_after`'),
  sort: Type.Optional(
    Enumeration(['started_at', '-started_at'], { default: '-started_at', description: 'With a minus newest first' }),
  ),
  ...paging,
});
export type ListAllJobsQuery = Static<typeof ListAllJobsQuery>;

const Next = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'Full URL of the next page; null on the last page',
});

const place = {
  workspace_id: Uuid('Workspace it belongs to', exampleWorkspaceId),
  workspace_name: Type.String({ description: 'Name of the workspace', examples: ['acme-inc'] }),
};

const Count = Type.Integer({ minimum: 0 });
const ConnectionCounts = Type.Object(
  Object.fromEntries(healthStates.map((state) => [state, Count])) as Record<HealthState, typeof Count>,
  { title: 'Connection counts', description: 'How many of its connections have which health' },
);

export const WorkspaceHealth = Type.Object(
  {
    workspace_id: place.workspace_id,
    health: Type.Object(Health.properties, {
      title: 'Health',
      description: 'The health of its connection that does worst; `never_synced` when it has none',
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
      description: 'When a sync of it last started or ended; null: none ever did',
    }),
    unwell_since: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Since when it is failing or needs attention; null while it does neither',
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
    source_template_id: Uuid('Template its source was made from', exampleTemplateId),
    connection_template_id: Uuid('Template it was made from', exampleTemplateId),
    cause: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'What it has in common with others that fail for the same reason; null while it does well',
      examples: [exampleCause],
    }),
    stale_since: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Since when its data is older than its schedule promises; null: it is not, or has no schedule',
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
    attempt: Type.Integer({ minimum: 0, description: 'From 1', examples: [1] }),
    status: Type.String({
      description: '`interrupted`: broken off by the platform itself, which is no failure',
      examples: ['failed'],
    }),
    started_at: Timestamp('When it was started'),
    ended_at: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
    rows: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'Rows that arrived' }),
    bytes: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    failure: Type.Union([Failure, Type.Null()]),
  },
  { title: 'Job attempt' },
);

const jobForOperators = {
  ...Job.properties,
  ...place,
  connection_id: Uuid('Connection it belongs to', exampleConnectionId),
  source_id: Uuid('Source it reads', exampleSourceId),
  type: Type.String({ description: 'What it does', examples: ['sync'] }),
  attempts: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'How often it was started; null where the platform does not tell',
    examples: [3],
  }),
  failure: Type.Union([Failure, Type.Null()], { description: 'Why it failed, or why its last attempt did' }),
  request_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The `X-Request-Id` of the request that asked for it; null for a job that no request asked for',
    examples: ['req-1a2b3c'],
  }),
  trace_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description:
      'The trace (W3C Trace Context) of that request; of another job the trace that the platform gave it, or null where the platform does not tell',
    examples: ['4bf92f3577b34da6a3ce929d0e0e4736'],
  }),
};

export const OperatorJob = Type.Object(jobForOperators, { title: 'Operator job' });
export type OperatorJob = Static<typeof OperatorJob>;

export const JobPage = Type.Object({ data: Type.Array(OperatorJob), next: Next }, { title: 'Job page' });

const RowPoint = Type.Object(
  {
    at: Timestamp('When'),
    attempt: Type.Integer({ minimum: 0, description: 'In which attempt, from 1', examples: [1] }),
    rows: Type.Integer({
      minimum: 0,
      description: 'Rows that the attempt had passed to the destination by then',
      examples: [12_000],
    }),
  },
  { title: 'Row point' },
);

export const JobDetail = Type.Object(
  {
    ...jobForOperators,
    first_error: Type.Union([Failure, Type.Null()], { description: 'The failure of the first attempt that failed' }),
    attempt_list: Type.Unsafe<Static<typeof Attempt>[] | null>({
      anyOf: [Type.Array(Attempt), Type.Null()],
      description: 'Each attempt, in order; null where the platform does not tell',
    }),
    row_points: Type.Unsafe<Static<typeof RowPoint>[] | null>({
      anyOf: [Type.Array(RowPoint), Type.Null()],
      description:
        'How the rows came, for a plot: at most 120 points, in the order of time, closer together in a short job; null where the platform does not tell',
    }),
    last_good_job: Type.Union([Type.Object(jobForOperators, { title: 'Operator job' }), Type.Null()], {
      description:
        'The last sync of the same connection that succeeded before this one, to compare with; null: none is kept',
    }),
  },
  { title: 'Job detail' },
);
export type JobDetail = Static<typeof JobDetail>;

export const JobPath = Type.Object({
  job_id: Type.String({
    format: 'job-id',
    description: 'Identifier of the job',
    examples: ['1f0e5b7a-6c43-4d19-9b0e-3a52c8d7f416'],
  }),
});

export const JobLogQuery = Type.Object({
  attempt: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Which attempt, from 1; the last one if not given' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'Lines that begin at this byte or later' }),
  ),
  bytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 100_000,
      description: 'About so many bytes of lines, at least one line',
    }),
  ),
  tail: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, description: 'Only the last so many lines; `offset` does not count' }),
  ),
  search: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only lines that hold this text, in whatever case',
      examples: ['ERROR'],
    }),
  ),
  first_error: Type.Optional(
    Enumeration(['true'], { description: 'Also tells where the first line with the level `ERROR` or `FATAL` begins' }),
  ),
});
export type JobLogQuery = Static<typeof JobLogQuery>;

export const JobLog = Type.Object(
  {
    attempt: Type.Integer({ minimum: 0, description: 'Which attempt it is of; 0 when there is no log', examples: [1] }),
    lines: Type.Array(
      Type.Object(
        {
          offset: Type.Integer({ minimum: 0, description: 'Byte of the log at which it begins' }),
          time: Type.String({ description: 'When it was written', examples: ['2026-01-31T09:30:42.000Z'] }),
          level: Type.String({ examples: ['ERROR'] }),
          origin: Type.String({ description: '`source`, `destination` or `platform`', examples: ['source'] }),
          message: Type.String(),
        },
        { title: 'Job log line' },
      ),
    ),
    total_bytes: Type.Integer({ minimum: 0, description: 'Length of the whole log' }),
    next_offset: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description:
        'Where to go on; null at the end. A search looks at some megabytes for one answer: an answer without lines may still have a `next_offset`',
    }),
    first_error_offset: Type.Optional(
      Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'Only with `first_error`: the byte at which the first such line begins; null: there is none',
      }),
    ),
  },
  { title: 'Job log' },
);
export type JobLog = Static<typeof JobLog>;
