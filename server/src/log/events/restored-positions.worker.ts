/** Sets the positions of restored data apart from those that were given since the backup. */
import type { Db } from '../../kernel/db/open.ts';
import { putHead, readHeads } from './log.worker.store.ts';
import { positionAfterRestore } from './restored-positions.ts';

export async function skipPositions(tx: Db, organizationIds: string[], restoredAt: number): Promise<void> {
  const heads = await readHeads(tx, organizationIds);
  for (const organization_id of organizationIds) {
    const head = heads.get(organization_id) ?? { trail_position: 0, sequenced_at: 0, hash: null, position: 0 };
    await putHead(tx, { ...head, organization_id, position: positionAfterRestore(head.position, restoredAt) });
  }
}
