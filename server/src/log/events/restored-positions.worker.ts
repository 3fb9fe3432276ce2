/** Sets the positions of restored data apart from those that were given since the backup. */
import type { Db } from '../../kernel/db/open.ts';
import { listPending, putHead, readHeads } from './log.worker.store.ts';
import { positionAfterRestore } from './restored-positions.ts';

export async function skipPositions(tx: Db, organizationIds: string[], restoredAt: number): Promise<void> {
  const heads = await readHeads(tx, organizationIds);
  for (const organization_id of organizationIds) {
    const head = heads.get(organization_id) ?? { trail_position: 0, sequenced_at: 0, hash: null, position: 0 };
    await putHead(tx, { ...head, organization_id, position: positionAfterRestore(head.position, restoredAt) });
  }
}

interface Exported {
  organization_id: string;
  id: string;
  /** In the audit trail. */
  position: number;
}

/** Tells whether the restored trails have an entry of an export, or it belongs to no organization here. */
export async function readTrails(tx: Db, organizationIds: string[]): Promise<(entry: Exported) => boolean> {
  const heads = await readHeads(tx, organizationIds);
  const pending = new Set((await listPending(tx, Number.MAX_SAFE_INTEGER)).map(({ id }) => id));
  return ({ organization_id, id, position }) =>
    !organizationIds.includes(organization_id) ||
    position <= (heads.get(organization_id)?.trail_position ?? 0) ||
    pending.has(id);
}
