/** The SQL with which a credential that the platform names by its workspace is found. */
import type { Db } from '../db/open.ts';

export async function findOrganizationOf(
  db: Db,
  { workspaceId, credentialId }: { workspaceId: string; credentialId: string },
): Promise<string | undefined> {
  const row = await db
    .selectFrom('credentials')
    .select('organization_id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', credentialId)
    .executeTakeFirst();
  return row?.organization_id;
}
