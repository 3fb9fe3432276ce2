import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Rows } from './connector.ts';
import { readInput } from './input.ts';
import { messageWriter } from './messages.ts';
import { type RowsHeader, rowsType } from './protocol.ts';
import { faultOfHeader, maxBlockBytes, type RowBlock } from './row-blocks.ts';

const columns = [{ name: 'id', type: 'int4' }];
const stream = { name: 'items', namespace: 'shop' };

const rowsOf = (text: string, more: Partial<Rows> = {}): Rows => {
  const count = text.split('\n').length - 1;
  return { columns, lines: Buffer.from(text), count, bytes: 100 * count, hasFarTimes: false, ...more };
};

/** What a destination gets: the header and the rows of a block, and of any other message its type. */
async function read(bytes: Buffer, chunkBytes = bytes.length) {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
    bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
  const messages: (string | [RowsHeader, string])[] = [];
  for await (const batch of readInput(Readable.from(chunks))) {
    for (const message of batch as unknown as ({ type: 'RECORD' | 'STATE' } | RowBlock)[]) {
      const isBlock = message.type === rowsType;
      messages.push(isBlock ? [message.rows, Buffer.concat(message.pieces).toString()] : message.type);
    }
  }
  return messages;
}

async function written(work: (writer: ReturnType<typeof messageWriter>) => void): Promise<Buffer> {
  const output = new PassThrough({ highWaterMark: 10 * maxBlockBytes });
  const writer = messageWriter(output);
  work(writer);
  await writer.flush();
  return output.read();
}

const blocksIn = (messages: Awaited<ReturnType<typeof read>>) =>
  messages.map((message) => (typeof message === 'string' ? message : message[1]));

describe('a block of rows', () => {
  test('has all rows that follow one another, and everything else stays in its place', async () => {
    const bytes = await written(({ emitter }) => {
      void emitter.record(stream, { id: 0 });
      void emitter.rows?.(stream, rowsOf('1\n2\n'));
      void emitter.rows?.(stream, rowsOf('3\n', { hasFarTimes: true }));
      void emitter.state({ data: { at: 3 } });
      void emitter.rows?.(stream, rowsOf('4\n'));
      void emitter.record(stream, { id: 5 });
    });
    const messages = await read(bytes);
    expect(blocksIn(messages)).toEqual(['RECORD', '1\n2\n3\n', 'STATE', '4\n', 'RECORD']);
    const header = { stream: 'items', namespace: 'shop', emitted_at: expect.any(Number), columns };
    expect(messages[1]?.[0]).toEqual({ ...header, count: 3, bytes: 300, length: 6, has_far_times: true });
    expect(messages[3]?.[0]).toEqual({ ...header, count: 1, bytes: 100, length: 2 });
  });

  test('ends where a stream gets another column, another stream begins, or it would be too long', async () => {
    const long = `${'x'.repeat(maxBlockBytes / 2)}\n`;
    const more = [...columns, { name: 'added', type: 'text' }];
    const bytes = await written(({ emitter }) => {
      void emitter.rows?.(stream, rowsOf('1\n'));
      void emitter.rows?.(stream, rowsOf('2\tnew\n', { columns: more }));
      void emitter.rows?.({ name: 'others' }, rowsOf('3\n', { columns: more }));
      void emitter.rows?.(stream, rowsOf(long));
      void emitter.rows?.(stream, rowsOf(long));
    });
    const messages = await read(bytes);
    expect(blocksIn(messages)).toEqual(['1\n', '2\tnew\n', '3\n', long, long]);
    expect(messages[1]?.[0]).toMatchObject({ columns: more });
  });

  test('arrives whole, however it is cut into chunks, and not at all if its sender died in it', async () => {
    const bytes = await written(({ emitter }) => {
      void emitter.rows?.(stream, rowsOf('1\n{"type":"STATE"}\n'));
      void emitter.state({ data: {} });
      void emitter.rows?.(stream, rowsOf('größe\n'));
    });
    const all = ['1\n{"type":"STATE"}\n', 'STATE', 'größe\n'];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: bytes.length }), fc.nat(bytes.length), async (chunkBytes, end) => {
        expect(blocksIn(await read(bytes, chunkBytes))).toEqual(all);
        const cut = blocksIn(await read(bytes.subarray(0, end), chunkBytes));
        expect(cut).toEqual(all.slice(0, cut.length));
        expect(cut.length).toBeLessThan(end < bytes.length ? 3 : 4);
      }),
    );
  });

  const valid = { stream: 'items', emitted_at: 1, columns, count: 2, bytes: 60, length: 4 };

  test.each([
    ['a count that is no number', '{"count":NaN}', 'not valid JSON'],
    ['no rows', { count: 0 }, 'its count or bytes is not a whole number above 0'],
    ['more rows than bytes', { count: 5 }, `its length is not between its count and ${maxBlockBytes}`],
    ['more bytes than allowed', { length: maxBlockBytes + 1 }, 'its length is not between'],
    ['no bytes to count', { bytes: null }, 'its count or bytes'],
    ['no time', { emitted_at: '1' }, 'its emitted_at is not a time in milliseconds'],
    ['no columns', { columns: [] }, 'its columns are not a list of names and types'],
    ['a column without a type', { columns: [{ name: 'id' }] }, 'its columns are not a list'],
    ['a namespace that is no text', { namespace: 1 }, 'its namespace is not a text'],
    ['an end within a row', { length: 3 }, 'it ends within a row'],
  ])('is refused with %s', async (_, change, fault) => {
    const rows = typeof change === 'string' ? change : JSON.stringify({ ...valid, ...change });
    const bytes = Buffer.from(`{"type":"${rowsType}","rows":${rows}}\n1\n22\n3\n`);
    await expect(read(bytes)).rejects.toThrow(fault);
  });

  test('is refused without a stream, and with bytes that are no text', async () => {
    expect(faultOfHeader(null)).toBe('its header has no rows');
    expect(faultOfHeader({ ...valid, stream: undefined })).toBe('its header names no stream');
    expect(faultOfHeader(valid)).toBeUndefined();
    const head = Buffer.from(`${JSON.stringify({ type: rowsType, rows: valid })}\n`);
    const message = 'The destination received a damaged block of rows of the stream items: it is not UTF-8 text. ';
    await expect(read(Buffer.concat([head, Buffer.from([49, 10, 0xff, 10])]))).rejects.toThrow(message);
  });
});
