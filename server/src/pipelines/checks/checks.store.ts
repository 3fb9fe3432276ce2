/** The SQL of `source_checks` and `destination_checks`. */
import type { CheckStatus } from '@inlay/contract/pipelines/sources';
import { sql } from 'kysely';
import { fromNow, now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { SourceCheckRow } from '../../kernel/db/tables.ts';

/** A check of a source belongs to a workspace, a check of a destination to no workspace. */
export interface CheckRef {
  id: string;
  organizationId: string;
  workspaceId?: string | undefined;
}

/** Both tables have these columns. */
type CheckColumns = Pick<SourceCheckRow, 'status' | 'error_message' | 'reasons' | 'expires_at'>;
type SourceColumns = Pick<SourceCheckRow, 'customer_message' | 'warnings' | 'may_linger'>;

/** Typed as the table with more columns; only checks of sources get those. */
const tableOf = ({ workspaceId }: CheckRef) =>
  (workspaceId === undefined ? 'destination_checks' : 'source_checks') as 'source_checks';
const isCheck = ({ id, organizationId, workspaceId }: CheckRef) => {
  const inWorkspace = workspaceId === undefined ? sql`` : sql`and workspace_id = ${workspaceId}`;
  return sql<boolean>`id = ${id} and organization_id = ${organizationId} ${inWorkspace}`;
};

export async function insertCheck(
  db: Db,
  { id, organizationId, workspaceId }: CheckRef,
  patienceMs: number,
): Promise<void> {
  const check = {
    id,
    organization_id: organizationId,
    status: 'running' as const,
    error_message: null,
    reasons: null,
    created_at: now,
    expires_at: fromNow(patienceMs),
  };
  if (workspaceId === undefined) await db.insertInto('destination_checks').values(check).execute();
  else {
    const ofSource = { workspace_id: workspaceId, customer_message: null, warnings: null, may_linger: 1 };
    await db
      .insertInto('source_checks')
      .values({ ...check, ...ofSource })
      .execute();
  }
}

export interface CheckEnd extends Partial<SourceColumns> {
  status: CheckStatus;
  error_message: string | null;
  reasons: string | null;
}

export async function finishCheck(db: Db, check: CheckRef, end: CheckEnd): Promise<void> {
  await db.updateTable(tableOf(check)).set(end).where(isCheck(check)).execute();
}

/** Records that the process of the check is alive: the check runs there, or waits there for its turn. */
export async function renewCheck(db: Db, check: CheckRef, patienceMs: number): Promise<void> {
  await db
    .updateTable(tableOf(check))
    .set({ expires_at: fromNow(patienceMs) })
    .where(isCheck(check))
    .where('status', '=', 'running')
    .execute();
}

export async function recordNothingLingers(db: Db, check: CheckRef): Promise<void> {
  await db.updateTable('source_checks').set({ may_linger: 0 }).where(isCheck(check)).execute();
}

type FoundCheck = CheckColumns & Partial<SourceColumns> & { now: number };

export async function findCheck(db: Db, check: CheckRef): Promise<FoundCheck | undefined> {
  return await db.selectFrom(tableOf(check)).selectAll().select(now.as('now')).where(isCheck(check)).executeTakeFirst();
}

/** Whether any workspace of the organization has this check of a source. */
export async function existsSourceCheck(db: Db, organizationId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('source_checks')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}
