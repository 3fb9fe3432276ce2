/**
 * Resources of a workspace can be reached in two ways: with a scoped token, which belongs to its workspace, and by an
 * operator, who names the workspace.
 */
import { Type } from 'typebox';
import type { ErrorCode } from '../error-catalogue.ts';
import { ListJobsQuery, ListStreamsQuery, SyncQuery } from '../pipelines/connections.ts';
import { InWorkspaceQuery } from '../pipelines/sources.ts';

export const customers = {
  access: 'scoped',
  path: '/api/v1/embedded',
  tag: 'Inside a workspace',
  /** Suffix of the summaries. */
  where: '',
  query: undefined,
  connectionQuery: undefined,
  streamsQuery: Type.Object({ ...ListStreamsQuery.properties }),
  syncQuery: undefined,
  jobsQuery: Type.Object({ ...ListJobsQuery.properties }),
  streamsDescription:
    'Returns the streams that can be synced, as of the last time the source was read, and which of them are selected.',
  errors: [],
  /** Further errors of operations that change something. A scoped token ends with its workspace, so it never sees them. */
  changeErrors: [],
  syncErrors: [],
} as const;

// The id of a connection implies its workspace.
const connectionQuery = Type.Partial(InWorkspaceQuery);

export const operators = {
  access: 'operator',
  path: '/api/v1/integrations',
  tag: 'Inside a workspace, for operators',
  where: ' in a workspace',
  query: InWorkspaceQuery,
  connectionQuery,
  streamsQuery: Type.Object({ ...connectionQuery.properties, ...ListStreamsQuery.properties }),
  syncQuery: Type.Object({ ...connectionQuery.properties, ...SyncQuery.properties }),
  jobsQuery: Type.Object({ ...connectionQuery.properties, ...ListJobsQuery.properties }),
  streamsDescription:
    'Returns all streams of the source, as of the last time it was read, and which of them are synced.',
  errors: ['workspace_not_found'],
  changeErrors: ['workspace_being_deleted'],
  syncErrors: ['stream_not_refreshed'],
} as const;

/** Differences between the audiences that concern only descriptions and errors. */
export interface Audience {
  tag: string;
  where: string;
  streamsDescription: string;
  errors: readonly ErrorCode[];
  changeErrors: readonly ErrorCode[];
  syncErrors: readonly ErrorCode[];
}
