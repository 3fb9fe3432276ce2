/*
 * Knows a record that is written as the bundled connectors write it by its first bytes, without parsing it: `recordHead`,
 * the milliseconds, `,"data":{…}}}`. Records come in long rows that all begin alike, of one stream and one millisecond,
 * so whoever reads them tries the beginning of the last one first. Any other line is for a parser.
 */
export class RecordBeginning {
  /** Of its stream. */
  readonly name: string;
  readonly namespace: string | undefined;
  readonly emittedAt: number;
  /** In bytes: up to the milliseconds, and up to the data. */
  readonly headLength: number;
  readonly dataAt: number;
  readonly #words: Float64Array;
  /** Overlaps with the one before. */
  readonly #lastWordAt: number;
  readonly #lastWord: number;

  private constructor(bytes: Buffer, [, head = '', name = '', namespace, emittedAt]: RegExpExecArray) {
    this.name = utf8(name);
    this.namespace = namespace === undefined ? undefined : utf8(namespace);
    this.emittedAt = Number(emittedAt);
    this.headLength = head.length;
    this.dataAt = bytes.length - 1;
    this.#words = Float64Array.from({ length: Math.floor(bytes.length / wordBytes) }, (_, index) =>
      bytes.readDoubleLE(index * wordBytes),
    );
    this.#lastWordAt = bytes.length - wordBytes;
    this.#lastWord = bytes.readDoubleLE(this.#lastWordAt);
  }

  /** Of the line between the two places, unless it is not one of ours. */
  static read(block: Buffer, start: number, end: number): RecordBeginning | undefined {
    const match = ownBeginning.exec(block.toString('latin1', start, Math.min(end, start + longestBeginning)));
    return match ? new RecordBeginning(block.subarray(start, start + match[0].length), match) : undefined;
  }

  /**
   * Whether the line between the two places begins so. Eight bytes are compared at a time, as a number, which for text
   * is exact: no eight bytes of it are zero, which has two forms, and NaN equals nothing and leaves the line to a parser.
   */
  begins(block: DataView, start: number, end: number): boolean {
    if (start + this.dataAt >= end) return false;
    const words = this.#words;
    for (let index = 0, at = start; index < words.length; index++, at += wordBytes) {
      if (block.getFloat64(at, true) !== words[index]) return false;
    }
    return block.getFloat64(start + this.#lastWordAt, true) === this.#lastWord;
  }
}

const wordBytes = 8;
/** A longer one is left to a parser. */
const longestBeginning = 1024;

/** One character a byte. A name in which JSON escapes something is left to a parser. */
const ownBeginning =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are not allowed in a JSON string
  /^(\{"type":"RECORD","record":\{"stream":"([^"\\\0-\x1f]*)"(?:,"namespace":"([^"\\\0-\x1f]*)")?,"emitted_at":)(\d{1,15}),"data":\{/;

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString();
}
