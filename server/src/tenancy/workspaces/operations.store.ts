/**
 * The SQL of `operations`: changes that the platform does not know yet. One row per workspace and kind; the row is
 * deleted when the work is done.
 */
import { sql } from 'kysely';
import { fromNow } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { OperationKind, OperationRow } from '../../kernel/db/tables.ts';

export interface OperationRef {
  organizationId: string;
  workspaceId: string;
  kind: OperationKind;
}

export interface OperationLease {
  leaseId: string;
  leaseMs: number;
  /** How long after the end of the lease a request sent under it may still take effect. */
  lingerMs: number;
}

const isOperation = ({ organizationId, workspaceId, kind }: OperationRef) =>
  sql<boolean>`organization_id = ${organizationId} and workspace_id = ${workspaceId} and kind = ${kind}`;

/**
 * Records open work and takes its lease at the same instant, so that no other worker starts in between. If work of the
 * same kind is open already, it becomes due at once. If a worker holds its lease, that worker keeps it and notices the
 * new intent by its generation.
 */
export async function openOperation(tx: Db, ref: OperationRef, lease: OperationLease): Promise<void> {
  await tx
    .insertInto('operations')
    .values({
      workspace_id: ref.workspaceId,
      kind: ref.kind,
      organization_id: ref.organizationId,
      lease_id: lease.leaseId,
      lease_until: fromNow(lease.leaseMs),
      next_at: sql<number>`now_ms()`,
      // Nothing is sent yet: the lease is taken once more before the work begins.
      sending_until: 0,
      unsettled_until: 0,
      attempts: 0,
      last_error: null,
      created_at: sql<number>`now_ms()`,
    })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'kind']).doUpdateSet({ next_at: sql<number>`now_ms()`, attempts: 0 }),
    )
    .execute();
}

/**
 * Takes the lease on an operation and returns it; undefined when the operation is not open or another worker has the
 * lease. If the previous holder never recorded how its last request ended, that request counts as unsettled.
 */
export async function leaseOperation(
  db: Db,
  ref: OperationRef,
  { leaseId, leaseMs, lingerMs }: OperationLease,
): Promise<(OperationRow & { now: number }) | undefined> {
  return await db
    .updateTable('operations')
    .set({
      lease_id: leaseId,
      lease_until: fromNow(leaseMs),
      sending_until: fromNow(leaseMs + lingerMs),
      unsettled_until: sql<number>`case
        when lease_id = ${leaseId} or sending_until <= unsettled_until then unsettled_until
        else sending_until end`,
    })
    .where(isOperation(ref))
    .where((when) => when.or([when('lease_until', '<=', sql<number>`now_ms()`), when('lease_id', '=', leaseId)]))
    .returningAll()
    .returning(sql<number>`now_ms()`.as('now'))
    .executeTakeFirst();
}

/** Records that a request sent just now may still take effect, even if its intent changes. */
export async function recordUnsettled(db: Db, ref: OperationRef, unsettledMs: number): Promise<void> {
  await db
    .updateTable('operations')
    .set({ unsettled_until: fromNow(unsettledMs) })
    .where(isOperation(ref))
    .where('unsettled_until', '<', fromNow(unsettledMs))
    .execute();
}

export async function isOpen(db: Db, ref: OperationRef): Promise<boolean> {
  const row = await db.selectFrom('operations').select('kind').where(isOperation(ref)).executeTakeFirst();
  return row !== undefined;
}

interface Postponement {
  delayMs: number;
  error: string | null;
}

/** Puts the work off and gives the lease back. */
export async function postponeOperation(
  db: Db,
  ref: OperationRef,
  leaseId: string,
  { delayMs, error }: Postponement,
): Promise<void> {
  await db
    .updateTable('operations')
    .set({
      lease_id: null,
      lease_until: 0,
      sending_until: 0,
      next_at: fromNow(delayMs),
      attempts: sql<number>`attempts + 1`,
      last_error: error,
    })
    .where(isOperation(ref))
    .where('lease_id', '=', leaseId)
    .execute();
}

export async function closeOperation(tx: Db, ref: OperationRef): Promise<void> {
  await tx.deleteFrom('operations').where(isOperation(ref)).execute();
}

/** Closes all other operations of a workspace that is being deleted: they are no longer needed. */
export async function closeOtherOperations(tx: Db, organizationId: string, workspaceId: string): Promise<void> {
  await tx
    .deleteFrom('operations')
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId)
    .where('kind', 'in', ['rename', 'status'])
    .execute();
}

export async function workspacesWithOpenRename(
  db: Db,
  organizationId: string,
  workspaceIds: string[],
): Promise<Set<string>> {
  if (workspaceIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('operations')
    .select('workspace_id')
    .where('organization_id', '=', organizationId)
    .where('kind', '=', 'rename')
    .where('workspace_id', 'in', workspaceIds)
    .execute();
  return new Set(rows.map((row) => row.workspace_id));
}
