/** The SQL of `audit_keys`. Keys belong to the deployment, not to an organization, and none is ever removed. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { AuditKeyRow } from '../db/tables.ts';

/** The newest first. */
export async function listKeys(db: Db): Promise<AuditKeyRow[]> {
  return await db.selectFrom('audit_keys').selectAll().orderBy('created_at', 'desc').orderBy('kid').execute();
}

export async function insertKey(db: Db, key: Omit<AuditKeyRow, 'created_at'>): Promise<void> {
  await db
    .insertInto('audit_keys')
    .values({ ...key, created_at: sql<number>`now_ms()` })
    .execute();
}
