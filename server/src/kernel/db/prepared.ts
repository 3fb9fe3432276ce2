/**
 * Statements that most requests need. Building a query takes longer than running it, so these queries are built once
 * and run with new values each time. On SQLite, outside of a transaction, they run on the connection that only reads.
 */

import { ReadingSqliteAdapter } from '@inlay/database/sqlite-dialect';
import type { Compilable, CompiledQuery, DialectAdapter } from 'kysely';
import type { Db } from './open.ts';

interface Prepared {
  query: CompiledQuery;
  /** Gives the parameters of the query, in its order, from the values of one run. */
  parametersFor(values: unknown[]): unknown[];
  /** Only on SQLite. */
  read: ((parameters: unknown[]) => unknown[]) | undefined;
}

/**
 * `build` is called with placeholders instead of values, so it must pass them on unchanged; each becomes a parameter.
 */
export function prepare<Values extends unknown[], Row>(
  build: (db: Db, ...values: Values) => Compilable<Row>,
): (db: Db, ...values: Values) => Promise<Row[]> {
  return prepareAs('prepare', build);
}

/** The same for pages of a list: on SQLite, many rows of text, numbers and null are read faster in this way. */
export function preparePage<Values extends unknown[], Row>(
  build: (db: Db, ...values: Values) => Compilable<Row>,
): (db: Db, ...values: Values) => Promise<Row[]> {
  return prepareAs('prepareMany', build);
}

function prepareAs<Values extends unknown[], Row>(
  how: 'prepare' | 'prepareMany',
  build: (db: Db, ...values: Values) => Compilable<Row>,
): (db: Db, ...values: Values) => Promise<Row[]> {
  const standIns: unknown[] = Array.from({ length: build.length - 1 }, (_, index) => `\0value ${index}`);
  // By dialect: the statements of the two databases differ.
  const prepared = new WeakMap<DialectAdapter, Prepared>();

  function prepareFor(db: Db, adapter: DialectAdapter): Prepared {
    const query = build(db, ...(standIns as Values)).compile();
    const sources = query.parameters.map((parameter) => ({
      constant: parameter,
      index: standIns.indexOf(parameter),
    }));
    return {
      query,
      parametersFor: (values) => sources.map(({ constant, index }) => (index < 0 ? constant : values[index])),
      read: adapter instanceof ReadingSqliteAdapter ? adapter[how](query.sql) : undefined,
    };
  }

  return async (db, ...values) => {
    const { adapter } = db.getExecutor();
    let statement = prepared.get(adapter);
    if (!statement) {
      statement = prepareFor(db, adapter);
      prepared.set(adapter, statement);
    }
    const { query, parametersFor, read } = statement;
    const parameters = parametersFor(values);
    if (read && !db.isTransaction) return read(parameters) as Row[];
    return (await db.executeQuery({ ...query, parameters })).rows as Row[];
  };
}
