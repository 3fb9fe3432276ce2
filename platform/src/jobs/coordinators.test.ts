import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFile } from '../../test/start-platform.ts';
import { openStore } from '../db/open.ts';
import { isAbandoned, newProcessName } from '../process-names.ts';
import { createCoordinator, listKeyHolders } from './coordinators.ts';

async function start() {
  const clock = { time: 0 };
  const store = await openStore(temporaryFile(), { now: () => clock.time });
  onTestFinished(() => store.close());
  const runtime = { newId: randomUUID };
  const stored = () => store.db.selectFrom('runner_lease').selectAll().executeTakeFirst();
  const give = (holder: string) => store.db.updateTable('runner_lease').set({ holder }).execute();
  return {
    clock,
    store,
    runtime,
    stored,
    give,
    one: createCoordinator({ store, runtime, slots: 4 }),
    other: createCoordinator({ store, runtime, slots: 4 }),
  };
}

/** The name of a process of this machine that has ended. */
function nameOfTheDead(): string {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  const [machine] = newProcessName(randomUUID()).split('-');
  return `${machine}-${pid}-0`;
}

describe('the lease', () => {
  test('is held by one, renewed in time, and free once released', async () => {
    const { clock, stored, one, other } = await start();
    const name = await one.hold();
    expect(name).toBeDefined();
    expect(await other.hold()).toBeUndefined();
    for (clock.time = 0; clock.time < 120_000; clock.time += 1_000) expect(await one.hold()).toBe(name);
    expect((await stored())?.expires_at).toBeGreaterThan(clock.time + 15_000);
    expect(await other.hold()).toBeUndefined();
    await one.release();
    expect(await other.hold()).toBeDefined();
    expect(await one.hold()).toBeUndefined();
  });

  test('says which encryption keys its holder has, as long as the holder runs', async () => {
    const { clock, store, runtime } = await start();
    let keys = ['old'];
    const lease = createCoordinator({ store, runtime, slots: 4, keyIds: () => keys });
    expect(await listKeyHolders(store)).toEqual([]);
    await lease.hold();
    expect(await listKeyHolders(store)).toMatchObject([{ encryption_keys: 'old' }]);
    keys = ['new', 'old'];
    clock.time += 15_000;
    await lease.hold();
    expect(await listKeyHolders(store)).toMatchObject([{ encryption_keys: 'new,old' }]);
    clock.time += 60_000;
    expect(await listKeyHolders(store)).toEqual([]);
  });

  test('that was not renewed may be taken, under another name; a late renewal is fine if nobody took it', async () => {
    const { clock, one, other } = await start();
    const name = await one.hold();
    clock.time = 40_000;
    expect(await one.hold()).toBe(name);
    clock.time = 80_000;
    const taken = await other.hold();
    expect(taken).not.toBe(name);
    expect(await one.hold()).toBeUndefined();
    await one.release();
    expect(await other.hold()).toBe(taken);
  });

  test('is renewed by its holder, and ends in time without one, after the clock was set back', async () => {
    const { clock, stored, give, one, other } = await start();
    clock.time = 3_600_000;
    const name = await one.hold();
    clock.time = 0;
    expect(await one.hold()).toBe(name);
    expect((await stored())?.expires_at).toBe(30_000);
    clock.time = 3_600_000;
    await one.hold();
    await give('elsewhere-1-0');
    clock.time = 0;
    expect(await other.hold()).toBeUndefined();
    clock.time = 31_000;
    expect(await other.hold()).toBeDefined();
  });

  test('of a process that is gone from this machine may be taken at once', async () => {
    const { give, one, other } = await start();
    await one.hold();
    await give(nameOfTheDead());
    expect(await other.hold()).toBeDefined();
  });

  test('of another machine is left alone until it expires', async () => {
    const { clock, give, one, other } = await start();
    await one.hold();
    await give('elsewhere-1-0');
    expect(await other.hold()).toBeUndefined();
    clock.time = 30_000;
    expect(await other.hold()).toBeDefined();
  });
});

test('a predecessor with the same process id is distinguished from this process', () => {
  const name = newProcessName(randomUUID());
  expect(isAbandoned(name)).toBe(false);
  expect(isAbandoned(name.replace(/-[^-]*$/, '-earlier'))).toBe(true);
});
