/* Sends rows in blocks: as many at once as lie together. */
import type { Emitter } from '@inlay/protocol/connector';
import type { RowColumn, StreamDescriptor } from '@inlay/protocol/protocol';
import { type MeasuredColumn, RowMeasure } from './row-measure.ts';

const newline = 10;
/** A longer row is sent as a record: its record may exceed the limit. */
const maxRowBytes = 64 * 1024;

/**
 * Gets the position of the fields after those of a record, which is sent before anything else. What it returns is called
 * after that.
 */
export type OnFields = (lines: Buffer, from: number, end: number) => (() => Promise<void> | undefined) | undefined;

interface Sent {
  count: number;
  /** Behind the last row that was sent. */
  end: number;
  isBehind: Promise<void> | undefined;
  /** What `onFields` returned for that row. */
  due: ReturnType<OnFields>;
}

export class RowSender {
  readonly #stream: StreamDescriptor;
  readonly #columns: readonly RowColumn[];
  readonly #measure: RowMeasure;

  private constructor(stream: StreamDescriptor, columns: readonly MeasuredColumn[], measure: RowMeasure) {
    this.#stream = stream;
    this.#columns = columns.map(({ name, type }) => {
      return { name, type: type.name, ...(type.isArray && ({ is_array: true } as const)) };
    });
    this.#measure = measure;
  }

  /** Undefined where the columns don't allow it. */
  static of(stream: StreamDescriptor, columns: readonly MeasuredColumn[]): RowSender | undefined {
    const measure = RowMeasure.of(stream, columns);
    return measure && new RowSender(stream, columns, measure);
  }

  /** Sends rows up to the first one that is too long, or after which something is due. The lines are then no longer whole. */
  send(lines: Buffer, start: number, emit: Emitter, onFields?: OnFields): Sent {
    const measure = this.#measure;
    let to = start;
    let count = 0;
    let due: Sent['due'];
    let from = start;
    while (from < lines.length && !due) {
      const end = lines.indexOf(newline, from);
      if (end - from > maxRowBytes) break;
      const fieldsAt = measure.add(lines, from, end);
      // Rows move together, without the fields that are not part of their records.
      if (to < from) lines.copyWithin(to, from, fieldsAt);
      to += fieldsAt - from;
      due = onFields?.(lines, fieldsAt, end);
      lines[to - 1] = newline;
      count++;
      from = end + 1;
    }
    if (count === 0) return { count, end: start, isBehind: undefined, due };
    const { bytes, hasFarTimes } = measure;
    measure.bytes = 0;
    measure.hasFarTimes = false;
    const rows = { columns: this.#columns, lines: lines.subarray(start, to), count, bytes, hasFarTimes };
    return { count, end: from, isBehind: emit.rows?.(this.#stream, rows), due };
  }
}
