import { describe, expect, it } from 'vitest';
import { attentionOf } from './background.ts';

/** A clock that moves only in pauses, and says how long each was meant to be. */
function slowClock() {
  let elapsed = 0;
  const pauses: number[] = [];
  return {
    pauses,
    runtime: {
      elapsed: () => elapsed,
      async sleep(ms: number, signal?: AbortSignal) {
        if (signal?.aborted) return;
        pauses.push(ms);
        elapsed += ms;
      },
    },
  };
}

describe('Attention', () => {
  it('is high while something happens, low after a while without anything, and high again at once', async () => {
    const { runtime, pauses } = slowClock();
    const attention = attentionOf(runtime, { oftenMs: 200, rarelyMs: 1_000, afterMs: 600 });
    const pause = async (times: number) => {
      for (let count = 0; count < times; count++) await attention.sleep(attention.pauseMs());
    };
    await pause(5);
    expect(pauses).toEqual([200, 200, 200, 1_000, 1_000]);
    attention.noticed();
    await pause(4);
    expect(pauses.slice(5)).toEqual([200, 200, 200, 1_000]);
  });

  it('misses no call that comes while someone looks, and counts it once', async () => {
    const { runtime, pauses } = slowClock();
    const attention = attentionOf(runtime, { oftenMs: 200, rarelyMs: 1_000, afterMs: 600 });
    attention.wake();
    await attention.sleep(attention.pauseMs());
    expect(pauses, 'no pause at all').toEqual([]);
    await attention.sleep(attention.pauseMs());
    expect(pauses).toEqual([200]);
  });

  it('ends a pause that continues, when it is called and when the service stops', async () => {
    const ended: string[] = [];
    const runtime = {
      elapsed: () => 0,
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => {
          if (signal?.aborted) resolve();
          signal?.addEventListener('abort', () => resolve(), { once: true });
        }),
    };
    const attention = attentionOf(runtime, { oftenMs: 200, rarelyMs: 1_000, afterMs: 600 });
    const woken = attention.sleep(1_000).then(() => ended.push('woken'));
    attention.wake();
    await woken;
    const stopping = new AbortController();
    const stopped = attention.sleep(1_000, stopping.signal).then(() => ended.push('stopped'));
    stopping.abort();
    await stopped;
    await attention.sleep(1_000, stopping.signal).then(() => ended.push('never begun'));
    expect(ended).toEqual(['woken', 'stopped', 'never begun']);
  });
});
