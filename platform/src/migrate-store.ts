/**
 * Moves the platform's store from its SQLite file to PostgreSQL. What always holds: nobody works on the file meanwhile; killed
 * anywhere, it continues where it was; nothing starts on an unfinished copy; and the file is set aside only once every table
 * has the same rows, in number and by hash, on both sides.
 *
 * The file is renamed at the end and not changed otherwise, so renaming it back undoes the move.
 */
import { createHash } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { SqliteConnection, type SqliteRow, type SqliteValue } from '@inlay/database/connection';
import { applyPending } from '@inlay/database/schema-history';
import { sqliteDialect } from '@inlay/database/sqlite-dialect';
import { SqliteError } from '@inlay/database/sqlite-error';
import { Kysely, sql } from 'kysely';
import { schema } from './db/migrations.ts';
import { type Db, openStore, type Store } from './db/open.ts';
import type { Tables } from './db/tables.ts';
import { fileLogs } from './jobs/file-logs.ts';
import { copyLog } from './jobs/stored-logs.ts';

export interface StoreMove {
  file: string;
  url: string;
  /** Where the file's platform keeps job logs. */
  dataDir: string;
  tell(line: string): void;
  /** Rows that one transaction copies. */
  batchRows?: number;
}

/** The move can't begin or continue. The message says why, and what to do. */
export class StoreMoveRefused extends Error {
  override readonly name = 'StoreMoveRefused';
}

export const movedEnd = '.moved';

/** What the copy has of its own, and what names processes that have ended. */
const notCopied = new Set([
  ...['kysely_migration', 'schema_versions', 'store_moves', 'job_log_parts', 'checks'],
  ...['runner_lease', 'coordinators', 'credential_turns'],
]);
const usualBatchRows = 200;
/** For rows that are long. */
const mostBatchCharacters = 4_000_000;

interface Table {
  name: string;
  columns: string[];
  /** Columns of the primary key, in its order. */
  key: string[];
  /** Numbered by the database. */
  hasSequence: boolean;
}

export async function migrateStore(move: StoreMove): Promise<void> {
  const { file, url, tell } = move;
  const source = `${hostname()}:${resolve(file)}`;
  const target = await openStore({ url }, { maxConnections: 2 });
  try {
    if (!existsSync(file)) return await finishMove(target, move, source);
    const lock = await lockFile(file);
    try {
      await beginMove(target, source, file);
      const tables = tablesOf(lock);
      if (!(await copyTables(lock, target, tables, move))) {
        tell('The file has changed since the copy began. Starting over.');
        await emptyTables(target, tables);
        await copyTables(lock, target, tables, move);
      }
      await copyLogs(lock, target, move);
      await verify(lock, target, tables, tell);
      await continueSequences(lock, target, tables);
      renameSync(file, `${file}${movedEnd}`);
    } finally {
      lock.close();
    }
    await finishMove(target, move, source);
  } finally {
    await target.close();
  }
}

/** Throws on a store that is only partly copied. */
export async function refuseUnfinished({ db }: Store): Promise<void> {
  const unfinished = await db.selectFrom('store_moves').select('source').executeTakeFirst();
  if (!unfinished) return;
  throw new StoreMoveRefused(
    `The platform's data in PostgreSQL is an unfinished copy from ${unfinished.source}. Finish it there with: inlay platform migrate-store`,
  );
}

/**
 * The only connection to the file, until it is closed, with all tables of this version. Only a connection without others can
 * leave the WAL mode, so this finds every process that has the file open.
 */
async function lockFile(file: string): Promise<SqliteConnection> {
  const connection = new SqliteConnection(file, { busyTimeoutMs: 1_000 });
  try {
    connection.exec('pragma locking_mode = exclusive; pragma journal_mode = delete');
    connection.exec('begin exclusive; commit');
    const db = new Kysely<Tables>({ dialect: sqliteDialect(connection) });
    await db.transaction().execute((tx) => applyPending(tx, schema));
    return connection;
  } catch (error) {
    connection.close();
    if (!(error instanceof SqliteError) || error.code !== 'SQLITE_BUSY') throw error;
    throw new StoreMoveRefused(`Another process uses ${file}. Stop the service and the platform, then try again.`);
  }
}

