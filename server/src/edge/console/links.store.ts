/** The SQL of `console_links`. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { ConsoleLinkRow } from '../../kernel/db/tables.ts';

type NewLink = Pick<ConsoleLinkRow, 'id' | 'hash' | 'permission' | 'label'>;

export async function insertLink(
  tx: Db,
  organizationId: string,
  link: NewLink,
  lifeMs: number,
): Promise<ConsoleLinkRow> {
  return await tx
    .insertInto('console_links')
    .values({
      ...link,
      organization_id: organizationId,
      created_at: sql<number>`now_ms()`,
      expires_at: sql<number>`now_ms() + ${sql.lit(lifeMs)}`,
      used_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A link that works now. */
export async function findUsableLink(db: Db, hash: string): Promise<ConsoleLinkRow | undefined> {
  return await db
    .selectFrom('console_links')
    .selectAll()
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<number>`now_ms()`)
    .executeTakeFirst();
}

/** If several requests arrive at once, on any replica, one gets the link. */
export async function spendLink(tx: Db, organizationId: string, id: string): Promise<boolean> {
  const row = await tx
    .updateTable('console_links')
    .set({ used_at: sql<number>`now_ms()` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<number>`now_ms()`)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
