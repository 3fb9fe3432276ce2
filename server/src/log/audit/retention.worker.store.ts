/** The SQL that removes the oldest entries of the trails of all organizations. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { AuditCheckpointRow } from '../../kernel/db/tables.ts';

export async function listTrails(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('log_heads').select('organization_id').orderBy('organization_id').execute();
  return rows.map((row) => row.organization_id);
}

/**
 * The last checkpoint after a position whose entries are all older. Both times must say so: that of the checkpoint, which is signed, and that
 * of its entry, which never goes back when the clock does.
 */
export async function findLastOlder(
  db: Db,
  organizationId: string,
  after: number,
  ageMs: number,
): Promise<AuditCheckpointRow | undefined> {
  const isOlder = (column: string) => sql<boolean>`${sql.ref(column)} < now_ms() - ${sql.lit(ageMs)}`;
  return await db
    .selectFrom('audit_checkpoints as point')
    .innerJoin('log_entries as entry', (join) =>
      join
        .onRef('entry.organization_id', '=', 'point.organization_id')
        .onRef('entry.trail_position', '=', 'point.position')
        .onRef('entry.hash', '=', 'point.hash'),
    )
    .selectAll('point')
    .where('point.organization_id', '=', organizationId)
    .where('point.position', '>', after)
    .where(isOlder('point.signed_at'))
    .where(isOlder('entry.sequenced_at'))
    .orderBy('point.signed_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Whether the event of a checkpoint has no trail position yet. */
export async function isTellingOfCheckpoint(db: Db, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('log_pending')
    .select('number')
    .where('organization_id', '=', organizationId)
    .where('type', '=', 'audit.checkpoint')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** From now on the trail begins after this position, and the database lets the entries before be deleted. */
export async function recordCut(db: Db, organizationId: string, position: number): Promise<void> {
  await db
    .updateTable('log_heads')
    .set({ cut_until: position })
    .where('organization_id', '=', organizationId)
    .where('cut_until', '<', position)
    .execute();
}

/** Deletes the first entries of a trail up to a cut, at most so many, and what belongs to them. Gives how many. */
export async function deleteUntil(tx: Db, organizationId: string, cut: number, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('log_entries')
    .select(['id', 'trail_position'])
    .where('organization_id', '=', organizationId)
    .where('trail_position', '<=', cut)
    .orderBy('trail_position')
    .limit(limit)
    .execute();
  const last = rows.at(-1);
  if (!last) return 0;
  await tx
    .deleteFrom('log_personal')
    .where('organization_id', '=', organizationId)
    .where(
      'entry_id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute();
  await tx
    .deleteFrom('log_entries')
    .where('organization_id', '=', organizationId)
    .where('trail_position', '<=', last.trail_position)
    .execute();
  await tx
    .deleteFrom('audit_checkpoints')
    .where('organization_id', '=', organizationId)
    .where('position', '<', cut)
    .execute();
  return rows.length;
}
