// What someone can do who owns the database: change the audit trail although the database refuses it.

import { sql } from 'kysely';
import type { Db, Store } from '../../src/kernel/db/open.ts';

const tables = ['log_entries', 'log_personal', 'log_heads', 'audit_checkpoints'];

/** Takes the triggers away, works, and puts them back. */
export async function unguarded(store: Store, work: () => Promise<unknown>): Promise<void> {
  const putBack = await withoutGuards(store.kind, store.db);
  await work();
  await putBack();
}

/** Takes the triggers away. */
export async function withoutGuards(kind: Store['kind'], db: Db): Promise<() => Promise<void>> {
  if (kind === 'postgres') {
    for (const table of tables) await sql`alter table ${sql.table(table)} disable trigger all`.execute(db);
    return async () => {
      for (const table of tables) await sql`alter table ${sql.table(table)} enable trigger all`.execute(db);
    };
  }
  const { rows } = await sql<{ name: string; sql: string }>`
    select name, sql from sqlite_master where type = 'trigger' and tbl_name in (${sql.join(tables)})`.execute(db);
  for (const { name } of rows) await sql`drop trigger ${sql.ref(name)}`.execute(db);
  return async () => {
    for (const trigger of rows) await sql.raw(trigger.sql).execute(db);
  };
}
