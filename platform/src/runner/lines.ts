/**
 * Splits a process's output into whole lines with minimal copying: only a line that spans several chunks is joined, in
 * its own block. A block contains one or more lines, each with its newline; only the very last block may lack one, if
 * the writer ended mid-line.
 */
import type { Readable } from 'node:stream';

const newline = 10;

export class LineTooLong extends Error {
  constructor(readonly maxLineBytes: number) {
    super(`A line is longer than ${maxLineBytes} bytes.`);
  }
}

/** Receives a line that is too long piece by piece, so that it is never buffered. Can throw to stop reading. */
export interface LongLine {
  add(bytes: Buffer): void;
  /** @param isWhole false: the writer ended in the middle of the line. */
  end(isWhole: boolean): void;
}

/** What there is of whole lines, whenever there is some: one block or two. Without `skip`, a long line is a failure. */
export async function* readBlocks(
  input: Readable,
  maxLineBytes: number,
  skip: () => LongLine = () => {
    throw new LineTooLong(maxLineBytes);
  },
): AsyncGenerator<Buffer[]> {
  let pieces: Buffer[] = [];
  let length = 0;
  let long: LongLine | undefined;
  for await (const read of input as AsyncIterable<Buffer>) {
    let chunk = read;
    let first = chunk.indexOf(newline);
    if (!long && length + (first === -1 ? chunk.length : first) > maxLineBytes) {
      long = skip();
      for (const piece of pieces) long.add(piece);
      pieces = [];
      length = 0;
    }
    if (long) {
      long.add(first === -1 ? chunk : chunk.subarray(0, first));
      if (first === -1) continue;
      long.end(true);
      long = undefined;
      chunk = chunk.subarray(first + 1);
      first = chunk.indexOf(newline);
    }
    if (first === -1) {
      if (chunk.length > 0) pieces.push(chunk);
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
  long?.end(false);
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
