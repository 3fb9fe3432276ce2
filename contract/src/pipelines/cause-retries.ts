/** Schemas for retrying all connections that fail for the same cause. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import { NullableReason, reasonFields } from '../reasons.ts';
import { causePattern } from './health.ts';

const exampleId = '8b0d2c44-6f0e-4a57-9d35-1c7e2b9f4a60';
const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';
const exampleConnectionId = '5f0c8f7e-3e3b-4b43-9d3c-9a1f4c0e2d55';

const Cause = Type.String({
  pattern: causePattern,
  description: 'The cause, as returned by the overview or a connection.',
  examples: ['0f343b0931126a20f133d67c2b018a3b'],
});
const nullable = (description: string, example?: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description,
    ...(example !== undefined && { examples: [example] }),
  });

export const CauseRetryRequest = Type.Object({ cause: Cause }, { title: 'Cause retry request' });
export type CauseRetryRequest = Static<typeof CauseRetryRequest>;

export const causeRetryStates = ['running', 'stopped', 'finished'] as const;
export type CauseRetryState = (typeof causeRetryStates)[number];

const Count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });

export const CauseRetryCounts = Type.Object(
  {
    total: Count('All connections that had the cause when the retry was created.', 200),
    waiting: Count('Connections whose turn has not come yet.', 120),
    started: Count('Connections whose sync was started.', 76),
    succeeded: Count('Started syncs that succeeded.', 60),
    failed: Count('Started syncs that failed or were cancelled.', 2),
    skipped: Count(
      'Connections that needed no sync, because one was already running, the cause no longer applied, or the connection no longer exists.',
      3,
    ),
    refused: Count('Connections whose sync could not be started, for example because the workspace is inactive.', 1),
  },
  { title: 'Cause retry counts' },
);
export type CauseRetryCounts = Static<typeof CauseRetryCounts>;

export const CauseRetry = Type.Object(
  {
    id: Uuid('Identifier of the retry.', exampleId),
    cause: Cause,
    message: nullable('Error message of one of the connections.', 'The password is wrong.'),
    ...reasonFields,
    state: Enumeration(causeRetryStates, {
      description: 'State of the retry. `stopped` is final. Start a new retry to continue.',
    }),
    state_reason: nullable('Why the retry was stopped.'),
    stop_reason: NullableReason('Why the retry was stopped, as a code and parameters.'),
    connections: CauseRetryCounts,
    has_more: Type.Boolean({
      description:
        'Whether more connections have the cause than a retry can take (10,000). Start another retry for the rest.',
    }),
    created_at: Timestamp('When the retry was created.'),
    ended_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description:
        'When the last connection had its turn or the retry was stopped. Syncs it started may still be running.',
    }),
  },
  { title: 'Cause retry' },
);
export type CauseRetry = Static<typeof CauseRetry>;

export const CauseRetryList = Type.Object(
  { data: Type.Array(CauseRetry, { description: 'Retries, newest first.' }) },
  { title: 'Cause retry list' },
);

export const ListCauseRetriesQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 50, default: 20, description: 'Maximum number of retries.' }),
  ),
});

export const CauseRetryPath = Type.Object({ cause_retry_id: Uuid('Identifier of the retry.', exampleId) });

export const causeRetryItemStates = ['waiting', 'starting', 'started', 'skipped', 'refused'] as const;
export type CauseRetryItemState = (typeof causeRetryItemStates)[number];

export const CauseRetryItem = Type.Object(
  {
    workspace_id: Uuid('Workspace of the connection.', exampleWorkspaceId),
    workspace_name: Type.String({ description: 'Name of the workspace.', examples: ['acme-inc'] }),
    connection_id: Uuid('The connection.', exampleConnectionId),
    source_name: Type.String({ description: "Name of the connection's source.", examples: ['Shop database'] }),
    state: Enumeration(causeRetryItemStates, {
      description: 'Progress of the connection. `starting`: waiting for the platform.',
    }),
    code: nullable(
      'Why the connection was skipped or refused: the error code that a sync request would return, or `cause_not_found` if the connection no longer fails for this cause.',
      'workspace_inactive',
    ),
    job_id: nullable('The sync that was started.', '1f0e5b7a-6c43-4d19-9b0e-3a52c8d7f416'),
  },
  { title: 'Cause retry item' },
);
export type CauseRetryItem = Static<typeof CauseRetryItem>;

export const CauseRetryItemList = Type.Object(
  {
    data: Type.Array(CauseRetryItem, { description: 'Connections, sorted by ID.' }),
    next: nullable('Pass as `cursor` to get the next page. Null on the last page.'),
  },
  { title: 'Cause retry item list' },
);
export type CauseRetryItemList = Static<typeof CauseRetryItemList>;

export const ListCauseRetryItemsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Number of connections per page.' }),
  ),
  cursor: Type.Optional(Uuid('The `next` value of the previous page.', exampleConnectionId)),
  state: Type.Optional(Enumeration(causeRetryItemStates, { description: 'Returns only connections in this state.' })),
});
export type ListCauseRetryItemsQuery = Static<typeof ListCauseRetryItemsQuery>;
