/** The SQL of `destination_checks`. */
import type { CheckStatus } from '@inlay/contract/sources';
import { fromNow, now } from '../db/moments.ts';
import type { Db } from '../db/open.ts';
import type { DestinationCheckRow } from '../db/tables.ts';

export async function insertCheck(db: Db, organizationId: string, id: string, patienceMs: number): Promise<void> {
  await db
    .insertInto('destination_checks')
    .values({
      id,
      organization_id: organizationId,
      status: 'running',
      error_message: null,
      created_at: now,
      expires_at: fromNow(patienceMs),
    })
    .execute();
}

export async function finishCheck(
  db: Db,
  organizationId: string,
  id: string,
  { status, message }: { status: CheckStatus; message: string | null },
): Promise<void> {
  await db
    .updateTable('destination_checks')
    .set({ status, error_message: message })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
}

/** The process that has the check is alive. */
export async function renewCheck(db: Db, organizationId: string, id: string, patienceMs: number): Promise<void> {
  await db
    .updateTable('destination_checks')
    .set({ expires_at: fromNow(patienceMs) })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('status', '=', 'running')
    .execute();
}

export async function findCheck(
  db: Db,
  organizationId: string,
  id: string,
): Promise<(DestinationCheckRow & { now: number }) | undefined> {
  return await db
    .selectFrom('destination_checks')
    .selectAll()
    .select(now.as('now'))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}
