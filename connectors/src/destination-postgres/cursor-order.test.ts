/* Deduplication keeps the record with the highest cursor of each key; cursors are compared by value. */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { parseJson } from '@inlay/protocol/json';
import type { Stream } from '@inlay/protocol/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { columnSchemas } from '../../test/column-schemas.ts';
import { configure, createDatabase, input, type TestDatabase, write, writeAndReport } from '../../test/postgres.ts';

const text = { type: 'string' };
const anything = {};
const integer = { type: 'integer' };
const timestamptz = { type: 'string', format: 'date-time' };
const number = { type: 'number' };

function streamOf(cursor: JsonSchema): Stream {
  const properties = { id: integer, at: cursor, n: integer };
  return { name: 't', supported_sync_modes: ['full_refresh'], json_schema: { type: 'object', properties } };
}

const configured = (stream: Stream, cursor_field = ['at']) =>
  configure(stream, { destination_sync_mode: 'append_dedup', primary_key: [['id']], cursor_field });

const put = ({ config }: TestDatabase, stream: Stream, lines: string[], cursor?: string[]) =>
  writeAndReport(
    config,
    [configured(stream, cursor)],
    input(
      stream,
      lines.map((line) => parseJson(line) as Record<string, unknown>),
    ),
  );

/** Which of two cursors is newer, by the number of the record: 0 came first. */
const pairs: [before: string, after: string, newest: 0 | 1, JsonSchema[]][] = [
  ['"2024-01-01T00:00:00Z"', '"2024-01-01T00:00:00.500Z"', 1, [text, anything, timestamptz]],
  ['"2024-01-01T00:00:00.500Z"', '"2024-01-01T00:00:00Z"', 0, [text, anything, timestamptz]],
  ['"2024-01-01T01:00:00+02:00"', '"2024-01-01T00:30:00Z"', 1, [text, anything, timestamptz]],
  ['"2024-01-01T00:00:00Z"', '"2024-01-01T01:30:00+0200"', 0, [text, anything, timestamptz]],
  ['"2024-01-01T00:00:00.0000009Z"', '"2024-01-01T00:00:00.0000010Z"', 1, [text, anything, timestamptz]],
  ['"2024-01-01T00:00:00.123456789Z"', '"2024-01-01T00:00:00.123456788Z"', 0, [text, anything, timestamptz]],
  ['"2024-01-01T10:00:00Z"', '"2024-01-02"', 1, [text, anything, timestamptz]],
  ['"2024-01-01T10:00:00Z"', '"2024-01-01"', 0, [text, anything]],
  ['"10000-01-01T00:00:00Z"', '"9999-01-01T00:00:00Z"', 0, [text, anything, timestamptz]],
  ['"2024-01-01 00:00"', '"2024-01-01T00:00:00Z"', 1, [text, anything, timestamptz]],
  // The 30th of February is not a date: two texts of different kinds.
  ['"2024-03-01T00:00:00Z"', '"2024-02-30T00:00:00Z"', 1, [text, anything, timestamptz]],
  ['"2024-02-31"', '"2024-02-30"', 0, [text, anything]],
  ['"9"', '"10"', 1, [text, anything, integer]],
  ['"10"', '"9"', 0, [text, anything, integer]],
  ['10', '"9"', 0, [text, anything, integer, number]],
  ['9', '10', 1, [text, anything, integer, number]],
  ['"1e3"', '"999.5"', 0, [text, anything, number]],
  ['9007199254740993', '9007199254740992', 0, [text, anything, integer]],
  ['1e400', '2e400', 1, [text, anything]],
  ['2e400', '1e400', 0, [text, anything, number]],
  ['-1', '-2', 0, [text, anything, integer]],
  ['"1.0"', '1', 1, [text, anything, number]],
  ['"0009"', '"10"', 1, [text, anything]],
  ['"b"', '"a"', 0, [text, anything]],
  ['"B"', '"a"', 1, [text, anything]],
  ['"a"', '"B"', 0, [text, anything]],
  ['"é"', '"z"', 0, [text, anything]],
  // A different kind, or nothing.
  ['"10"', '"a"', 1, [text, anything]],
  ['"a"', '"10"', 1, [text, anything]],
  ['"2024-01-01"', '5', 1, [text, anything]],
  ['5', 'null', 1, [text, anything, integer, number]],
  ['null', '5', 1, [text, anything, integer]],
  ['"2024-01-01T00:00:00Z"', 'null', 1, [text, anything, timestamptz]],
  ['"NaN"', '5', 1, [anything, number]],
  ['true', 'false', 1, [anything]],
  ['{"a":2}', '{"a":1}', 1, [anything]],
  ['[2]', '1', 1, [anything]],
  ['1e99999', '1', 1, [text, anything]],
];

