/**
 * Where a connection writes at its destination, and whether two workspaces could write to the same table or folder
 * there. All workspaces of a template share one destination, so the names of their tables and folders must differ. Only
 * the workspace's id makes sure of that, because every id has the same length and form. Names do not: `acme_` and
 * `corp_users` make the same name as `acme_corp_` and `users`.
 */
import type { Fault } from '@inlay/contract/errors';
import type { Definition } from '../definitions/definition.ts';

/** Keeps the tables and files of each tenant in a place of their own. */
export const defaultNamespace = 'workspace_{workspace_id}';
/** Two sources of one workspace may have streams with the same name, so the source is part of the name. */
export const defaultPrefix = '{source_slug}_';

/** The two settings of a template; null stands for the default. */
interface Placement {
  namespace_format: string | null;
  prefix: string | null;
}

const workspaceId = '{workspace_id}';

/** Whether streams of two workspaces could get the same name. */
export function mayMeet({ specification }: Definition, { namespace_format, prefix }: Placement): boolean {
  // Some destinations isolate workspaces themselves: `local-files` has a folder for each.
  if (specification.connectionSpecification.inlay_separates_workspaces === true) return false;
  return ![namespace_format ?? defaultNamespace, prefix ?? defaultPrefix].some((text) => text.includes(workspaceId));
}

export function placementFaults(definition: Definition, placement: Placement): Fault[] {
  if (!mayMeet(definition, placement)) return [];
  return [
    {
      loc: ['body', 'namespace_format'],
      msg: `namespace_format or prefix must contain ${workspaceId}, so that two workspaces never share tables`,
      type: 'value_error.placeholder',
    },
  ];
}

/** How a connection names its streams at the destination. */
export interface Names {
  namespace_format: string;
  prefix: string;
}

/** Whether streams of two connections could get the same name at some destination. */
export function couldBeTheSame(one: Names, other: Names): boolean {
  const [a, b] = [one, other].map(({ namespace_format, prefix }) => ({
    namespace: namespace_format.toLowerCase(),
    prefix: prefix.toLowerCase(),
  }));
  if (!a || !b || a.namespace !== b.namespace) return false;
  return a.prefix.startsWith(b.prefix) || b.prefix.startsWith(a.prefix);
}
