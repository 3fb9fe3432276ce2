import { wholeStream } from '@inlay/manifests/run/slice';
import { describe, expect, test } from 'vitest';
import { compare, NewRecords, readCursorState } from './new-records.ts';

describe('cursor values', () => {
  test.each([
    [1, 2],
    [9, 10],
    [-1, 0],
    [1.5, 1.75],
    ['9', '10'],
    [9, '10'],
    ['9007199254740992', '9007199254740993'],
    [9007199254740991, '9007199254740993'],
    ['-9007199254740993', -9007199254740991],
    [-1, '0.1000000000000000000000001'],
    ['0.1000000000000000000000001', '0.1000000000000000000000002'],
    ['1e400', '1.5e400'],
    ['-1e-400', 0],
    ['a', 'b'],
    ['2024-01-01', '2024-01-02'],
    ['2024-01-01T00:00:00Z', '2024-01-01T00:00:01Z'],
    ['2024-01-01T12:00:00+02:00', '2024-01-01T11:00:00Z'],
    ['2024-01-01T00:00:00.123456Z', '2024-01-01T00:00:00.123457Z'],
    ['2024-01-01T00:00:00.999Z', '2024-01-01T00:00:01Z'],
    ['2024-01-01 00:00:00', '2024-01-01 00:00:01'],
  ])('%j comes before %j', (a, b) => {
    expect(compare(a, b)).toBeLessThan(0);
    expect(compare(b, a)).toBeGreaterThan(0);
    expect(compare(a, a)).toBe(0);
  });

  test('are the same when they mean the same moment', () => {
    expect(compare('2024-01-01T12:00:00+02:00', '2024-01-01T10:00:00Z')).toBe(0);
    expect(compare('2024-01-01T10:00:00.5Z', '2024-01-01T10:00:00.500Z')).toBe(0);
  });

  test('of different kinds cannot be compared', () => {
    expect(() => compare(1, 'a')).toThrow(/numbers and text/);
  });
});

describe('a reader', () => {
  /** What is new of some records, and the state after them. */
  function read(state: object | undefined, ...records: Record<string, unknown>[]) {
    const reader = new NewRecords('at', readCursorState(state));
    const taken = records.filter((record) => reader.isWanted(wholeStream, record));
    for (const record of taken) reader.observe(wholeStream, record);
    expect(reader.state()).toEqual(readCursorState(state));
    reader.close();
    return { taken, state: reader.state() };
  }

  test('takes everything at first, in any order', () => {
    const all = [{ at: 3 }, { at: 1 }, { at: 2 }];
    const { taken, state } = read(undefined, ...all);
    expect(taken).toEqual(all);
    expect(state.cursor).toBe(3);
  });

  test('takes what is later, and of what is at the same value only what was not there', () => {
    const first = read(undefined, { at: 1, id: 1 }, { at: 2, id: 2 });
    const again = read(first.state, { at: 1, id: 1 }, { at: 2, id: 2 });
    expect(again).toEqual({ taken: [], state: first.state });
    const third = read(again.state, { at: 2, id: 2 }, { at: 2, id: 3 });
    expect(third.taken).toEqual([{ at: 2, id: 3 }]);
    const fourth = read(third.state, { at: 2, id: 3 }, { at: 2, id: 2 }, { at: 3, id: 4 });
    expect(fourth.taken).toEqual([{ at: 3, id: 4 }]);
    expect(read(fourth.state, { at: 2, id: 9 }, { at: 3, id: 4, changed: true }).taken).toEqual([
      { at: 3, id: 4, changed: true },
    ]);
  });

  test('forgets nothing when a sync finds nothing', () => {
    const { state } = read(undefined, { at: 2, id: 2 });
    expect(read(read(state).state, { at: 2, id: 2 }).taken).toEqual([]);
  });

  test('always takes records without a value', () => {
    const { state } = read(undefined, { at: 2 });
    expect(read(state, { at: null }, {}, { at: {} }).taken).toHaveLength(3);
  });

  test('takes records again rather than losing them when very many have one value', () => {
    const many = Array.from({ length: 1500 }, (_, id) => ({ at: 1, id }));
    const { state } = read(undefined, ...many);
    expect(JSON.stringify(state).length).toBeLessThan(30_000);
    expect(read(state, ...many, { at: 1, id: 'new' }).taken).toEqual([...many.slice(1000), { at: 1, id: 'new' }]);
  });

  test('starts over with an invalid state', () => {
    for (const state of [{}, { cursor: null }, { cursor: {} }, []]) {
      expect(read(state, { at: 1 }).taken).toHaveLength(1);
    }
  });
});
