/*
 * Puts records into the table of one stream. Lines for COPY are collected; `store` sends them within the transaction of
 * the caller. Appended records go straight into the table. Records without duplicates go through a staging table
 * that is empty between transactions; into a table that was empty they are copied, until a key comes for the second time,
 * which takes half of the time. Records that replace the old ones stay in a staging table until `complete`, and
 * then replace them by delete and insert: a reader of the table sees the old records or the new ones meanwhile, never
 * none, and views and permissions on it stay.
 *
 * A value that does not fit its column widens the column, and a field that has no column gets one where the stream may have
 * such fields. Lines before and after such a change are sent apart, with the change in between, so that a transaction
 * leaves the table as it was or with both.
 *
 * Staging tables are temporary tables of the session, so nothing is left behind when the session ends, however it ends.
 */
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  type ConfiguredStream,
  type FieldChange,
  hasFurtherFields,
  type RecordMessage,
  type StreamReport,
} from '../../src/protocol.ts';
import { UnparsedRecord } from '../kit/input.ts';
import { TextBuffer } from '../kit/text-buffer.ts';
import { ValueChanges } from '../kit/value-changes.ts';
import {
  type ColumnType,
  columnTypeFor,
  firstColumnType,
  isColumnType,
  keepsOrder,
  widerType,
} from './column-types.ts';
import { copyNull, copyValue } from './copy-values.ts';
import { columnName, deletedAtField, moreColumn, ownColumns } from './identifiers.ts';
import { RowBytes } from './row-bytes.ts';
import {
  addition,
  type Column,
  hasNullsNotDistinct,
  hasRoomFor,
  moreAddition,
  placeSql,
  type Table,
  widening,
} from './table.ts';

/** Of the lines to begin with; a table that gets many has more. */
const linesBytes = 64 * 1024;
const newline = 10;
/** The records of a transaction are sorted in memory. With the usual 4 MB, PostgreSQL sorts on disk. */
const enoughToSort = `select set_config('work_mem', '64MB', true)
  where pg_size_bytes(current_setting('work_mem')) < pg_size_bytes('64MB')`;

const uniqueViolation = '23505';

/** Something to do in the transaction: lines to copy, or changes of the table before the next lines. */
type Step = { lines: Buffer; columnNames: readonly string[] } | { changes: string[] };

export class TableWriter {
  private readonly client: pg.Client;
  private readonly table: Table;
  private readonly configured: ConfiguredStream;
  private readonly staging: string;
  private readonly byProperty: Map<string, Column>;
  private readonly keepsFurtherFields: boolean;
  /** The same for all records of the sync, already with its separators. */
  private readonly constantPart: string;
  private readonly lines = new TextBuffer(linesBytes);
  /** For the columns as they are now. */
  private rowBytes: RowBytes | undefined;
  private latest: { emittedAt: number; bytes: Buffer } | undefined;
  private readonly changes = new ValueChanges();
  /** Fields that have no column yet do not get one any more. */
  private isFull = false;
  private columnNames: readonly string[] = [];
  private steps: Step[] = [];
  private stepBytes = 0;
  /** Changes that the table itself has yet to get, where a staging table has them already. */
  private lateChanges: string[] = [];
  private records = 0;
  private written = 0;
  private deleted = 0;
  private hasDeletions = false;
  private isCompleted = false;
  /** The table was empty, and no key has come twice. */
  private areKeysNew = false;

  constructor(client: pg.Client, table: Table, configured: ConfiguredStream, staging: string) {
    this.client = client;
    this.table = table;
    this.configured = configured;
    this.staging = pg.escapeIdentifier(staging);
    this.byProperty = new Map(table.columns.map((column) => [column.property, column]));
    this.keepsFurtherFields = hasFurtherFields(configured.stream);
    this.constantPart = `\t${configured.sync_id}\t${configured.generation_id}\t`;
    this.listColumns();
  }

  get isOverwriting(): boolean {
    return this.configured.destination_sync_mode === 'overwrite';
  }

  private get isStaged(): boolean {
    return this.configured.destination_sync_mode !== 'append';
  }

  private get isMerging(): boolean {
    return this.isStaged && !this.isOverwriting;
  }

