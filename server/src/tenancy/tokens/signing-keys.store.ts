/** The SQL of `signing_keys`. Keys belong to the deployment, not to an organization. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { SigningKeyRow } from '../../kernel/db/tables.ts';

export async function listKeys(db: Db): Promise<SigningKeyRow[]> {
  return await db.selectFrom('signing_keys').selectAll().orderBy('created_at', 'desc').orderBy('kid').execute();
}

export async function insertKey(
  db: Db,
  key: Pick<SigningKeyRow, 'kid' | 'public_jwk' | 'sealed_private_key'>,
): Promise<void> {
  await db
    .insertInto('signing_keys')
    .values({ ...key, created_at: sql<number>`now_ms()`, retired_at: null })
    .execute();
}

/** Retires all keys but this one, and gives the ids of those that signed until now. */
export async function retireOthers(tx: Db, kid: string): Promise<string[]> {
  const rows = await tx
    .updateTable('signing_keys')
    .set({ retired_at: sql<number>`now_ms()` })
    .where('kid', '<>', kid)
    .where('retired_at', 'is', null)
    .returning('kid')
    .execute();
  return rows.map((row) => row.kid);
}

export async function removeRetiredKey(db: Db, kid: string): Promise<boolean> {
  const row = await db
    .deleteFrom('signing_keys')
    .where('kid', '=', kid)
    .where('retired_at', 'is not', null)
    .returning('kid')
    .executeTakeFirst();
  return row !== undefined;
}
