/**
 * Upgrades are expand/contract: the statements of the last release (release.json) work on the schema of this version. They
 * are in a fixture, which `npm run record-release` writes. The long run starts that release itself (upgrade.long.test.ts).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { SqliteConnection } from '@inlay/database/connection';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { addFunctions } from '../src/kernel/db/sqlite-functions.ts';
import { createTestDatabase } from './support/databases.ts';

const fixture = fileURLToPath(new URL('fixtures/statements-of-last-release.json.gz', import.meta.url));
const recordedIn = process.env.UPDATE_STATEMENTS;

const stores = ['sqlite', 'postgres', 'platform'] as const;
type Store = (typeof stores)[number];
type Statements = Record<Store, string[]>;

interface Schema {
  /** Throws what is wrong with a statement. */
  prepare(statement: string): unknown;
  /** Columns that an insert has to name, as `table.column`. */
  required: string[];
}

async function openSchema(store: Store): Promise<Schema> {
  const database = await createTestDatabase(store === 'postgres' ? 'postgres' : 'sqlite', { migrated: true });
  onTestFinished(() => database.drop());
  if (database.url) {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    onTestFinished(() => client.end());
    const { rows } = await client.query(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and is_nullable = 'NO' and column_default is null and is_generated = 'NEVER'`,
    );
    const prepare = async (statement: string) => {
      await client.query(`prepare statement as ${statement}`);
      await client.query('deallocate statement');
    };
    return { prepare, required: rows.map(({ name }) => name) };
  }
  const file = new SqliteConnection(join(database.dataDir, store === 'platform' ? 'platform.db' : 'inlay.db'));
  onTestFinished(() => file.close());
  addFunctions(file, Date.now);
  const rows = file
    .prepare(
      `select tables.name || '.' || columns.name as name
       from pragma_table_list as tables join pragma_table_info(tables.name) as columns
       where tables.type = 'table' and columns."notnull" = 1 and dflt_value is null and columns.pk = 0`,
    )
    .all();
  return { prepare: (statement) => file.prepare(statement), required: rows.map(({ name }) => String(name)) };
}

async function findRefused({ prepare, required }: Schema, statements: readonly string[]): Promise<string[]> {
  const refused: string[] = [];
  for (const statement of statements) {
    try {
      await prepare(statement);
      const missing = missingIn(statement, required);
      if (missing.length > 0) throw new Error(`no value for ${missing.join(', ')}`);
    } catch (error) {
      refused.push(`${(error as Error).message}: ${statement}`);
    }
  }
  return refused;
}

/** A new column without a default would only fail when the statement runs. */
function missingIn(statement: string, required: readonly string[]): string[] {
  const [, table, columns] = /^\s*insert into "?(\w+)"? \(([^)]*)\)/i.exec(statement) ?? [];
  if (table === undefined || columns === undefined) return [];
  const named = columns.split(',').map((column) => `${table}.${column.trim().replaceAll('"', '')}`);
  return required.filter((column) => column.startsWith(`${table}.`) && !named.includes(column));
}

const readFixture = (): Statements => JSON.parse(gunzipSync(readFileSync(fixture)).toString());

for (const store of stores) {
  it(`the statements of the last release fit this schema [${store}]`, async () => {
    const schema = await openSchema(store);
    const statements = recordedIn === undefined ? readFixture()[store] : await record(recordedIn, store, schema);
    expect(statements.length).toBeGreaterThan(store === 'platform' ? 100 : 500);
    expect(await findRefused(schema, statements)).toEqual([]);
  });
}

it('a statement that needs a removed column, or lacks a new one, is found', async () => {
  for (const store of stores) {
    const statements = ['select gone from workspaces', 'insert into workspaces (name) values ($1)'];
    expect(await findRefused(await openSchema(store), statements)).toHaveLength(2);
  }
});

/** Keeps what the database takes today: the other one's dialect, and lists of another length, are left out. */
async function record(folder: string, store: Store, schema: Schema): Promise<string[]> {
  const shapes = new Map<string, string>();
  for (const name of readdirSync(folder)) {
    const recorded = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const text of recorded[store === 'platform' ? 'platform' : 'service']) {
      const shape = text.replaceAll(/\$\d+/g, '?').replaceAll(/\?(, ?\?)+/g, '?');
      if (!shapes.has(shape)) shapes.set(shape, text);
    }
  }
  const statements: string[] = [];
  for (const text of [...shapes.values()].toSorted()) {
    if ((await findRefused(schema, [text])).length === 0) statements.push(text);
  }
  console.info(`${store}: ${statements.length} of ${shapes.size} statements`);
  const before: Partial<Statements> = store === stores[0] ? {} : readFixture();
  writeFileSync(fixture, gzipSync(JSON.stringify({ ...before, [store]: statements }), { level: 9 }));
  return statements;
}
