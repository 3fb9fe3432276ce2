/* Lines that are made of the bytes of a record say the same as lines that are made of its values. */
import { Readable } from 'node:stream';
import type { DestinationInput } from '@inlay/protocol/connector';
import { readInput, UnparsedRecord } from '@inlay/protocol/input';
import { recordHead, type Stream } from '@inlay/protocol/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnSchemas } from '../../test/column-schemas.ts';
import { complete, configure, createDatabase, writeAndReport } from '../../test/postgres.ts';
import type { ColumnType } from './column-types.ts';
import { RowBytes } from './row-bytes.ts';

const columns = Object.keys(columnSchemas).map((type) => ({ property: type, type: type as ColumnType }));

/** The line for data that is given as its text, without what all lines begin with. Undefined: the bytes do not do. */
function lineOf(data: string, asked = columns): string | undefined {
  const row = new RowBytes(asked);
  const block = Buffer.from(`{"data":${data}}}\n{"data":`);
  const end = 8 + Buffer.byteLength(data);
  const out = Buffer.alloc(row.room(end - 8));
  const length = row.write(block, 8, end, out, 0);
  return length === -1 ? undefined : out.toString('utf8', 0, length);
}

const one = (type: ColumnType, value: string) => lineOf(`{"v":${value}}`, [{ property: 'v', type }]);

