/** What crosses the wire when all connections are tried again that fail for one reason. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import { causePattern } from './health.ts';

const exampleId = '8b0d2c44-6f0e-4a57-9d35-1c7e2b9f4a60';
const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';
const exampleConnectionId = '5f0c8f7e-3e3b-4b43-9d3c-9a1f4c0e2d55';

const Cause = Type.String({
  pattern: causePattern,
  description: 'The cause, taken from the overview or from a connection',
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
    total: Count('Connections in all: those with the cause when it was asked for', 200),
    waiting: Count('Their turn is still to come', 120),
    started: Count('A sync was started', 76),
    succeeded: Count('Of those started: the sync has succeeded', 60),
    failed: Count('Of those started: the sync has failed, or was cancelled', 2),
    skipped: Count('Needed no sync: one ran already, or they no longer fail for this cause, or are gone', 3),
    refused: Count('No sync could be started, for example because the workspace is inactive', 1),
  },
  { title: 'Cause retry counts' },
);
export type CauseRetryCounts = Static<typeof CauseRetryCounts>;

export const CauseRetry = Type.Object(
  {
    id: Uuid('Identifier of the retry', exampleId),
    cause: Cause,
    message: nullable('What the connections failed with, as one of them told it', 'The password is wrong.'),
    state: Enumeration(causeRetryStates, { description: '`stopped` is final: start another one to go on' }),
    state_reason: nullable('Why it is stopped'),
    connections: CauseRetryCounts,
    has_more: Type.Boolean({
      description:
        'Whether more connections had the cause than one retry takes, which is 10,000: start another one after it',
    }),
    created_at: Timestamp('When it was asked for'),
    ended_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description:
        'When every connection had had its turn, or when it was stopped. Syncs that it started may still run',
    }),
  },
  { title: 'Cause retry' },
);
export type CauseRetry = Static<typeof CauseRetry>;

export const CauseRetryList = Type.Object(
  { data: Type.Array(CauseRetry, { description: 'Newest first' }) },
  { title: 'Cause retry list' },
);

export const ListCauseRetriesQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 20, description: 'How many' })),
});

export const CauseRetryPath = Type.Object({ cause_retry_id: Uuid('Identifier of the retry', exampleId) });

export const causeRetryItemStates = ['waiting', 'starting', 'started', 'skipped', 'refused'] as const;
export type CauseRetryItemState = (typeof causeRetryItemStates)[number];

export const CauseRetryItem = Type.Object(
  {
    workspace_id: Uuid('Workspace it belongs to', exampleWorkspaceId),
    workspace_name: Type.String({ description: 'Name of the workspace', examples: ['acme-inc'] }),
    connection_id: Uuid('The connection', exampleConnectionId),
    source_name: Type.String({ description: 'Name of its source', examples: ['Shop database'] }),
    state: Enumeration(causeRetryItemStates, { description: '`starting`: the platform is being asked' }),
    code: nullable(
      'Why it was skipped or refused: the error code that a request to sync it had, or `cause_not_found` where it no longer fails for this cause',
      'workspace_inactive',
    ),
    job_id: nullable('The sync that was started', '1f0e5b7a-6c43-4d19-9b0e-3a52c8d7f416'),
  },
  { title: 'Cause retry item' },
);
export type CauseRetryItem = Static<typeof CauseRetryItem>;

export const CauseRetryItemList = Type.Object(
  {
    data: Type.Array(CauseRetryItem, { description: 'By connection id' }),
    next: nullable('Give it as `cursor` for the next page; null at the end'),
  },
  { title: 'Cause retry item list' },
);
export type CauseRetryItemList = Static<typeof CauseRetryItemList>;

export const ListCauseRetryItemsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Connections on a page' })),
  cursor: Type.Optional(Uuid('`next` of the page before', exampleConnectionId)),
  state: Type.Optional(Enumeration(causeRetryItemStates, { description: 'Only these' })),
});
export type ListCauseRetryItemsQuery = Static<typeof ListCauseRetryItemsQuery>;
