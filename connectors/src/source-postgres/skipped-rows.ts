/*
 * Rows whose record exceeds the size limit. They are counted with their keys, as far as the kept part contains them,
 * and reading continues after them.
 */

import type { Emitter } from '@inlay/protocol/connector';
import { maxRecordBytes, type SkippedRecords, type StreamDescriptor } from '@inlay/protocol/protocol';
import { fieldTexts } from '../postgres/record-text.ts';
import type { LongRow } from './rows.ts';

const tab = 9;
const maxKeys = 20;
const maxValueLength = 100;

export class SkippedRows {
  readonly #stream: StreamDescriptor;
  readonly #columns: readonly { name: string }[];
  readonly #key: readonly string[];
  readonly #skipped: SkippedRecords = { count: 0, keys: [] };

  constructor(stream: StreamDescriptor, columns: readonly { name: string }[], key: readonly string[]) {
    this.#stream = stream;
    this.#columns = columns;
    this.#key = key;
  }

  /** @param ownFields how many fields stand behind those of the record. */
  add(row: LongRow, emit: Emitter, ownFields: number): void {
    this.#skipped.count++;
    if (this.#skipped.keys.length >= maxKeys) return;
    const key = this.#keyOf(row, ownFields);
    this.#skipped.keys.push(key);
    const size = `${Math.round(row.bytes / 1e6)} MB`;
    const limit = `${maxRecordBytes / 1e6} MB`;
    emit.log(
      'WARN',
      `Skipped a row of ${this.#stream.name} (${key}): its size of ${size} exceeds the limit of ${limit}.`,
    );
  }

  /** Where the fields after those of the record start, in the tail of a row. */
  ownFieldsAt({ tail }: LongRow, ownFields: number): number {
    let at = tail.length;
    for (let fields = 0; fields < ownFields && at > 0; fields++) at = tail.lastIndexOf(tab, at - 1);
    return at + 1;
  }

  async report(emit: Emitter): Promise<void> {
    if (this.#skipped.count === 0) return;
    await emit.report({ stream_descriptor: this.#stream, records_skipped: this.#skipped });
  }

  #keyOf({ head, tail }: LongRow, ownFields: number): string {
    // The last field of the head and the first one of the tail are cut off.
    const first = fieldTexts(head, 0, Math.max(0, head.lastIndexOf(tab)));
    const last = fieldTexts(tail, tail.indexOf(tab) + 1, tail.length - 1);
    const all = this.#columns.length + ownFields;
    const values = this.#key.flatMap((name) => {
      const index = this.#columns.findIndex((column) => column.name === name);
      const value = index < first.length ? first[index] : last[last.length - (all - index)];
      return value === undefined || index === -1 ? [] : [`${name} ${String(value).slice(0, maxValueLength)}`];
    });
    return values.length > 0 ? values.join(', ') : `number ${this.#skipped.count}`;
  }
}
