/** The SQL of `operator_tokens`. */
import { sql } from 'kysely';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import { prepare } from '../../kernel/db/prepared.ts';
import type { OperatorTokenRow } from '../../kernel/db/tables.ts';

const usable = (db: Db) =>
  db
    .selectFrom('operator_tokens')
    .select([
      'id',
      'organization_id',
      'name',
      'permission',
      'role',
      'revoked_at',
      'expires_at',
      sql<number>`now_ms()`.as('now'),
    ])
    .where((when) => when.or([when('revoked_at', 'is', null), when('revoked_at', '>', sql<number>`now_ms()`)]))
    .where((when) => when.or([when('expires_at', 'is', null), when('expires_at', '>', sql<number>`now_ms()`)]));

const usableByHash = prepare((db, hash: string) => usable(db).where('hash', '=', hash));

export interface UsableToken extends Pick<OperatorTokenRow, 'id' | 'organization_id' | 'name' | 'permission' | 'role'> {
  /** How long the token still works, unless it is revoked sooner. */
  worksForMs: number;
}

/** A token that works now. */
export async function findUsable(db: Db, hash: string): Promise<UsableToken | undefined> {
  const [row] = await usableByHash(db, hash);
  return row && withTimeLeft(row);
}

export async function findUsableById(db: Db, organizationId: string, id: string): Promise<UsableToken | undefined> {
  const row = await usable(db).where('organization_id', '=', organizationId).where('id', '=', id).executeTakeFirst();
  return row && withTimeLeft(row);
}

type FoundToken = Omit<UsableToken, 'worksForMs'> &
  Pick<OperatorTokenRow, 'revoked_at' | 'expires_at'> & { now: number };

function withTimeLeft({ revoked_at, expires_at, now, ...token }: FoundToken): UsableToken {
  return { ...token, worksForMs: Math.min(revoked_at ?? Infinity, expires_at ?? Infinity) - now };
}

type NewToken = Pick<OperatorTokenRow, 'id' | 'name' | 'hash' | 'permission' | 'role' | 'expires_at'>;

function newRow(organizationId: string, token: NewToken) {
  return {
    ...token,
    organization_id: organizationId,
    created_at: sql<number>`now_ms()`,
    last_used_at: null,
    revoked_at: null,
  };
}

export async function insertToken(db: Db, organizationId: string, token: NewToken): Promise<OperatorTokenRow> {
  return await db
    .insertInto('operator_tokens')
    .values(newRow(organizationId, token))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** For the token of the environment: every replica has it, and the first replica records it. */
export async function insertTokenIfUnknown(db: Db, organizationId: string, token: NewToken): Promise<boolean> {
  const row = await db
    .insertInto('operator_tokens')
    .values(newRow(organizationId, token))
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function listTokens(db: Db, organizationId: string): Promise<OperatorTokenRow[]> {
  return await db
    .selectFrom('operator_tokens')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export async function findToken(db: Db, organizationId: string, id: string): Promise<OperatorTokenRow | undefined> {
  return await db
    .selectFrom('operator_tokens')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** As it is now, until the end of the transaction. */
export async function lockToken(tx: Db, organizationId: string, id: string): Promise<OperatorTokenRow | undefined> {
  return await tx
    .updateTable('operator_tokens')
    .set({ name: sql<string>`name` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Revokes the token after a delay. Undefined when there is none, or an earlier revocation ends it sooner. */
export async function revokeToken(
  db: Db,
  organizationId: string,
  id: string,
  delayMs: number,
): Promise<OperatorTokenRow | undefined> {
  const at = sql<number>`now_ms() + ${sql.lit(delayMs)}`;
  return await db
    .updateTable('operator_tokens')
    .set({ revoked_at: at })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where((when) => when.or([when('revoked_at', 'is', null), when('revoked_at', '>', at)]))
    .returningAll()
    .executeTakeFirst();
}

/**
 * Revokes a token that works now, after a delay, or sooner if an earlier revocation said so, and returns its row.
 * Undefined when there is no such token, or when it has ended already.
 */
export async function revokeWorkingToken(
  db: Db,
  organizationId: string,
  id: string,
  delayMs: number,
): Promise<OperatorTokenRow | undefined> {
  const at = sql<number>`now_ms() + ${sql.lit(delayMs)}`;
  return await db
    .updateTable('operator_tokens')
    .set({ revoked_at: sql<number>`case when revoked_at <= ${at} then revoked_at else ${at} end` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where((when) => when.or([when('revoked_at', 'is', null), when('revoked_at', '>', now)]))
    .where((when) => when.or([when('expires_at', 'is', null), when('expires_at', '>', now)]))
    .returningAll()
    .executeTakeFirst();
}

export async function recordUse(db: Db, organizationId: string, id: string, at: number): Promise<void> {
  await db
    .updateTable('operator_tokens')
    .set({ last_used_at: at })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where((when) => when.or([when('last_used_at', 'is', null), when('last_used_at', '<', at)]))
    .execute();
}
