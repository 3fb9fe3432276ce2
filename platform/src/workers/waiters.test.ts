import { describe, expect, it } from 'vitest';
import { Waiters } from './waiters.ts';

describe('workers that wait', () => {
  function startWaiters(due: number) {
    let elapsedMs = 0;
    let looks = 0;
    const waiters = new Waiters(() => elapsedMs);
    const look = (beforeTaking = () => {}) =>
      waiters.look(
        async () => {
          looks++;
          beforeTaking();
          return due > 0;
        },
        1_000,
        async () => due--,
      );
    return {
      ...{ waiters, look, looks: () => looks },
      add: () => due++,
      pass: (ms: number) => {
        elapsedMs += ms;
      },
    };
  }

  it('share a look that has found nothing, until one of them is called or time has passed', async () => {
    const { waiters, look, looks, pass } = startWaiters(1);
    const found = await Promise.all(Array.from({ length: 50 }, () => look()));
    expect(found.filter((one) => one !== undefined)).toEqual([1]);
    expect(looks()).toBe(2);
    pass(999);
    await look();
    expect(looks()).toBe(2);
    pass(1);
    await look();
    expect(looks()).toBe(3);
    waiters.wake();
    await look();
    expect(looks()).toBe(4);
  });

  it('look again after a call that came while one of them looked', async () => {
    const { waiters, look, add } = startWaiters(0);
    await look(() => waiters.wake());
    add();
    expect(await look()).toBe(1);
  });

  it('go on after one of them has failed', async () => {
    const { waiters, look } = startWaiters(1);
    const failing = waiters.look(
      () => Promise.reject(new Error('gone')),
      1_000,
      async () => 0,
    );
    const next = look();
    await expect(failing).rejects.toThrow('gone');
    expect(await next).toBe(1);
  });
});
