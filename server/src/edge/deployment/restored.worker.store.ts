/** The SQL that makes restored data fit for use, in all organizations. */
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { CredentialRow, WorkspaceRow } from '../../kernel/db/tables.ts';

export type DueCredential = CredentialRow & { workspace_name: string };

/** Those that the service refreshes, and has probably refreshed since the backup. */
export async function listDueCredentials(tx: Db): Promise<DueCredential[]> {
  return await tx
    .selectFrom('credentials')
    .innerJoin('workspaces', 'workspaces.id', 'credentials.workspace_id')
    .selectAll('credentials')
    .select('workspaces.name as workspace_name')
    .where('credentials.owner', '=', 'service')
    .where('credentials.state', '=', 'connected')
    .where('credentials.sealed_tokens', '<>', '')
    .where('credentials.refresh_due_at', '<=', now)
    .orderBy('workspaces.name')
    .orderBy('credentials.id')
    .execute();
}

/**
 * As if the refresh token had been sent once, and the response lost. The token is sent once more, soon: a provider that doesn't
 * rotate refresh tokens accepts it, and otherwise the customer is asked to sign in.
 */
export async function markAsSent(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .updateTable('credentials')
    .set((row) => ({ tried_generation: row.ref('generation'), tries: 1, lease_id: null, lease_until: 0 }))
    .where('id', 'in', ids)
    .execute();
}

/** None of the processes that ran then runs on this data. */
export async function forgetReplicas(tx: Db): Promise<void> {
  await tx.deleteFrom('replicas').execute();
}

/** Sessions may have been ended, and links used, since the backup. */
export async function endConsoleAccess(tx: Db): Promise<void> {
  await tx.updateTable('console_sessions').set({ ended_at: now }).where('ended_at', 'is', null).execute();
  await tx.deleteFrom('console_links').where('used_at', 'is', null).execute();
}

export async function listLiveWorkspaces(tx: Db): Promise<Pick<WorkspaceRow, 'id' | 'name'>[]> {
  return await tx
    .selectFrom('workspaces')
    .select(['id', 'name'])
    .where('lifecycle', '=', 'live')
    .orderBy('name')
    .orderBy('id')
    .execute();
}
