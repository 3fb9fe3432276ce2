/*
 * Writes records into the table of one stream. Lines for COPY are buffered; `store` sends them within the caller's
 * transaction. Appended records go straight into the table. Deduplicated records go through a staging table that is
 * empty between transactions; into an empty table they are copied directly until a key repeats, which takes half the
 * time. Records that replace old ones stay in a staging table until `complete` and then replace them by delete and
 * insert: readers see either the old or the new records, never none, and views and permissions are kept. The same
 * applies to a generation whose key differs from that of the stored rows; with the same key, a new generation
 * overwrites row by row, and `complete` removes the rows it did not contain.
 *
 * A value that does not fit its column widens the column, and a field without a column gets one if the stream may have
 * such fields. Lines before and after such a change are sent separately, with the change in between, so that a
 * transaction applies both or neither.
 *
 * Staging tables are temporary tables of the session, so nothing is left behind when the session ends, however it ends.
 *
 * Long because the ways into a table share one transaction, one staging table and one count of rows.
 */

import { UnparsedRecord } from '@inlay/protocol/input';
import {
  type ConfiguredStream,
  type FieldChange,
  hasFurtherFields,
  type RecordMessage,
  type StreamReport,
} from '@inlay/protocol/protocol';
import type { RowBlock } from '@inlay/protocol/row-blocks';
import { TextBuffer } from '@inlay/protocol/text-buffer';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { ValueChanges } from '../kit/value-changes.ts';
import {
  type ColumnType,
  columnTypeFor,
  firstColumnType,
  isColumnType,
  losesSigns,
  widerType,
} from './column-types.ts';
import { copyNull, copyValue } from './copy-values.ts';
import { areOfOneKind, followsAnotherKind, isNewer, newestOfAnyKind, newestOfOneKind } from './cursor-order.ts';
import type { Held } from './holdings.ts';
import { columnName, deletedAtField, moreColumn, ownColumns } from './identifiers.ts';
import { type Column, placeSql } from './place.ts';
import { RowBytes } from './row-bytes.ts';
import { columnsFor, recordsOf, withBeginning } from './row-lines.ts';
import {
  addition,
  countNegativeZeros,
  hasNullsNotDistinct,
  hasRoomFor,
  moreAddition,
  type Table,
  widening,
} from './table.ts';

/** Initial size of the buffer for lines; busy tables get more. */
const linesBytes = 64 * 1024;
const newline = 10;
/** The records of a transaction are sorted in memory. With the usual 4 MB, PostgreSQL sorts on disk. */
const enoughToSort = `select set_config('work_mem', '64MB', true)
  where pg_size_bytes(current_setting('work_mem')) < pg_size_bytes('64MB')`;

const uniqueViolation = '23505';

/** Something to do in the transaction: lines to copy, or changes of the table before the next lines. */
type Step =
  | { lines: Buffer; columnNames: readonly string[] }
  | { blocks: RowBlock[]; emittedAt: number; columnNames: readonly string[] }
  | { changes: string[]; lostSigns: Map<Column, number> };

export class TableWriter {
  private readonly client: pg.Client;
  private readonly table: Table;
  readonly configured: ConfiguredStream;
  private readonly staging: string;
  private readonly byProperty: Map<string, Column>;
  private readonly keepsFurtherFields: boolean;
  /** The same for all records of the sync, already with its separators. */
  private readonly constantPart: string;
  private readonly lines = new TextBuffer(linesBytes);
  /** For the current columns. */
  private rowBytes: RowBytes | undefined;
  /** The default of the staging table. */
  private stagedTime: number | undefined;
  private latest: { emittedAt: number; bytes: Buffer } | undefined;
  private readonly changes = new ValueChanges();
  /** Fields that have no column yet do not get one any more. */
  private isFull = false;
  private columnNames: readonly string[] = [];
  private steps: Step[] = [];
  private stepBytes = 0;
  /** Changes that the table itself has yet to get, where a staging table has them already. */
  private lateChanges: string[] = [];
  /** Statements that keep what columns were before they were widened. */
  private comments: string[] = [];
  private records = 0;
  /** What is in place. Taken back by the caller when a transaction is. */
  counts: { written: number; deleted: number; hasRows: boolean; isCompleted: boolean };
  private since: string | undefined;
  private hasDeletions = false;
  /** The table was empty, and no key has come twice. */
  private areKeysNew = false;

