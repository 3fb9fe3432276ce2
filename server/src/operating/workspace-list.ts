/** The list of all customers with their health: searched by name, sorted in several ways, and paginated. */
import type { ListAllWorkspacesQuery, OperatorWorkspace } from '@inlay/contract/pipelines/operating';
import { decodePlace, encodePlace } from '../kernel/db/list-cursor.ts';
import type { Store } from '../kernel/db/open.ts';
import { invalidRequest } from '../kernel/errors.ts';
import { isoTime } from '../kernel/iso-time.ts';
import { healthsOfWorkspaces, type Page } from '../pipelines/sources/lists.ts';
import { findWorkspaceId, findWorkspacesByName, foldedName } from '../tenancy/workspaces/named-workspaces.ts';
import { presentWorkspace } from '../tenancy/workspaces/workspaces.ts';
import * as store from './workspace-list.store.ts';

/** So many are sorted in one statement. Where more contain the text, a page of the whole list is soon full of them. */
const sortedAtMost = 500;
/** If a page of matches is among the first so many of the list, the index of names is not asked: most names hold the text. */
const triedFirst = 2_000;

export async function listAllWorkspaces(
  ctx: { store: Store },
  organizationId: string,
  query: ListAllWorkspacesQuery,
): Promise<Page<OperatorWorkspace>> {
  const { health, status, name, name_contains, sort = '-created_at', limit = 20 } = query;
  const isDescending = sort.startsWith('-');
  const order = sort.replace('-', '') as store.WorkspaceOrder;
  const slice = { order, isDescending, after: placeIn(query, order), limit: limit + 1 };
  const filter = {
    health,
    status,
    from: query.created_after === undefined ? undefined : Date.parse(query.created_after),
    until: query.created_before === undefined ? undefined : Date.parse(query.created_before),
  };
  const find = () => {
    if (name !== undefined) return findOne(ctx, organizationId, name, filter, slice, name_contains);
    if (name_contains) return findNamed(ctx, organizationId, name_contains, filter, slice);
    return store.listWorkspacePage(ctx.store.db, organizationId, filter, slice);
  };
  const found = await find();
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last ? encodePlace({ order, key: last.sort_key, id: last.id }) : undefined;
  const healths = await healthsOfWorkspaces(ctx, rows);
  const timeOf = (ms: number | null) => (ms === null || ms === 0 ? null : isoTime(ms));
  const data = rows.map((row) => ({
    ...presentWorkspace(row),
    ...healths(row.id),
    last_activity_at: timeOf(row.active_at),
    unwell_since: timeOf(row.unwell_since),
  }));
  return { data, next };
}

function placeIn({ cursor }: ListAllWorkspacesQuery, order: store.WorkspaceOrder) {
  const place = cursor === undefined ? undefined : decodePlace(cursor);
  const isOfOrder = place?.order === order && (typeof place.key === 'string') === (order === 'name');
  if (cursor === undefined || (place && isOfOrder)) return place;
  throw invalidRequest({
    loc: ['query', 'cursor'],
    msg: 'use the cursor from the next link of an earlier page with the same sort',
    type: 'value_error.cursor',
  });
}

/** The workspace of that name, if the other filters let it through. */
async function findOne(
  { store: { db } }: { store: Store },
  organizationId: string,
  name: string,
  filter: store.WorkspaceListFilter,
  slice: store.WorkspaceSlice,
  part: string | undefined,
): Promise<store.ListedWorkspace[]> {
  const id = await findWorkspaceId(db, organizationId, name);
  if (id === undefined || (part && !foldedName(name).includes(foldedName(part)))) return [];
  return await store.listWorkspacePage(db, organizationId, { ...filter, ids: [id] }, slice);
}

/** At the beginning of the list where many names hold the text, and otherwise by the index of the parts of names. */
async function findNamed(
  { store: { db } }: { store: Store },
  organizationId: string,
  text: string,
  filter: store.WorkspaceListFilter,
  slice: store.WorkspaceSlice,
): Promise<store.ListedWorkspace[]> {
  const contains = foldedName(text);
  const list = (narrowed: store.WorkspaceListFilter) =>
    store.listWorkspacePage(db, organizationId, { ...filter, ...narrowed }, slice);
  const first = await list({ contains, among: triedFirst });
  if (first.length === slice.limit) return first;
  const named = { text, status: filter.status, limit: sortedAtMost + 1 };
  const ids = await findWorkspacesByName(db, organizationId, named);
  return await list(ids.length > sortedAtMost ? { contains } : { ids });
}
