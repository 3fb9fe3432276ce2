/*
 * Reads CSV (RFC 4180, also with other delimiters) row by row. An empty cell is null, since CSV cannot distinguish it
 * from ''.
 */
import { pipeline } from 'node:stream';
import { ConnectorError } from '@inlay/protocol/connector';
import { maxRecordBytes } from '@inlay/protocol/protocol';
import { CsvError, parse } from 'csv-parse';
import type { Row } from './columns.ts';
import { firstCells, wholeRows } from './csv-rows.ts';

export interface CsvFormat {
  type: 'csv';
  delimiter?: string;
  header?: boolean;
}

/** Skips a row over the record size limit; `onSkipped` gets what is known about it. */
export async function* readCsv(
  text: AsyncIterable<string>,
  { delimiter = ',', header = true }: CsvFormat,
  onSkipped: (row: Row) => void = () => {},
  maxRowLength = maxRecordBytes,
): AsyncGenerator<Row> {
  // All kinds of line breaks: a file may be concatenated from files with different ones.
  const record_delimiter = ['\r\n', '\n', '\r'];
  const parser = parse({ delimiter, record_delimiter, skip_empty_lines: true });
  const skipped: string[] = [];
  const rows = wholeRows(text, delimiter, maxRowLength, (beginning) => void skipped.push(beginning));
  // The reader of the rows learns of a failure on the way.
  pipeline(rows, parser, () => {});
  let names: string[] | undefined;
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      if (names === undefined) {
        names = header ? columnNames(cells) : cells.map((_, index) => `column_${index + 1}`);
        if (header) continue;
      }
      while (skipped.length > 0) onSkipped(knownOf(names, skipped.shift() ?? '', delimiter));
      yield toRow(names, cells);
    }
    for (const beginning of skipped) onSkipped(knownOf(names ?? [], beginning, delimiter));
  } catch (error) {
    throw error instanceof CsvError ? explain(error) : error;
  }
}

function knownOf(names: string[], beginning: string, delimiter: string): Row {
  const cells = firstCells(beginning, delimiter);
  return toRow(names.slice(0, cells.length), cells);
}

function toRow(names: string[], cells: string[]): Row {
  const row: Row = {};
  for (let index = 0; index < names.length; index++) {
    const cell = cells[index];
    row[names[index] as string] = cell === undefined || cell === '' ? null : cell;
  }
  return row;
}

function columnNames(cells: string[]): string[] {
  const names = cells.map((cell, index) => {
    const name = cell.trim();
    // An object cannot be given a field of the latter name by assignment.
    return name === '' || name === '__proto__' ? `column_${index + 1}` : name;
  });
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw new ConnectorError(`Two columns are named ${repeated}. Give each column a unique name in the first row.`);
  }
  return names;
}

function explain(error: CsvError): ConnectorError {
  const at = `near line ${Number(error.lines)}`;
  switch (error.code) {
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH':
    case 'CSV_RECORD_INCONSISTENT_COLUMNS':
      return new ConnectorError(`A row has more or fewer cells than the first row (${at}). Check the delimiter.`);
    case 'CSV_QUOTE_NOT_CLOSED':
      return new ConnectorError(`The file has an unclosed quotation mark (${at}). Close it or remove it.`);
    default:
      return new ConnectorError(`The file has a misplaced quotation mark (${at}). Correct or remove it.`);
  }
}
