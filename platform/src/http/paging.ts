/*
 * How lists are asked for and answered: which rows a list shows, and the links to the pages around it. Lists are in
 * order of creation, so paging by offset repeats nothing while rows are only added.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import Type, { type Static } from 'typebox';
import type { Platform } from '../context.ts';

const UUID_PATTERN = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}';

export const Uuid = Type.String({ pattern: `^${UUID_PATTERN}$` });

export const workspaceIdsParameter = {
  /** Repeated or joined by commas. */
  workspaceIds: Type.Optional(Type.Array(Type.String({ pattern: `^${UUID_PATTERN}(,${UUID_PATTERN})*$` }))),
};

export const pageParameters = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  offset: Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0 }),
};

const listParameters = {
  ...workspaceIdsParameter,
  includeDeleted: Type.Boolean({ default: false }),
  ...pageParameters,
};

export const ListQuery = Type.Object(listParameters);
export type ListQuery = Static<typeof ListQuery>;

/** `name` and `organizationId` are additions of this platform. */
export const WorkspaceListQuery = Type.Object({
  ...listParameters,
  name: Type.Optional(Type.String()),
  organizationId: Type.Optional(Uuid),
});
export type WorkspaceListQuery = Static<typeof WorkspaceListQuery>;

/**
 * The condition every list shares; the three listed tables call these columns the same. Without named workspaces a
 * list covers the living ones, so a deleted workspace and what was in it show only where its id is spelled out.
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

export interface Page<Item> {
  data: Item[];
  next: string;
  previous: string;
}

interface PageQuery {
  limit: number;
  offset: number;
  workspaceIds?: string[];
  includeDeleted?: boolean;
}

/**
 * As in the API this one imitates, `next` is there whenever the page has anything on it, also on the last one, and a
 * missing link is an empty string. A caller reads on until a page is empty.
 */
export function page<Item>({ publicUrl }: Platform, path: string, query: PageQuery, data: Item[]): Page<Item> {
  const { limit, offset } = query;
  const link = (to: number) => `${publicUrl}${path}?${parametersAt(query, to)}`;
  return {
    data,
    next: data.length === 0 ? '' : link(offset + limit),
    previous: offset === 0 ? '' : link(Math.max(0, offset - limit)),
  };
}

/** Whatever the list was asked for with, at another place in it. */
function parametersAt({ limit, offset: _here, includeDeleted, ...filters }: PageQuery, offset: number): string {
  const workspaceIds = workspaceIdsOf(filters)?.join(',');
  const { workspaceIds: _given, ...others } = filters;
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ includeDeleted, workspaceIds, ...others, limit, offset })) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.toString().replaceAll('%2C', ',');
}

export function workspaceIdsOf(query: { workspaceIds?: string[] }): string[] | undefined {
  return query.workspaceIds?.flatMap((joined) => joined.toLowerCase().split(','));
}
