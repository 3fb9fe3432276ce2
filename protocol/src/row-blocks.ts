/*
 * Blocks of rows: an addition of this platform to the protocol, for a source and a destination that keep rows as
 * PostgreSQL's COPY writes them (text format). A block is a message with the header, on a line as any other, and then
 * the rows, each on a line of its own. States and all other messages stand between blocks.
 *
 * Both sides name the format in their specification. The runner then offers blocks to the source in the catalog, for each stream
 * whose records it would pass on unchanged; a source can still send any of them as records.
 *
 * A row means the record that connectors/src/postgres/record-text.ts makes of it, and `bytes` is the length of those
 * records' messages: what is counted doesn't depend on how rows travel.
 */
import { type RowColumn, type RowsHeader, type RowsMessage, recordHead, type StreamDescriptor } from './protocol.ts';

/** What `inlay_row_blocks` of a specification names. Another format, or another meaning of this one, needs another name. */
export const rowFormat = 'copy-text-1';

/** Limit of the rows of a block. A longer row is sent as a record. */
export const maxBlockBytes = 1024 * 1024;

/** A whole block. Each piece has whole rows. */
export interface RowBlock extends RowsMessage {
  pieces: Buffer[];
}

/** The length of a record's message around its data: all of them have as many digits in their time. */
export function envelopeBytes(stream: StreamDescriptor): number {
  return Buffer.byteLength(`${recordHead(stream)}${Date.now()},"data":}}`);
}

/** What is wrong with a header, if anything is. */
export function faultOfHeader(rows: unknown): string | undefined {
  if (typeof rows !== 'object' || rows === null) return 'its header has no rows';
  const { stream, namespace, emitted_at, columns, count, bytes, length } = rows as Partial<RowsHeader>;
  if (typeof stream !== 'string') return 'its header names no stream';
  if (namespace !== undefined && typeof namespace !== 'string') return 'its namespace is not a text';
  if (!isNumberFrom(emitted_at, 0)) return 'its emitted_at is not a time in milliseconds';
  const isColumn = (column: Partial<RowColumn>) => typeof column?.name === 'string' && typeof column.type === 'string';
  if (!Array.isArray(columns) || columns.length === 0 || !columns.every(isColumn))
    return 'its columns are not a list of names and types';
  if (!isNumberFrom(count, 1) || !isNumberFrom(bytes, 1)) return 'its count or bytes is not a whole number above 0';
  if (!isNumberFrom(length, count) || length > maxBlockBytes)
    return `its length is not between its count and ${maxBlockBytes}`;
  return undefined;
}

function isNumberFrom(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least;
}

/** Takes what follows a header, up to the end of its block. */
export class OpenBlock {
  readonly rows: RowsHeader;
  readonly pieces: Buffer[] = [];
  #missing: number;

  constructor(rows: RowsHeader) {
    this.rows = rows;
    this.#missing = rows.length;
  }

  get isWhole(): boolean {
    return this.#missing === 0;
  }

  /**
   * Of whole lines, from `start`; the very last one may have been cut off. Returns the place after what belongs to the
   * block, and -1 if the block ends within a row.
   */
  take(lines: Buffer, start: number): number {
    const end = Math.min(lines.length, start + this.#missing);
    this.#missing -= end - start;
    if (end > start) this.pieces.push(lines.subarray(start, end));
    return this.isWhole && lines[end - 1] !== newline ? -1 : end;
  }
}

const newline = 10;
