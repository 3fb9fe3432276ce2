import { describe, expect, test } from 'vitest';
import { oneRecordWarning } from './one-record.ts';

const stream = { name: 'orders', path: 'orders' };
const pathIn = (answer: unknown, record_path?: string) =>
  oneRecordWarning({ ...stream, ...(record_path !== undefined && { record_path }) }, answer)[0]?.record_path;

describe('one object where a list is expected', () => {
  test('is reported with the place where the list probably is', () => {
    expect(oneRecordWarning(stream, { data: { items: [{ id: 1 }, { id: 2 }] }, count: 2 })).toEqual([
      {
        code: 'one_record',
        message: expect.stringMatching(/^Stream orders: .*data\.items\..*records path/),
        fields: ['streams'],
        stream: 'orders',
        record_path: 'data.items',
      },
    ]);
  });

  test('has its list where most objects are, however deep, below the path that was given', () => {
    expect(pathIn({ links: [{ rel: 'next' }], results: [{}, {}, {}] })).toBe('results');
    expect(pathIn({ response: { body: { rows: [{}] } } })).toBe('response.body.rows');
    expect(pathIn({ data: { list: [{}] } }, 'data')).toBe('data.list');
    expect(pathIn({ total: 0, data: [] })).toBe('data');
  });

  test('is reported without a place where it has no list of objects', () => {
    const [warning] = oneRecordWarning(stream, { id: 1, tags: ['a', 'b'], 'a.b': [{}] });
    expect(warning).not.toHaveProperty('record_path');
    expect(warning?.message).toContain('records path');
  });

  test('is absent for a list and for an empty answer', () => {
    for (const answer of [[], [{ id: 1 }], null, undefined]) expect(oneRecordWarning(stream, answer)).toEqual([]);
    expect(pathIn({ data: [{ id: 1 }] }, 'data')).toBeUndefined();
  });
});