const schemas = [...new Set(pairs.flatMap(([, , , those]) => those))];

describe.each(schemas)('in a column of %j', (schema) => {
  const those = pairs.filter(([, , , used]) => used.includes(schema));
  // A value that widens a column would change the type for every pair in the same table.
  const isWide = schema === text || schema === anything;
  const tableOf = (index: number) => (isWide ? 't' : `t${index}`);
  const streams = (isWide ? [0] : those.map((_, index) => index)).map((index) => ({
    ...streamOf(schema),
    name: tableOf(index),
  }));
  const expected = those.map(([before, after, newest]) => ({ before, after, newest }));

  async function putEach({ config }: TestDatabase, line: (before: string, after: string, id: number) => string[]) {
    const messages = those.flatMap(([before, after], index) =>
      input(
        { name: tableOf(index) },
        line(before, after, index + 1).map((one) => parseJson(one) as Record<string, unknown>),
        { isComplete: false },
      ),
    );
    await write(
      config,
      streams.map((stream) => configured(stream)),
      messages,
    );
  }

  async function found({ query }: TestDatabase) {
    const newest: { before: string; after: string; newest?: number }[] = [];
    for (const [index, [before, after]] of those.entries()) {
      const id = index + 1;
      const rows = await query<{ newest: number }>(`select n::int as newest from ${tableOf(index)} where id = ${id}`);
      newest.push({ before, after, ...rows[0] });
    }
    return newest;
  }

  it('the newer one of two records of a key is kept', async () => {
    const database = await createDatabase();
    // Into a table that is not empty, so that records go through the staging table.
    await putEach(database, (before) => [`{"id":0,"at":${before}}`]);
    await putEach(database, (before, after, id) => [before, after].map((at, n) => `{"id":${id},"at":${at},"n":${n}}`));
    expect(await found(database)).toEqual(expected);
    for (const { name } of streams) await database.query(`delete from ${name}`);
    await putEach(database, (before, _, id) => [`{"id":${id},"at":${before},"n":0}`]);
    await putEach(database, (_, after, id) => [`{"id":${id},"at":${after},"n":1}`]);
    expect(await found(database)).toEqual(expected);
  });
});

it('a cursor within an object is compared by value as well', async () => {
  const database = await createDatabase();
  const stream = streamOf({ type: 'object' });
  const sync = (...cursors: string[]) =>
    put(
      database,
      stream,
      cursors.map((at, n) => `{"id":1,"at":{"when":[${at}]},"n":${n}}`),
      ['at', 'when', '0'],
    );
  await sync('"2024-01-01T00:00:00Z"');
  await sync('"2024-01-01T00:00:00.500Z"', '"2024-01-01T00:00:00Z"');
  expect(await database.query(`select at #>> '{when,0}' as at from t`)).toEqual([{ at: '2024-01-01T00:00:00.500Z' }]);
  await sync('"n/a"', '{"a":1}', '"7"', '"10"', '9');
  expect(await database.query(`select at #>> '{when,0}' as at from t`)).toEqual([{ at: '10' }]);
});

