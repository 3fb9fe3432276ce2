/*
 * Puts records into the table of one stream. Lines for COPY are collected; `store` sends them within the transaction of
 * the caller. Appended records go straight into the table. Records without duplicates go through a staging table
 * that is empty between transactions. Records that replace the old ones stay in a staging table until `complete`, and
 * then replace them by delete and insert: a reader of the table sees the old records or the new ones meanwhile, never
 * none, and views and permissions on it stay.
 *
 * Staging tables are temporary tables of the session, so nothing is left behind when the session ends, however it ends.
 */
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { ConfiguredStream, FieldChange, RecordMessage } from '../../src/protocol.ts';
import { TextBuffer } from '../kit/text-buffer.ts';
import { copyNull, copyWriter } from './copy-values.ts';
import { ownColumns } from './identifiers.ts';
import type { Table } from './table.ts';

/** Of the lines to begin with; a table that gets many has more. */
const linesBytes = 64 * 1024;

export class TableWriter {
  private readonly client: pg.Client;
  private readonly table: Table;
  private readonly configured: ConfiguredStream;
  private readonly staging: string;
  private readonly columnList: string;
  private readonly writers: { property: string; write: ReturnType<typeof copyWriter> }[];
  /** The same for all records of the sync, already with its separators. */
  private readonly constantPart: string;
  private readonly lines = new TextBuffer(linesBytes);

  constructor(client: pg.Client, table: Table, configured: ConfiguredStream, staging: string) {
    this.client = client;
    this.table = table;
    this.configured = configured;
    this.staging = pg.escapeIdentifier(staging);
    const own = [ownColumns.emittedAt, ownColumns.syncId, ownColumns.generation, ownColumns.meta];
    this.columnList = [...own, ...table.columns.map(({ name }) => name)].join(', ');
    this.writers = table.columns.map(({ property, type }) => ({ property, write: copyWriter(property, type) }));
    this.constantPart = `\t${configured.sync_id}\t${configured.generation_id}\t`;
  }

  get isOverwriting(): boolean {
    return this.configured.destination_sync_mode === 'overwrite';
  }

  private get isStaged(): boolean {
    return this.configured.destination_sync_mode !== 'append';
  }

  async createStaging(): Promise<void> {
    if (!this.isStaged) return;
    // Positions tell the order in which records came, for those with the same cursor.
    const position = this.isOverwriting ? '' : ', _inlay_position bigint generated always as identity';
    const whenCommitted = this.isOverwriting ? 'preserve' : 'delete';
    await this.client.query(
      `create temporary table ${this.staging} (like ${this.table.name}${position}) on commit ${whenCommitted} rows`,
    );
  }

  add({ data, emitted_at, meta }: RecordMessage['record']): void {
    const changes: FieldChange[] = [];
    let values = '';
    for (const { property, write } of this.writers) {
      const value = Object.hasOwn(data, property) ? data[property] : null;
      values += value === null || value === undefined ? `\t${copyNull}` : `\t${write(value, changes)}`;
    }
    const note = noteOf(meta?.changes, changes);
    this.lines.add(`${timestampOf(emitted_at)}${this.constantPart}${note}${values}\n`);
  }

  /** How much waits to be stored. */
  get waitingBytes(): number {
    return this.lines.length;
  }

  /** Takes what waits, if anything does; the function stores it, in the open transaction. */
  take(): (() => Promise<void>) | undefined {
    if (this.lines.length === 0) return undefined;
    const bytes = this.lines.take();
    return async () => {
      await this.copy(bytes);
      if (this.isStaged && !this.isOverwriting) await this.client.query(this.mergeStatement());
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
      await this.client.query(
        `insert into ${name} (${this.columnList}) select ${this.columnList} from ${this.staging}`,
      );
      await this.client.query(`drop table ${this.staging}`);
    } else if (this.configured.minimum_generation_id > 0) {
      await this.client.query(`delete from ${name} where ${ownColumns.generation} < $1`, [
        this.configured.minimum_generation_id,
      ]);
    }
  }

  private copy(bytes: Buffer): Promise<void> {
    const target = this.isStaged ? this.staging : this.table.name;
    const stream = this.client.query(copyFrom(`copy ${target} (${this.columnList}) from stdin`));
    return new Promise((resolve, reject) => {
      // The listener stays: a stream whose connection is lost may fail a second time.
      stream.on('finish', resolve).on('error', reject);
      stream.end(bytes);
    });
  }

  /** The newest of each key: by generation, by cursor, by arrival. */
  private mergeStatement(): string {
    const { name, key, cursor, columns } = this.table;
    const keys = key.map((column) => column.name).join(', ');
    const order = cursor ? `${cursor.name} desc nulls last, ` : '';
    const own = Object.values(ownColumns);
    const values = [...own, ...columns.map((column) => column.name)];
    const isNewer = cursor
      ? `where stored.${ownColumns.generation} < excluded.${ownColumns.generation}
           or stored.${cursor.name} is null or excluded.${cursor.name} >= stored.${cursor.name}`
      : '';
    return `
      insert into ${name} as stored (${this.columnList})
      select distinct on (${keys}) ${this.columnList} from ${this.staging}
      order by ${keys}, ${order}_inlay_position desc
      on conflict (${keys}) do update set ${values.map((value) => `${value} = excluded.${value}`).join(', ')} ${isNewer}`;
  }
}

function noteOf(before: FieldChange[] | undefined, added: FieldChange[]): string {
  if (added.length === 0 && !before?.length) return copyNull;
  return copyWriter('', 'jsonb')({ changes: [...(before ?? []), ...added] }, []);
}

let lastEmittedAt = Number.NaN;
let lastTimestamp = '';

/** Many records of a sync are emitted in the same millisecond. */
function timestampOf(emittedAt: number): string {
  if (emittedAt !== lastEmittedAt) {
    lastTimestamp = new Date(emittedAt).toISOString();
    lastEmittedAt = emittedAt;
  }
  return lastTimestamp;
}
