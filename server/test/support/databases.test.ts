import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDatabase, describeOnBothDatabases, type TestDatabase } from './databases.ts';

/** Runs statements the way the kind of database wants it; returns the rows of the last one. */
async function run(database: TestDatabase, ...statements: string[]): Promise<unknown[]> {
  let rows: unknown[] = [];
  if (database.url) {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      for (const statement of statements) rows = (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  } else {
    const file = new SqliteConnection(join(database.dataDir, 'test.db'));
    for (const statement of statements) {
      const prepared = file.prepare(statement);
      if (prepared.reader) rows = prepared.all();
      else prepared.run();
    }
    file.close();
  }
  return rows;
}

describeOnBothDatabases('A test database', (kind) => {
  it('is empty and shares nothing with another one', async () => {
    const first = await createTestDatabase(kind);
    const second = await createTestDatabase(kind);
    onTestFinished(async () => {
      await first.drop();
      await second.drop();
    });

    expect(readdirSync(first.dataDir)).toEqual([]);
    expect(first.dataDir).not.toBe(second.dataDir);

    const statements = ['create table notes (body text)', "insert into notes values ('ä')", 'select body from notes'];
    expect(await run(first, ...statements)).toEqual([{ body: 'ä' }]);
    // The same table can be created again only where it does not exist yet.
    expect(await run(second, ...statements)).toEqual([{ body: 'ä' }]);
  });

  it('is gone after drop, even while a session is open in it', async () => {
    const database = await createTestDatabase(kind);
    await writeFile(join(database.dataDir, 'key'), 'x');
    if (database.url) {
      const session = new pg.Client({ connectionString: database.url });
      session.on('error', () => {});
      await session.connect();
    }

    await database.drop();

    expect(existsSync(database.dataDir)).toBe(false);
    if (database.url) await expect(run(database, 'select 1')).rejects.toThrow(/does not exist/);
  });

  it('can come with every table, and is nobody else’s all the same', async () => {
    const [first, second] = await Promise.all([
      createTestDatabase(kind, { migrated: true }),
      createTestDatabase(kind, { migrated: true }),
    ]);
    onTestFinished(async () => {
      await first.drop();
      await second.drop();
    });
    if (!first.url) return;
    const count = 'select count(*)::int as count from notes';
    expect(await run(first, 'select id from organizations')).toEqual([]);
    expect(await run(first, 'create table notes (body text)', count)).toEqual([{ count: 0 }]);
    await expect(run(second, count)).rejects.toThrow('"notes" does not exist');
  });
});
