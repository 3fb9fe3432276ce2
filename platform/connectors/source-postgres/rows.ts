/*
 * The rows of a query as lines of COPY's text format, some of them at a time. The server sends them as fast as they are
 * taken, so memory does not grow with the number of rows. Needs an open transaction.
 */
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

const newline = 10;
/** Of a row as COPY writes it. The record of a longer one would be longer than a message may be. */
const maxRowBytes = 64_000_000;

export class RowTooLarge extends Error {
  constructor(limit: number) {
    super(`a row is larger than ${limit / 1_000_000} MB`);
    this.name = 'RowTooLarge';
  }
}

/** Whole lines, each with its newline. */
export async function* readLines(client: pg.Client, query: string): AsyncGenerator<Buffer> {
  const { rows } = await client.query<{ encoding: string }>(`select current_setting('server_encoding') as encoding`);
  // Without an encoding, texts are sent as the bytes they are; the server would refuse those that are no UTF-8.
  const options = rows[0]?.encoding === 'SQL_ASCII' ? ` (encoding 'SQL_ASCII')` : '';
  const copy = client.query(copyTo(`copy (${query}) to stdout${options}`));
  let isDone = false;
  try {
    let pieces: Buffer[] = [];
    let length = 0;
    for await (const chunk of copy as AsyncIterable<Buffer>) {
      let start = 0;
      if (pieces.length > 0) {
        // Only the line that was begun is copied.
        start = chunk.indexOf(newline) + 1;
        if (start > 0) {
          yield Buffer.concat([...pieces, chunk.subarray(0, start)]);
          pieces = [];
          length = 0;
        }
      }
      const end = chunk.lastIndexOf(newline) + 1;
      if (start < end) yield chunk.subarray(start, end);
      if (end === chunk.length) continue;
      pieces.push(chunk.subarray(end));
      length += chunk.length - end;
      if (length > maxRowBytes) throw new RowTooLarge(maxRowBytes);
    }
    isDone = true;
  } finally {
    // There is no way to take back a COPY: what follows on this connection would wait for its end.
    if (!isDone) endConnection(client);
  }
}

function endConnection(client: pg.Client): void {
  const { connection } = client as pg.Client & { connection?: { stream: { destroy(): void } } };
  connection?.stream.destroy();
}
