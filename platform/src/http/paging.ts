/**
 * How a page of a list is answered, with the links to the pages around it. Lists are in order of creation, so paging by
 * offset repeats nothing while rows are only added.
 */
import { workspaceIdsOf } from '../fields.ts';

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
 * missing link is an empty string. A caller reads on until a page is empty. `url` is the address of the list.
 */
export function page<Item>(url: string, query: PageQuery, data: Item[]): Page<Item> {
  const { limit, offset } = query;
  const link = (to: number) => `${url}?${parametersAt(query, to)}`;
  return {
    data,
    next: data.length === 0 ? '' : link(offset + limit),
    previous: offset === 0 ? '' : link(Math.max(0, offset - limit)),
  };
}

/** The filters of the list, at another place in it. */
function parametersAt({ limit, offset: _here, includeDeleted, ...filters }: PageQuery, offset: number): string {
  const workspaceIds = workspaceIdsOf(filters)?.join(',');
  const { workspaceIds: _given, ...others } = filters;
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ includeDeleted, workspaceIds, ...others, limit, offset })) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.toString().replaceAll('%2C', ',');
}
