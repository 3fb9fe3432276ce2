import { describe, expect, it } from 'vitest';
import { RecentAnswers } from './recent-answers.ts';

/** A store with configurable answers that counts queries. */
function setUp(goodForMs?: (answer: string) => number) {
  const state = { now: 0, says: 'yes' as string | undefined, asked: 0 };
  const recent = new RecentAnswers<string>(() => state.now);
  const ask = async () => {
    state.asked++;
    return state.says;
  };
  return { state, recent, get: (key = 'token') => recent.get(key, ask, goodForMs) };
}

describe('A recent answer', () => {
  it('is used for two seconds, counted from when the store was asked', async () => {
    const { state, get } = setUp();
    await get();
    state.says = undefined;
    state.now = 1_999;
    expect([await get(), state.asked]).toEqual(['yes', 1]);
    state.now = 2_000;
    expect([await get(), state.asked]).toEqual([undefined, 2]);
  });

  it('is of one token only', async () => {
    const { state, get } = setUp();
    await get('one');
    state.says = 'another';
    expect(await get('two')).toBe('another');
  });

  it('is used for a shorter time where it says so', async () => {
    const { state, get } = setUp(() => 10);
    await get();
    state.now = 9;
    await get();
    expect(state.asked).toBe(1);
    state.now = 10;
    await get();
    expect(state.asked).toBe(2);
  });

  it('is not kept where it is a no', async () => {
    const { state, get } = setUp();
    state.says = undefined;
    expect(await get()).toBeUndefined();
    state.says = 'yes';
    expect(await get()).toBe('yes');
  });

  it('is forgotten when tokens are ended', async () => {
    const { state, recent, get } = setUp();
    await get();
    state.says = undefined;
    recent.forget();
    expect(await get()).toBeUndefined();
  });

  it('is not kept where it was on its way while tokens were ended', async () => {
    const { state, recent, get } = setUp();
    const onItsWay = recent.get('token', async () => {
      await Promise.resolve();
      return 'from before';
    });
    recent.forget();
    expect(await onItsWay).toBe('from before');
    state.says = undefined;
    expect(await get()).toBeUndefined();
  });

  it('of which there are too many makes room for the next', async () => {
    const { state, get } = setUp();
    for (let i = 0; i <= 10_000; i++) await get(`token ${i}`);
    await get('token 10000');
    expect(state.asked).toBe(10_001);
    await get('token 0');
    expect(state.asked).toBe(10_002);
  });
});
