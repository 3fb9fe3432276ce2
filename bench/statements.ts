/*
 * The statement that the service runs for a request, besides the one about its token, which it runs only every two
 * seconds. The statement is taken from the service's own store functions, which run against a database that only
 * records its statements.
 */
import {
  type Dialect,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Database } from './databases.ts';
import { organizationId, workspaceAt } from './dataset.ts';
import * as product from './product.ts';
import { farPosition, type Kind, longPageSize, pageSize, sampleOf } from './requests.ts';

export interface Statement {
  sql: string;
  /** One list for each of many requests of the kind. */
  parameters: (readonly unknown[])[];
}

const dialects: Record<Database['name'], Omit<Dialect, 'createDriver'>> = {
  SQLite: {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  PostgreSQL: {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
};

/** Undefined for requests that need none. */
export async function statementOf(kind: Kind, count: number, on: Database['name']): Promise<Statement | undefined> {
  const statements = new Set<string>();
  const parameters: Statement['parameters'] = [];
  const db = new Kysely<product.Tables>({
    dialect: { ...dialects[on], createDriver: () => new DummyDriver() },
    log({ query }) {
      statements.add(query.sql);
      parameters.push(query.parameters);
    },
  });
  for (const index of sampleOf(count)) await runStatement(db, kind, workspaceAt(index, count), count);
  const [sql, another] = statements;
  if (another !== undefined) throw new Error(`${kind} runs more than one statement.`);
  return sql === undefined ? undefined : { sql, parameters };
}

async function runStatement(
  db: product.Db,
  kind: Kind,
  { id, name }: { id: string; name: string },
  count: number,
): Promise<unknown> {
  // The service reads one row more than a page has, to find out whether there is another page.
  switch (kind) {
    case 'info':
      return;
    case 'scopedToken':
    case 'widgetToken':
      return await product.findWorkspaceByName(db, organizationId, name);
    case 'get':
      return await product.findShown(db, organizationId, id);
    case 'list':
      return await product.listWorkspaces(db, organizationId, {}, pageSize + 1);
    case 'listLong':
      return await product.listWorkspaces(db, organizationId, {}, longPageSize + 1);
    case 'listFar':
      return await product.listWorkspaces(db, organizationId, { after: farPosition(count) }, pageSize + 1);
    case 'stats':
      return await product.countByStatus(db, organizationId);
  }
}
