/* What a benchmark is: a name and a function that gives figures. */
import type { Database, Databases, PostgresDatabase } from './databases.ts';
import type { Figure } from './figures.ts';
import type { Amounts, BenchmarkSettings, Scope } from './settings.ts';

export interface BenchmarkOptions extends BenchmarkSettings, Scope {
  databases: Databases;
}

export interface Benchmark {
  name: string;
  /** Instead of the usual amounts, if the benchmark runs alone. */
  amounts?: Partial<Amounts>;
  /** A run without names leaves it out. */
  isOnRequest?: true;
  /** Gives no figures when something is missing on this machine; then the log says what. */
  run(options: BenchmarkOptions): Promise<Figure[]>;
}

/** Measures the same on SQLite and then on PostgreSQL; the names of its figures begin with the database. */
export const onBothDatabases = (
  name: string,
  measure: (database: Database, options: BenchmarkOptions) => Promise<Figure[]>,
): Benchmark => ({
  name,
  async run(options) {
    const figures: Figure[] = [];
    for (const database of await options.databases.all()) {
      const measured = await untilEnd(options, (options) => measure(database, options));
      figures.push(...measured.map((figure) => ({ ...figure, work: `${database.name}: ${figure.work}` })));
    }
    return figures;
  },
});

/** Gives no figures where PostgreSQL is not installed. */
export const onPostgres = (
  name: string,
  measure: (database: PostgresDatabase, options: BenchmarkOptions) => Promise<Figure[]>,
): Benchmark => ({
  name,
  async run(options) {
    const database = await options.databases.postgres();
    return database ? await measure(database, options) : [];
  },
});

/** Ends what the work has started. */
export async function untilEnd<T>(
  options: Omit<BenchmarkOptions, keyof Scope>,
  work: (options: BenchmarkOptions) => Promise<T>,
): Promise<T> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    return await work({ ...options, onEnd: (end) => ends.unshift(end) });
  } finally {
    for (const end of ends) await end();
  }
}
