/** Credentials of all organizations, for the workers that refresh and revoke. */
import { sql } from 'kysely';
import { fromNow, now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { CredentialRow } from '../../kernel/db/tables.ts';

/** Whose time has come and nobody refreshes. The longest waiting first. */
export async function listToRefresh(db: Db, limit: number): Promise<CredentialRow[]> {
  return await db
    .selectFrom('credentials')
    .selectAll()
    .where('refresh_due_at', '<=', now)
    .where('lease_until', '<=', now)
    .orderBy('refresh_due_at')
    .limit(limit)
    .execute();
}

export async function hasAny(db: Db): Promise<boolean> {
  const row = await db.selectFrom('credentials').select('id').where('state', '<>', 'ended').limit(1).executeTakeFirst();
  return row !== undefined;
}

/** Ended credentials whose tokens have not been revoked yet. */
export async function listToRevoke(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('credentials')
    .select('id')
    .where('revoke_due_at', '<=', now)
    .where('lease_until', '<=', now)
    .orderBy('revoke_due_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Undefined when another replica was faster. */
export async function leaseToRevoke(
  db: Db,
  id: string,
  leaseId: string,
  leaseMs: number,
): Promise<CredentialRow | undefined> {
  return await db
    .updateTable('credentials')
    .set({ lease_id: leaseId, lease_until: fromNow(leaseMs), revoke_tries: sql<number>`revoke_tries + 1` })
    .where('id', '=', id)
    .where('state', '=', 'ended')
    .where('revoke_due_at', '<=', now)
    .where('lease_until', '<=', now)
    .returningAll()
    .executeTakeFirst();
}

/** Whether the provider would end someone else's access as well: many end everything that an account gave to a client. */
export async function isGrantShared(db: Db, row: CredentialRow): Promise<boolean> {
  const query = db
    .selectFrom('credentials')
    .select('id')
    .where('organization_id', '=', row.organization_id)
    .where('oauth_client_id', '=', row.oauth_client_id)
    .where('state', '<>', 'ended')
    .where('id', '<>', row.id)
    .limit(1);
  // Where nobody knows whose the one or the other is, both of one customer may be of the same account.
  const other =
    row.account_id === null
      ? query.where('workspace_id', '=', row.workspace_id)
      : query.where((is) =>
          is.or([
            is('account_id', '=', row.account_id),
            is.and([is('account_id', 'is', null), is('workspace_id', '=', row.workspace_id)]),
          ]),
        );
  return (await other.executeTakeFirst()) !== undefined;
}

/** The outcome of the revocation, for good. Its tokens are of no use any more. */
export async function putRevocation(
  db: Db,
  { id, lease_id }: CredentialRow,
  { revocation, error }: { revocation: CredentialRow['revocation']; error: string | null },
): Promise<void> {
  await db
    .updateTable('credentials')
    .set({
      ...{ revocation, last_error: error, revoke_due_at: null, sealed_tokens: '' },
      ...{ lease_id: null, lease_until: 0, updated_at: now },
    })
    .where('id', '=', id)
    .where('lease_id', '=', lease_id)
    .where('state', '=', 'ended')
    .execute();
}

export async function putRevokeLater(
  db: Db,
  { id, lease_id }: CredentialRow,
  { pauseMs, error }: { pauseMs: number; error: string },
): Promise<void> {
  await db
    .updateTable('credentials')
    .set({ revoke_due_at: fromNow(pauseMs), last_error: error, lease_id: null, lease_until: 0 })
    .where('id', '=', id)
    .where('lease_id', '=', lease_id)
    .where('state', '=', 'ended')
    .execute();
}

/**
 * Credentials that no source uses, although their customers signed in so long ago. A customer who signed in with a link has
 * time to make the source until the link ends.
 */
export async function listUnused(db: Db, unusedMs: number, limit: number): Promise<CredentialRow[]> {
  return await db
    .selectFrom('credentials')
    .selectAll()
    .where('state', '<>', 'ended')
    .where('signed_in_at', '<=', fromNow(-unusedMs))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sources')
            .select('sources.id')
            .whereRef('sources.credential_id', '=', 'credentials.id')
            .where('sources.deleted_at', 'is', null),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('oauth_flows')
            .select('oauth_flows.id')
            .whereRef('oauth_flows.workspace_id', '=', 'credentials.workspace_id')
            .whereRef('oauth_flows.credential_id', '=', 'credentials.id')
            .where('oauth_flows.link_until', '>', now),
        ),
      ),
    )
    .orderBy('signed_in_at')
    .limit(limit)
    .execute();
}
