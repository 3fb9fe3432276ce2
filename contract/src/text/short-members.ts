/**
 * Finds short values in a streamed JSON text that is too long to buffer: the stream and key of a record that is too
 * large. Reads one object. Invalid JSON returns what was found before the error.
 */

const quote = 34;
const backslash = 92;
const comma = 44;
const colon = 58;
const openBrace = 123;
const closeBrace = 125;
const openBracket = 91;
const closeBracket = 93;
const space = 32;

/** Maximum length of a key or value in bytes. Longer ones are skipped. */
const maxBytes = 1_000;

export class ShortMembers {
  /** JSON texts by path (see `pathKey`). The last of repeated keys wins. */
  readonly found = new Map<string, string>();
  readonly #wanted: ReadonlySet<string>;
  /** Only this many levels are tracked, because nesting depth is unbounded. */
  readonly #levels: number;
  readonly #keys: string[] = [];
  readonly #areObjects: boolean[] = [];
  #depth = 0;
  #reads: 'string' | 'scalar' | undefined;
  #isKey = false;
  #isEscaped = false;
  #expectsKey = false;
  #kept: number[] | undefined;

  /** @param paths the keys that lead to each value. */
  constructor(paths: Iterable<readonly string[]>) {
    const all = [...paths];
    this.#wanted = new Set(all.map(pathKey));
    this.#levels = Math.max(0, ...all.map(({ length }) => length));
  }

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) {
      if (this.#reads === 'string' && !this.#kept && !this.#isEscaped) at = this.#skipString(bytes, at);
      const byte = bytes[at];
      if (byte === undefined) return;
      if (this.#reads === 'string') this.#readString(byte);
      else if (this.#reads === 'scalar' && !endsScalar(byte)) this.#keep(byte);
      else {
        if (this.#reads === 'scalar') this.#take();
        this.#readStructure(byte);
      }
    }
  }

  /** Jumps to the closing quote, because most of a long text is in a few strings that nobody needs. */
  #skipString(bytes: Uint8Array, start: number): number {
    for (let from = start; ; ) {
      const found = bytes.indexOf(quote, from);
      const end = found === -1 ? bytes.length : found;
      let escapes = 0;
      while (end - escapes > from && bytes[end - escapes - 1] === backslash) escapes++;
      const isEscaped = escapes % 2 === 1;
      if (found === -1) this.#isEscaped = isEscaped;
      if (found === -1 || !isEscaped) return end;
      from = end + 1;
    }
  }

  #readString(byte: number): void {
    this.#keep(byte);
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#take();
  }

  #readStructure(byte: number): void {
    if (byte === openBrace || byte === openBracket) {
      this.#depth++;
      this.#expectsKey = byte === openBrace;
      if (this.#depth <= this.#levels) this.#areObjects[this.#depth] = byte === openBrace;
      if (this.#depth <= this.#levels) this.#keys[this.#depth - 1] = '';
    } else if (byte === closeBrace || byte === closeBracket) {
      this.#depth--;
    } else if (byte === comma) {
      this.#expectsKey = this.#isNamed && this.#areObjects[this.#depth] === true;
    } else if (byte > space && byte !== colon) {
      this.#isKey = byte === quote && this.#isNamed && this.#expectsKey;
      this.#reads = byte === quote ? 'string' : 'scalar';
      this.#kept = this.#isKey || this.#isWanted() ? [byte] : undefined;
    }
  }

  get #isNamed(): boolean {
    return this.#depth > 0 && this.#depth <= this.#levels;
  }

  #isWanted(): boolean {
    return this.#isNamed && this.#areObjects[this.#depth] === true && this.#wanted.has(this.#path);
  }

  get #path(): string {
    return pathKey(this.#keys.slice(0, this.#depth));
  }

  #keep(byte: number): void {
    if (this.#kept && this.#kept.length < maxBytes) this.#kept.push(byte);
    else this.#kept = undefined;
  }

  /** A key or a value is complete. */
  #take(): void {
    const text = this.#kept && Buffer.from(this.#kept).toString();
    if (this.#isKey) {
      this.#keys[this.#depth - 1] = text === undefined ? '' : (textOf(text) ?? '');
      this.#expectsKey = false;
    } else if (text !== undefined) {
      this.found.set(this.#path, text);
    }
    this.#reads = undefined;
    this.#kept = undefined;
  }
}

export function pathKey(path: readonly string[]): string {
  return path.join('\0');
}

/** The value if the JSON text is a string, otherwise undefined. */
export function textOf(json: string | undefined): string | undefined {
  try {
    const value: unknown = JSON.parse(json ?? 'null');
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function endsScalar(byte: number): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket || byte <= space;
}
