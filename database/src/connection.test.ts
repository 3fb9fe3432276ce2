import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { SqliteConnection } from './connection.ts';
import { SqliteError } from './sqlite-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'inlay-sqlite-'));
const opened: SqliteConnection[] = [];
let files = 0;

function open(...given: ConstructorParameters<typeof SqliteConnection>): SqliteConnection {
  const connection = new SqliteConnection(...given);
  opened.push(connection);
  return connection;
}

const newFile = () => join(folder, `${++files}.db`);

afterEach(() => {
  for (const connection of opened.splice(0)) connection.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The code of the failure, however the statement is run. */
function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(SqliteError);
    return (error as SqliteError).code;
  }
  throw new Error('It did not fail.');
}

describe('A connection', () => {
  it('has the settings that we rely on', () => {
    const connection = open(newFile(), { busyTimeoutMs: 123 });
    const setting = (name: string) => Object.values(connection.prepare(`pragma ${name}`).all()[0] ?? {})[0];
    expect(setting('foreign_keys')).toBe(1);
    expect(setting('busy_timeout')).toBe(123);
    expect(setting('cache_size')).toBe(-16_000);
    // In double quotes are names, never strings.
    expect(codeOf(() => connection.prepare('select "no such column"'))).toBe('SQLITE_ERROR');
    // Defensive: no statement may break the file.
    connection.exec('pragma writable_schema = on');
    connection.exec('create table t (a)');
    expect(codeOf(() => connection.exec("update sqlite_master set sql = 'junk'"))).toBe('SQLITE_ERROR');
  });

  it('takes the name of a file for nothing else', () => {
    const here = process.cwd();
    process.chdir(folder);
    try {
      open('file:x?mode=memory').exec('create table t (a)');
    } finally {
      process.chdir(here);
    }
    expect(existsSync(join(folder, 'file:x?mode=memory'))).toBe(true);
  });

  it('has everything in its file when it is closed, though the driver keeps the file open', () => {
    const file = newFile();
    const connection = open(file);
    connection.exec('pragma journal_mode = wal; create table t (a)');
    const insert = connection.prepare('insert into t values (?)');
    insert.run(['x']);
    connection.close();
    copyFileSync(file, `${file}-copy`);
    expect(open(`${file}-copy`).prepare('select a from t').all()).toEqual([{ a: 'x' }]);
  });

  it('is closed in the middle of a transaction, too, and the transaction is gone', () => {
    const file = newFile();
    const connection = open(file);
    connection.exec('pragma journal_mode = wal; create table t (a); begin');
    connection.prepare('insert into t values (1)').run();
    connection.close();
    expect(codeOf(() => connection.exec('commit'))).toBe('SQLITE_MISUSE');
    const next = open(file, { busyTimeoutMs: 0 });
    next.exec('insert into t values (2)');
    expect(next.prepare('select a from t').all()).toEqual([{ a: 2 }]);
  });

  it('gives rows as plain objects and hands a statement out again', () => {
    const connection = open(':memory:');
    connection.exec('create table t (a integer primary key, b text)');
    const insert = connection.prepare('insert into t (b) values (?) returning a, b');
    expect(insert.reader).toBe(true);
    expect(insert.all(['x'])).toStrictEqual([{ a: 1, b: 'x' }]);
    expect(insert.all([undefined])).toStrictEqual([{ a: 2, b: null }]);
    expect(connection.prepare('insert into t (b) values (?) returning a, b')).toBe(insert);
    const update = connection.prepare('update t set b = ?');
    expect(update.reader).toBe(false);
    expect(update.run(['y'])).toStrictEqual({ changes: 2, lastInsertRowid: 2 });
    expect([...connection.prepare('select a from t').iterate()]).toStrictEqual([{ a: 1 }, { a: 2 }]);
  });

  it('names the columns again when the schema has changed under a kept statement', () => {
    const connection = open(':memory:');
    connection.exec('create table t (a); insert into t values (1)');
    const select = connection.prepare('select * from t');
    expect(select.all()).toEqual([{ a: 1 }]);
    connection.exec('alter table t add column b default 2');
    expect(select.all()).toEqual([{ a: 1, b: 2 }]);
  });

  it('forgets statements rather than keep any number of them', () => {
    const connection = open(':memory:');
    const first = connection.prepare('select 0');
    for (let i = 1; i <= 500; i++) connection.prepare(`select ${i}`);
    expect(connection.prepare('select 0')).not.toBe(first);
    expect(first.all()).toEqual([{ '0': 0 }]);
  });

  it('lets statements call functions of ours', () => {
    const connection = open(':memory:');
    connection.define('later', { isDeterministic: false }, (ms) => BigInt(Number(ms) + 1));
    expect(connection.prepare('select later(?) as at').all([1_794_782_369_844])).toEqual([{ at: 1_794_782_369_845 }]);
    connection.define('fails', { isDeterministic: false }, () => {
      throw new Error('for a reason');
    });
    expect(() => connection.prepare('select fails()').all()).toThrow('for a reason');
  });

  it('keeps integers of 64 bits whole and refuses to round one', () => {
    const connection = open(':memory:');
    connection.exec('create table t (a integer)');
    connection.prepare('insert into t values (?)').run([2n ** 53n + 1n]);
    expect(connection.prepare('select cast(a as text) as a from t').all()).toEqual([{ a: '9007199254740993' }]);
    expect(() => connection.prepare('select a from t').all()).toThrow('too large');
    // All times fit: the last one that JavaScript has is smaller.
    expect(connection.prepare('select ? as a').all([8.64e15])).toEqual([{ a: 8.64e15 }]);
  });

  it('gives many rows as it gives a few: in order, with the same values', () => {
    const connection = open(':memory:');
    connection.exec('create table t (a text, b integer, "c d" real)');
    const insert = connection.prepare('insert into t values (?, ?, ?)');
    const texts = ['', "it's", '"quoted"', 'back\\slash', 'new\nline', '\u2028', '\u{1f600}', 'Zo\u00eb', '[1, null]'];
    const numbers = [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null];
    texts.forEach((text, i) => {
      insert.run([text, numbers[i % numbers.length], i / 8]);
    });
    const query = 'select a, b, "c d" from t where b is null or b > ? order by "c d" desc limit 7';
    const expected = connection.prepare(query).all([-5]);
    expect(expected).toHaveLength(7);
    expect(connection.prepareMany(query)([-5])).toEqual(expected);
    expect(connection.prepareMany('select a from t where b = ?')([77])).toEqual([]);
  });
});

