/* CSV as the Python module `csv` reads it, from which the expected rows were taken. */
import { expect, it } from 'vitest';
import { readCsvRows } from './csv-rows.ts';

async function rowsOf(texts: readonly string[], delimiter = ','): Promise<string[][]> {
  async function* parts() {
    yield* texts;
  }
  const rows: string[][] = [];
  for await (const row of readCsvRows(parts(), delimiter)) rows.push(row);
  return rows;
}

it('takes quotes, breaks and empty values as Python does, and refuses nothing', async () => {
  const cases: [string, string[][]][] = [
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['a,b\r\n\r\n1,\r2', [['a', 'b'], ['1', ''], ['2']]],
    ['"a,b","x""y","l\r\nm"', [['a,b', 'x"y', 'l\nm']]],
    ['a"b,"c"d,"e" "f"', [['a"b', 'cd', 'e "f"']]],
    ['"",,""\n"', [['', '', ''], ['']]],
    ['"not closed\nx,y', [['not closed\nx,y']]],
    [' "s", t ', [[' "s"', ' t ']]],
    ['', []],
    [',\n', [['', '']]],
  ];
  for (const [text, rows] of cases) {
    expect(await rowsOf([text]), text).toEqual(rows);
    // However the text is cut.
    expect(await rowsOf([...text]), text).toEqual(rows);
  }
  expect(await rowsOf(['a;b,c\n'], ';')).toEqual([['a', 'b,c']]);
});
