/** The SQL of `audit_keys`. Keys belong to the deployment, not to an organization, and none is ever removed. */
import type { Db } from '../../kernel/db/open.ts';
import type { AuditKeyRow } from '../../kernel/db/tables.ts';

/** The newest first. The time of a key of an earlier version is not protected, so such a key never comes before others. */
export async function listKeys(db: Db): Promise<AuditKeyRow[]> {
  return await db
    .selectFrom('audit_keys')
    .selectAll()
    .orderBy('binds_time', 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('kid')
    .execute();
}

export async function insertKey(db: Db, key: AuditKeyRow): Promise<void> {
  await db.insertInto('audit_keys').values(key).execute();
}
