/* What the benchmarks of syncs into PostgreSQL have in common: psql, a configuration for connectors, statements. */
import pg from 'pg';
import type { BenchmarkOptions, Measured } from './benchmark.ts';
import type { PostgresDatabase } from './databases.ts';
import type { Log } from './settings.ts';

/** Undefined when something is missing on this machine; `log` tells what. */
export async function serverWithPsql(
  { databases }: BenchmarkOptions,
  log: Log,
): Promise<{ database: PostgresDatabase; psql: string } | undefined> {
  const database = await databases.postgres();
  const psql = database?.program('psql');
  if (database && !psql) log('psql is not installed: there is no ceiling to compare with.');
  return database && psql ? { database, psql } : undefined;
}

/** For a connector. */
export function configurationOf(url: string) {
  const { hostname, port, username, pathname } = new URL(url);
  const database = pathname.slice(1) || 'postgres';
  return { host: hostname, port: Number(port), database, username, ssl_mode: { mode: 'disable' } };
}

export async function execute<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Gives what was measured, once all records are known to be in the table. */
export async function counted(
  url: string,
  table: string,
  measured: Measured,
  { records }: BenchmarkOptions,
): Promise<Measured> {
  const [row] = await execute<{ count: number }>(url, `select count(*)::int as count from ${table}`);
  if (row?.count !== records) throw new Error(`${row?.count} rows are in the table.`);
  return measured;
}
