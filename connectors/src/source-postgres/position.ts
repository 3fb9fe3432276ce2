/*
 * The read position of a stream whose rows do not show when they changed: a view or a foreign table. Uses a cursor:
 * rows are read in the order of the cursor column, from the last value on, inclusive, so that a row that arrives later
 * with the same value is not missed. To avoid sending the rows at that value each time, their digests are stored; if
 * too many rows share one value, they are sent again, and a deduplicating destination handles the rest.
 *
 * Rows without a cursor value come first, and only until a state says that they are done. A row that is committed with a
 * value below the last one is not seen: the cursor has to be a column that only grows.
 */
import { hash } from 'node:crypto';

import { changedDefinition, type Definition, type SavedDefinitions, savedDefinitions } from './definitions.ts';

export type Row = (string | null)[];

interface SavedPosition {
  cursor_field: string[];
  /** Absent: nothing is done. Null: the rows without a value are. */
  cursor?: string | null;
  /** Digests of the rows already sent whose cursor has this value; absent when there are too many. */
  sent_at_cursor?: string[];
  /** Absent in a state of an earlier version. */
  definitions?: SavedDefinitions;
}

const maxRemembered = 1_000;

export class Position {
  private readonly column: string;
  private readonly definitions: SavedDefinitions;
  /** Why everything is sent, if something was sent before. */
  readonly startsAnewBecause: string | undefined;
  private cursor: string | null | undefined;
  /** Digests of rows at the cursor, sent in this run or before; undefined once there are too many. */
  private digests: string[] | undefined = [];
  /** The latest row at the cursor. Most values are taken by one row, so it is digested only when it has to be. */
  private latest: Row | undefined;
  /** What an earlier run has sent at the value that this run begins with, and this run has not met yet. */
  private readonly sentBefore = new Map<string, number>();

  constructor(column: string, saved: object | undefined, definitions: readonly Definition[]) {
    this.column = column;
    this.definitions = savedDefinitions(definitions);
    const position = saved as Partial<SavedPosition> | undefined;
    // Another cursor is another order: everything is read again.
    if (position?.cursor_field?.[0] !== column) return;
    this.startsAnewBecause = changedDefinition(position.definitions, definitions);
    if (this.startsAnewBecause !== undefined) return;
    this.cursor = position.cursor;
    if (typeof position.cursor !== 'string') return;
    this.digests = position.sent_at_cursor && [...position.sent_at_cursor];
    for (const digest of this.digests ?? []) this.sentBefore.set(digest, (this.sentBefore.get(digest) ?? 0) + 1);
  }

  static isSaved(state: object | undefined, column: string): boolean {
    return (state as Partial<SavedPosition> | undefined)?.cursor_field?.[0] === column;
  }

  /** Given the quoted column: which rows to read. `quote` makes an SQL literal. */
  condition(column: string, quote: (text: string) => string): string {
    if (this.cursor === undefined) return 'true';
    return this.cursor === null ? `${column} is not null` : `${column} >= ${quote(this.cursor)}`;
  }

  /** Moves on to a row that has been read; false if an earlier run has sent it. */
  advance(cursor: string | null, row: Row): boolean {
    if (cursor === this.cursor) {
      if (this.wasSentBefore(row)) return false;
      this.digestLatest();
    } else {
      this.cursor = cursor;
      this.digests = [];
      this.sentBefore.clear();
    }
    if (cursor !== null) this.latest = row;
    return true;
  }

  /** Rows without a value have no order, so there is no position among them to resume from. */
  saved(isAtEnd: boolean): SavedPosition {
    const position = { cursor_field: [this.column], definitions: this.definitions };
    if (this.cursor === undefined || (this.cursor === null && !isAtEnd)) return position;
    this.digestLatest();
    return { ...position, cursor: this.cursor, ...(this.digests && { sent_at_cursor: [...this.digests] }) };
  }

  private wasSentBefore(row: Row): boolean {
    if (this.sentBefore.size === 0) return false;
    const digest = digestOf(row);
    const count = this.sentBefore.get(digest) ?? 0;
    if (count === 0) return false;
    if (count === 1) this.sentBefore.delete(digest);
    else this.sentBefore.set(digest, count - 1);
    return true;
  }

  private digestLatest(): void {
    if (!this.latest) return;
    this.digests?.push(digestOf(this.latest));
    this.latest = undefined;
    if (this.digests && this.digests.length > maxRemembered) this.digests = undefined;
  }
}

/** 96 bits. */
function digestOf(row: Row): string {
  return hash('sha256', JSON.stringify(row), 'base64').slice(0, 16);
}
