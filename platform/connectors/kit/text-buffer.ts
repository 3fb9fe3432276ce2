/*
 * Collects text as its UTF-8 bytes, until somebody takes them. Each piece is written where it ends up: putting strings
 * together and encoding the result takes several times as long and several times the memory.
 */
const nothing = Buffer.alloc(0);

export class TextBuffer {
  /** In bytes. */
  length = 0;
  readonly #capacity: number;
  #bytes = nothing;

  /** @param capacity in bytes; where it does not do, more is taken. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(text: string): void {
    // No character takes more than three bytes; how many it really takes matters only where room is short.
    if (text.length * 3 > this.#bytes.length - this.length) this.#makeRoom(Buffer.byteLength(text));
    this.length += this.#bytes.write(text, this.length);
  }

  /** Bytes that are text already. */
  addBytes(source: Buffer, start: number, end: number): void {
    this.#makeRoom(end - start);
    this.length += source.copy(this.#bytes, this.length, start, end);
  }

  /** The bytes belong to the caller from now on. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.length);
    this.#bytes = nothing;
    this.length = 0;
    return taken;
  }

  #makeRoom(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#capacity, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
  }
}
