/* Streams that are beyond a limit of PostgreSQL: each is refused with its name and the reason, and stops no other. */
import { randomBytes } from 'node:crypto';
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import type { ConfiguredStream, Stream } from '@inlay/protocol/protocol';
import { describe, expect, it } from 'vitest';
import {
  configure,
  createDatabase,
  input,
  type TestDatabase,
  tryToWrite,
  writeAndReport,
} from '../../test/postgres.ts';

const integer = { type: 'integer' };
const string = { type: 'string' };
const fields = (count: number, schema: JsonSchema) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`c${n}`, schema]));
const values = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`c${n}`, value]));
const streamOf = (properties: Record<string, JsonSchema>, name = 'wide'): Stream => ({
  name,
  supported_sync_modes: ['full_refresh'],
  json_schema: { type: 'object', properties },
});
const other = streamOf({ id: integer }, 'other');
const stateOf = (name: string) => ({
  type: 'STREAM' as const,
  stream: { stream_descriptor: { name }, stream_state: { n: 1 } },
});
const byKey = (stream: Stream, ...key: string[]) =>
  configure(stream, { destination_sync_mode: 'append_dedup', primary_key: key.map((field) => [field]) });

/** Writes one record of the stream, and then one of another stream. */
async function writeBoth({ config, query }: TestDatabase, configured: ConfiguredStream, record: object) {
  const outcome = await tryToWrite(
    config,
    [configured, configure(other)],
    [
      ...input(configured.stream, [{ ...record }], { state: stateOf('wide') }),
      ...input(other, [{ id: 1 }], { state: stateOf('other') }),
    ],
  );
  return { ...outcome, others: await query('select id::int from other') };
}

const refusedFor = (reason: RegExp) => ({
  failure: { failureType: 'config_error', message: expect.stringMatching(reason) },
  states: [stateOf('other')],
  others: [{ id: 1 }],
});

describe('a stream is refused, and no other', () => {
  it('when PostgreSQL has no column left for a new field: those that were dropped count', async () => {
    const database = await createDatabase();
    const before = streamOf({ id: integer });
    await writeAndReport(database.config, [configure(before)], input(before, [{ id: 1 }]));
    await database.query(`do $$ begin
      for n in 1..1595 loop
        execute 'alter table wide add column spare int';
        alter table wide drop column spare;
      end loop;
    end $$`);
    const after = streamOf({ id: integer, late: string });
    expect(await writeBoth(database, configure(after), { id: 2, late: 'x' })).toMatchObject(
      refusedFor(/stream wide .*1600 columns.*fields/),
    );
    expect(await database.query('select id::int from wide')).toEqual([{ id: 1 }]);
  });

  it('when so many of its columns are widened that a row has no room for them', async () => {
    const database = await createDatabase();
    const stream = streamOf(fields(900, integer));
    await writeAndReport(database.config, [configure(stream)], input(stream, [values(900, 1)]));
    expect(await writeBoth(database, configure(stream), values(900, 'a text of some length'))).toMatchObject(
      refusedFor(/stream wide .*row is too big.*fields/),
    );
    expect(await database.query('select c0::int, c899::int from wide')).toEqual([{ c0: 1, c899: 1 }]);
  });

  it('when its primary key has more fields than an index', async () => {
    const database = await createDatabase();
    const stream = streamOf(fields(33, integer));
    const configured = byKey(stream, ...Object.keys(fields(33, integer)));
    expect(await writeBoth(database, configured, values(33, 1))).toMatchObject(
      refusedFor(/stream wide .*32 columns.*primary key/),
    );
  });

  it.each([1, 3])('when the values of its primary key of %i fields are longer than an index takes', async (count) => {
    const database = await createDatabase();
    const stream = streamOf(fields(count, string));
    const configured = byKey(stream, ...Object.keys(fields(count, string)));
    await writeAndReport(database.config, [configured], input(stream, [values(count, 'short')]));
    // As random as this, it cannot be compressed.
    const long = randomBytes(6000 / count).toString('base64');
    expect(await writeBoth(database, configured, values(count, long))).toMatchObject(
      refusedFor(/stream wide .*index row.*primary key/),
    );
    expect(await database.query('select c0 from wide')).toEqual([{ c0: 'short' }]);
  });
});

it('a table of 1,700 fields keeps every value', async () => {
  const database = await createDatabase();
  const stream = streamOf({ id: integer, ...fields(1700, string) });
  const configured = byKey(stream, 'id');
  const { reports } = await writeAndReport(
    database.config,
    [configured],
    input(stream, [{ id: 1, ...values(1700, 'x'.repeat(50)) }]),
  );
  expect(reports).toMatchObject([{ records_written: 1, values_changed: [] }]);
  const [found] = await database.query(
    `select count(*)::int from wide, jsonb_each_text(to_jsonb(wide) - '_inlay_more' || _inlay_more)
     where key ~ '^c\\d' and value = repeat('x', 50)`,
  );
  expect(found).toEqual({ count: 1700 });
});