  constructor(client: pg.Client, table: Table, configured: ConfiguredStream, staging: string) {
    this.client = client;
    this.table = table;
    this.configured = configured;
    this.staging = pg.escapeIdentifier(staging);
    this.byProperty = new Map(table.columns.map((column) => [column.property, column]));
    this.counts = { written: 0, deleted: table.removed, hasRows: !table.isEmpty, isCompleted: false };
    this.keepsFurtherFields = hasFurtherFields(configured.stream);
    this.constantPart = `\t${configured.sync_id}\t${configured.generation_id}\t`;
    for (const [property, count] of table.lostSigns) this.countLostSigns(property, count);
    this.listColumns();
  }

  /** Its records replace the old ones when it is complete. */
  get isOverwriting(): boolean {
    return this.configured.destination_sync_mode === 'overwrite' || this.table.isReplaced;
  }

  /** How the next sync recognizes the table. */
  get held(): Held {
    return { table: this.table.id, rows: this.counts.hasRows };
  }

  private get isDeduplicated(): boolean {
    return this.configured.destination_sync_mode === 'append_dedup';
  }

  private get isStaged(): boolean {
    return this.isOverwriting || this.isDeduplicated;
  }

  private get isMerging(): boolean {
    return this.isDeduplicated && !this.isOverwriting;
  }

  async createStaging(): Promise<void> {
    if (!this.isStaged) return;
    // Positions record the order of arrival, for records with the same cursor. Assigned singly they cost more.
    const position = !this.isDeduplicated ? '' : ', _inlay_position bigint generated always as identity (cache 1000)';
    const whenCommitted = this.isOverwriting ? 'preserve' : 'delete';
    await this.client.query(
      `create temporary table ${this.staging} (like ${this.table.name}${position}) on commit ${whenCommitted} rows`,
    );
    const { sync_id, generation_id } = this.configured;
    await this.client.query(
      `alter table ${this.staging} alter column ${ownColumns.syncId} set default ${sync_id},
        alter column ${ownColumns.generation} set default ${generation_id}`,
    );
    this.areKeysNew = this.isMerging && this.table.isEmpty && (await hasNullsNotDistinct(this.client));
  }

  add(record: RecordMessage['record']): void {
    this.records++;
    if (!(record instanceof UnparsedRecord && this.addBytes(record))) this.addParsed(record);
  }

  /** Rows are copied as they came, where every column takes them so. */
  addRows(block: RowBlock): void {
    const { columns, emitted_at: emittedAt, count, length, has_far_times: hasFarTimes } = block.rows;
    const columnNames = hasFarTimes ? undefined : columnsFor(columns, this.byProperty);
    if (!columnNames) {
      recordsOf(block, (record) => this.add(record));
      return;
    }
    this.closeLines();
    this.records += count;
    this.stepBytes += length;
    const last = this.steps.at(-1);
    const isSame =
      last && 'blocks' in last && last.emittedAt === emittedAt && last.columnNames.join() === columnNames.join();
    if (isSame) last.blocks.push(block);
    else this.steps.push({ blocks: [block], emittedAt, columnNames });
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
    const comments = this.isOverwriting ? [] : this.comments.splice(0);
    this.steps = [];
    this.stepBytes = 0;
    this.hasDeletions = false;
    // For the table after these records: the next ones may change it while these are stored.
    const merge = this.isMerging ? this.mergeOf(hasDeletions) : undefined;
    return async () => {
      await this.store(steps, hasDeletions, merge);
      for (const comment of comments) await this.client.query(comment);
      for (const step of steps) {
        if ('changes' in step) for (const [{ property }, count] of step.lostSigns) this.countLostSigns(property, count);
      }
    };
  }