it('a row whose deletion has no cursor is deleted, and stays so behind an older cursor', async () => {
  const database = await createDatabase();
  const stream = streamOf(integer);
  const deletable = {
    ...stream,
    json_schema: {
      type: 'object',
      properties: { id: integer, at: integer, n: integer, _ab_cdc_deleted_at: timestamptz },
    },
  };
  await put(database, deletable, ['{"id":1,"at":5}', '{"id":2,"at":5}']);
  const deleted = '"_ab_cdc_deleted_at":"2024-01-01T00:00:00Z"';
  await put(database, deletable, [
    `{"id":1,"at":null,${deleted}}`,
    `{"id":2,"at":6,${deleted}}`,
    '{"id":2,"at":4,"n":1}',
  ]);
  expect(await database.query('select id::int from t')).toEqual([]);
});

it('columns with the names that comparing uses stay what they are', async () => {
  const database = await createDatabase();
  const names = ['_inlay_cursor_number', '_inlay_cursor_kind', 'number', 'instant', 'word', 'whole', 'part', 'day'];
  const stream: Stream = {
    name: 't',
    supported_sync_modes: ['full_refresh'],
    json_schema: {
      type: 'object',
      properties: Object.fromEntries(['id', 'at', ...names].map((name) => [name, text])),
    },
  };
  const line = (at: string) => JSON.stringify(Object.fromEntries(['id', 'at', ...names].map((name) => [name, at])));
  await put(database, { ...stream }, [line('0')]);
  await write(
    database.config,
    [configured(stream)],
    input(stream, [
      { ...JSON.parse(line('10')), id: 'x' },
      { ...JSON.parse(line('9')), id: 'x' },
    ]),
  );
  const rows = await database.query<Record<string, unknown>>(`select * from t where id = 'x'`);
  expect(rows).toHaveLength(1);
  expect(Object.values(rows[0] ?? {}).filter((value) => value === '10')).toHaveLength(names.length + 1);
});

/* The definition: each record is compared with the newest one before it. */
const numberForm = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?$/;
const instantForm = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(\.\d+)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/;

type Known = { kind: 'number' | 'instant'; value: bigint } | { kind: 'word'; value: string } | undefined;

function known(cursor: unknown): Known {
  if (typeof cursor !== 'string' && typeof cursor !== 'number') return undefined;
  const given = String(cursor);
  // The numbers below have three decimals and no large exponent.
  if (numberForm.test(given)) return { kind: 'number', value: BigInt(Math.round(Number(given) * 1000)) };
  const [, day, clock = '00:00', second = '00', fraction = '', zone = 'Z'] = instantForm.exec(given) ?? [];
  const whole = Date.parse(`${day}T${clock}:${second}Z`);
  if (day === undefined || Number.isNaN(whole) || !new Date(Date.parse(day)).toISOString().startsWith(day)) {
    return { kind: 'word', value: given };
  }
  const sign = zone.startsWith('-') ? -1 : 1;
  const digits = zone.replace(/\D/g, '').padEnd(4, '0');
  const offset = zone === 'Z' ? 0 : sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))) * 60_000;
  return { kind: 'instant', value: BigInt(whole - offset) * 10n ** 6n + BigInt(fraction.slice(1).padEnd(9, '0')) };
}

function isNewer(came: unknown, before: unknown): boolean {
  const [a, b] = [known(came), known(before)];
  if (!a || !b || a.kind !== b.kind) return true;
  if (a.kind === 'word') return Buffer.compare(Buffer.from(a.value), Buffer.from(b.value as string)) >= 0;
  return a.value >= (b.value as bigint);
}

const runs = isLongRun ? 10 : 1;