  async createStaging(): Promise<void> {
    if (!this.isStaged) return;
    // Positions tell the order in which records came, for those with the same cursor. Taken singly they cost more.
    const position = this.isOverwriting ? '' : ', _inlay_position bigint generated always as identity (cache 1000)';
    const whenCommitted = this.isOverwriting ? 'preserve' : 'delete';
    await this.client.query(
      `create temporary table ${this.staging} (like ${this.table.name}${position}) on commit ${whenCommitted} rows`,
    );
    if (!this.isMerging) return;
    const { rowCount } = await this.client.query(`select from ${this.table.name} limit 1`);
    this.areKeysNew = rowCount === 0 && (await hasNullsNotDistinct(this.client));
  }

  add(record: RecordMessage['record']): void {
    this.records++;
    if (!(record instanceof UnparsedRecord && this.addBytes(record))) this.addParsed(record);
  }

  /** Without parsing the data. False: that was not possible, and nothing is added. */
  private addBytes({ block, start, end, emitted_at }: UnparsedRecord): boolean {
    if (this.table.types.has(moreColumn)) return false;
    this.rowBytes ??= new RowBytes(this.table.columns);
    const beginning = this.beginningOf(emitted_at);
    const out = this.lines.room(beginning.length + this.rowBytes.room(end - start));
    const { length } = this.lines;
    out.set(beginning, length);
    const lineEnd = this.rowBytes.write(block, start, end, out, length + beginning.length);
    if (lineEnd === -1) return false;
    out[lineEnd] = newline;
    this.lines.length = lineEnd + 1;
    return true;
  }

  /** What comes before the values of a record without notes. Many records of a sync are emitted in the same millisecond. */
  private beginningOf(emittedAt: number): Buffer {
    if (this.latest?.emittedAt !== emittedAt) {
      const text = `${new Date(emittedAt).toISOString()}${this.constantPart}${copyNull}`;
      this.latest = { emittedAt, bytes: Buffer.from(text) };
    }
    return this.latest.bytes;
  }

  private addParsed({ data, emitted_at, meta }: RecordMessage['record']): void {
    const notes: FieldChange[] = [];
    this.makeRoomFor(data);
    let values = '';
    for (const column of this.table.columns) {
      const value = Object.hasOwn(data, column.property) ? data[column.property] : null;
      values += value === null || value === undefined ? `\t${copyNull}` : `\t${this.textOf(column, value, notes)}`;
    }
    if (this.table.types.has(moreColumn)) values += `\t${this.moreOf(data, notes)}`;
    if (this.isMerging && (data[deletedAtField] ?? null) !== null) this.hasDeletions = true;
    const note = noteOf(meta?.changes, notes);
    this.lines.add(`${new Date(emitted_at).toISOString()}${this.constantPart}${note}${values}\n`);
  }

  /** How much waits to be stored. */
  get waitingBytes(): number {
    return this.lines.length + this.stepBytes;
  }

  /** Takes what waits, if anything does; the function stores it, in the open transaction. */
  take(): (() => Promise<void>) | undefined {
    this.closeLines();
    if (this.steps.length === 0) return undefined;
    const { steps, hasDeletions } = this;
    this.steps = [];
    this.stepBytes = 0;
    this.hasDeletions = false;
    // For the table as these records leave it: the next ones may change it while these are stored.
    const deletion = hasDeletions ? this.deletionStatement() : undefined;
    const merge = this.isMerging ? this.mergeStatement() : undefined;
    return async () => {
      if (merge === undefined) {
        const rows = await this.run(steps, this.isStaged ? this.staging : this.table.name);
        if (!this.isStaged) this.written += rows;
        return;
      }
      if (deletion === undefined && this.areKeysNew && (await this.runWithNewKeys(steps))) return;
      await this.run(steps, this.staging);
      await this.client.query(enoughToSort);
      if (deletion !== undefined) this.deleted += (await this.client.query(deletion)).rowCount ?? 0;
      this.written += (await this.client.query(merge)).rowCount ?? 0;
    };
  }

