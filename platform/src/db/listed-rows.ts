/** Which rows of a table a list shows. The three tables with lists call these columns the same. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type ListQuery, workspaceIdsOf } from '../fields.ts';

/**
 * Without named workspaces a list covers the living ones, so a deleted workspace and what was in it show only where its id
 * is spelled out.
 */
export function isListed(query: ListQuery): RawBuilder<SqlBool> {
  const ids = workspaceIdsOf(query);
  const inWorkspaces = ids
    ? sql<SqlBool>`workspace_id in (${sql.join(ids)})`
    : sql<SqlBool>`workspace_id in (select workspace_id from workspaces where deleted_at is null)`;
  if (query.includeDeleted) return inWorkspaces;
  // Nothing outlives its workspace, so among undeleted rows the living workspaces need no second look.
  return ids ? sql<SqlBool>`deleted_at is null and ${inWorkspaces}` : sql<SqlBool>`deleted_at is null`;
}
