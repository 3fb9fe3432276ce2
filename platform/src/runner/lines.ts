/**
 * Cuts what a process writes into whole lines, without copying more than it must: only a line that came in several
 * chunks is put together, in a block of its own. A block holds one or more lines, each with its newline; only the very
 * last block may lack one, when the writer ended in the middle of a line.
 */
import type { Readable } from 'node:stream';

const newline = 10;

export class LineTooLong extends Error {
  constructor(readonly maxLineBytes: number) {
    super(`A line is longer than ${maxLineBytes} bytes.`);
  }
}

/** What there is of whole lines, whenever there is some: one block or two. */
export async function* readBlocks(input: Readable, maxLineBytes: number): AsyncGenerator<Buffer[]> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    const first = chunk.indexOf(newline);
    if (length + (first === -1 ? chunk.length : first) > maxLineBytes) throw new LineTooLong(maxLineBytes);
    if (first === -1) {
      pieces.push(chunk);
      length += chunk.length;
      continue;
    }
    const blocks: Buffer[] = [];
    const start = length === 0 ? 0 : first + 1;
    if (start > 0) blocks.push(Buffer.concat([...pieces, chunk.subarray(0, start)]));
    const end = chunk.lastIndexOf(newline) + 1;
    if (start < end) blocks.push(chunk.subarray(start, end));
    yield blocks;
    pieces = end === chunk.length ? [] : [chunk.subarray(end)];
    length = chunk.length - end;
  }
  if (length > 0) yield [Buffer.concat(pieces)];
}

/** The lines as text, without their newlines. */
export function* linesOf(blocks: readonly Buffer[]): Generator<string> {
  for (const block of blocks) {
    for (let start = 0; start < block.length; ) {
      const newlineAt = block.indexOf(newline, start);
      const end = newlineAt === -1 ? block.length : newlineAt;
      yield block.toString('utf8', start, end);
      start = end + 1;
    }
  }
}
