import { ExactNumber } from '@inlay/protocol/json';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inferColumns, type Row, rowConverter } from './columns.ts';
import { type CsvFormat, readCsv } from './csv.ts';

async function read(text: string, format: Omit<CsvFormat, 'type'> = {}, chunkLength = 7): Promise<Row[]> {
  async function* chunks() {
    // By characters: a decoder never outputs half of one.
    const characters = Array.from(text);
    for (let at = 0; at < characters.length; at += chunkLength) yield characters.slice(at, at + chunkLength).join('');
  }
  const rows: Row[] = [];
  for await (const row of readCsv(chunks(), { type: 'csv', ...format })) rows.push(row);
  return rows;
}

describe('CSV', () => {
  test('has quoted delimiters, quotation marks and line breaks', async () => {
    expect(await read('a,"b ""c"""\r\n"1,5","two\nlines"\r\n,"x"')).toEqual([
      { a: '1,5', 'b "c"': 'two\nlines' },
      { a: null, 'b "c"': 'x' },
    ]);
  });

  test('may end its lines in different ways', async () => {
    expect(await read('a,b\n1,2\r\n3,4\r5,6\n')).toEqual([
      { a: '1', b: '2' },
      { a: '3', b: '4' },
      { a: '5', b: '6' },
    ]);
    expect(await read('a,b\r\n1,2\n3,4')).toEqual([
      { a: '1', b: '2' },
      { a: '3', b: '4' },
    ]);
  });

  test.each([',', ';', '\t', '|'])('may be divided by %j', async (delimiter) => {
    expect(await read(`a${delimiter}b\n1${delimiter}2\n`, { delimiter })).toEqual([{ a: '1', b: '2' }]);
  });

  test('without names in the first line numbers the columns', async () => {
    expect(await read('1,2\n3,4', { header: false })).toEqual([
      { column_1: '1', column_2: '2' },
      { column_1: '3', column_2: '4' },
    ]);
  });

  test('with unusable names numbers those columns', async () => {
    expect(await read('a,, __proto__ \n1,2,3')).toEqual([{ a: '1', column_2: '2', column_3: '3' }]);
  });

  test('may be empty, have names only, or empty lines', async () => {
    expect(await read('')).toEqual([]);
    expect(await read('a,b\n')).toEqual([]);
    expect(await read('a\n\n1\n\n')).toEqual([{ a: '1' }]);
  });

  test.each([
    ['a,b\n1,2\n3\n', 'A row has more or fewer cells than the first row (near line 3). Check the delimiter.'],
    ['a,b\n1,2,3\n', 'A row has more or fewer cells than the first row (near line 2). Check the delimiter.'],
    ['a,b\n1,"2\n3,4\n', 'The file has an unclosed quotation mark (near line'],
    ['a,b\n1,2"3"\n', 'The file has a misplaced quotation mark (near line 2). Correct or remove it.'],
    ['a,b,a\n1,2,3', 'Two columns are named a. Give each column a unique name in the first row.'],
  ])('with a mistake is explained: %j', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  test('with a quotation mark that is never closed ends before it fills the memory', async () => {
    await expect(read(`a\n"${'x\n'.repeat(6_000_000)}`, {}, 64 * 1024)).rejects.toThrow('unclosed quotation mark');
  });

  test('reads back whatever is written by the rules', async () => {
    const quoted = (cell: string, delimiter: string) =>
      /["\r\n]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
    const cell = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.string({ unit: fc.constantFrom(...'a",;\n\r \t') }),
    );
    const table = fc
      .integer({ min: 2, max: 5 })
      .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 6 }))
      // A lone surrogate is not a character and cannot be in a file.
      .filter((rows) => rows.flat().every((text) => text.isWellFormed()));
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.constantFrom(',', ';', '\t', '|'),
        fc.integer({ min: 1, max: 40 }),
        async (rows, delimiter, chunk) => {
          const text = rows.map((row) => row.map((one) => quoted(one, delimiter)).join(delimiter)).join('\r\n');
          const expected = rows.map((row) => row.map((one) => (one === '' ? null : one)));
          const found = await read(text, { delimiter, header: false }, chunk);
          expect(found.map((row) => Object.values(row))).toEqual(expected);
        },
      ),
    );
  });
});

