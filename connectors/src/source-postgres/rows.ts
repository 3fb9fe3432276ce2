/*
 * The rows of a query as lines of COPY's text format, in batches. The server sends them as fast as they are consumed
 * (backpressure), so memory does not grow with the number of rows. Requires an open transaction.
 */

import { maxRecordBytes } from '@inlay/protocol/protocol';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

const newline = 10;
/**
 * Limit of a row as COPY writes it, which takes up to one and a half times as much as its record: two digits per byte
 * of binary data instead of Base64. The record of a longer row is too long; the runner skips any other record that is.
 */
export const maxRowBytes = 2 * maxRecordBytes;
/** What is kept of a longer row, at each of its ends. */
const keptBytes = 64 * 1024;

/** A row whose record would be too long: how it begins and how it ends, with the newline. */
export class LongRow {
  head = Buffer.alloc(0);
  tail = Buffer.alloc(0);
  bytes = 0;

  add(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.head.length < keptBytes)
      this.head = Buffer.concat([this.head, piece.subarray(0, keptBytes - this.head.length)]);
    this.tail = Buffer.concat([this.tail, piece.subarray(-keptBytes)]).subarray(-keptBytes);
  }
}

/** Whole lines, each with its newline; a long one on its own. */
export async function* readLines(client: pg.Client, query: string): AsyncGenerator<Buffer | LongRow> {
  const { rows } = await client.query<{ encoding: string }>(`select current_setting('server_encoding') as encoding`);
  // Without an encoding, text is sent as raw bytes; otherwise the server would refuse invalid UTF-8.
  const options = rows[0]?.encoding === 'SQL_ASCII' ? ` (encoding 'SQL_ASCII')` : '';
  const copy = client.query(copyTo(`copy (${query}) to stdout${options}`));
  let isDone = false;
  try {
    yield* linesOf(copy as AsyncIterable<Buffer>, maxRowBytes);
    isDone = true;
  } finally {
    // A COPY cannot be cancelled: further statements on this connection would wait for its end.
    if (!isDone) endConnection(client);
  }
}

export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer | LongRow> {
  let pieces: Buffer[] = [];
  let length = 0;
  let long: LongRow | undefined;
  for await (const chunk of chunks) {
    let start = 0;
    if (pieces.length > 0 || long) {
      // Only the line that was begun is copied.
      start = chunk.indexOf(newline) + 1;
      const piece = start > 0 ? chunk.subarray(0, start) : chunk;
      if (!long && length + piece.length > maxBytes) {
        long = new LongRow();
        for (const kept of pieces.splice(0)) long.add(kept);
      }
      if (long) long.add(piece);
      else pieces.push(piece);
      length += piece.length;
      if (start === 0) continue;
      yield long ?? Buffer.concat(pieces);
      pieces = [];
      length = 0;
      long = undefined;
    }
    const end = chunk.lastIndexOf(newline) + 1;
    if (start < end) yield chunk.subarray(start, end);
    if (end === chunk.length) continue;
    pieces.push(chunk.subarray(end));
    length = chunk.length - end;
  }
}

function endConnection(client: pg.Client): void {
  const { connection } = client as pg.Client & { connection?: { stream: { destroy(): void } } };
  connection?.stream.destroy();
}