  private async store(
    steps: readonly Step[],
    hasDeletions: boolean,
    merge: ((since: string) => Promise<void>) | undefined,
  ) {
    if (merge === undefined) {
      const rows = await this.run(steps, this.isStaged ? this.staging : this.table.name);
      if (!this.isStaged) this.wrote(rows);
      return;
    }
    const since = await this.firstTransaction();
    if (!hasDeletions && this.areKeysNew && (await this.runWithNewKeys(steps))) return;
    await this.run(steps, this.staging);
    await this.client.query(enoughToSort);
    await merge(since);
  }

  private wrote(rows: number): void {
    this.counts.written += rows;
    this.counts.hasRows ||= rows > 0;
  }

  /** A table that is empty afterwards was emptied by the source's records and must not be refilled. */
  private async remove(statement: string, values: unknown[] = []): Promise<void> {
    const { rowCount } = await this.client.query(statement, values);
    if (!rowCount) return;
    this.counts.deleted += rowCount;
    this.counts.hasRows = (await this.client.query(`select from ${this.table.name} limit 1`)).rowCount !== 0;
  }

  /** In the open transaction: the stream was read completely, and all its records are stored. */
  async complete(): Promise<void> {
    const { name } = this.table;
    if (this.isOverwriting) {
      // Waits for a run that was declared dead and is still finishing: without the lock, its inserts would stay next to
      // the new records. Readers are not affected.
      await this.client.query(`lock table ${name} in share row exclusive mode`);
      const { rowCount: before } = await this.client.query(`delete from ${name}`);
      // The old rows are gone, so that nothing has to be converted.
      for (const change of this.lateChanges.splice(0)) await this.client.query(`alter table ${name} ${change}`);
      for (const comment of this.comments.splice(0)) await this.client.query(comment);
      const list = this.columnNames.join(', ');
      if (this.table.isReplaced) await this.table.ensureKeyIndex();
      if (this.isDeduplicated) await this.client.query(enoughToSort);
      const staged = this.isDeduplicated
        ? `(${await this.newestStaged()}) as came where ${this.deletedAt('came')} is null`
        : this.staging;
      const { rowCount } = await this.client.query(`insert into ${name} (${list}) select ${list} from ${staged}`);
      const written = rowCount ?? 0;
      Object.assign(this.counts, { written, hasRows: written > 0 });
      if (this.table.isReplaced) this.counts.deleted = Math.max(0, (before ?? 0) - written);
      await this.client.query(`drop table ${this.staging}`);
    } else if (this.configured.minimum_generation_id > 0 && !this.table.isEmpty) {
      const statement = `delete from ${name} where ${ownColumns.generation} < $1`;
      await this.remove(statement, [this.configured.minimum_generation_id]);
    }
    this.counts.isCompleted = true;
  }

  /** What has become of the records, once everything is committed. */
  report(): StreamReport {
    const { stream } = this.configured;
    if (this.isOverwriting && !this.counts.isCompleted) return { stream_descriptor: stream, records_written: 0 };
    return {
      stream_descriptor: stream,
      records_written: this.counts.written,
      records_deleted: this.counts.deleted,
      values_changed: this.changes.list(),
    };
  }

  private textOf(column: Column, value: unknown, notes: FieldChange[]): string {
    let stored = copyValue(column.type, value, column);
    if (!stored) {
      this.widen(column, widerType(column.type, columnTypeFor(value, column.type)));
      stored = copyValue(column.type, value, column);
    }
    if (!stored) throw new Error(`A column of type ${column.type} rejects a value that it was widened for.`);
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

  /** For fields that the stream's schema does not have. */
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
      const column = { property, name, type: existing ?? type, was: this.table.histories.of(name) };
      if (existing === undefined) this.change(addition(column));
      types.set(name, column.type);
      columns.push(column);
      this.byProperty.set(property, column);
    } else {
      // From now on, every further field goes there: there may be any number of them.
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
    this.change(widening(column, column.type, type), losesSigns(column.type, type) ? column : undefined);
    this.comments.push(this.table.histories.add(column.name, column.type));
    column.type = type;
    this.table.types.set(column.name, type);
    this.rowBytes = undefined;
  }

