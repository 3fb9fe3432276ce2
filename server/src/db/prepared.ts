/**
 * Statements that come with most requests. Putting a query together takes longer than running it, so these are put
 * together once and run with other values each time. On SQLite, outside of a transaction, they run on the connection
 * that only reads.
 */
import type { Compilable, CompiledQuery, DialectAdapter } from 'kysely';
import type { Db } from './open.ts';
import { ReadingSqliteAdapter } from './sqlite.ts';

/** `build` is called with stand-ins, so it must hand its values on as they are; each becomes a parameter. */
export function prepare<Values extends unknown[], Row>(
  build: (db: Db, ...values: Values) => Compilable<Row>,
): (db: Db, ...values: Values) => Promise<Row[]> {
  const standIns = Array.from({ length: build.length - 1 }, (_, index) => `\0value ${index}`);
  // By dialect: the statements of the two databases differ.
  const compiled = new WeakMap<DialectAdapter, CompiledQuery>();
  return async (db, ...values) => {
    const { adapter } = db.getExecutor();
    let query = compiled.get(adapter);
    if (!query) {
      query = build(db, ...(standIns as unknown as Values)).compile();
      compiled.set(adapter, query);
    }
    const parameters = query.parameters.map((parameter) => {
      const index = standIns.indexOf(parameter as string);
      return index < 0 ? parameter : values[index];
    });
    if (adapter instanceof ReadingSqliteAdapter && !db.isTransaction) {
      return adapter.read(query.sql, parameters) as Row[];
    }
    return (await db.executeQuery({ ...query, parameters })).rows as Row[];
  };
}
