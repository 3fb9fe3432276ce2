/** The open operations of all organizations, for the reconciler. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { OperationKind, OperationRow } from '../../kernel/db/tables.ts';

export async function listDueOperations(db: Db, limit: number): Promise<OperationRow[]> {
  return await db
    .selectFrom('operations')
    .selectAll()
    .where('next_at', '<=', sql<number>`now_ms()`)
    .where('lease_until', '<=', sql<number>`now_ms()`)
    .orderBy('next_at')
    .limit(limit)
    .execute();
}

export async function countOpenOperations(db: Db): Promise<Partial<Record<OperationKind, number>>> {
  const rows = await db
    .selectFrom('operations')
    .select(['kind', sql<number>`count(*)`.as('count')])
    .groupBy('kind')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.kind, Number(row.count)]));
}
