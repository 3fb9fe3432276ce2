import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTokenGiver, renewAfterMs, soonMs } from './token-giver.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open({ isSeen = true } = {}) {
  const renew = vi.fn();
  const onRefused = vi.fn();
  const page = { isSeen };
  const giver = createTokenGiver({ renew, onRefused, isSeen: () => page.isSeen });
  const frame = vi.fn();
  const tokens = (of = frame) => of.mock.calls.map(([{ token }]) => token);
  giver.use('first');
  giver.asked(frame);
  return { giver, frame, tokens, renew, onRefused, page };
}

it('gives a frame its token when it loads and when it reloads', () => {
  const { giver, tokens, renew } = open();
  expect(tokens()).toEqual(['first']);
  const next = vi.fn();
  giver.asked(next);
  expect(tokens(next)).toEqual(['first']);
  expect(renew).not.toHaveBeenCalled();
});

it('renews a token three minutes before it ends, again and again, and gives it without being asked', () => {
  const { giver, tokens, renew } = open();
  for (const [index, token] of ['second', 'third'].entries()) {
    vi.advanceTimersByTime(renewAfterMs - 1);
    expect(renew).toHaveBeenCalledTimes(index);
    vi.advanceTimersByTime(1);
    expect(renew).toHaveBeenCalledTimes(index + 1);
    giver.use(token);
  }
  expect(tokens()).toEqual(['first', 'second', 'third']);
  expect(renewAfterMs).toBe((15 - 3) * 60_000);
});

it('asks for one token at a time, however long the answer takes', () => {
  const { renew } = open();
  vi.advanceTimersByTime(10 * renewAfterMs);
  expect(renew).toHaveBeenCalledTimes(1);
});

it('renews nothing while the page is hidden, and when it is visible again the frame asks', () => {
  const { giver, frame, tokens, renew, page } = open({ isSeen: false });
  vi.advanceTimersByTime(10 * renewAfterMs);
  expect(renew).not.toHaveBeenCalled();
  page.isSeen = true;
  giver.asked(frame);
  expect(renew).toHaveBeenCalledTimes(1);
  giver.use('second');
  expect(tokens()).toEqual(['first', 'second']);
});

it('stops asking if a new token is rejected immediately, but not if it worked for a while', () => {
  const { giver, frame, renew, onRefused } = open();
  // The first token was made before the frame had loaded: it may have ended.
  giver.asked(frame);
  expect([renew.mock.calls.length, onRefused.mock.calls.length]).toEqual([1, 0]);
  giver.use('second');
  vi.advanceTimersByTime(soonMs - 1);
  giver.asked(frame);
  expect([renew.mock.calls.length, onRefused.mock.calls.length]).toEqual([1, 1]);
  vi.advanceTimersByTime(1);
  giver.asked(frame);
  expect([renew.mock.calls.length, onRefused.mock.calls.length]).toEqual([2, 1]);
});

it('renews nothing for a frame that is gone', () => {
  const { giver, renew } = open();
  giver.stop();
  vi.advanceTimersByTime(10 * renewAfterMs);
  expect(renew).not.toHaveBeenCalled();
});