describe('columns', () => {
  /** The schema of a column with these cells, and the values they get. */
  function column(...cells: (string | null)[]) {
    const inference = inferColumns();
    for (const a of cells) inference.add({ a });
    const schema = inference.schema();
    const convert = rowConverter(schema);
    return { schema: (schema.properties as { a: object }).a, values: cells.map((a) => convert({ a }).a) };
  }

  const exact = (text: string) => new ExactNumber(text);
  const long = '123456789012345678901234567890';

  test.each([
    [['1', '-20', '0', null], { type: ['null', 'integer'] }, [1, -20, 0, null]],
    [['1', '2.5', '-0.1'], { type: ['null', 'number'] }, [1, 2.5, -0.1]],
    [['2.50', '0.0'], { type: ['null', 'number'] }, [exact('2.50'), exact('0.0')]],
    [['9007199254740993'], { type: ['null', 'integer'] }, [exact('9007199254740993')]],
    [[long, '1'], { type: ['null', 'integer'], airbyte_type: 'big_integer' }, [exact(long), 1]],
    [[`0.${long}`, '1'], { type: ['null', 'number'], airbyte_type: 'big_number' }, [exact(`0.${long}`), 1]],
    [[long, '1.5'], { type: ['null', 'number'], airbyte_type: 'big_number' }, [exact(long), 1.5]],
    [['true', 'FALSE'], { type: ['null', 'boolean'] }, [true, false]],
    [['2024-01-31', null], { type: ['null', 'string'], format: 'date' }, ['2024-01-31', null]],
    [
      ['2024-01-31T10:00:00Z'],
      { type: ['null', 'string'], format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
      ['2024-01-31T10:00:00Z'],
    ],
    [
      ['2024-01-31 10:00:00'],
      { type: ['null', 'string'], format: 'date-time', airbyte_type: 'timestamp_without_timezone' },
      ['2024-01-31 10:00:00'],
    ],
  ])('of %j have the type %j', (cells, schema, values) => {
    expect(column(...cells)).toEqual({ schema, values });
  });

  test.each([
    ['007'],
    ['+1'],
    ['-0'],
    ['1e5'],
    ['1,000'],
    ['1'.repeat(101)],
    ['1.'],
    ['.5'],
    ['0x10'],
    ['yes'],
    ['NaN'],
    [' 1'],
    [null],
    ['1', 'x'],
    ['1', 'true'],
    ['2024-01-31', '2024-01-31T10:00:00Z'],
  ])('of %j, %j are text as it is', (...cells) => {
    expect(column(...cells)).toEqual({ schema: { type: ['null', 'string'] }, values: cells });
  });

  test('keep a value that does not fit the type as it is', () => {
    const properties = {
      n: { type: ['null', 'integer'] },
      ok: { type: ['null', 'boolean'] },
      gone: { type: 'number' },
    };
    const convert = rowConverter({ properties });
    expect(convert({ n: '12 apples', ok: 'maybe', more: '5' })).toEqual({ n: '12 apples', ok: 'maybe', more: '5' });
    expect(convert({ n: '007', ok: '1' })).toEqual({ n: '007', ok: '1' });
    expect(convert({ n: long })).toEqual({ n: exact(long) });
    expect(convert({ n: '1.50' })).toEqual({ n: exact('1.50') });
  });

  test('keep every digit of every number', () => {
    const number = fc.oneof(fc.stringMatching(/^-?\d{1,60}$/), fc.stringMatching(/^-?\d{1,30}\.\d{1,30}$/));
    fc.assert(
      fc.property(number, fc.constantFrom('integer', 'number', 'string', 'boolean'), (cell, type) => {
        expect(String(column(cell).values[0])).toBe(cell);
        expect(String(rowConverter({ properties: { a: { type: ['null', type] } } })({ a: cell }).a)).toBe(cell);
      }),
    );
  });
});

describe('rows of CSV that are too long', () => {
  async function readSome(text: string, chunkLength: number, maxLength = 20) {
    async function* chunks() {
      for (let at = 0; at < text.length; at += chunkLength) yield text.slice(at, at + chunkLength);
    }
    const skipped: Row[] = [];
    const rows: Row[] = [];
    for await (const row of readCsv(chunks(), { type: 'csv' }, (row) => void skipped.push(row), maxLength)) {
      rows.push(row);
    }
    return { rows, skipped };
  }

  test('are left out wherever they stand, and the others are read as they are', async () => {
    const cell = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '1', '"', ',', '\n', '\r'), maxLength: 8 }),
      fc.constant('long'.repeat(10)),
    );
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(9), cell)), fc.integer({ min: 1, max: 10 }), async (cells, size) => {
        const lines = cells.map(([id, text]) => `${id},${quoted(text)}\r\n`);
        const { rows, skipped } = await readSome(`id,text\n${lines.join('')}`, size);
        // A row counts with its line break or part of it.
        const isLong = (line: string) => line.length - 1 > 20;
        const expected = cells.filter((_, index) => !isLong(lines[index] ?? ''));
        expect(rows).toEqual(expected.map(([id, text]) => ({ id: String(id), text: text === '' ? null : text })));
        expect(skipped).toHaveLength(cells.length - expected.length);
      }),
    );
  });

  test('are distinguished from an unclosed or misplaced quotation mark', async () => {
    await expect(readSome(`id,text\n1,"${'x\n'.repeat(50)}`, 7)).rejects.toThrow('unclosed quotation mark');
    await expect(readSome(`id,text\n1,5" pipe${'\n2,x'.repeat(50)}\n3,6" pipe\n`, 7)).rejects.toThrow(
      'misplaced quotation mark',
    );
  });
});
