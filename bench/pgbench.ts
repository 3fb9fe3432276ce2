/*
 * The ceiling of a request on PostgreSQL: `pgbench` with the same number of clients, running exactly the statement that
 * the service runs for the request, without the statement about its token. The statement is taken from the service's
 * own store functions, which run against a database that only records its statements.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { BenchmarkOptions } from './benchmark.ts';
import { type Place, urlOf } from './databases.ts';
import { organizationId, workspaceAt } from './dataset.ts';
import type { Measured } from './figures.ts';
import * as product from './product.ts';
import { farPosition, type Kind, sampleOf } from './requests.ts';

const clients = 32;
/** Each requested row is a script; pgbench accepts at most 128. */
const rowsAskedFor = 64;
const oneMoreThanAPage = 21;
const oneMoreThanALongPage = 101;

/** How many times `pgbench` runs the statements of one request in a second. */
export async function perSecondOf(
  program: string,
  kind: Kind,
  place: Place,
  { workspaces: count, folder, seconds, signal }: BenchmarkOptions,
): Promise<Measured> {
  const files: string[] = [];
  for (const index of sampleOf(count).slice(0, rowsAskedFor)) {
    const file = join(folder, `${kind}-${files.length}.sql`);
    writeFileSync(file, await statementsOf((db) => runStatements(db, kind, index, count)));
    files.push(`--file=${file}`);
  }
  // pgbench counts whole seconds; for a shorter time we give a number of transactions.
  const howLong = seconds >= 1 ? `--time=${seconds}` : '--transactions=10';
  // "extended", like the service: named statements would not work behind a transaction pooler.
  const settings = ['--no-vacuum', '--protocol=extended', `--client=${clients}`, howLong];
  const { stdout } = await promisify(execFile)(program, [...settings, ...files, urlOf(place)], { signal });
  const perSecond = /^tps = ([\d.]+)/m.exec(stdout)?.[1];
  if (perSecond === undefined) throw new Error(`pgbench reported no speed:\n${stdout}`);
  return { count: Number(perSecond), tookMs: 1000 };
}

async function statementsOf(run: (db: product.Db) => Promise<unknown>): Promise<string> {
  const statements: string[] = [];
  const literal = (value: unknown) =>
    typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
  const db = new Kysely<product.Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log({ query: { sql, parameters } }) {
      statements.push(`${sql.replace(/\$(\d+)/g, (_, number) => literal(parameters[Number(number) - 1]))};\n`);
    },
  });
  await run(db);
  return statements.join('');
}

async function runStatements(db: product.Db, kind: Kind, index: number, count: number): Promise<unknown> {
  const { id, name } = workspaceAt(index, count);
  switch (kind) {
    // The statement about the token: the service runs it only every two seconds, and runs no other for this request.
    case 'info':
      return await product.findStanding(db, organizationId, id, '1.AAAAAAAAAAAAAAAAAAAAAA');
    case 'scopedToken':
    case 'widgetToken':
      return await product.findWorkspaceByName(db, organizationId, name);
    case 'get':
      return await product.findWorkspace(db, organizationId, id);
    case 'list':
      return await product.listWorkspaces(db, organizationId, {}, oneMoreThanAPage);
    case 'listLong':
      return await product.listWorkspaces(db, organizationId, {}, oneMoreThanALongPage);
    case 'listFar':
      return await product.listWorkspaces(db, organizationId, { after: farPosition(count) }, oneMoreThanAPage);
    case 'stats':
      return await product.countByStatus(db, organizationId);
  }
}
