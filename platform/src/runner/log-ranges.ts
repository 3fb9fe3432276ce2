/**
 * Reads a job's log by byte ranges. However long the log is, the cost of a page depends only on the page, and a search
 * reads a bounded part and returns where to continue.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { type JobLogLine, type PlacedLine, partsOf, readLine } from './job-log.ts';

const chunkBytes = 256 * 1024;
const newline = 10;

/** One file of the log: contains the bytes from `from` to `until` and starts with a line. */
interface Part {
  handle: FileHandle;
  from: number;
  until: number;
}

/** Whole lines, and the byte at which they begin. */
export interface Chunk {
  offset: number;
  bytes: Buffer;
}

export interface LogRanges {
  totalBytes: number;
  /** Lines that begin at this byte or later. */
  from(offset: number): AsyncGenerator<Chunk>;
  /** Backwards from the end. */
  backwards(): AsyncGenerator<Chunk>;
  close(): Promise<void>;
}

/** Start of the first line with one of these levels. */
export async function findLevel(log: LogRanges, levels: readonly string[]): Promise<number | undefined> {
  // As the line is written. Within a message, quotation marks are escaped.
  const marks = levels.map((level) => Buffer.from(`"level":${JSON.stringify(level)}`));
  for await (const { offset, bytes } of log.from(0)) {
    const places = marks.map((mark) => bytes.indexOf(mark)).filter((place) => place >= 0);
    if (places.length > 0) return offset + bytes.lastIndexOf(newline, Math.min(...places)) + 1;
  }
  return undefined;
}

export async function openLogRanges(file: string): Promise<LogRanges> {
  const parts: Part[] = [];
  let totalBytes = 0;
  for (const path of partsOf(file)) {
    const handle = await open(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (!handle) continue;
    const { size } = await handle.stat();
    parts.push({ handle, from: totalBytes, until: totalBytes + size });
    totalBytes += size;
  }

  async function* from(offset: number): AsyncGenerator<Chunk> {
    for (const part of parts) if (part.until > offset) yield* linesOf(part, Math.max(offset, part.from));
  }

  return {
    totalBytes,
    from,
    async *backwards() {
      for (const part of parts.toReversed()) yield* linesBackwards(part);
    },
    async close() {
      await Promise.all(parts.map(({ handle }) => handle.close()));
    },
  };
}

async function* linesOf({ handle, from, until }: Part, offset: number): AsyncGenerator<Chunk> {
  // A line starts after the end of another: the byte before shows whether one starts here.
  let position = offset === from ? offset : offset - 1;
  let isAtLine = offset === from;
  let rest: Buffer = Buffer.alloc(0);
  while (position < until) {
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.allocUnsafe(Math.min(chunkBytes, until - position)),
      position: position - from,
    });
    if (bytesRead === 0) break;
    let bytes: Buffer =
      rest.length === 0 ? buffer.subarray(0, bytesRead) : Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    position += bytesRead;
    if (!isAtLine) {
      const end = bytes.indexOf(newline);
      if (end === -1) continue;
      bytes = bytes.subarray(end + 1);
      isAtLine = true;
    }
    const last = position >= until ? bytes.length : bytes.lastIndexOf(newline) + 1;
    rest = bytes.subarray(last);
    if (last > 0) yield { offset: position - bytes.length, bytes: bytes.subarray(0, last) };
  }
}

async function* linesBackwards({ handle, from, until }: Part): AsyncGenerator<Chunk> {
  let size = chunkBytes;
  for (let end = until; end > from; ) {
    const begin = Math.max(from, end - size);
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.allocUnsafe(end - begin),
      position: begin - from,
    });
    if (bytesRead < end - begin) return;
    const first = begin === from ? 0 : buffer.indexOf(newline) + 1;
    if (begin !== from && (first === 0 || first === buffer.length)) {
      // One line is longer than all this.
      size *= 2;
      continue;
    }
    yield { offset: begin + first, bytes: buffer.subarray(first) };
    end = begin + first;
    size = chunkBytes;
  }
}

/** The lines of a chunk that contain a text, ignoring case; without a text, all of them. */
export function linesIn({ offset, bytes }: Chunk, wanted: string | undefined): PlacedLine[] {
  const word = wanted === undefined ? undefined : plainWordIn(wanted);
  // Most chunks do not contain the text and need no splitting.
  if (word !== undefined && !bytes.toString().toLowerCase().includes(word)) return [];
  const lines: PlacedLine[] = [];
  for (let begin = 0; begin < bytes.length; ) {
    const end = bytes.indexOf(newline, begin);
    const text = bytes.toString('utf8', begin, end === -1 ? bytes.length : end);
    if (word === undefined || text.toLowerCase().includes(word)) {
      const line = readLine(text.trimEnd());
      if (line && (wanted === undefined || textOf(line).includes(wanted)))
        lines.push({ offset: offset + begin, ...line });
    }
    begin = end === -1 ? bytes.length : end + 1;
  }
  return lines;
}

const textOf = ({ level, origin, message }: JobLogLine) => `${level} ${origin} ${message}`.toLowerCase();

/** JSON does not escape these words, so any match of the text contains the word. */
function plainWordIn(wanted: string): string | undefined {
  const words = wanted.match(/[a-z0-9]+/g) ?? [];
  return words.toSorted((a, b) => b.length - a.length)[0];
}
