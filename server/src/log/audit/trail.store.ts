/** The SQL that reads the audit trail of an organization, and erases what it says of persons. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { AuditCheckpointRow, LogEntryRow, LogHeadRow, LogPersonalRow } from '../../kernel/db/tables.ts';

export interface TrailEnds {
  /** The last position that was given. */
  head: number;
  /** Hash of that entry. */
  hash: string | null;
  /** The trail begins after it. */
  cutUntil: number;
}

export async function findEnds(db: Db, organizationId: string): Promise<TrailEnds> {
  const row = await db
    .selectFrom('log_heads')
    .select(['trail_position', 'hash', 'cut_until'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return { head: row?.trail_position ?? 0, hash: row?.hash ?? null, cutUntil: row?.cut_until ?? 0 };
}

export async function findHead(db: Db, organizationId: string): Promise<LogHeadRow | undefined> {
  return await db.selectFrom('log_heads').selectAll().where('organization_id', '=', organizationId).executeTakeFirst();
}

/** The last position in the trail, whatever the head says. */
export async function findLastPosition(db: Db, organizationId: string): Promise<number> {
  const row = await db
    .selectFrom('log_entries')
    .select('trail_position')
    .where('organization_id', '=', organizationId)
    .orderBy('trail_position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.trail_position ?? 0;
}

/** The first position that was given at this time or later. */
export async function findTrailPositionAt(db: Db, organizationId: string, time: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('log_entries')
    .select('trail_position')
    .where('organization_id', '=', organizationId)
    .where('sequenced_at', '>=', time)
    .orderBy('sequenced_at')
    .orderBy('trail_position')
    .limit(1)
    .executeTakeFirst();
  return row?.trail_position;
}

/** A type, and whether only entries of scoped tokens are meant. */
export interface WantedType {
  type: string;
  byTokenOnly: boolean;
}

export interface TrailFilter {
  after: number;
  /** Newest first, and only earlier positions; undefined: oldest first. */
  before?: number | undefined;
  /** Undefined: every type. */
  types: readonly WantedType[] | undefined;
  workspaceId: string | undefined;
  since: number | undefined;
  actorId: string | undefined;
  actorKind: string | undefined;
  outcome: string | undefined;
}

export type TrailRow = LogEntryRow & { /** Null before the first entry of the chain. */ previous_hash: string | null };

/**
 * Entries after a position, oldest first, or before one, newest first; each with the hash before it. Several types are read each for itself and merged,
 * so that every part comes from an index in the order of positions.
 */
export async function listTrail(
  db: Db,
  organizationId: string,
  filter: TrailFilter,
  limit: number,
): Promise<TrailRow[]> {
  const { after, before, types, workspaceId, since, actorId, actorKind, outcome } = filter;
  const and = (condition: RawBuilder<unknown>, isWanted: boolean) => (isWanted ? sql`and ${condition}` : sql``);
  const direction = before === undefined ? 'asc' : 'desc';
  const inOrder = sql`order by trail_position ${sql.raw(direction)} limit ${sql.lit(limit)}`;
  const part = (wanted?: WantedType) => sql`
    select * from (
      select trail_position from log_entries
      where organization_id = ${organizationId} and trail_position > ${after}
        ${and(sql`trail_position < ${before}`, before !== undefined)}
        ${and(sql`type = ${wanted?.type}`, wanted !== undefined)}
        ${and(sql`actor_kind = 'scoped_token'`, wanted?.byTokenOnly === true)}
        ${and(sql`workspace_id = ${workspaceId}`, workspaceId !== undefined)}
        ${and(sql`recorded_at >= ${since}`, since !== undefined)}
        ${and(sql`actor_id = ${actorId}`, actorId !== undefined)}
        ${and(sql`actor_kind = ${actorKind}`, actorKind !== undefined)}
        ${and(sql`outcome = ${outcome === 'refused' ? sql.lit('refused') : outcome}`, outcome !== undefined)}
      ${inOrder}
    ) as part`;
  if (types?.length === 0) return [];
  // Two statements: with one, a database that misjudges the sizes might look at every row of the log.
  const parts = types ? types.map(part) : [part()];
  const { rows: found } = await sql<{ trail_position: number }>`
    select trail_position from (${sql.join(parts, sql` union all `)}) as parts
    ${inOrder}`.execute(db);
  if (found.length === 0) return [];
  return await db
    .selectFrom('log_entries as entry')
    .selectAll('entry')
    .select(
      sql<string | null>`coalesce(
        (select hash from log_entries before
          where before.organization_id = entry.organization_id and before.trail_position = entry.trail_position - 1),
        (select hash from audit_checkpoints point
          where point.organization_id = entry.organization_id and point.position = entry.trail_position - 1))`.as(
        'previous_hash',
      ),
    )
    .where('entry.organization_id', '=', organizationId)
    .where(
      'entry.trail_position',
      'in',
      found.map(({ trail_position }) => trail_position),
    )
    .orderBy('entry.trail_position', direction)
    .execute();
}

export async function listPersonal(db: Db, organizationId: string, entryIds: string[]): Promise<LogPersonalRow[]> {
  if (entryIds.length === 0) return [];
  return await db
    .selectFrom('log_personal')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('entry_id', 'in', entryIds)
    .execute();
}

export interface ErasedEntries {
  workspaceId: string | undefined;
  actorId: string | undefined;
  address: string | undefined;
  before: number | undefined;
}

export interface ErasedValues {
  /** Values of entries that had no position yet. */
  waiting: number;
  /** The others, in the order of their positions. */
  chained: { position: number; field: LogPersonalRow['field'] }[];
}

/**
 * Erases values, also of entries that have no position yet. No entry gets its position meanwhile: it would be in neither place
 * when that place is looked at.
 */
export async function erasePersonal(
  tx: Db,
  organizationId: string,
  chosen: ErasedEntries,
  fields: readonly LogPersonalRow['field'][],
): Promise<ErasedValues> {
  await tx.updateTable('log_sequencer').set({ lease_until: sql<number>`lease_until` }).where('id', '=', 1).execute();
  const { workspaceId, actorId, address, before } = chosen;
  const waiting = await eraseWaiting(tx, organizationId, chosen, fields);
  let entries = tx.selectFrom('log_entries').select('id').where('organization_id', '=', organizationId);
  if (workspaceId !== undefined) entries = entries.where('workspace_id', '=', workspaceId);
  if (actorId !== undefined) entries = entries.where('actor_id', '=', actorId);
  if (before !== undefined) entries = entries.where('recorded_at', '<', before);
  if (address !== undefined) {
    const fromThere = tx
      .selectFrom('log_personal')
      .select('entry_id')
      .where('organization_id', '=', organizationId)
      .where('field', '=', 'address')
      .where('value', '=', JSON.stringify(address));
    entries = entries.where('id', 'in', fromThere);
  }
  const chained = await tx
    .selectFrom('log_personal as personal')
    .innerJoin('log_entries as entry', 'entry.id', 'personal.entry_id')
    .select(['entry.trail_position as position', 'personal.field'])
    .where('personal.organization_id', '=', organizationId)
    .where('personal.field', 'in', [...fields])
    .where('personal.entry_id', 'in', entries)
    .orderBy('entry.trail_position')
    .execute();
  await tx
    .deleteFrom('log_personal')
    .where('organization_id', '=', organizationId)
    .where('field', 'in', [...fields])
    .where('entry_id', 'in', entries)
    .execute();
  return { waiting, chained };
}

async function eraseWaiting(
  tx: Db,
  organizationId: string,
  { workspaceId, actorId, address, before }: ErasedEntries,
  fields: readonly LogPersonalRow['field'][],
): Promise<number> {
  let entries = tx
    .selectFrom('log_pending')
    .select(['number', 'personal', 'patch'])
    .where('organization_id', '=', organizationId);
  if (workspaceId !== undefined) entries = entries.where('workspace_id', '=', workspaceId);
  if (actorId !== undefined) entries = entries.where('actor_id', '=', actorId);
  if (before !== undefined) entries = entries.where('recorded_at', '<', before);
  let count = 0;
  for (const { number, personal, patch } of await entries.execute()) {
    const values: Record<string, unknown> = personal === null ? {} : JSON.parse(personal);
    if (address !== undefined && values.address !== address) continue;
    const left = Object.entries(values).filter(([name]) => !(fields as readonly string[]).includes(name));
    const isPatchErased = patch !== null && fields.includes('patch');
    const erased = Object.keys(values).length - left.length + Number(isPatchErased);
    if (erased === 0) continue;
    count += erased;
    await tx
      .updateTable('log_pending')
      .set({
        personal: left.length === 0 ? null : JSON.stringify(Object.fromEntries(left)),
        ...(isPatchErased && { patch: null }),
      })
      .where('organization_id', '=', organizationId)
      .where('number', '=', number)
      .execute();
  }
  return count;
}

/** The newest first. */
export async function listCheckpoints(db: Db, organizationId: string, limit: number): Promise<AuditCheckpointRow[]> {
  return await db
    .selectFrom('audit_checkpoints')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('position', 'desc')
    .limit(limit)
    .execute();
}

export async function findCheckpoint(
  db: Db,
  organizationId: string,
  position: number,
): Promise<AuditCheckpointRow | undefined> {
  return await db
    .selectFrom('audit_checkpoints')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('position', '=', position)
    .executeTakeFirst();
}
