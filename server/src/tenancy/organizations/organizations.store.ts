/** The SQL of `organizations`. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { OrganizationRow } from '../../kernel/db/tables.ts';

export async function listOrganizations(db: Db): Promise<OrganizationRow[]> {
  return await db.selectFrom('organizations').selectAll().orderBy('created_at').orderBy('id').execute();
}

export async function findOrganization(db: Db, organizationId: string): Promise<OrganizationRow | undefined> {
  return await db.selectFrom('organizations').selectAll().where('id', '=', organizationId).executeTakeFirst();
}

export async function insertOrganization(
  db: Db,
  organization: Omit<OrganizationRow, 'created_at'>,
): Promise<OrganizationRow> {
  return await db
    .insertInto('organizations')
    .values({ ...organization, created_at: sql<number>`now_ms()` })
    .returningAll()
    .executeTakeFirstOrThrow();
}
