import { describe, expect, it } from 'vitest';
import { Windows } from './rate-limits.hooks.ts';

describe('The requests of a token', () => {
  it('are counted from the first one on for a minute, and then again', () => {
    const windows = new Windows(10);
    expect(windows.count('a', 1_000)).toEqual({ requests: 1, beganAt: 1_000 });
    expect(windows.count('a', 60_999)).toEqual({ requests: 2, beganAt: 1_000 });
    expect(windows.count('a', 61_000)).toEqual({ requests: 1, beganAt: 61_000 });
  });

  it('are counted apart from those of others', () => {
    const windows = new Windows(10);
    windows.count('a', 0);
    expect(windows.count('b', 10)).toEqual({ requests: 1, beganAt: 10 });
    expect(windows.count('a', 20).requests).toBe(2);
  });

  it('are forgotten when there are too many tokens, first those whose minute began first', () => {
    const windows = new Windows(2);
    windows.count('a', 0);
    windows.count('b', 1);
    // Its second minute: now b began first.
    windows.count('a', 60_000);
    windows.count('c', 60_000);
    expect(windows.count('a', 60_000).requests).toBe(2);
    expect(windows.count('c', 60_000).requests).toBe(2);
    expect(windows.count('b', 60_000).requests).toBe(1);
  });
});
