/** The SQL of `source_checks`. */
import type { CheckStatus } from '@inlay/contract/sources';
import { sql } from 'kysely';
import { now } from '../db/moments.ts';
import type { Db } from '../db/open.ts';
import type { SourceCheckRow } from '../db/tables.ts';
import type { AudienceWarnings, FailureTexts } from './two-texts.ts';

export async function insertCheck(
  db: Db,
  check: { id: string; organizationId: string; workspaceId: string; patienceMs: number },
): Promise<void> {
  await db
    .insertInto('source_checks')
    .values({
      id: check.id,
      organization_id: check.organizationId,
      workspace_id: check.workspaceId,
      status: 'running',
      error_message: null,
      customer_message: null,
      warnings: null,
      created_at: now,
      expires_at: sql<number>`now_ms() + ${sql.lit(check.patienceMs)}`,
      may_linger: 1,
    })
    .execute();
}

export interface CheckEnd {
  status: CheckStatus;
  /** Why it failed. */
  texts: FailureTexts | null;
  /** What should be known although it succeeded. */
  warnings: AudienceWarnings | null;
  mayLinger: boolean;
}

export async function finishCheck(
  db: Db,
  workspaceId: string,
  id: string,
  { status, texts, warnings, mayLinger }: CheckEnd,
): Promise<void> {
  await db
    .updateTable('source_checks')
    .set({
      status,
      error_message: texts?.operator ?? null,
      customer_message: texts?.customer ?? null,
      warnings: warnings && JSON.stringify(warnings),
      may_linger: mayLinger ? 1 : 0,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Records that the process of the check is alive: the check runs there, or waits there for its turn. */
export async function renewCheck(db: Db, workspaceId: string, id: string, patienceMs: number): Promise<void> {
  await db
    .updateTable('source_checks')
    .set({ expires_at: sql<number>`now_ms() + ${sql.lit(patienceMs)}` })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('status', '=', 'running')
    .execute();
}

export async function recordNothingLingers(db: Db, workspaceId: string, id: string): Promise<void> {
  await db
    .updateTable('source_checks')
    .set({ may_linger: 0 })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

export async function findCheck(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<(SourceCheckRow & { now: number }) | undefined> {
  return await db
    .selectFrom('source_checks')
    .selectAll()
    .select(now.as('now'))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function existsCheck(db: Db, organizationId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('source_checks')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}