describe('A failure has the code of SQLite', () => {
  it.each([
    ['without rows', (connection: SqliteConnection, text: string) => connection.prepare(text).run()],
    ['with rows', (connection: SqliteConnection, text: string) => connection.prepare(`${text} returning a`).all()],
    ['as text', (connection: SqliteConnection, text: string) => connection.exec(text)],
  ])('when a constraint is broken, %s', (_, run) => {
    const connection = open(':memory:');
    connection.exec(`
      create table parent (a integer primary key);
      create table t (a text unique, b integer not null check (b > 0), c integer references parent);
      insert into t values ('x', 1, null)`);
    expect(codeOf(() => run(connection, "insert into t values ('x', 1, null)"))).toBe('SQLITE_CONSTRAINT_UNIQUE');
    expect(codeOf(() => run(connection, "insert into t values ('y', 0, null)"))).toBe('SQLITE_CONSTRAINT_CHECK');
    expect(codeOf(() => run(connection, "insert into t values ('y', null, 1)"))).toBe('SQLITE_CONSTRAINT_NOTNULL');
    expect(codeOf(() => run(connection, "insert into t values ('y', 1, 7)"))).toBe('SQLITE_CONSTRAINT_FOREIGNKEY');
    // And the statement can be run again.
    run(connection, "insert into t values ('y', 1, null)");
  });

  it.each(['', ' returning a'])('when the file is locked, full or not to be written%s', (returning) => {
    const file = newFile();
    const connection = open(file, { busyTimeoutMs: 0 });
    connection.exec('pragma journal_mode = wal; create table t (a text)');
    const write = `insert into t values (hex(zeroblob(5000)))${returning}`;
    const run = (by: SqliteConnection) => {
      const statement = by.prepare(write);
      return statement.reader ? statement.all() : statement.run();
    };
    const other = open(file);
    other.exec('begin immediate');
    expect(codeOf(() => run(connection))).toBe('SQLITE_BUSY');
    other.exec('rollback');
    expect(codeOf(() => run(open(file, { readOnly: true })))).toBe('SQLITE_READONLY');
    connection.exec('pragma max_page_count = 1');
    expect(codeOf(() => run(connection))).toBe('SQLITE_FULL');
    connection.exec('pragma max_page_count = 100000');
    run(connection);
    expect(connection.prepare('select count(*) as count from t').all()).toEqual([{ count: 1 }]);
  });

  it('when a file cannot be opened, is none of SQLite, or is damaged', () => {
    expect(codeOf(() => open(join(folder, 'nowhere', 'x.db')))).toBe('SQLITE_CANTOPEN');
    const file = newFile();
    writeFileSync(file, 'not a database'.repeat(1_000));
    expect(codeOf(() => open(file).prepare('select * from t').all())).toBe('SQLITE_NOTADB');
  });

  it('when the connection is closed', () => {
    const connection = open(':memory:');
    const statement = connection.prepare('select 1');
    connection.close();
    connection.close();
    for (const work of [
      () => statement.all(),
      () => statement.run(),
      () => connection.prepare('select 2'),
      () => connection.exec('select 1'),
    ]) {
      expect(codeOf(work)).toBe('SQLITE_MISUSE');
      expect(work).toThrow('The database connection is not open');
    }
  });

  it('when a text has U+0000, at which the driver would cut it', () => {
    const connection = open(':memory:');
    connection.exec('create table t (a text)');
    expect(codeOf(() => connection.prepare('insert into t values (?)').run(['acme\0x']))).toBe('SQLITE_MISMATCH');
    expect(codeOf(() => connection.prepare('select * from t where a = ?').all(['acme\0x']))).toBe('SQLITE_MISMATCH');
  });

  it('and what is no failure of SQLite stays what it is', () => {
    const connection = open(':memory:');
    expect(() => connection.prepare('select ?').all([Symbol('x')])).toThrow(TypeError);
  });
});
