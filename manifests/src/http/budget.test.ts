/* How often the API is asked, on a clock that moves only when a call waits. */
import { expect, it } from 'vitest';
import { Given } from '../component.ts';
import { definitionOf } from '../registry.ts';
import type { Answer } from './answer.ts';
import { Budget, type BudgetRules } from './budget.ts';
import type { PreparedRequest } from './request.ts';

/** A budget with these policies; `ask` records when a call was allowed. */
function budgetWith(...policies: object[]) {
  let now = 1_000;
  const budget = new Budget(
    () => now,
    async (seconds) => {
      now += seconds;
    },
  );
  const making = { config: { rate: 2 }, definition: definitionOf, run: { clock: { now: () => undefined } } };
  budget.rules = new Given({}, making as never).make<BudgetRules>({ type: 'HTTPAPIBudget', policies });
  const request = (path: string, method = 'GET') =>
    ({
      method,
      url: new URL(`https://api.example${path}`),
      headers: { 'X-Kind': 'bulk' },
    }) as unknown as PreparedRequest;
  return {
    pass: (seconds: number) => {
      now += seconds;
    },
    async ask(path = '/', answer?: { status?: number; headers?: Record<string, string> }) {
      await budget.take(request(path));
      const at = Math.round((now - 1_000) * 100) / 100;
      const { status = 200, headers = {} } = answer ?? {};
      budget.update(request(path), { status, header: (name: string) => headers[name] } as Answer);
      return at;
    },
  };
}

async function times(count: number, ask: () => Promise<number>): Promise<number[]> {
  const at: number[] = [];
  for (let n = 0; n < count; n++) at.push(await ask());
  return at;
}

const moving = (limit: number | string, interval: string, ...matchers: object[]) => ({
  type: 'MovingWindowCallRatePolicy',
  rates: [{ type: 'Rate', limit, interval }],
  matchers,
});
const fixed = (call_limit: number, period: string) => ({
  type: 'FixedWindowCallRatePolicy',
  call_limit,
  period,
  matchers: [],
});
const matcher = (what: object) => ({ type: 'HttpRequestRegexMatcher', ...what });

it('lets so many calls go in any stretch of time, for as long as the run takes', async () => {
  const { ask, pass } = budgetWith(moving("{{ config['rate'] }}", 'PT10S'));
  expect(await times(7, ask)).toEqual([0, 0, 10, 10, 20, 20, 30]);
  pass(9);
  expect(await times(3, ask)).toEqual([39, 40, 49]);
});

it('keeps to every rate of a policy', async () => {
  const { ask } = budgetWith({
    type: 'MovingWindowCallRatePolicy',
    rates: [
      { type: 'Rate', limit: 1, interval: 'PT1S' },
      { type: 'Rate', limit: 3, interval: 'PT1M' },
    ],
    matchers: [],
  });
  expect(await times(7, ask)).toEqual([0, 1, 2, 60, 61, 62, 120]);
});

it('lets so many calls go in a window, and begins the next window when its time has come', async () => {
  const { ask, pass } = budgetWith(fixed(3, 'PT1M'));
  expect(await times(7, ask)).toEqual([0, 0, 0, 60, 60, 60, 120]);
  pass(600);
  expect(await times(4, ask)).toEqual([720, 720, 720, 780]);
});

it('believes the API about what is left, and until when', async () => {
  const { ask } = budgetWith(fixed(100, 'PT1H'));
  const headers = { 'ratelimit-remaining': '1', 'ratelimit-reset': '1030' };
  expect(await ask('/', { headers })).toBe(0);
  expect(await ask('/', { headers: { 'ratelimit-reset': '1030' } })).toBe(0);
  expect(await ask()).toBe(30);
  expect(await ask('/', { status: 429, headers: { 'ratelimit-reset': '1040' } })).toBe(30);
  expect(await ask()).toBe(40);
});

it('counts a call by the first policy that fits, and by the weight of its matcher', async () => {
  const { ask } = budgetWith(
    { type: 'UnlimitedCallRatePolicy', matchers: [matcher({ url_path_pattern: '^/free', method: 'get' })] },
    moving(4, 'PT10S', matcher({ params: { big: 'yes' }, headers: { 'x-kind': 'bulk' }, weight: 3 }), matcher({})),
  );
  expect(await times(9, () => ask('/free/of/charge'))).toEqual(Array(9).fill(0));
  expect(await ask('/list?big=yes')).toBe(0);
  expect(await ask('/list')).toBe(0);
  expect(await ask('/list')).toBe(10);
  expect(await ask('/list?big=yes')).toBe(10);
  expect(await ask('/list?big=yes')).toBe(20);
});

it('refuses a call that no window could ever take', async () => {
  const { ask } = budgetWith(moving(2, 'PT10S', matcher({ weight: 3 })));
  await expect(ask()).rejects.toThrow('counts as 3 calls');
});

it('keeps the order of calls that wait at the same time', async () => {
  const { ask } = budgetWith(moving(1, 'PT1S'));
  const went: number[] = [];
  await Promise.all([0, 1, 2, 3].map((number) => ask().then(() => went.push(number))));
  expect(went).toEqual([0, 1, 2, 3]);
  expect(await ask()).toBe(4);
});
