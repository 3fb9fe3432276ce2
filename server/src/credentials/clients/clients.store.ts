/** The SQL of `oauth_clients`. */
import { sql } from 'kysely';
import { now } from '../db/moments.ts';
import type { Db } from '../db/open.ts';
import type { OAuthClientRow } from '../db/tables.ts';

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
