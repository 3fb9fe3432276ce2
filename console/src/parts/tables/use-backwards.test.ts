import { expect, it } from 'vitest';
import { ApiError, type Query } from '../../api/client.ts';
import { readBackwards } from './use-backwards.ts';

/** A log of `head` entries, of which those up to `gone` are no longer kept. */
function logOf(head: number, gone = 0, isWanted: (position: number) => boolean = () => true) {
  const asked: Query[] = [];
  const read = async (query: Query) => {
    asked.push(query);
    if (query.since) return { data: [], next: head };
    const after = query.after === undefined ? gone : Number(query.after);
    if (after < gone) throw new ApiError('', { status: 410, code: 'events_gone' });
    const data = Array.from({ length: head - after }, (_, index) => ({ position: after + 1 + index }));
    return { data: data.filter(({ position }) => isWanted(position)).slice(0, Number(query.limit)), next: head };
  };
  return { read, asked };
}
const positions = (rows: { position: number }[]) => rows.map(({ position }) => position);

it('reads from the end, newest first, and continues where it stopped', async () => {
  const { read } = logOf(1_200);
  const last = await readBackwards(read, {}, undefined);
  expect(positions(last.rows).slice(0, 2)).toEqual([1_200, 1_199]);
  expect([last.rows.length, last.from]).toEqual([500, 701]);
  const before = await readBackwards(read, {}, last.from);
  expect([before.rows[0]?.position, before.from]).toEqual([700, 201]);
  const first = await readBackwards(read, {}, before.from);
  expect([first.rows.length, first.rows.at(-1)?.position, first.from]).toEqual([200, 1, 0]);
});

it('looks through earlier pages while a filter leaves little, up to a bound', async () => {
  const { read, asked } = logOf(100_000, 0, (position) => position % 400 === 0);
  const { rows, from } = await readBackwards(read, { types: 'sync.*' }, undefined);
  expect(positions(rows).slice(0, 2)).toEqual([100_000, 99_600]);
  expect([asked.length, from]).toEqual([11, 95_001]);
  expect(asked[1]).toMatchObject({ types: 'sync.*', after: 99_500 });
});

it('ends with the oldest entry that is kept', async () => {
  const { read } = logOf(1_000, 900);
  const { rows, from } = await readBackwards(read, {}, undefined);
  expect([rows.length, rows.at(-1)?.position, from]).toEqual([100, 901, 0]);
});

it('has nothing to read where nothing has happened', async () => {
  expect(await readBackwards(logOf(0).read, {}, undefined)).toEqual({ rows: [], from: 0 });
});
