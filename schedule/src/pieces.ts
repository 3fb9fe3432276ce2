/**
 * Work that takes long, done in pieces. Between two pieces the event loop serves everybody else, so that a source with ten
 * thousand streams does not make all other callers wait.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long one piece may take. */
const pieceMs = 10;

/** Lets everybody else have the event loop, once enough work has been done since the last time. */
export class Pieces {
  #startedAt = performance.now();

  get isPauseDue(): boolean {
    return performance.now() - this.#startedAt >= pieceMs;
  }

  async pause(): Promise<void> {
    await nextTurn();
    this.#startedAt = performance.now();
  }
}

export async function mapInPieces<T, U>(items: Iterable<T>, map: (item: T) => U): Promise<U[]> {
  const mapped: U[] = [];
  const pieces = new Pieces();
  for (const item of items) {
    mapped.push(map(item));
    if (pieces.isPauseDue) await pieces.pause();
  }
  return mapped;
}

const start = '[\n';
const between = ',\n';
const end = '\n]';

/** A list as JSON in which every item has a line of its own, so that `readLongList` can read it in pieces. */
export async function longListText(items: readonly unknown[]): Promise<string> {
  if (items.length === 0) return '[]';
  return start + (await mapInPieces(items, (item) => JSON.stringify(item))).join(between) + end;
}

/** Undefined if the text is not a list as `longListText` writes it. Throws if an item is not JSON. */
export async function readLongList(text: string): Promise<unknown[] | undefined> {
  if (!text.startsWith(start) || !text.endsWith(end)) return undefined;
  return await mapInPieces(linesIn(text, start.length, text.length - end.length), (line) => JSON.parse(line));
}

/** JSON has no line breaks within texts, so a line is an item. */
function* linesIn(text: string, from: number, to: number): Generator<string> {
  for (let at = from; at < to; ) {
    const found = text.indexOf(between, at);
    const lineEnd = found === -1 ? to : Math.min(found, to);
    yield text.slice(at, lineEnd);
    at = lineEnd + between.length;
  }
}
