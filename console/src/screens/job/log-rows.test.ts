import { expect, it } from 'vitest';
import { rowsOf } from './log-rows.ts';

const line = (offset: number, message: string) => ({ offset, time: '', level: 'ERROR', origin: 'source', message });

it('a message of several lines takes as many rows, so that the next message does not cover it', () => {
  const [trace, after] = [line(0, 'It failed:\n  at read\r\n  at main'), line(40, 'The end')];
  expect(rowsOf([trace, after])).toEqual([
    { line: trace, text: 'It failed:', part: 0 },
    { line: trace, text: '  at read', part: 1 },
    { line: trace, text: '  at main', part: 2 },
    { line: after, text: 'The end', part: 0 },
  ]);
});

it('an empty message is a row, too', () => {
  expect(rowsOf([line(0, '')])).toHaveLength(1);
});
