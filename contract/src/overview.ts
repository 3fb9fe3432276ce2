/** What crosses the wire for the overview: how all customers of an organization do, on one page. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from './fields.ts';
import { Failure, healthStates } from './health.ts';

const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';

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
      description: 'The first failure of the connection that has been there longest among those that fail',
    }),
  },
  { title: 'Unwell workspace' },
);
export type UnwellWorkspace = Static<typeof UnwellWorkspace>;

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
});
