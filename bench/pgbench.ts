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
import type { Db } from '../server/src/db/open.ts';
import type { Tables } from '../server/src/db/tables.ts';
import { findStanding } from '../server/src/tokens/revocations.store.ts';
import { findWorkspaceByName } from '../server/src/workspaces/claims.store.ts';
import { countByStatus, findWorkspace, listWorkspaces } from '../server/src/workspaces/workspaces.store.ts';
import type { BenchmarkOptions } from './benchmark.ts';
import { organizationId, workspaceAt } from './dataset.ts';
import { farPosition, type Kind, sampleOf } from './requests.ts';

export interface Pgbench {
  /** How many times a second `pgbench` runs the statements of one request. */
  perSecond(kind: Kind): Promise<number>;
}

const clients = 32;
/** Each row that is asked for is a script; pgbench takes 128 at most. */
const rowsAskedFor = 64;
const oneMoreThanAPage = 21;

export function createPgbench(
  program: string,
  { url, count }: { url: string; count: number },
  { folder, loadMs, signal }: BenchmarkOptions,
): Pgbench {
  return {
    async perSecond(kind) {
      const scripts = await Promise.all(
        sampleOf(count)
          .slice(0, rowsAskedFor)
          .map(async (index, number) => {
            const file = join(folder, `${kind}-${number}.sql`);
            writeFileSync(file, await scriptOf(kind, index, count));
            return file;
          }),
      );
      // pgbench counts whole seconds; for a shorter time we give a number of transactions.
      const howLong = loadMs >= 1000 ? `--time=${Math.round(loadMs / 1000)}` : '--transactions=10';
      // "extended", like the service: named statements would not work behind a transaction pooler.
      const settings = ['--no-vacuum', '--protocol=extended', `--client=${clients}`, howLong];
      const files = scripts.map((file) => `--file=${file}`);
      const { stdout } = await promisify(execFile)(program, [...settings, ...files, url], { signal });
      const perSecond = /^tps = ([\d.]+)/m.exec(stdout)?.[1];
      if (perSecond === undefined) throw new Error(`pgbench did not say how fast it was:\n${stdout}`);
      return Number(perSecond);
    },
  };
}

async function scriptOf(kind: Kind, index: number, count: number): Promise<string> {
  const statements: string[] = [];
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log({ query }) {
      statements.push(`${withLiterals(query.sql, query.parameters)};\n`);
    },
  });
  await doStatements(db, kind, index, count);
  return statements.join('');
}

async function doStatements(db: Db, kind: Kind, index: number, count: number): Promise<unknown> {
  const { id, name } = workspaceAt(index, count);
  switch (kind) {
    // The statement about the token: the service runs it only every two seconds, and runs no other for this request.
    case 'info':
      return await findStanding(db, organizationId, id, '1.AAAAAAAAAAAAAAAAAAAAAA');
    case 'scopedToken':
    case 'widgetToken':
      return await findWorkspaceByName(db, organizationId, name);
    case 'get':
      return await findWorkspace(db, organizationId, id);
    case 'list':
      return await listWorkspaces(db, organizationId, {}, oneMoreThanAPage);
    case 'listFar':
      return await listWorkspaces(db, organizationId, { after: farPosition(count) }, oneMoreThanAPage);
    case 'stats':
      return await countByStatus(db, organizationId);
  }
}

function withLiterals(sql: string, parameters: readonly unknown[]): string {
  return sql.replace(/\$(\d+)/g, (_, number) => literal(parameters[Number(number) - 1]));
}

function literal(value: unknown): string {
  return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
}
