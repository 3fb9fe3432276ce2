/** Which workspaces have a text in their names, for lists that have an order of their own. */
import type { WorkspaceStatus } from '@inlay/contract/fields';
import type { Db } from '../db/open.ts';
import { foldForSearch } from './names.ts';
import { searchWorkspaces } from './search.store.ts';

export const foldedName = foldForSearch;

export async function findWorkspacesByName(
  db: Db,
  organizationId: string,
  { text, status, limit }: { text: string; status: WorkspaceStatus | undefined; limit: number },
): Promise<string[]> {
  return (await searchWorkspaces(db, organizationId, text, { status }, limit)).map(({ id }) => id);
}
