/*
 * Collects text as UTF-8 bytes. Each piece is written to its final position: joining strings and encoding the result
 * takes several times the time and memory.
 */
const nothing = Buffer.alloc(0);
const zero = '0'.charCodeAt(0);
const maxInt32 = 2 ** 31 - 1;

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
  addBytes(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** The same for a part of the bytes. */
  addSlice(source: Buffer, start: number, end: number): void {
    this.#makeRoom(end - start);
    this.length += source.copy(this.#bytes, this.length, start, end);
  }

  /**
   * The bytes themselves, with room for this many more after `length`: for a writer of single bytes, which sets
   * `length` when done. Valid until something else is added.
   */
  room(bytes: number): Buffer {
    this.#makeRoom(bytes);
    return this.#bytes;
  }

  /** The digits of a whole number that is not negative: several times as fast as making a string first. */
  addWholeNumber(value: number): void {
    if (value > maxInt32) {
      this.add(String(value));
      return;
    }
    let digits = 1;
    for (let limit = 10; value >= limit; limit *= 10) digits++;
    this.#makeRoom(digits);
    let rest = value;
    for (let at = this.length + digits - 1; at >= this.length; at--) {
      const tenth = (rest / 10) | 0;
      this.#bytes[at] = zero + rest - tenth * 10;
      rest = tenth;
    }
    this.length += digits;
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
