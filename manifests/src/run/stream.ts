/* A stream of a source, ready to be read. */
import type { StreamCursor } from '../cursors/stream-cursor.ts';
import type { Slice } from './slice.ts';

export type DataRecord = Record<string, unknown>;

export interface SourceStream {
  name: string;
  /** Ways to the fields of the key. */
  primaryKey: string[][];
  cursor: StreamCursor;
  /** The catalog may name another cursor field. */
  isCursorOpen: boolean;
  /** Throws an Error if the schema cannot be had. */
  schema(): Promise<Record<string, unknown>>;
  /** The records of a slice, a page at a time. */
  read(slice: Slice): AsyncIterable<DataRecord[]>;
  /** The state from before is of no use any more, and is to be forgotten before anything is read. */
  forgetsState?: boolean;
}

/** There is nothing to read for a slice, and its state is unchanged. */
export class SliceIgnored extends Error {
  override name = 'SliceIgnored';
}
