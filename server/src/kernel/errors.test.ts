import { describe, expect, it } from 'vitest';
import { AppError } from './errors.ts';

describe('AppError', () => {
  it('carries the facts of its code', () => {
    expect(new AppError('sync_stopped', { total: 3 }).facts).toEqual({ total: 3 });
    expect(new AppError('creation_pending').facts).toEqual({});
    expect(new AppError('forbidden').facts).toEqual({});
  });

  it('lets the compiler refuse a missing fact, a wrong one, and one that the code does not have', () => {
    const made = [
      // @ts-expect-error: the total is missing.
      new AppError('sync_stopped'),
      // @ts-expect-error: no such delay.
      new AppError('deletion_recorded', { delay: 'later' }),
      // @ts-expect-error: this code has no facts.
      new AppError('forbidden', { total: 3 }),
      // @ts-expect-error: one of the two codes needs a total.
      new AppError(Math.random() < 2 ? 'sync_stopped' : 'forbidden'),
    ];
    expect(made.map(({ code }) => code)).toEqual(['sync_stopped', 'deletion_recorded', 'forbidden', 'sync_stopped']);
  });
});
