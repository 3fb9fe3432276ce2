/** The SQL of `console_sign_ins`. A person at the provider belongs to no organization yet. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { ConsoleSignInRow } from '../../kernel/db/tables.ts';

type NewSignIn = Omit<ConsoleSignInRow, 'created_at' | 'expires_at'>;

export async function insertSignIn(db: Db, signIn: NewSignIn, lifeMs: number): Promise<void> {
  await db
    .insertInto('console_sign_ins')
    .values({
      ...signIn,
      created_at: sql<number>`now_ms()`,
      expires_at: sql<number>`now_ms() + ${sql.lit(lifeMs)}`,
    })
    .execute();
}

/** Gives a sign-in to the first who asks, if it is that browser's. */
export async function takeSignIn(db: Db, stateHash: string, cookieHash: string): Promise<ConsoleSignInRow | undefined> {
  return await db
    .deleteFrom('console_sign_ins')
    .where('state_hash', '=', stateHash)
    .where('cookie_hash', '=', cookieHash)
    .where('expires_at', '>', sql<number>`now_ms()`)
    .returningAll()
    .executeTakeFirst();
}