describe('the bytes of a value', () => {
  it.each([
    ['text', '"a"', '\ta'],
    ['text', '"a\\"b\\\\c\\/d\\n\\t\\r\\b\\f"', '\ta"b\\\\c/d\\n\\t\\r\\b\\f'],
    ['text', '"Zoë 😀"', '\tZoë 😀'],
    ['text', '"\\u00e9"', '\té'],
    ['text', '5', '\t5'],
    ['text', 'null', '\t\\N'],
    ['text', '"\\\\N"', '\t\\\\N'],
    ['bigint', '-9007199254740993', '\t-9007199254740993'],
    ['bigint', '9223372036854775807', '\t9223372036854775807'],
    ['bigint', '"7"', '\t7'],
    ['bigint', '1.0', '\t1'],
    ['double precision', '0.30000000000000004', '\t0.30000000000000004'],
    ['double precision', '0.6286387252526757', '\t0.6286387252526757'],
    ['double precision', '1.5e-7', '\t1.5e-7'],
    ['double precision', '1e-07', '\t1e-7'],
    ['double precision', '-0', '\t-0'],
    ['double precision', '18628979406309970', '\t18628979406309970'],
    ['double precision', '1.7976931348623157e+308', '\t1.7976931348623157e+308'],
    ['numeric', '1.50', '\t1.5'],
    ['numeric', '-0.5', '\t-0.5'],
    ['double precision', '"NaN"', '\tNaN'],
    ['numeric', '"12.50"', '\t12.50'],
    ['numeric', '12345678901234567890.12345678901234567890', '\t12345678901234567890.12345678901234567890'],
    ['boolean', 'false', '\tf'],
    ['date', '"2024-02-29"', '\t2024-02-29'],
    ['date', '"2024-03-31"', '\t2024-03-31'],
    ['timestamp with time zone', '"2024-01-01T00:00:00.123456Z"', '\t2024-01-01T00:00:00.123456Z'],
    ['timestamp with time zone', '"2024-01-01 23:59:59+02"', '\t2024-01-01 23:59:59+02'],
    ['timestamp with time zone', '"2024-01-01 23:59:59+02:30"', '\t2024-01-01 23:59:59+02:30'],
    ['timestamp without time zone', '"2024-12-31T23:59"', '\t2024-12-31T23:59'],
    ['bytea', '"AP8="', '\t\\\\x00ff'],
    ['jsonb', '{"a": [9007199254740993, "x\\n", {"b":1.50}]}', '\t{"a": [9007199254740993, "x\\\\n", {"b":1.50}]}'],
    ['jsonb', '"text"', '\t"text"'],
  ] as [ColumnType, string, string][])('of type %s, %s, become those of a line', (type, value, line) => {
    expect(one(type, value)).toBe(line);
  });

  it.each([
    ['text', '"\\u0000"'],
    ['text', '"\\ud800"'],
    ['text', '"a\tb"'],
    ['text', '"\\x"'],
    ['text', 'NaN'],
    ['text', ' null'],
    ['jsonb', ' null'],
    ['bigint', '9223372036854775808'],
    ['bigint', '007'],
    ['bigint', '1.5'],
    ['bigint', '-'],
    ['bigint', '1"'],
    ['bigint', '-0'],
    ['numeric', '-0.00'],
    ['numeric', '"-0"'],
    ['jsonb', '[-0]'],
    ['double precision', '0.1000000000000000055511151231257827'],
    ['double precision', '0.62863872525267571'],
    ['double precision', '9007199254740993'],
    ['double precision', '1.'],
    ['double precision', 'Infinity'],
    ['numeric', '"007"'],
    ['numeric', '"1.5'],
    ['numeric', '"1e999999"'],
    ['boolean', 'truE'],
    ['date', '"2023-02-29"'],
    ['date', '"2023-04-31"'],
    ['date', '"2023-12-32"'],
    ['date', '"2023-12-00"'],
    ['timestamp with time zone', '"2024-01-01T00:00:00.1234567Z"'],
    ['timestamp without time zone', '"2024-01-01T00:00:00+02:00"'],
    ['timestamp without time zone', '"2024-01-01T00:00:00Z"'],
    ['time without time zone', '"12:00:00Z"'],
    ['jsonb', '{"a":NaN}'],
    ['jsonb', '["\\u0000"]'],
    ['jsonb', '[1e999999]'],
    ['jsonb', '{"a":1'],
  ] as [ColumnType, string][])('of type %s are left to a parser: %s', (type, value) => {
    expect(one(type, value)).toBeUndefined();
  });

  it.each(['{"v":1,"w":2}', '{"v":1,"v":2}', '{"v":1,}', '{"v":1}}', '{,"v":1}', '{"v"}', '[1]', '{"v":1]'])(
    'are left to a parser in %s',
    (data) => {
      expect(lineOf(data, [{ property: 'v', type: 'bigint' }])).toBeUndefined();
    },
  );

  it('that are missing are NULL', () => {
    const four = ['a', 'b', 'c', 'd'].map((property) => ({ property, type: 'bigint' as const }));
    expect(lineOf('{"b":1,"d":2}', four)).toBe('\t\\N\t1\t\\N\t2');
    expect(lineOf('{}', four)).toBe('\t\\N\t\\N\t\\N\t\\N');
    expect(lineOf('{"b":1,"a":2}', four)).toBeUndefined();
  });

  it('that are not UTF-8 are left to a parser', () => {
    const block = Buffer.concat([Buffer.from('{"v":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    const row = new RowBytes([{ property: 'v', type: 'text' }]);
    expect(row.write(block, 0, block.length, Buffer.alloc(200), 0)).toBe(-1);
  });
});

it('lines of bytes and lines of values leave the same rows', async () => {
  const { config, query } = await createDatabase();
  const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });
  const number = fc
    .tuple(fc.constantFrom('', '-'), fc.oneof(fc.constant('0'), fc.maxSafeNat().map(String)), fc.constantFrom('', '.'))
    .chain(([sign, whole, dot]) => digits(20).map((rest) => `${sign}${whole}${dot === '' ? '' : `.${rest}`}`))
    // A negative zero is counted as changed.
    .map((text) => (/[1-9]/.test(text) ? text : text.replace('-', '')));
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary-ascii' }), fc.constant('\\N\t\n"'));
  const instant = fc.date({ min: new Date('0100-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  const iso = instant.map((date) => date.toISOString());
  const values: Record<string, fc.Arbitrary<string>> = {
    text: text.map((value) => JSON.stringify(value.replaceAll('\0', '').toWellFormed())),
    boolean: fc.boolean().map(String),
    bigint: fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String), fc.integer().map(String)),
    'double precision': fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    numeric: fc.oneof(
      number,
      number.map((value) => `"${value}"`),
    ),
    date: iso.map((value) => JSON.stringify(value.slice(0, 10))),
    'timestamp without time zone': iso.map((value) => JSON.stringify(value.replace('Z', ''))),
    'timestamp with time zone': fc
      .tuple(iso, fc.constantFrom('Z', '+00', '-05:30', '123Z', '+0200'))
      .map(([value, zone]) => JSON.stringify(value.replace('Z', zone))),
    'time without time zone': iso.map((value) => JSON.stringify(value.slice(11, 23))),
    'time with time zone': iso.map((value) => JSON.stringify(`${value.slice(11, 23)}+02:00`)),
    bytea: fc.uint8Array().map((bytes) => JSON.stringify(Buffer.from(bytes).toString('base64'))),
    jsonb: fc.jsonValue({ maxDepth: 3 }).map((value) =>
      JSON.stringify(value ?? 0)
        .replace(/\\u0000|\\ud[89a-f]../g, '')
        .replaceAll('-0', '0'),
    ),
  };
  const names = Object.keys(columnSchemas);
  const record = fc
    .tuple(...names.map((name) => fc.option(values[name] as fc.Arbitrary<string>, { nil: 'null', freq: 8 })))
    .map((texts) => `{${texts.map((value, index) => `"${names[index]}":${value}`).join(',')}}`);
  const streamOf = (name: string): Stream => ({
    name,
    supported_sync_modes: ['full_refresh'],
    json_schema: { type: 'object', properties: { n: { type: 'integer' }, ...columnSchemas } },
  });
  let unparsed = 0;

  async function put(stream: Stream, texts: string[], isParsed: boolean): Promise<void> {
    const lines = texts.map((text, n) => `${recordHead(stream)}1,"data":{"n":${n},${text.slice(1)}}}\n`);
    const messages: DestinationInput[] = [];
    for await (const batch of readInput(Readable.from([Buffer.from(lines.join(''))]))) messages.push(...batch);
    const input = messages.map((message): DestinationInput => {
      if (message.type !== 'RECORD') return message;
      if (message.record instanceof UnparsedRecord) unparsed++;
      const { data, emitted_at } = message.record;
      return isParsed ? { type: 'RECORD', record: { stream: stream.name, data, emitted_at } } : message;
    });
    const configured = configure(stream, { destination_sync_mode: 'overwrite' });
    const { reports } = await writeAndReport(config, [configured], [...input, complete(stream)]);
    expect(reports).toMatchObject([{ records_written: texts.length, values_changed: [] }]);
  }

  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 50, maxLength: 50 }), async (texts) => {
      await put(streamOf('bytes'), texts, false);
      await put(streamOf('parsed'), texts, true);
      const list = ['n', ...names].map((name) => `"${name}"`).join(', ');
      const different = await query(
        `(select ${list} from bytes except select ${list} from parsed)
         union all (select ${list} from parsed except select ${list} from bytes)`,
      );
      expect(different).toEqual([]);
    }),
    { numRuns: 15, endOnFailure: true },
  );
  expect(unparsed).toBeGreaterThan(0);
});
