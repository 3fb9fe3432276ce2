/** The SQL of credentials for the sources that use them. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { CredentialRow } from '../db/tables.ts';

interface Ref {
  organizationId: string;
  workspaceId: string;
  id: string;
}

/** Reads the credential and keeps others from changing it until the transaction ends. */
export async function lockCredential(
  tx: Db,
  { organizationId, workspaceId, id }: Ref,
): Promise<CredentialRow | undefined> {
  return await tx
    .updateTable('credentials')
    .set({ state: sql`state` })
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export async function isCredentialUsed(tx: Db, { organizationId, workspaceId, id }: Ref): Promise<boolean> {
  const user = await tx
    .selectFrom('sources')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId)
    .where('credential_id', '=', id)
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return user !== undefined;
}

export async function endCredential(tx: Db, { organizationId, workspaceId, id }: Ref): Promise<void> {
  const now = sql<number>`now_ms()`;
  await tx
    .updateTable('credentials')
    .set({
      ...{ state: 'ended', reason: null, refresh_due_at: null, revocation: 'due' },
      ...{ revoke_due_at: now, updated_at: now, ended_at: now },
    })
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('state', '<>', 'ended')
    .execute();
}