  /** In the open transaction: the stream has been read to its end, and all its records are stored. */
  async complete(): Promise<void> {
    const { name } = this.table;
    if (this.isOverwriting) {
      // Waits for a run that was given up for dead and still ends: without the lock, what it inserts meanwhile would stay
      // beside the new records. Readers do not notice it.
      await this.client.query(`lock table ${name} in share row exclusive mode`);
      await this.client.query(`delete from ${name}`);
      // The old rows are gone, so that nothing has to be converted.
      for (const change of this.lateChanges.splice(0)) await this.client.query(`alter table ${name} ${change}`);
      const list = this.columnNames.join(', ');
      const { rowCount } = await this.client.query(`insert into ${name} (${list}) select ${list} from ${this.staging}`);
      this.written = rowCount ?? 0;
      await this.client.query(`drop table ${this.staging}`);
    } else if (this.configured.minimum_generation_id > 0) {
      await this.client.query(`delete from ${name} where ${ownColumns.generation} < $1`, [
        this.configured.minimum_generation_id,
      ]);
    }
    this.isCompleted = true;
  }

  /** What has become of the records, once everything is committed; nothing for records that are not in place. */
  report(): StreamReport | undefined {
    if (this.isOverwriting && !this.isCompleted) return undefined;
    return {
      stream_descriptor: this.configured.stream,
      records_written: this.written,
      records_deleted: this.deleted,
      values_changed: this.changes.list(),
    };
  }

  private textOf(column: Column, value: unknown, notes: FieldChange[]): string {
    let stored = copyValue(column.type, value);
    if (!stored) {
      this.widen(column, widerType(column.type, columnTypeFor(value)));
      stored = copyValue(column.type, value);
    }
    if (!stored) throw new Error(`A column of type ${column.type} does not take a value that it was widened for.`);
    if (stored.isChanged) this.note(notes, column.property);
    return stored.text;
  }

  /** A part of the value could not be kept. */
  private note(notes: FieldChange[], field: string): void {
    notes.push({ field, change: 'TRUNCATED', reason: 'DESTINATION_SERIALIZATION_ERROR' });
    this.changes.add(field, 'shortened', this.records);
  }

  private moreOf(data: Record<string, unknown>, notes: FieldChange[]): string {
    const members: [string, unknown][] = [];
    for (const field in data) {
      if (data[field] !== null && !this.byProperty.has(field) && this.isMore(field)) members.push([field, data[field]]);
    }
    if (members.length === 0) return copyNull;
    const stored = copyValue('jsonb', Object.fromEntries(members));
    if (stored?.isChanged) {
      for (const [property, value] of members) if (copyValue('jsonb', value)?.isChanged) this.note(notes, property);
    }
    return stored?.text ?? copyNull;
  }

  /** For fields that the schema of the stream does not have. */
  private makeRoomFor(data: Record<string, unknown>): void {
    for (const field in data) {
      if (this.byProperty.has(field) || this.isMore(field)) continue;
      const value = data[field];
      if (value === null) continue;
      if (this.keepsFurtherFields) this.addField(field, firstColumnType(value));
      else this.changes.add(field, 'left_out', this.records);
    }
  }

  private addField(property: string, type: ColumnType): void {
    const { types, columns } = this.table;
    const name = pg.escapeIdentifier(columnName(property));
    // An earlier sync may have made the column.
    const existing = types.get(name);
    const isFree = existing === undefined ? hasRoomFor(types, type) : isColumnType(existing) && !this.isTaken(name);
    if (isFree) {
      const column = { property, name, type: existing ?? type };
      if (existing === undefined) this.change(addition(column));
      types.set(name, column.type);
      columns.push(column);
      this.byProperty.set(property, column);
    } else {
      // From now on every further field: there may be any number of them.
      this.isFull = true;
      if (types.has(moreColumn)) return;
      this.change(moreAddition);
      types.set(moreColumn, 'jsonb');
    }
    this.listColumns();
  }

  private isMore(field: string): boolean {
    return this.isFull || this.table.more.has(field);
  }

  private isTaken(name: string): boolean {
    return this.table.columns.some((column) => column.name === name);
  }

  private widen(column: Column, type: ColumnType): void {
    this.change(widening(column.name, column.type, type));
    const { cursor } = this.table;
    if (cursor?.column === column && !keepsOrder(column.type, type)) this.table.cursor = undefined;
    column.type = type;
    this.table.types.set(column.name, type);
    this.rowBytes = undefined;
  }

  private change(change: string): void {
    this.closeLines();
    // Together: a table is written anew once for all columns that one record widens.
    const last = this.steps.at(-1);
    if (last && 'changes' in last) last.changes.push(change);
    else this.steps.push({ changes: [change] });
    if (this.isOverwriting) this.lateChanges.push(change);
  }

