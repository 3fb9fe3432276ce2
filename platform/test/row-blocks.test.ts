/* Blocks of rows from real connectors to a real database: nothing but the speed differs from records. */

import { type ConfiguredStream, rowsType, type Stream } from '@inlay/protocol/protocol';
import { rowFormat } from '@inlay/protocol/row-blocks';
import { describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../connectors/test/postgres.ts';
import { isLongRun, itInLongRun } from '../../scripts/long-run.ts';
import { bundled, configured, type RanSync, scriptedSource, sync, testRunner } from './connectors.ts';

const mixed = `
  create type mood as enum ('fine', 'not "fine"');
  create domain year_number as int check (value > 0);
  create table "Größe" (
    id int primary key, small int2, big bigint, amount numeric, ratio float8, part real, is_open boolean, label text,
    code varchar(20), padded char(4), day date, at timestamp, "at ""tz""" timestamptz, clock time, uid uuid,
    bytes bytea, doc jsonb, numbers int[], words text[], mood mood, span interval, host inet, year year_number
  );
  insert into "Größe" values
    (1, 1, 9223372036854775807, 1.50, 0.1, 0.1, true, E'a\\tb\\nc\\\\d"e\\x01é\\v\\r', 'x', 'y', '2024-02-29', '2024-02-29 12:00:00.5',
     '2024-02-29 12:00:00+02', '24:00:00', '6f1e3f5a-3a0a-4a3e-8a57-111111111111', '\\xdeadbeef', '{"n": 9007199254740993, "t": "\\"\\\\n"}',
     '{1,null}', '{"a\\"b",null,"c\\\\d"}', 'not "fine"', '1 year 2 days', '10.0.0.1', 2024),
    (2, -1, -9223372036854775808, 'NaN', 'Infinity', '-0', false, '', null, '', '0001-01-01', 'infinity', '-infinity', null, null, '',
     'null', '{}', '{}', null, null, null, null),
    (3, null, 0, '-0.000', 1e300, 1e-40, null, repeat('"', 50000), null, null, null, null, null, null, null, null,
     '[null, -0, 1e400]', null, null, null, null, null, null),
    (4, null, 0, 'Infinity', 1e-300, 'NaN', null, repeat('long ', 30000), null, null, '10000-01-01', '0044-03-15 00:00:00 BC',
     '12024-01-01', null, null, null, '"x"', null, null, null, null, null, null);
  insert into "Größe" (id, label) select n, 'row ' || n from generate_series(5, ${isLongRun ? 10_100 : 300}) n`;
/** Columns that the destination has to widen. */
const changed = `
  alter table "Größe" alter small type text using 'No. ' || small, alter day type text using day || '!';
  update "Größe" set small = '7' where id = 5;
  delete from "Größe" where id = 6`;

const stateOf = (at: number) => ({
  type: 'STATE',
  state: { type: 'STREAM', stream: { stream_descriptor: { name: 'items' }, stream_state: { at } } },
});
const columns = [
  { name: 'id', type: 'int8' },
  { name: 'fill', type: 'text' },
];
const header = (count: number, length: number) => ({
  type: rowsType,
  rows: { stream: 'items', emitted_at: 1, columns, count, bytes: 60 * count, length },
});
const block = (rows: string, count: number, length = rows.length) => [{ say: header(count, length) }, { print: rows }];

describe('blocks of rows', () => {
  const compare = async (destination_sync_mode: ConfiguredStream['destination_sync_mode']) => {
    const from = await createDatabase();
    const [rows, records] = [await createDatabase(), await createDatabase()];
    await from.query(mixed);
    const runner = testRunner();
    const source = bundled('source', 'source-postgres', from.config);
    const isIncremental = destination_sync_mode !== 'overwrite';
    const mode = { destination_sync_mode, sync_mode: isIncremental ? 'incremental' : 'full_refresh' } as const;
    const read = async (stream: Stream, to: TestDatabase, rowBlocks: string | undefined, state: RanSync['states']) => {
      const destination = { ...bundled('destination', 'destination-postgres', to.config), rowBlocks };
      const streams = [{ ...configured(''), stream, ...mode, primary_key: [['id']] }];
      const ran = await sync(runner, { source: { ...source, rowBlocks }, destination, streams, state });
      const { states, log: _, ...outcome } = ran;
      const row = "to_jsonb(t) - '_inlay_emitted_at'";
      const content = await to.query(
        `select md5(string_agg((${row})::text, '' order by id, _inlay_generation, label)) as all,
           array_agg(${row} order by id) filter (where id < 7) as first,
           min(pg_typeof(small)::text) as small, min(pg_typeof(day)::text) as day from "Größe" t`,
      );
      return { outcome, content, states };
    };
    let states: [rows: RanSync['states'], records: RanSync['states']] = [[], []];
    for (const change of ['', changed]) {
      await from.query(change);
      const [stream] = (await runner.discover(source)).streams as [Stream];
      const inBlocks = await read(stream, rows, rowFormat, states[0].slice(-1));
      const asRecords = await read(stream, records, undefined, states[1].slice(-1));
      expect(inBlocks.outcome).toEqual({ ...asRecords.outcome, status: 'succeeded' });
      expect(inBlocks.content).toEqual(asRecords.content);
      expect(inBlocks.states.length).toBe(asRecords.states.length);
      states = [inBlocks.states, asRecords.states];
    }
  };

  test('leave in a table what records leave there, and count the same', () => compare('append_dedup'));

  itInLongRun('do so also where rows are replaced or appended', async () => {
    await compare('overwrite');
    await compare('append');
  });

  const run = async (steps: object[], more: Parameters<typeof configured>[1] = {}, stuckAfterMs = 60_000) => {
    const to = await createDatabase();
    const source = { ...scriptedSource(steps), rowBlocks: rowFormat };
    const destination = { ...bundled('destination', 'destination-postgres', to.config), rowBlocks: rowFormat };
    const streams = [configured('items', { primary_key: [['id']], ...more })];
    const outcome = await sync(testRunner({ stuckAfterMs, graceMs: 500 }), { source, destination, streams });
    const rows = await to.query<{ id: string }>('select id from items order by id');
    return { outcome, ids: rows.map(({ id }) => Number(id)) };
  };
  const first = [...block('1\ta\n2\tb\n', 2), { say: stateOf(2) }];

  test.each([
    ['goes silent', { hang: true }, 'The source was stopped because no data moved for 2 s.', 2_000],
    ['is killed', { kill: 'SIGKILL' }, 'The source stopped unexpectedly (it was killed by SIGKILL).', undefined],
    ['ends', { exit: 0 }, 'The source stopped in the middle of a block of rows of items.', undefined],
  ])('of a source that %s within one are stored up to the last whole one', async (_, end, message, stuckAfterMs) => {
    const { outcome, ids } = await run([...first, ...block('3\tc\n4', 2, 8), end], {}, stuckAfterMs);
    expect(outcome).toMatchObject({ status: 'failed', failure: { message }, arrived: { records: 2, bytes: 120 } });
    expect(outcome.states).toEqual([stateOf(2).state]);
    expect(ids).toEqual([1, 2]);
  });

  const damaged = 'The destination received a damaged block of rows of the stream items:';
  test.each([
    ['append', 3, '3\tc\n4\td\n', `${damaged} its header says 3 rows, and it has 2. Nothing after it was stored.`],
    ['overwrite', 1, '3\tc\n4\td\n', `${damaged} its header says 1 rows, and it has 2. Nothing after it was stored.`],
    ['append_dedup', 2, '3\tc\n4\n', /^The stream items could not be written: the server rejected its records/],
  ] as const)('that are damaged are not stored (%s)', async (destination_sync_mode, count, rows, message) => {
    const steps = [...first, ...block(rows, count), { say: stateOf(4) }];
    const { outcome, ids } = await run([...steps, { status: ['items', 'COMPLETE'] }], { destination_sync_mode });
    const failure = { origin: 'destination', message: expect.stringMatching(message) };
    expect(outcome).toMatchObject({ status: 'failed', failure });
    // The first block may have been committed before.
    const stored = destination_sync_mode === 'overwrite' ? [[]] : [[], [1, 2]];
    expect(stored).toContainEqual(ids);
  });

  test('can change their columns, also to one that the table lacks', async () => {
    const wider = [...columns, { name: 'added', type: 'int4' }];
    const { say } = { say: { ...header(1, 6), rows: { ...header(1, 6).rows, columns: wider } } };
    const more = { json_schema: { properties: { id: { type: 'integer' } }, additionalProperties: true } };
    const stream = { ...configured('items').stream, ...more };
    const steps = [...first, { say }, { print: '3\tc\t7\n' }, ...block('4\td\n', 1)];
    const { outcome, ids } = await run([...steps, { status: ['items', 'COMPLETE'] }], { stream });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 4 });
    expect(ids).toEqual([1, 2, 3, 4]);
  });
});
