/** The SQL of `console_sessions`. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { ConsoleSessionRow } from '../../kernel/db/tables.ts';

/** A session that nobody uses for so long has ended. */
export const idleMs = 8 * 3_600_000;

const live = (db: Db) =>
  db
    .selectFrom('console_sessions')
    .selectAll()
    .select(sql<number>`now_ms()`.as('now'))
    .where('ended_at', 'is', null)
    .where('ends_at', '>', sql<number>`now_ms()`)
    .where('last_used_at', '>', sql<number>`now_ms() - ${sql.lit(idleMs)}`);

export interface LiveSession {
  session: ConsoleSessionRow;
  /** How long it still works, unless it is ended sooner. */
  worksForMs: number;
}

/** A session that has not ended. Whether its token still works is for the caller to ask. */
export async function findLiveSession(db: Db, hash: string): Promise<LiveSession | undefined> {
  const row = await live(db).where('hash', '=', hash).executeTakeFirst();
  return row && withTimeLeft(row);
}

/** The same by its id, for what was given to a session. */
export async function findLiveSessionById(
  db: Db,
  organizationId: string,
  id: string,
): Promise<LiveSession | undefined> {
  const row = await live(db).where('organization_id', '=', organizationId).where('id', '=', id).executeTakeFirst();
  return row && withTimeLeft(row);
}

function withTimeLeft({ now, ...session }: ConsoleSessionRow & { now: number }): LiveSession {
  return { session, worksForMs: Math.min(session.ends_at, session.last_used_at + idleMs) - now };
}

/** Newest first. Sessions whose operator token has ended are left out. */
export async function listLiveSessions(db: Db, organizationId: string, limit: number): Promise<ConsoleSessionRow[]> {
  const works = sql<boolean>`(token_id is null or exists (
    select 1 from operator_tokens
    where operator_tokens.id = token_id
      and (revoked_at is null or revoked_at > now_ms())
      and (expires_at is null or expires_at > now_ms())
  ))`;
  const rows = await live(db)
    .where('organization_id', '=', organizationId)
    .where(works)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ now: _now, ...row }) => row);
}

export type NewSession = Omit<
  ConsoleSessionRow,
  'organization_id' | 'created_at' | 'last_used_at' | 'ends_at' | 'ended_at'
>;

export async function insertSession(
  tx: Db,
  organizationId: string,
  session: NewSession,
  maxMs: number,
): Promise<ConsoleSessionRow> {
  return await tx
    .insertInto('console_sessions')
    .values({
      ...session,
      organization_id: organizationId,
      created_at: sql<number>`now_ms()`,
      last_used_at: sql<number>`now_ms()`,
      ends_at: sql<number>`now_ms() + ${sql.lit(maxMs)}`,
      ended_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Undefined when there is no such session, or it was ended before. */
export async function endSession(tx: Db, organizationId: string, id: string): Promise<ConsoleSessionRow | undefined> {
  return await tx
    .updateTable('console_sessions')
    .set({ ended_at: sql<number>`now_ms()` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

export async function recordUse(db: Db, organizationId: string, id: string): Promise<void> {
  await db
    .updateTable('console_sessions')
    .set({ last_used_at: sql<number>`now_ms()` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    // If several replicas write at the same time, one is enough.
    .where('last_used_at', '<', sql<number>`now_ms() - 30000`)
    .execute();
}