async function beginMove(target: Store, source: string, file: string): Promise<void> {
  await target.transaction(async (tx) => {
    const begun = await tx.selectFrom('store_moves').select('source').executeTakeFirst();
    if (begun?.source === source) return;
    if (begun) await refuseUnfinished({ ...target, db: tx });
    const used = await tx.selectFrom('organizations').select('seq').executeTakeFirst();
    if (used) {
      throw new StoreMoveRefused(
        `The PostgreSQL database already has data of a platform. Use another database, or move ${file} to another folder to leave its data behind.`,
      );
    }
    await sql`insert into store_moves (source, started_at) values (${source}, now_ms())`.execute(tx);
  });
}

/** Also after a crash between the last two steps. */
async function finishMove(target: Store, { file, tell }: StoreMove, source: string): Promise<void> {
  const { numDeletedRows } = await target.db
    .deleteFrom('store_moves')
    .where('source', '=', source)
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) throw new StoreMoveRefused(`There is nothing to copy: ${file} does not exist.`);
  tell(`Done. The file is now ${file}${movedEnd}.`);
}

/** Tables that others refer to come first. */
function tablesOf(source: SqliteConnection): Table[] {
  const names = source
    .prepare(`select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name`)
    .all()
    .filter(({ name }) => !notCopied.has(String(name)));
  const ordered = new Map<string, Table>();
  const add = (name: string, text: string) => {
    if (ordered.has(name)) return;
    for (const { table } of source.prepare(`select "table" from pragma_foreign_key_list('${name}')`).all()) {
      const parent = names.find((each) => each.name === table);
      if (parent && table !== name) add(String(table), String(parent.sql));
    }
    const columns = source.prepare(`select name, pk from pragma_table_info('${name}')`).all();
    const key = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk));
    ordered.set(name, {
      name,
      columns: columns.map((column) => String(column.name)),
      key: key.map((column) => String(column.name)),
      hasSequence: /autoincrement/i.test(text),
    });
  };
  for (const { name, sql } of names) add(String(name), String(sql));
  return [...ordered.values()];
}

/** Rows in the order of their key, some at a time, after a key. */
interface Rows {
  after(key: SqliteValue[] | undefined, limit: number): Promise<SqliteRow[]>;
}

function rowsInFile(source: SqliteConnection, { name, columns, key }: Table): Rows {
  const list = columns.map((column) => `"${column}"`).join(', ');
  const keys = key.map((column) => `"${column}"`).join(', ');
  const marks = key.map(() => '?').join(', ');
  return {
    async after(last, limit) {
      const where = last ? `where (${keys}) > (${marks})` : '';
      return source
        .prepare(`select ${list} from "${name}" ${where} order by ${keys} limit ${limit}`)
        .all(last ?? []) as SqliteRow[];
    },
  };
}

function rowsInPostgres(target: Store, { name, columns, key }: Table): Rows {
  const list = sql.join(columns.map((column) => sql.ref(column)));
  return {
    async after(last, limit) {
      return await target.transaction(async (tx) => {
        // In the order of SQLite, whatever that of the database is.
        const textual = await textColumns(tx, name);
        const keys = sql.join(
          key.map((column) => (textual.has(column) ? sql`${sql.ref(column)} collate "C"` : sql.ref(column))),
        );
        const where = last ? sql`where (${keys}) > (${sql.join(last)})` : sql``;
        const query = sql<SqliteRow>`select ${list} from ${sql.table(name)} ${where} order by ${keys} limit ${sql.lit(limit)}`;
        return (await query.execute(tx)).rows;
      });
    },
  };
}

