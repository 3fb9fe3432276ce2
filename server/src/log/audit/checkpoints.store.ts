/** The SQL that signs the trail of an organization. */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { AuditCheckpointRow } from '../../kernel/db/tables.ts';

/**
 * Takes the end of a trail for a checkpoint, if the condition still holds. The row stays locked until the transaction ends,
 * so of several replicas one signs.
 */
export async function takeEnd(
  tx: Db,
  organizationId: string,
  condition: RawBuilder<boolean>,
): Promise<{ position: number; hash: string; now: number; cutUntil: number } | undefined> {
  const taken = await tx
    .updateTable('log_heads')
    .set({ checkpoint_position: sql<number>`trail_position`, checkpoint_at: now })
    .where('organization_id', '=', organizationId)
    .where(condition)
    .returning(['trail_position as position', 'hash', 'checkpoint_at as now', 'cut_until as cutUntil'])
    .executeTakeFirst();
  return taken?.hash ? { ...taken, hash: taken.hash } : undefined;
}

export async function insertCheckpoint(
  tx: Db,
  organizationId: string,
  row: Omit<AuditCheckpointRow, 'organization_id'>,
): Promise<void> {
  await tx
    .insertInto('audit_checkpoints')
    .values({ ...row, organization_id: organizationId })
    .execute();
}

/** The last checkpoint that says where the trail begins. */
export async function findLastOfCut(db: Db, organizationId: string): Promise<AuditCheckpointRow | undefined> {
  return await db
    .selectFrom('audit_checkpoints')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('cut', 'is not', null)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
}
