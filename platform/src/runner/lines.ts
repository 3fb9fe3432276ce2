/*
 * Cuts what a process writes into whole lines, without copying more than it must. A block holds one or more lines, each
 * with its newline; only the very last block may lack one, when the writer ended in the middle of a line.
 */
import type { Readable } from 'node:stream';

const newline = 10;

export class LineTooLong extends Error {
  constructor(readonly maxLineBytes: number) {
    super(`A line is longer than ${maxLineBytes} bytes.`);
  }
}

export async function* readBlocks(input: Readable, maxLineBytes: number): AsyncGenerator<Buffer> {
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
    const end = chunk.lastIndexOf(newline) + 1;
    const block = chunk.subarray(0, end);
    yield length === 0 ? block : Buffer.concat([...pieces, block]);
    pieces = end === chunk.length ? [] : [chunk.subarray(end)];
    length = chunk.length - end;
  }
  if (length > 0) yield Buffer.concat(pieces);
}

/** The lines of a block as text, without their newlines. */
export function* linesOf(block: Buffer): Generator<string> {
  for (let start = 0; start < block.length; ) {
    const newlineAt = block.indexOf(newline, start);
    const end = newlineAt === -1 ? block.length : newlineAt;
    yield block.toString('utf8', start, end);
    start = end + 1;
  }
}
