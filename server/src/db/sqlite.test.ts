import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
