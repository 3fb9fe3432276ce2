/** The SQL of `oauth_clients`. */
import { sql } from 'kysely';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { OAuthClientRow } from '../../kernel/db/tables.ts';

export type ClientSettings = Omit<
  OAuthClientRow,
  'id' | 'organization_id' | 'callback_key' | 'sealed_account_key' | 'created_at' | 'updated_at'
>;

export async function listClients(db: Db, organizationId: string): Promise<OAuthClientRow[]> {
  return await db
    .selectFrom('oauth_clients')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export async function findClient(db: Db, organizationId: string, id: string): Promise<OAuthClientRow | undefined> {
  return await db
    .selectFrom('oauth_clients')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Reads the client and keeps others from changing it until the transaction ends. */
export async function lockClient(tx: Db, organizationId: string, id: string): Promise<OAuthClientRow | undefined> {
  return await tx
    .updateTable('oauth_clients')
    .set({ name: sql<string>`name` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Two requests at the same time never count the same clients: the row of the organization is locked. */
export async function countClients(tx: Db, organizationId: string): Promise<number> {
  await tx.updateTable('organizations').set({ name: sql<string>`name` }).where('id', '=', organizationId).execute();
  const { count } = await tx
    .selectFrom('oauth_clients')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function insertClient(
  tx: Db,
  organizationId: string,
  client: ClientSettings & Pick<OAuthClientRow, 'id' | 'callback_key' | 'sealed_account_key'>,
): Promise<OAuthClientRow> {
  return await tx
    .insertInto('oauth_clients')
    .values({ ...client, organization_id: organizationId, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateClient(
  tx: Db,
  organizationId: string,
  id: string,
  changes: Partial<ClientSettings>,
): Promise<OAuthClientRow> {
  return await tx
    .updateTable('oauth_clients')
    .set({ ...changes, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteClient(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('oauth_clients').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

/** The operator has fixed the client: refreshes that failed because of it are retried now. */
export async function retryOfClient(tx: Db, organizationId: string, clientId: string): Promise<void> {
  await tx
    .updateTable('credentials')
    .set({ refresh_due_at: now })
    .where('organization_id', '=', organizationId)
    .where('oauth_client_id', '=', clientId)
    .where('owner', '=', 'service')
    .where('refresh_due_at', '>', now)
    .where((where) =>
      where.or([
        where.and([where('state', '=', 'connected'), where('failures', '>', 0)]),
        where.and([where('state', '=', 'needs_attention'), where('reason', 'in', ['client_refused', 'refused'])]),
      ]),
    )
    .execute();
}

/** Whether something would stop working without the client: credentials, or templates whose customers sign in with it. */
export async function isClientUsed(tx: Db, organizationId: string, clientId: string): Promise<boolean> {
  const credential = await tx
    .selectFrom('credentials')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('oauth_client_id', '=', clientId)
    .where('state', '<>', 'ended')
    .limit(1)
    .executeTakeFirst();
  if (credential) return true;
  const template = await tx
    .selectFrom('source_templates')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .where('oauth', 'like', `%"${clientId}"%`)
    .limit(1)
    .executeTakeFirst();
  return template !== undefined;
}
