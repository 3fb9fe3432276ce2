/*
 * A database without an encoding (SQL_ASCII) has texts of any. Records are UTF-8, so bytes that are none are replaced by
 * U+FFFD, and the values with such bytes are counted for the report of the stream.
 */
import { isUtf8 } from 'node:buffer';
import type { ValueChange } from '@inlay/protocol/protocol';

const tab = 9;
const newline = 10;

export class DamagedTexts {
  readonly #columns: readonly { name: string }[];
  readonly #changes = new Map<string, ValueChange>();

  constructor(columns: readonly { name: string }[]) {
    this.#columns = columns;
  }

  get changes(): ValueChange[] {
    return [...this.#changes.values()];
  }

  /** The same lines as UTF-8. `before` is the number of earlier records. */
  mend(lines: Buffer, before: number): Buffer {
    if (isUtf8(lines)) return lines;
    let record = before;
    for (let start = 0, end = 0; start < lines.length; start = end + 1) {
      end = lines.indexOf(newline, start);
      record += 1;
      if (!isUtf8(lines.subarray(start, end))) this.#count(lines.subarray(start, end), record);
    }
    // A byte below 128 is never part of what is replaced: separators and escapes are kept.
    return Buffer.from(lines.toString());
  }

  #count(line: Buffer, record: number): void {
    let start = 0;
    for (const { name: field } of this.#columns) {
      const tabAt = line.indexOf(tab, start);
      const end = tabAt === -1 ? line.length : tabAt;
      if (!isUtf8(line.subarray(start, end))) {
        const change = this.#changes.get(field) ?? { field, kind: 'shortened', count: 0, example: `record ${record}` };
        this.#changes.set(field, { ...change, count: change.count + 1 });
      }
      start = end + 1;
    }
  }
}
