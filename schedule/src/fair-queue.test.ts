import { describe, expect, test } from 'vitest';
import { FairQueue, QueueClosed, QueueFull } from './fair-queue.ts';
import { Turns } from './turns.ts';

/** A queue whose work ends when the test says so. `started` is what has started, in order. */
function steeredQueue(limits: { total: number; perTenant: number; maxWaiting: number }) {
  const clock = { time: 0 };
  const started: string[] = [];
  const waits: number[] = [];
  const gates = new Map<string, () => void>();
  const queue = new FairQueue({ ...limits, elapsed: () => clock.time, onStart: (ms) => waits.push(ms) });
  const add = (name: string) =>
    queue.enqueue(name.charAt(0), () => {
      started.push(name);
      return new Promise<void>((resolve) => gates.set(name, resolve));
    });
  /** When it returns, everything that could start has started. */
  const end = async (name: string) => {
    gates.get(name)?.();
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  return { queue, add, end, started, waits, clock };
}

describe('the turns of tenants', () => {
  test('a tenant alone has no more slots than its cap', () => {
    const { add, started } = steeredQueue({ total: 8, perTenant: 2, maxWaiting: 50 });
    for (const name of ['a1', 'a2', 'a3', 'a4']) add(name);
    expect(started).toEqual(['a1', 'a2']);
  });

  test('two greedy tenants leave a slot for a third tenant', () => {
    const { add, started } = steeredQueue({ total: 4, perTenant: 2, maxWaiting: 50 });
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']) add(name);
    expect(started).toEqual(['a1', 'a2', 'b1']);
    add('c1');
    expect(started).toEqual(['a1', 'a2', 'b1', 'c1']);
  });

  test.each([2, 3, 4, 5, 8, 16])('greedy tenants never take all of %i slots from a newcomer', (total) => {
    const turns = new Turns({ total, perTenant: total });
    const greedy = Array.from({ length: Math.ceil(total / 2) }, (_, index) => `greedy ${index}`);
    for (let next = turns.next(greedy); next !== undefined; next = turns.next(greedy)) turns.take(next);
    expect(turns.mayTake('newcomer')).toBe(true);
  });

  test('with one slot the tenant comes next whose last turn is longest ago, however much others have waiting', async () => {
    const { add, end, started } = steeredQueue({ total: 1, perTenant: 2, maxWaiting: 50 });
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) add(name);
    for (const name of ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']) await end(name);
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  test('work that fails gives its slot back', async () => {
    const queue = new FairQueue({ total: 1, perTenant: 1, maxWaiting: 1, elapsed: () => 0 });
    const failing = queue.run('a', () => Promise.reject(new Error('it failed')));
    const next = queue.run('b', async () => 'done');
    await expect(failing).rejects.toThrow('it failed');
    expect(await next).toBe('done');
  });
});

describe('a full queue', () => {
  test('refuses its own tenant and nobody else', async () => {
    const { add, end, started } = steeredQueue({ total: 4, perTenant: 2, maxWaiting: 50 });
    for (let index = 0; index < 52; index++) add(`a${index}`);
    for (let refused = 0; refused < 1_000; refused++) expect(() => add('a too many')).toThrow(QueueFull);
    add('b1');
    expect(started).toEqual(['a0', 'a1', 'b1']);
    await end('a0');
    expect(started).toEqual(['a0', 'a1', 'b1', 'a2']);
    add('a fits again');
    expect(() => add('a too many')).toThrow(QueueFull);
  });
});

test('the time that work has waited is reported when it starts', async () => {
  const { add, end, clock, waits } = steeredQueue({ total: 2, perTenant: 1, maxWaiting: 5 });
  add('a1');
  clock.time = 100;
  add('a2');
  clock.time = 1_500;
  await end('a1');
  expect(waits).toEqual([0, 1_400]);
});

test('a queue that is closed turns away what waits and what comes later', async () => {
  const { queue, add, end, started } = steeredQueue({ total: 2, perTenant: 1, maxWaiting: 5 });
  add('a1');
  const waiting = queue.run('a', async () => started.push('never'));
  queue.close();
  await expect(waiting).rejects.toThrow(QueueClosed);
  await expect(queue.run('b', async () => started.push('never'))).rejects.toThrow(QueueClosed);
  await end('a1');
  expect(started).toEqual(['a1']);
});
