import { expect, it } from 'vitest';
import { transactionGuard } from './transaction-guard.ts';

const isOutside = (guard: ReturnType<typeof transactionGuard>) => {
  try {
    guard.assertOutside();
    return true;
  } catch {
    return false;
  }
};

it('A guard knows its own transaction from that of another database', async () => {
  const [ours, other] = [transactionGuard(), transactionGuard()];
  expect(isOutside(ours)).toBe(true);
  await ours.within(async () => {
    await Promise.resolve();
    expect([isOutside(ours), isOutside(other)]).toEqual([false, true]);
    await other.within(async () => expect([isOutside(ours), isOutside(other)]).toEqual([false, false]));
    expect([isOutside(ours), isOutside(other)]).toEqual([false, true]);
  });
  expect(isOutside(ours)).toBe(true);
});

it('Work that a transaction has started is outside once the transaction has ended', async () => {
  const guard = transactionGuard();
  let endOfTransaction = () => {};
  const hasEnded = new Promise<void>((resolve) => {
    endOfTransaction = resolve;
  });
  let later: Promise<boolean[]> | undefined;
  await guard.within(async () => {
    later = hasEnded.then(async () => {
      const before = isOutside(guard);
      let during = true;
      await guard.within(async () => {
        during = isOutside(guard);
      });
      return [before, during, isOutside(guard)];
    });
  });
  endOfTransaction();
  expect(await later).toEqual([true, false, true]);
});
