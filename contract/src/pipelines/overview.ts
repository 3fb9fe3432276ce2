/** What crosses the wire for the overview: how all customers of an organization do, on one page. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import { audiences, causePattern, Failure, failureKinds, failureOrigins, healthStates } from './health.ts';

const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';
const exampleConnectionId = '5f0c8f7e-3e3b-4b43-9d3c-9a1f4c0e2d55';
const exampleSourceId = '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7';

const NullableTime = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });
const NullableText = (description: string, options: object = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, ...options });
/** The connection that an entry is about, with what a page links to. */
const about = {
  connection_id: Uuid('The connection', exampleConnectionId),
  source_id: Uuid('Its source', exampleSourceId),
  source_name: Type.String({ description: 'Name of the source', examples: ['Shop'] }),
  last_good_at: NullableTime('When a sync of the connection last succeeded; null: none ever did'),
  job_id: NullableText('The last sync of the connection that failed; null: none did', {
    examples: ['1f0e5b7a-6c43-4d19-9b0e-3a52c8d7f416'],
  }),
};

const Count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });

type State = (typeof healthStates)[number];

export const HealthCounts = Type.Object(
  Object.fromEntries(healthStates.map((state) => [state, Count(`How many are \`${state}\``, 3)])) as Record<
    State,
    ReturnType<typeof Count>
  >,
  { title: 'Health counts' },
);
export type HealthCounts = Static<typeof HealthCounts>;

export const UnwellWorkspace = Type.Object(
  {
    workspace_id: Uuid('Workspace it is about', exampleWorkspaceId),
    workspace_name: Type.String({ description: 'Name of the workspace', examples: ['acme-inc'] }),
    health: Enumeration(['failing', 'needs_attention'], { description: 'The worst of its connections' }),
    since: Timestamp('Since when it is failing or needs attention'),
    failing_connections: Count('Its connections that fail', 2),
    connections_that_need_attention: Count('Its connections that need attention', 0),
    first_error: Type.Union([Failure, Type.Null()], {
      description:
        'The first failure of the connection that has been there longest among those that fail. Where no sync has failed, what has to be mended',
    }),
    /** A workspace may be told to be unwell a moment before its connections are. */
    connection: Type.Union([Type.Object(about, { title: 'Unwell connection' }), Type.Null()], {
      description: 'That connection',
    }),
  },
  { title: 'Unwell workspace' },
);
export type UnwellWorkspace = Static<typeof UnwellWorkspace>;

export const FailureCause = Type.Object(
  {
    cause: Type.String({
      pattern: causePattern,
      description: 'What these have in common, for the filter `cause` of the list of connections',
      examples: ['0f343b0931126a20f133d67c2b018a3b'],
    }),
    kind: Enumeration(failureKinds, { description: 'As in a failure' }),
    origin: Enumeration(failureOrigins, { description: 'What failed' }),
    message: NullableText('The words of the first example; others differ in names, numbers and addresses'),
    attention_by: Type.Union([Enumeration(audiences), Type.Null()], {
      description: 'Who has to do something; null: they fail, and a later sync may succeed',
    }),
    connections: Count('How many connections have it', 12),
    since: NullableTime('Since when the first of them has it'),
    examples: Type.Array(
      Type.Object(
        {
          workspace_id: Uuid('Workspace of the connection', exampleWorkspaceId),
          workspace_name: Type.String({ description: 'Name of the workspace', examples: ['acme-inc'] }),
          ...about,
          since: NullableTime('Since when it has it'),
          message: NullableText('What happened there'),
        },
        { title: 'Cause example' },
      ),
      { description: 'The three that were made first, as the list has them' },
    ),
  },
  { title: 'Failure cause' },
);
export type FailureCause = Static<typeof FailureCause>;

export const AttentionCounts = Type.Object(
  {
    customer: Count('Connections that need their customer: `attention_by=customer` lists them', 3),
    operator: Count('Connections that need you: `attention_by=operator` lists them', 1),
  },
  { title: 'Attention counts' },
);

export const SyncQueue = Type.Object(
  {
    waiting: Count('Syncs that wait for their turn or for their next try', 4),
    running: Count('Syncs that run', 8),
    oldest_waiting_since: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Since when the sync that waits longest has been waiting; null: none waits',
    }),
  },
  { title: 'Sync queue' },
);

export const SyncPeriod = Type.Object(
  {
    from: Timestamp('Beginning of the hour or day, in UTC'),
    succeeded: Count('Syncs that ended in it, with success', 120),
    failed: Count('Syncs that ended in it, without', 2),
    cancelled: Count('Syncs that were cancelled in it', 0),
    rows: Count('Rows that arrived with them', 48_000),
    bytes: Count('Bytes that arrived with them', 9_600_000),
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
      description: 'Workspaces that fail, then those that need attention; within each, the longest first',
    }),
    more_unwell: Count('How many more there are; list them with `health=` of the lists', 0),
    causes: Type.Array(FailureCause, {
      description: 'Why connections fail or need attention, grouped; the cause that most have first',
    }),
    more_causes: Count('How many more causes there are', 0),
    attention: AttentionCounts,
    stale: Count('Connections whose data is older than their schedule promises: `stale=true` lists them', 2),
    counts_are_complete: Type.Boolean({
      description:
        'False: there are more than is counted at once, and `causes`, `attention`, `stale` or `queue` count a part',
    }),
    queue: SyncQueue,
    hours: Type.Array(SyncPeriod, { description: 'The last 48 hours, oldest first, the present one included' }),
    days: Type.Array(SyncPeriod, { description: 'The last 30 days, oldest first, today included' }),
  },
  { title: 'Overview' },
);
export type Overview = Static<typeof Overview>;

export const OverviewQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100, default: 20, description: 'How many workspaces `unwell` names at most' }),
  ),
  causes: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100, default: 10, description: 'How many causes `causes` names at most' }),
  ),
});
