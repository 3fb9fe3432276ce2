import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SqliteError } from './sqlite-error.ts';
import { StorageState, storageFaultOf } from './storage-state.ts';

const full = new SqliteError('SQLITE_FULL', 'database or disk is full');

function start() {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-storage-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  let wake = () => {};
  const sleep = () => new Promise<void>((resolve) => (wake = resolve));
  const storage = new StorageState({ elapsed: () => 0, sleep });
  const lines: [string, object][] = [];
  storage.logTo({
    info: (fields, message) => void lines.push([message, fields]),
    warn: (fields, message) => void lines.push([message, fields]),
    error: (fields, message) => void lines.push([message, fields]),
  });
  const store = { folder, failure: undefined as Error | undefined, probes: 0 };
  const probeWrites = async () => {
    store.probes++;
    if (store.failure) throw store.failure;
  };
  storage.add({ folder, probeWrites });
  return { storage, lines, store, wake: () => wake() };
}

describe('The state of the storage', () => {
  it('is named once when it begins and once when it is over, and counts what is left out between', async () => {
    const { storage, lines, store } = start();
    store.failure = full;
    for (let count = 0; count < 3; count++) storage.note(full);
    expect(lines).toEqual([[expect.stringMatching(/^Disk full.*503/), { err: full }]]);
    expect(storage.isKnown(new Error('a request failed', { cause: full }))).toBe(true);
    expect(storage.isKnown(new Error('something else'))).toBe(false);
    expect(await storage.check()).toBe('full');
    store.failure = undefined;
    expect(await storage.check()).toBeUndefined();
    expect(lines.slice(1)).toEqual([['Storage accepts writes again', { seconds: 0, linesLeftOut: 1 }]]);
    expect(storage.isKnown(full)).toBe(false);
    expect(readdirSync(store.folder)).toEqual([]);
  });

  it('is found to be over without anybody who asks', async () => {
    const { storage, lines, wake } = start();
    storage.note(full);
    wake();
    await expect.poll(() => lines.length).toBe(2);
    expect(storage.fault).toBeUndefined();
  });

  it('is not probed while nothing has failed and there is room', async () => {
    const { storage, store } = start();
    expect(await storage.check()).toBeUndefined();
    expect(store.probes).toBe(0);
  });

  it.each([
    [
      new SqliteError('SQLITE_BUSY', 'database is locked'),
      false,
      'Database locked by another process; writes fail with 503 until the lock is released',
      'Database no longer locked',
    ],
    [
      Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      true,
      'Database not responding; requests fail with 503 until it recovers',
      'Database responding again',
    ],
  ])('is reported for each problem on its own: %s', async (failure, isAway, begin, end) => {
    const { storage, lines, store, wake } = start();
    store.failure = failure;
    for (let count = 0; count < 3; count++) storage.note(failure, isAway);
    expect(storage.isKnown(new Error('a request failed', { cause: failure }))).toBe(true);
    // What others throw may have the same code, and is unrelated to the store.
    expect(storage.isKnown(Object.assign(new Error('a webhook'), { code: 'ECONNREFUSED' }))).toBe(false);
    const consequence = new Error('the platform could not be asked');
    storage.attribute(consequence);
    expect(storage.isKnown(consequence)).toBe(true);
    // A full disk is a separate problem, which is logged in the meantime.
    storage.note(full);
    expect([storage.fault, lines.length]).toEqual(['full', 2]);
    wake();
    await expect.poll(() => storage.fault).toBeUndefined();
    expect(lines.map(([message]) => message)).toEqual([
      begin,
      expect.stringMatching(/^Disk full/),
      'Storage accepts writes again',
    ]);
    store.failure = undefined;
    await expect
      .poll(() => {
        wake();
        return lines.length;
      })
      .toBe(4);
    expect([lines[0], lines[3]]).toEqual([
      [begin, { err: failure }],
      [end, { seconds: 0, linesLeftOut: 2 }],
    ]);
    expect(storage.isKnown(failure)).toBe(false);
  });

  it('is not in question when a connection that nobody used is lost, which is reported once', async () => {
    const { storage, lines, store } = start();
    for (let count = 0; count < 20; count++) storage.noteLostConnection(new Error('terminated'));
    await expect.poll(() => lines.length).toBe(1);
    expect([lines[0]?.[0], store.probes]).toEqual([expect.stringMatching(/^Lost a database connection/), 1]);
  });

  it('is none of our business when something else failed', () => {
    const { storage, lines } = start();
    storage.note(new SqliteError('SQLITE_CONSTRAINT_UNIQUE', 'UNIQUE constraint failed'));
    expect([storage.fault, lines]).toEqual([undefined, []]);
  });
});

it.each([
  ['SQLITE_FULL', 'full'],
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['53100', 'full'],
  ['SQLITE_IOERR', 'refuses writes'],
  ['SQLITE_READONLY', 'refuses writes'],
  ['25006', 'refuses writes'],
  ['SQLITE_BUSY', undefined],
  ['23505', undefined],
])('%s means: %s', (code, fault) => {
  expect(storageFaultOf(Object.assign(new Error('it failed'), { code }))).toBe(fault);
});
