/*
 * The rows of a query, a batch at a time, through a cursor of the server. A batch is some megabytes, however wide the
 * rows are, and the next one is fetched while the current one is worked on. Needs an open transaction.
 */
import type pg from 'pg';
import type { Row } from './position.ts';

const batchLength = 2_000_000;
const maxBatchRows = 5_000;
/** Of the first batch, when nothing is known about the width of the rows. */
const firstBatchRows = 100;

/** Values stay the texts that PostgreSQL sends. */
const texts = { getTypeParser: () => (text: string) => text };

export async function* readRows(client: pg.Client, query: string, parameters: string[]): AsyncGenerator<Row[]> {
  const fetch = async (count: number) => {
    const text = `fetch ${count} from inlay_rows`;
    return (await client.query<Row>({ text, rowMode: 'array', types: texts as never })).rows;
  };
  // A plan for all of the rows, not for the first tenth of them, which is what is assumed of cursors.
  await client.query('set local cursor_tuple_fraction = 1');
  await client.query(`declare inlay_rows no scroll cursor for ${query}`, parameters);
  let rows = await fetch(firstBatchRows);
  while (rows.length > 0) {
    const next = Promise.allSettled([fetch(batchRowsAfter(rows))]);
    try {
      yield rows;
    } finally {
      // Also when the reader of the rows gives up: the connection does one thing at a time.
      await next;
    }
    const [outcome] = await next;
    if (outcome.status === 'rejected') throw outcome.reason;
    rows = outcome.value;
  }
  await client.query('close inlay_rows');
}

function batchRowsAfter(rows: readonly Row[]): number {
  let length = 0;
  for (const row of rows) for (const text of row) length += text?.length ?? 0;
  const averageLength = Math.max(1, length / rows.length);
  return Math.max(1, Math.min(maxBatchRows, Math.floor(batchLength / averageLength)));
}