  private closeLines(): void {
    if (this.lines.length === 0) return;
    this.stepBytes += this.lines.length;
    this.steps.push({ lines: this.lines.take(), columnNames: this.columnNames });
  }

  private listColumns(): void {
    this.closeLines();
    this.rowBytes = undefined;
    const own = [ownColumns.emittedAt, ownColumns.syncId, ownColumns.generation, ownColumns.meta];
    const more = this.table.types.has(moreColumn) ? [moreColumn] : [];
    this.columnNames = [...own, ...this.table.columns.map(({ name }) => name), ...more];
  }

  /** Straight into the table, which has an index that refuses a second record of a key. False: it did, and nothing is stored. */
  private async runWithNewKeys(steps: readonly Step[]): Promise<boolean> {
    await this.client.query('savepoint new_keys');
    try {
      this.written += await this.run(steps, this.table.name);
      await this.client.query('release savepoint new_keys');
      return true;
    } catch (reason) {
      if (!(reason instanceof pg.DatabaseError) || reason.code !== uniqueViolation) throw reason;
      await this.client.query('rollback to savepoint new_keys');
      this.areKeysNew = false;
      return false;
    }
  }

  /** How many rows were copied. */
  private async run(steps: readonly Step[], target: string): Promise<number> {
    let rows = 0;
    for (const step of steps) {
      if ('changes' in step) await this.changeTable(step.changes.join(', '));
      else rows += await this.copy(target, step.lines, step.columnNames);
    }
    return rows;
  }

  private async changeTable(change: string): Promise<void> {
    if (this.isStaged) await this.client.query(`alter table ${this.staging} ${change}`);
    if (!this.isOverwriting) await this.client.query(`alter table ${this.table.name} ${change}`);
  }

  private async copy(target: string, bytes: Buffer, columnNames: readonly string[]): Promise<number> {
    const stream = this.client.query(copyFrom(`copy ${target} (${columnNames.join(', ')}) from stdin`));
    await new Promise<void>((resolve, reject) => {
      // The listener stays: a stream whose connection is lost may fail a second time.
      stream.on('finish', resolve).on('error', reject);
      stream.end(bytes);
    });
    return stream.rowCount;
  }

  private get keySql(): string {
    return this.table.key.map((place) => placeSql(place)).join(', ');
  }

  /** The newest of each key among the records that came: by cursor, by arrival. */
  private newestStaged(columns: string): string {
    const { cursor } = this.table;
    const order = cursor ? `${placeSql(cursor)} desc nulls last, ` : '';
    return `select distinct on (${this.keySql}) ${columns} from ${this.staging}
      order by ${this.keySql}, ${order}_inlay_position desc`;
  }

  /** Whether a record that came is newer than the stored one of its key. */
  private isNewer(came: string): string {
    const { cursor } = this.table;
    if (!cursor) return 'true';
    const [stored, other] = [placeSql(cursor, 'stored'), placeSql(cursor, came)];
    return `(stored.${ownColumns.generation} < ${came}.${ownColumns.generation} or ${stored} is null or ${other} >= ${stored})`;
  }

  /** Removes the rows whose newest record says that they were deleted. A row without a key is not found. */
  private deletionStatement(): string {
    const { name, key } = this.table;
    const isSame = key.map((place) => `${placeSql(place, 'stored')} = ${placeSql(place, 'came')}`).join(' and ');
    return `delete from ${name} as stored using (${this.newestStaged('*')}) as came
      where ${isSame} and ${this.deletedAt('came')} is not null and ${this.isNewer('came')}`;
  }

  private deletedAt(row: string): string {
    const column = this.byProperty.get(deletedAtField);
    return column ? `${row}.${column.name}` : 'null';
  }

  private mergeStatement(): string {
    const { columnNames } = this;
    const list = columnNames.join(', ');
    return `
      insert into ${this.table.name} as stored (${list})
      select ${list} from (${this.newestStaged('*')}) as came where ${this.deletedAt('came')} is null
      on conflict (${this.keySql}) do update set ${columnNames.map((name) => `${name} = excluded.${name}`).join(', ')}
      where ${this.isNewer('excluded')}`;
  }
}

function noteOf(before: FieldChange[] | undefined, added: FieldChange[]): string {
  if (added.length === 0 && !before?.length) return copyNull;
  return copyValue('jsonb', { changes: [...(before ?? []), ...added] })?.text ?? copyNull;
}
