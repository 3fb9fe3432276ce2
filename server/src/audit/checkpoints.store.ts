/** The SQL that signs the trail of an organization. */
import { sql } from 'kysely';
import { now } from '../db/moments.ts';
import type { Db } from '../db/open.ts';
import type { AuditCheckpointRow } from '../db/tables.ts';
import { isDue } from './due.ts';

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