const cursors = fc.oneof(
  fc.constant(null),
  fc.constantFrom('9', '10', '1e1', '10.000', 9, 10, -1, 2.5, '007'),
  fc.constantFrom(
    'a',
    'B',
    'é',
    '',
    ' ',
    '1,5',
    '0x10',
    '2024',
    '2024-13-01',
    '2024-02-30T00:00:00Z',
    '24:00',
    '-',
    '.',
    'e5',
  ),
  fc.constantFrom('2024-01-01', '2024-02-29', '2024-01-01T00:00:00Z', '2024-01-01 00:00', '2024-01-01T00:00:00.5Z'),
  fc.constantFrom('2024-01-01T02:00:00+02:00', '2024-01-01T00:00:00.000000001-00:30', '2023-12-31T23:00-0130'),
);

describe('whatever the cursors are', () => {
  it.each([
    ['text', cursors],
    ['jsonb', fc.oneof(cursors, fc.constantFrom(true, [1], { a: 1 }))],
    ['bigint', fc.option(fc.integer({ min: 1, max: 4 }))],
    ['double precision', fc.oneof(fc.constantFrom(null, 'NaN', 1.5, 2, 3))],
    ['timestamp with time zone', fc.constantFrom(null, '2024-01-01T00:00:00Z', '2024-01-01T00:00:00.5+01:00')],
  ] as [string, fc.Arbitrary<unknown>][])(
    'the newest of each key is kept in a column of type %s',
    async (type, values) => {
      const database = await createDatabase();
      const stream = streamOf(columnSchemas[type] ?? {});
      const isNothing = (cursor: unknown) => cursor === null || (type === 'double precision' && cursor === 'NaN');
      const isAfter = (came: unknown, before: unknown) => isNothing(came) || isNothing(before) || isNewer(came, before);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), values), { maxLength: 60 }), {
            minLength: 3,
            maxLength: 3,
          }),
          async (batches) => {
            await database.query('drop table if exists t');
            const newest = new Map<number, { at: unknown; n: number }>([[0, { at: null, n: -1 }]]);
            await put(database, stream, ['{"id":0,"n":-1}']);
            let n = 0;
            for (const batch of batches) {
              const lines: string[] = [];
              for (const [id, at] of batch) {
                const before = newest.get(id);
                if (!before || isAfter(at, before.at)) newest.set(id, { at, n });
                lines.push(JSON.stringify({ id, at, n: n++ }));
              }
              await put(database, stream, lines);
            }
            const rows = await database.query('select id::int, n::int from t order by id');
            const expected = [...newest].map(([id, record]) => ({ id, n: record.n })).sort((a, b) => a.id - b.id);
            expect(rows).toEqual(expected);
          },
        ),
        { numRuns: 5 * runs, endOnFailure: true },
      );
    },
  );

  it('no text makes a sync fail', async () => {
    const database = await createDatabase();
    const stream = streamOf(text);
    const digits = (maxLength: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });
    const odd = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .tuple(digits(7), digits(2), digits(2), fc.constantFrom('', 'T24:00', ' 23:59:60.9', 'T00:00:00+99:99'))
        .map(([year, month, day, clock]) => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}${clock}`),
      fc
        .tuple(digits(300), fc.constantFrom('', '.', '.5'), fc.constantFrom('', 'e', 'e-', 'E+'), digits(6))
        .map((parts) => parts.join('')),
      fc.constantFrom(
        '9'.repeat(7000),
        `0.${'1'.repeat(7000)}`,
        `1e${'9'.repeat(400)}`,
        `${'9'.repeat(5990)}e9999`,
        `.${'9'.repeat(5990)}e-9999`,
        'NaN',
        'Infinity',
        '0000-01-01',
        '9999999-01-01',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(odd, { minLength: 100, maxLength: 100 }), async (values) => {
        for (const _ of [1, 2]) {
          const lines = values.map((at, n) => JSON.stringify({ id: n % 7, at, n }));
          await put(database, stream, lines);
        }
        expect(await database.query('select from t')).toHaveLength(7);
      }),
      { numRuns: 2 * runs, endOnFailure: true },
    );
  });
});
