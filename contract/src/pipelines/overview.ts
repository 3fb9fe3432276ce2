/** Schemas for the overview: the state of all customers of an organization on one page. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import { reasonFields } from '../reasons.ts';
import { audiences, causePattern, Failure, failureKinds, failureOrigins, healthStates } from './health.ts';

const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';
const exampleConnectionId = '5f0c8f7e-3e3b-4b43-9d3c-9a1f4c0e2d55';
const exampleSourceId = '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7';

const NullableTime = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });
const NullableText = (description: string, options: object = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, ...options });
/** The connection of an entry, with everything a page needs to link to it. */
const about = {
  connection_id: Uuid('The connection.', exampleConnectionId),
  source_id: Uuid('Source of the connection.', exampleSourceId),
  source_name: Type.String({ description: 'Name of the source.', examples: ['Shop'] }),
  last_good_at: NullableTime('When a sync of the connection last succeeded. Null if none ever did.'),
  job_id: NullableText('Last failed sync of the connection. Null if none failed.', {
    examples: ['1f0e5b7a-6c43-4d19-9b0e-3a52c8d7f416'],
  }),
};

const Count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });

type State = (typeof healthStates)[number];

export const HealthCounts = Type.Object(
  Object.fromEntries(
    healthStates.map((state) => [state, Count(`Number of items that are \`${state}\`.`, 3)]),
  ) as Record<State, ReturnType<typeof Count>>,
  { title: 'Health counts' },
);
export type HealthCounts = Static<typeof HealthCounts>;

export const UnwellWorkspace = Type.Object(
  {
    workspace_id: Uuid('The workspace.', exampleWorkspaceId),
    workspace_name: Type.String({ description: 'Name of the workspace.', examples: ['acme-inc'] }),
    health: Enumeration(['failing', 'needs_attention'], { description: 'Health of the worst connection.' }),
    since: Timestamp('When the workspace started failing or needing attention.'),
    failing_connections: Count('Number of failing connections.', 2),
    connections_that_need_attention: Count('Number of connections that need attention.', 0),
    first_error: Type.Union([Failure, Type.Null()], {
      description:
        'First failure of the connection that has been failing longest. If no sync has failed, what needs attention.',
    }),
    /** A workspace may be reported as unwell a moment before its connections are. */
    connection: Type.Union([Type.Object(about, { title: 'Unwell connection' }), Type.Null()], {
      description: 'The connection that has been failing longest.',
    }),
  },
  { title: 'Unwell workspace' },
);
export type UnwellWorkspace = Static<typeof UnwellWorkspace>;

export const FailureCause = Type.Object(
  {
    cause: Type.String({
      pattern: causePattern,
      description: 'Identifies the cause. Pass as the `cause` filter of the list of connections.',
      examples: ['0f343b0931126a20f133d67c2b018a3b'],
    }),
    kind: Enumeration(failureKinds, { description: 'Type of the failure, as in a failure.' }),
    origin: Enumeration(failureOrigins, { description: 'Where the failure occurred.' }),
    message: NullableText('Error message of the first example. Others may differ in names, numbers and addresses.'),
    ...reasonFields,
    attention_by: Type.Union([Enumeration(audiences), Type.Null()], {
      description: 'Who has to act. Null if a later sync may succeed.',
    }),
    connections: Count('Number of connections with this cause.', 12),
    since: NullableTime('When the first of them started failing.'),
    examples: Type.Array(
      Type.Object(
        {
          workspace_id: Uuid('Workspace of the connection.', exampleWorkspaceId),
          workspace_name: Type.String({ description: 'Name of the workspace.', examples: ['acme-inc'] }),
          ...about,
          since: NullableTime('When the connection started failing.'),
          message: NullableText('Error message of this connection.'),
          ...reasonFields,
        },
        { title: 'Cause example' },
      ),
      { description: 'The first three connections, in list order.' },
    ),
  },
  { title: 'Failure cause' },
);
export type FailureCause = Static<typeof FailureCause>;

export const AttentionCounts = Type.Object(
  {
    customer: Count('Connections waiting on their customer. List them with `attention_by=customer`.', 3),
    operator: Count('Connections waiting on you. List them with `attention_by=operator`.', 1),
  },
  { title: 'Attention counts' },
);

export const SyncQueue = Type.Object(
  {
    waiting: Count('Syncs that are queued or waiting for a retry.', 4),
    running: Count('Running syncs.', 8),
    oldest_waiting_since: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Since when the longest waiting sync has been waiting. Null if none is.',
    }),
  },
  { title: 'Sync queue' },
);

export const SyncPeriod = Type.Object(
  {
    from: Timestamp('Start of the hour or day in UTC.'),
    succeeded: Count('Syncs that ended successfully in this period.', 120),
    failed: Count('Syncs that failed in this period.', 2),
    cancelled: Count('Syncs that were cancelled in this period.', 0),
    rows: Count('Rows that arrived in these syncs.', 48_000),
    bytes: Count('Bytes that arrived in these syncs.', 9_600_000),
  },
  { title: 'Sync period' },
);
export type SyncPeriod = Static<typeof SyncPeriod>;

export const Overview = Type.Object(
  {
    connections: HealthCounts,
    sources: HealthCounts,
    workspaces: HealthCounts,
    unwell: Type.Array(UnwellWorkspace, {
      description: 'Failing workspaces, then those that need attention. In each group, the longest first.',
    }),
    more_unwell: Count('Number of further workspaces. List them with the `health` filter.', 0),
    causes: Type.Array(FailureCause, {
      description: 'Causes of failures, most common first.',
    }),
    more_causes: Count('Number of further causes.', 0),
    attention: AttentionCounts,
    stale: Count('Number of overdue connections. List them with `stale=true`.', 2),
    counts_are_complete: Type.Boolean({
      description:
        'Whether the counts are complete. If false, `causes`, `attention`, `stale` or `queue` cover only part of the connections.',
    }),
    queue: SyncQueue,
    hours: Type.Array(SyncPeriod, { description: 'The last 48 hours including the current one, oldest first.' }),
    days: Type.Array(SyncPeriod, { description: 'The last 30 days including today, oldest first.' }),
  },
  { title: 'Overview' },
);
export type Overview = Static<typeof Overview>;

export const OverviewQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100, default: 20, description: 'Maximum number of workspaces in `unwell`.' }),
  ),
  causes: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100, default: 10, description: 'Maximum number of causes in `causes`.' }),
  ),
});