  private countLostSigns(property: string, count: number): void {
    if (count > 0) this.changes.add(property, 'shortened', this.records, count);
  }

  /** @param losingSigns a column whose zeros have no sign after the change. */
  private change(change: string, losingSigns?: Column): void {
    this.closeLines();
    // Together: a table is rewritten once for all columns that one record widens.
    let last = this.steps.at(-1);
    if (!last || !('changes' in last)) {
      last = { changes: [], lostSigns: new Map() };
      this.steps.push(last);
    }
    last.changes.push(change);
    if (losingSigns) last.lostSigns.set(losingSigns, 0);
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
      this.wrote(await this.run(steps, this.table.name));
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
      if ('changes' in step) await this.changeTable(step.changes.join(', '), step.lostSigns);
      else if ('blocks' in step) rows += await this.copyBlocks(target, step);
      else rows += await this.copy(target, [step.lines], step.columnNames);
    }
    return rows;
  }

  private async changeTable(change: string, lostSigns: Map<Column, number>): Promise<void> {
    const tables = [...(this.isStaged ? [this.staging] : []), ...(this.isOverwriting ? [] : [this.table.name])];
    for (const column of lostSigns.keys()) {
      let count = 0;
      for (const table of tables) count += await countNegativeZeros(this.client, table, column.name);
      lostSigns.set(column, count);
    }
    for (const table of tables) await this.client.query(`alter table ${table} ${change}`);
  }

  /** A staging table has our own values as defaults, so that the server doesn't have to read them in every row. */
  private async copyBlocks(
    target: string,
    { blocks, emittedAt, columnNames }: Extract<Step, { blocks: RowBlock[] }>,
  ): Promise<number> {
    const { configured } = this;
    const time = new Date(emittedAt).toISOString();
    if (target !== this.staging) {
      const own = [ownColumns.emittedAt, ownColumns.syncId, ownColumns.generation];
      const beginning = Buffer.from(`${time}\t${configured.sync_id}\t${configured.generation_id}\t`);
      return await this.copy(target, withBeginning(blocks, beginning), [...own, ...columnNames]);
    }
    if (this.stagedTime !== emittedAt) {
      await this.client.query(`alter table ${target} alter column ${ownColumns.emittedAt} set default '${time}'`);
      this.stagedTime = emittedAt;
    }
    return await this.copy(
      target,
      blocks.flatMap(({ pieces }) => pieces),
      columnNames,
    );
  }

  private async copy(target: string, pieces: Iterable<Buffer>, columnNames: readonly string[]): Promise<number> {
    const stream = this.client.query(copyFrom(`copy ${target} (${columnNames.join(', ')}) from stdin`));
    const left = pieces[Symbol.iterator]();
    await new Promise<void>((resolve, reject) => {
      const writeMore = () => {
        for (let next = left.next(); !next.done; next = left.next()) if (!stream.write(next.value)) return;
        stream.end();
      };
      // The listener stays: a stream whose connection is lost may fail a second time.
      stream.on('finish', resolve).on('error', reject).on('drain', writeMore);
      writeMore();
    });
    return stream.rowCount;
  }

  private get keySql(): string {
    return this.table.key.map((place) => placeSql(place)).join(', ');
  }

  /** Moves the newest record of each key from the staging table into the table, for the current columns. */
  private mergeOf(hasDeletions: boolean): (since: string) => Promise<void> {
    const { cursor } = this.table;
    const statements = (newest: string, isAnyKind: boolean) => ({
      deletion: hasDeletions ? this.deletionStatement(newest, isAnyKind) : undefined,
      merge: this.mergeStatement(newest, isAnyKind),
      rewritten: this.rewrittenStatement(newest, isAnyKind),
    });
    const usual = statements(newestOfOneKind(this.staging, this.keySql, cursor), false);
    const careful = cursor && statements(newestOfAnyKind(this.staging, this.keySql, cursor), true);
    const question = cursor && areOfOneKind(this.staging, cursor);
    return async (since) => {
      const { deletion, merge, rewritten } = careful && !(await this.isTrue(question)) ? careful : usual;
      // A row that this run has written before is in place once, however often it comes.
      if (this.counts.written > 0) this.counts.written -= await this.count(rewritten, since);
      if (deletion !== undefined) await this.remove(deletion);
      this.wrote((await this.client.query(merge)).rowCount ?? 0);
    };
  }

  private async newestStaged(): Promise<string> {
    const { cursor } = this.table;
    return cursor && !(await this.isTrue(areOfOneKind(this.staging, cursor)))
      ? newestOfAnyKind(this.staging, this.keySql, cursor)
      : newestOfOneKind(this.staging, this.keySql, cursor);
  }

  private async isTrue(question: string | undefined): Promise<boolean> {
    if (question === undefined) return false;
    const { rows } = await this.client.query<[boolean]>({ text: question, rowMode: 'array' });
    return rows[0]?.[0] ?? false;
  }

  /** Whether a record that came is newer than the stored one of its key. */
  private isNewer(came: string): string {
    const { cursor } = this.table;
    if (!cursor) return 'true';
    const isOlderGeneration = `stored.${ownColumns.generation} < ${came}.${ownColumns.generation}`;
    return `(${isOlderGeneration} or ${isNewer(cursor, 'stored', came)})`;
  }

  /** Removes the rows whose newest record says that they were deleted. A row without a key is not found. */
  private deletionStatement(newest: string, isAnyKind: boolean): string {
    return `delete from ${this.table.name} as stored using (${newest}) as came
      where ${this.isSame} and ${this.deletedAt('came')} is not null and ${this.isToReplace(isAnyKind)}`;
  }

  private get isSame(): string {
    return this.table.key.map((place) => `${placeSql(place, 'stored')} = ${placeSql(place, 'came')}`).join(' and ');
  }

  private isToReplace(isAnyKind: boolean): string {
    return isAnyKind ? `(${this.isNewer('came')} or ${followsAnotherKind('came')})` : this.isNewer('came');
  }

  /** How many of the stored rows that the records replace or remove were written by this run. */
  private rewrittenStatement(newest: string, isAnyKind: boolean): string {
    return `select count(*) as count from ${this.table.name} as stored join (${newest}) as came on ${this.isSame}
      where age(stored.xmin) <= age($1::xid) and ${this.isToReplace(isAnyKind)}`;
  }

  private async count(query: string, since: string): Promise<number> {
    const { rows } = await this.client.query<{ count: string }>(query, [since]);
    return Number(rows[0]?.count);
  }

  /** The id of this run's first transaction on the table: rows of this id or a later one are its own. */
  private async firstTransaction(): Promise<string> {
    if (this.since === undefined) {
      const { rows } = await this.client.query<{ id: string }>('select (txid_current() % 4294967296)::text as id');
      this.since = String(rows[0]?.id);
    }
    return this.since;
  }

  private deletedAt(row: string): string {
    const column = this.byProperty.get(deletedAtField);
    return column ? `${row}.${column.name}` : 'null';
  }

  private mergeStatement(newest: string, isAnyKind: boolean): string {
    const { columnNames, table } = this;
    const list = columnNames.join(', ');
    const keyOf = (row: string) => table.key.map((place) => placeSql(place, row)).join(', ');
    const isNewerAnyway = `(${keyOf('excluded')}) in (select ${keyOf('came')} from newest as came where ${followsAnotherKind('came')})`;
    return `
      with newest as (${newest})
      insert into ${table.name} as stored (${list})
      select ${list} from newest as came where ${this.deletedAt('came')} is null
      on conflict (${this.keySql}) do update set ${columnNames.map((name) => `${name} = excluded.${name}`).join(', ')}
      where ${this.isNewer('excluded')}${isAnyKind ? ` or ${isNewerAnyway}` : ''}`;
  }
}

function noteOf(before: FieldChange[] | undefined, added: FieldChange[]): string {
  if (added.length === 0 && !before?.length) return copyNull;
  return copyValue('jsonb', { changes: [...(before ?? []), ...added] })?.text ?? copyNull;
}
