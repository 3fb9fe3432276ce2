/**
 * Finds the position of each value in a JSON text, to show validation errors in place, and the position of a syntax error. The
 * browsers' own parsers report these differently or not at all.
 */
export interface Span {
  start: number;
  end: number;
}
export type Read = { value: unknown; places: ReadonlyMap<string, Span> } | { faultAt: number };

export const keyOf = (path: readonly string[]) => JSON.stringify(path);

const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/y;
const space = /[ \t\r\n]*/y;
/** Deeper than anything that the service accepts. */
const maxDepth = 100;

class Wrong extends Error {
  readonly at: number;
  constructor(at: number) {
    super();
    this.at = at;
  }
}

export function readJson(text: string): Read {
  const places = new Map<string, Span>();
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    if (found !== undefined) at += found.length;
    return found;
  };
  const skip = () => void take(space);
  const is = (sign: string): boolean => {
    if (text[at] !== sign) return false;
    at += 1;
    skip();
    return true;
  };
  const expect = (sign: string) => {
    if (!is(sign)) throw new Wrong(at);
  };
  const readString = (): string => {
    const found = take(string);
    if (found === undefined) throw new Wrong(at);
    return JSON.parse(found);
  };

  function readValue(path: string[]): void {
    const start = at;
    if (path.length > maxDepth) throw new Wrong(at);
    if (is('{')) readMembers(path);
    else if (is('[')) readItems(path);
    else if (text[at] === '"') readString();
    else if (!take(literal)) throw new Wrong(at);
    places.set(keyOf(path), { start, end: at });
    skip();
  }
  function readMembers(path: string[]): void {
    if (text[at] === '}') {
      at += 1;
      return;
    }
    do {
      const name = readString();
      skip();
      expect(':');
      readValue([...path, name]);
    } while (is(','));
    if (text[at] !== '}') throw new Wrong(at);
    at += 1;
  }
  function readItems(path: string[]): void {
    if (text[at] === ']') {
      at += 1;
      return;
    }
    let index = 0;
    do {
      readValue([...path, String(index)]);
      index += 1;
    } while (is(','));
    if (text[at] !== ']') throw new Wrong(at);
    at += 1;
  }

  try {
    skip();
    readValue([]);
    if (at < text.length) throw new Wrong(at);
    return { value: JSON.parse(text), places };
  } catch (error) {
    if (error instanceof Wrong) return { faultAt: error.at };
    throw error;
  }
}

/** The position of a value, or of its nearest existing ancestor. */
export function nearestPlace(places: ReadonlyMap<string, Span>, path: readonly string[]): Span | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const found = places.get(keyOf(path.slice(0, length)));
    if (found) return found;
  }
  return undefined;
}

export function lineOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
