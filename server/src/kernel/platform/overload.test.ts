import { describe, expect, it } from 'vitest';
import { Breaker, RetryBudget } from './overload.ts';

describe('the retry budget', () => {
  const retriesLeft = (budget: RetryBudget) => {
    let retries = 0;
    while (budget.spend()) retries++;
    return retries;
  };

  it('allows a few retries to begin with, then a share of the calls', () => {
    const budget = new RetryBudget({ now: () => 0 });
    expect(retriesLeft(budget)).toBe(20);
    for (let call = 0; call < 51; call++) budget.earn();
    expect(retriesLeft(budget)).toBe(10);
    budget.earn();
    expect(retriesLeft(budget)).toBe(0);
  });

  it('never multiplies the load of an outage', () => {
    const budget = new RetryBudget({ now: () => 0 });
    let retries = 0;
    for (let call = 0; call < 10_000; call++) {
      budget.earn();
      for (let attempt = 0; attempt < 3; attempt++) if (budget.spend()) retries++;
    }
    expect(retries).toBeLessThanOrEqual(10_000 * 0.2 + 20);
  });

  it('lets a service that calls rarely retry, too, and saves up no more than it began with', () => {
    let now = 0;
    const budget = new RetryBudget({ now: () => now });
    retriesLeft(budget);
    now += 3_000;
    expect(retriesLeft(budget)).toBe(3);
    now += 3_600_000;
    expect(retriesLeft(budget)).toBe(20);
  });
});

describe('the breaker', () => {
  it('reports when it opens and closes, each once', () => {
    let now = 0;
    const changes: boolean[] = [];
    const breaker = new Breaker({ now: () => now, onChange: (open) => changes.push(open) });
    for (let call = 0; call < 40; call++) breaker.record(false);
    expect(changes).toEqual([true]);
    expect(breaker.admits()).toBe(false);
    now += 5_000;
    expect([breaker.admits(), breaker.admits()]).toEqual([true, false]);
    breaker.record(true);
    breaker.record(true);
    expect(changes).toEqual([true, false]);
  });
});
