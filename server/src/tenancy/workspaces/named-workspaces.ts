/** Which workspaces have a name, or a text in it, for lists that have an order of their own. */
import type { WorkspaceStatus } from '@inlay/contract/fields';
import type { Db } from '../../kernel/db/open.ts';
import { findWorkspaceByName } from './claims.store.ts';
import { foldForSearch, nameIdentity } from './names.ts';
import { searchWorkspaces } from './search.store.ts';

export const foldedName = foldForSearch;

export async function findWorkspacesByName(
  db: Db,
  organizationId: string,
  { text, status, limit }: { text: string; status: WorkspaceStatus | undefined; limit: number },
): Promise<string[]> {
  return (await searchWorkspaces(db, organizationId, text, { status }, limit)).map(({ id }) => id);
}

/** ID of the workspace with exactly this name. */
export async function findWorkspaceId(db: Db, organizationId: string, name: string): Promise<string | undefined> {
  const identity = nameIdentity(name);
  const row = await findWorkspaceByName(db, organizationId, identity);
  // A new name is claimed before the workspace has it.
  return row && nameIdentity(row.name) === identity ? row.id : undefined;
}
