/** The SQL that signs the trails of all organizations. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { AuditCheckpointRow } from '../db/tables.ts';

const now = sql<number>`now_ms()`;

/**
 * Something came after the last checkpoint, beyond the event that tells of it; and the last checkpoint is old enough.
 * Before there is a chain there is nothing to sign.
 */
const isDue = (everyMs: number) => sql<boolean>`
  hash is not null
  and trail_position > checkpoint_position + (case when checkpoint_position > 0 then 1 else 0 end)
  and checkpoint_at <= now_ms() - ${sql.lit(everyMs)}`;

export async function listDue(db: Db, everyMs: number): Promise<string[]> {
  const rows = await db.selectFrom('log_heads').select('organization_id').where(isDue(everyMs)).execute();
  return rows.map((row) => row.organization_id);
}

/**
 * Takes the end of a trail for a checkpoint, if one is still due. The row stays locked until the transaction ends, so of
 * several replicas one signs.
 */
export async function takeDue(
  tx: Db,
  organizationId: string,
  everyMs: number,
): Promise<{ position: number; hash: string; now: number } | undefined> {
  const taken = await tx
    .updateTable('log_heads')
    .set({ checkpoint_position: sql<number>`trail_position`, checkpoint_at: now })
    .where('organization_id', '=', organizationId)
    .where(isDue(everyMs))
    .returning(['trail_position as position', 'hash', 'checkpoint_at as now'])
    .executeTakeFirst();
  return taken?.hash ? { ...taken, hash: taken.hash } : undefined;
}

export async function insertCheckpoint(tx: Db, row: AuditCheckpointRow): Promise<void> {
  await tx.insertInto('audit_checkpoints').values(row).execute();
}
