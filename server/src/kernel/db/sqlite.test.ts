import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from './open.ts';

function open() {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-sqlite-'));
  const store = openSqlite({ file: join(folder, 'inlay.db'), now: Date.now });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

describe('The connection to SQLite', () => {
  it('is given to one user after the other, in the order in which they asked', async () => {
    const store = open();
    const seen: string[] = [];
    const work = (name: string) =>
      store.transaction(async (tx) => {
        seen.push(`${name} begins`);
        await new Promise(setImmediate);
        await tx.introspection.getTables();
        seen.push(`${name} ends`);
      });
    const names = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(names.map(work));
    expect(seen).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it('is not waited for by its own transaction: in tests, a statement that goes around the transaction fails', async () => {
    const store = open();
    const around = store.transaction(async (tx) => {
      await sql`select 1`.execute(tx);
      return await store.now();
    });
    await expect(around).rejects.toThrow('bypasses');
    let later: Promise<number> | undefined;
    let tellEnd: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      tellEnd = resolve;
    });
    // Work that continues after the transaction is not part of it.
    await store.transaction(async () => {
      later = ended.then(() => store.now());
    });
    tellEnd();
    expect(await later).toBeGreaterThan(0);
  });

  it('throws why a transaction failed, also when SQLite has rolled it back already', async () => {
    const store = open();
    await sql`create table t (a blob)`.execute(store.db);
    await sql`pragma max_page_count = 1`.execute(store.db);
    const failing = store.transaction((tx) => sql`insert into t values (zeroblob(1000000))`.execute(tx));
    await expect(failing).rejects.toMatchObject({ code: 'SQLITE_FULL', message: 'database or disk is full' });
    await sql`pragma max_page_count = 10000`.execute(store.db);
    await store.transaction((tx) => sql`insert into t values (zeroblob(1000000))`.execute(tx));
  });

  it('is free again after a transaction that failed', async () => {
    const store = open();
    const failing = store.transaction(async () => {
      throw new Error('no');
    });
    const waiting = store.now();
    await expect(failing).rejects.toThrow('no');
    expect(await waiting).toBeGreaterThan(0);
  });
});
