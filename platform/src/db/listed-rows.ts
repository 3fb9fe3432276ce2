/** Which rows of a table a list shows. The three tables with lists call these columns the same. */
import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import { type ListQuery, workspaceIdsOf } from '../fields.ts';
import type { Tables } from './tables.ts';

/**
 * Without named workspaces a list covers the living ones, so a deleted workspace and what was in it show only where its id
 * is spelled out.
 */
export function isListed(query: ListQuery): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, 'workspaces'>();
  const ids = workspaceIdsOf(query);
  const living = eb.selectFrom('workspaces').select('workspace_id').where('deleted_at', 'is', null);
  const inWorkspaces = eb('workspace_id', 'in', ids ?? living);
  if (query.includeDeleted) return inWorkspaces;
  const isAlive = eb('deleted_at', 'is', null);
  // Nothing outlives its workspace, so among undeleted rows the living workspaces need no second look.
  return ids ? eb.and([isAlive, inWorkspaces]) : isAlive;
}
