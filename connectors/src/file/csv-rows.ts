/*
 * Splits the text of a CSV file into blocks of whole rows and skips rows over the record size limit, so that they are
 * never buffered. Only quotation marks and line breaks are interpreted here; the parser handles the rest.
 */
import { ConnectorError } from '@inlay/protocol/connector';

/** The part of a skipped row that is kept. */
const keptLength = 64 * 1024;
const quote = '"';

/** @param onLong called with the start of each skipped row. */
export async function* wholeRows(
  text: AsyncIterable<string>,
  delimiter: string,
  maxLength: number,
  onLong: (beginning: string) => void,
): AsyncGenerator<string> {
  let held = '';
  /** Start of the row that is being skipped. */
  let beginning: string | undefined;
  let isQuoted = false;
  let isParsable = true;
  /** The end of the previous block. */
  let before = '';
  for await (const chunk of text) {
    if (!isParsable) {
      yield chunk;
      continue;
    }
    const ends = rowEnds(chunk, before, delimiter, isQuoted);
    before = (before + chunk).slice(-8);
    isQuoted = ends.isQuoted;
    if (ends.isStray) {
      // The parser says what is wrong, and where.
      isParsable = false;
      yield held + chunk;
      held = '';
      continue;
    }
    const { first = chunk.length, last } = ends;
    if (beginning === undefined && held.length + first > maxLength) beginning = (held + chunk).slice(0, keptLength);
    if (last === undefined) {
      if (beginning === undefined) held += chunk;
      else held = '';
      continue;
    }
    const start = beginning === undefined ? 0 : first;
    if (beginning !== undefined) onLong(beginning);
    const whole = beginning === undefined ? held + chunk.slice(0, last) : chunk.slice(start, last);
    beginning = undefined;
    if (whole !== '') yield whole;
    held = chunk.slice(last);
  }
  if (beginning === undefined) {
    if (held !== '') yield held;
  } else if (isQuoted) {
    throw new ConnectorError('The file has an unclosed quotation mark.');
  } else {
    onLong(beginning);
  }
}

interface RowEnds {
  /** Behind the first and the last row that ends in the text. */
  first?: number;
  last?: number;
  isQuoted: boolean;
  /** A quotation mark stands where none may be. */
  isStray: boolean;
}

function rowEnds(chunk: string, before: string, delimiter: string, wasQuoted: boolean): RowEnds {
  const ends: RowEnds = { isQuoted: wasQuoted, isStray: false };
  for (let at = 0; ; ) {
    const next = chunk.indexOf(quote, at);
    if (!ends.isQuoted) {
      const plain = chunk.slice(at, next === -1 ? undefined : next);
      const last = Math.max(plain.lastIndexOf('\n'), plain.lastIndexOf('\r'));
      if (last !== -1) {
        ends.first ??= at + plain.search(/[\r\n]/) + 1;
        ends.last = at + last + 1;
      }
      if (next !== -1 && !mayOpen(before + chunk.slice(Math.max(0, next - 8), next), delimiter)) ends.isStray = true;
    }
    if (next === -1 || ends.isStray) return ends;
    ends.isQuoted = !ends.isQuoted;
    at = next + 1;
  }
}

/** Whether a quotation mark may follow: at the start of a cell, or as the second of an escaped pair. */
function mayOpen(text: string, delimiter: string): boolean {
  return text === '' || /["\r\n]$/.test(text) || text.endsWith(delimiter);
}

/** The cells of a row that starts like this. The last one is truncated and omitted. */
export function firstCells(beginning: string, delimiter: string): string[] {
  const cells: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < beginning.length; at++) {
    if (beginning[at] === quote) isQuoted = !isQuoted;
    if (isQuoted || !beginning.startsWith(delimiter, at)) continue;
    const cell = beginning.slice(start, at);
    cells.push(cell.startsWith(quote) ? cell.slice(1, -1).replaceAll('""', quote) : cell);
    start = at + delimiter.length;
  }
  return cells;
}
