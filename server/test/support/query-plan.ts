/** How the databases would answer a statement, so that a test notices a list that is read through from end to end. */
import { CompiledQuery, type RootOperationNode, sql } from 'kysely';
import type { Db, Store } from '../../src/kernel/db/open.ts';

/** The statement that a list sends. */
export async function statementOf(db: Db, list: (catching: Db) => Promise<unknown>): Promise<CompiledQuery> {
  let caught: RootOperationNode | undefined;
  const catching = db.withPlugin({
    transformQuery({ node }) {
      caught = node;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await list(catching);
  if (!caught) throw new Error('the list asks for nothing');
  return db.getExecutor().compileQuery(caught, { queryId: 'looked at' });
}

/** How the database finds what a statement asks for. PostgreSQL would rather read a small table through. */
export async function planOf(store: Store, { sql: text, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>) {
  const isPostgres = store.kind === 'postgres';
  return await store.transaction(async (tx) => {
    if (isPostgres)
      await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true), 
      set_config('enable_bitmapscan', 'off', true)`.execute(tx);
    const explain = CompiledQuery.raw(`${isPostgres ? 'explain' : 'explain query plan'} ${text}`, [...parameters]);
    return (await tx.executeQuery(explain)).rows.map((row) => Object.values(row as object).at(-1)).join('\n');
  });
}
