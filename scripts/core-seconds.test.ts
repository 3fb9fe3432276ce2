import { describe, expect, it } from 'vitest';
import { createTally, type Process, parseStat } from './core-seconds.mjs';

const process = (pid: number, parent: number, ticks: number): Process => ({ id: `${pid} 1`, pid, parent, ticks });
const [shell, check, stranger] = [process(1, 0, 900), process(10, 1, 100), process(11, 1, 5_000)];

describe('core seconds', () => {
  it('reads the times of a process and of the children it waited for, whatever the name of its program is', () => {
    const stat = '42 (a) b (c) S 10 42 42 0 -1 4194560 1 2 3 4 100 20 3000 400 20 0 11 0 777 8 9';
    expect(parseStat(stat)).toEqual({ id: '42 777', pid: 42, parent: 10, ticks: 3_520 });
  });

  it('counts a process with all its descendants, and nothing else on the machine', () => {
    const tally = createTally(10);
    tally.look([shell, check, stranger, process(20, 10, 200), process(21, 20, 50)]);
    expect(tally.seconds()).toBe(3.5);
  });

  it('counts a descendant once, whether it runs or was waited for', () => {
    const tally = createTally(10);
    tally.look([shell, check, process(20, 10, 200)]);
    tally.look([shell, process(10, 1, 100 + 250)]);
    expect(tally.seconds()).toBe(3.5);
  });

  it('counts a descendant that has lost its parent, while it runs and after its end, with its own children', () => {
    const tally = createTally(10);
    tally.look([shell, check, process(20, 10, 200), process(21, 20, 50), process(22, 21, 10)]);
    tally.look([shell, process(10, 1, 300), process(21, 1, 70), process(22, 21, 20)]);
    expect(tally.seconds()).toBe(3.9);
    tally.look([shell, process(10, 1, 300)]);
    tally.look([shell, process(10, 1, 300)]);
    expect(tally.seconds()).toBe(3.7);
  });

  it('takes a process that was given the number of an ended one for another process', () => {
    const tally = createTally(10);
    tally.look([shell, check, process(20, 10, 200)]);
    tally.look([shell, process(10, 1, 300), { ...process(20, 1, 4_000), id: '20 2' }]);
    expect(tally.seconds()).toBe(3);
  });
});