async function textColumns(tx: Db, table: string): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = to_regclass(${table}) and atttypid = 'text'::regtype`.execute(tx);
  return new Set(rows.map(({ name }) => name));
}

interface Sum {
  rows: number;
  hash: string;
  last: SqliteValue[] | undefined;
}

/** Over the first rows, or over all. */
async function sumOf(rows: Rows, { columns, key }: Table, limit = Number.POSITIVE_INFINITY): Promise<Sum> {
  const hash = createHash('sha256');
  let [count, last] = [0, undefined as SqliteValue[] | undefined];
  while (count < limit) {
    const page = await rows.after(last, Math.min(usualBatchRows, limit - count));
    if (page.length === 0) break;
    for (const row of page) hash.update(`${JSON.stringify(columns.map((column) => row[column]))}\n`);
    last = keyOf(page.at(-1) as SqliteRow, key);
    count += page.length;
  }
  return { rows: count, hash: hash.digest('hex'), last };
}

const keyOf = (row: SqliteRow, key: readonly string[]) => key.map((column) => row[column] as SqliteValue);

/** False if what is there already isn't the beginning of the file's rows. */
async function copyTables(
  source: SqliteConnection,
  target: Store,
  tables: readonly Table[],
  { tell, batchRows = usualBatchRows }: StoreMove,
): Promise<boolean> {
  for (const table of tables) {
    const [from, to] = [rowsInFile(source, table), rowsInPostgres(target, table)];
    const copied = await sumOf(to, table);
    if ((await sumOf(from, table, copied.rows)).hash !== copied.hash) return false;
    const total = Number(source.prepare(`select count(*) as count from "${table.name}"`).all()[0]?.count);
    let [{ rows: count, last }] = [copied];
    while (count < total) {
      const batch = shortened(await from.after(last, batchRows));
      await target.transaction((tx) => insertRows(tx, table, batch));
      last = keyOf(batch.at(-1) as SqliteRow, table.key);
      count += batch.length;
      tell(`Copied ${table.name}: ${count} of ${total}`);
    }
  }
  return true;
}

function shortened(rows: SqliteRow[]): SqliteRow[] {
  let characters = 0;
  const end = rows.findIndex((row) => {
    characters += JSON.stringify(row).length;
    return characters > mostBatchCharacters;
  });
  return end === -1 ? rows : rows.slice(0, Math.max(1, end));
}

async function insertRows(tx: Db, { name, columns }: Table, rows: readonly SqliteRow[]): Promise<void> {
  const list = sql.join(columns.map((column) => sql.ref(column)));
  await sql`
    insert into ${sql.table(name)} (${list})
    select ${list} from json_populate_recordset(null::${sql.table(name)}, ${JSON.stringify(rows)}::json)`.execute(tx);
}

async function emptyTables(target: Store, tables: readonly Table[]): Promise<void> {
  await target.transaction((tx) =>
    sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))} cascade`.execute(tx),
  );
}

async function copyLogs(source: SqliteConnection, target: Store, { dataDir, tell }: StoreMove): Promise<void> {
  const logs = fileLogs((connectionId) => join(dataDir, 'logs', connectionId), Date.now);
  const attempts = source
    .prepare(
      `select job_id as "jobId", attempt, connection_id as "connectionId", jobs.workspace_id as "workspaceId"
       from job_attempts join jobs using (job_id) order by job_id, attempt`,
    )
    .all() as unknown as { jobId: number; attempt: number; connectionId: string; workspaceId: string }[];
  let count = 0;
  for (const ref of attempts) {
    const log = await logs.read(ref);
    if (await copyLog(target, ref, log).finally(() => log.close())) count++;
  }
  if (count > 0) tell(`Copied ${count} job logs`);
}

async function verify(
  source: SqliteConnection,
  target: Store,
  tables: readonly Table[],
  tell: StoreMove['tell'],
): Promise<void> {
  for (const table of tables) {
    const expected = await sumOf(rowsInFile(source, table), table);
    const found = await sumOf(rowsInPostgres(target, table), table);
    if (found.rows === expected.rows && found.hash === expected.hash) continue;
    throw new StoreMoveRefused(
      `The copy of the table ${table.name} differs from the file: ${found.rows} rows instead of ${expected.rows}, or other values. Drop the schema inlay_platform and try again.`,
    );
  }
  tell(`Verified ${tables.length} tables by count and hash`);
}

/** IDs that were given to deleted rows are never given again. */
async function continueSequences(source: SqliteConnection, target: Store, tables: readonly Table[]): Promise<void> {
  for (const { name, key } of tables.filter(({ hasSequence }) => hasSequence)) {
    const last = source.prepare(`select seq from sqlite_sequence where name = '${name}'`).all()[0]?.seq;
    if (last === undefined) continue;
    await target.transaction((tx) =>
      sql`select setval(pg_get_serial_sequence(${name}, ${key[0]}), ${Number(last)}::bigint)`.execute(tx),
    );
  }
}
