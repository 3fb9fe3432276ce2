/* What a retriever does, and what it gets from the component around it. */
import type { StreamCursor } from '../cursors/stream-cursor.ts';
import type { RequestParts } from '../http/request.ts';
import type { Slice } from '../run/slice.ts';
import type { DataRecord } from '../run/stream.ts';
import type { SchemaLoader } from './schemas.ts';
import type { Transformation } from './transformations.ts';

export interface Retriever {
  read(slice: Slice): AsyncGenerator<DataRecord[]>;
  /** Replaces the stream's slices if reading needs its own. */
  slices?(cursor: StreamCursor): AsyncIterable<Slice>;
}

/** What a retriever gets from the stream around it. */
export interface RetrieverSurroundings extends Record<string, unknown> {
  slicerParts?: ((slice: Slice) => RequestParts) | undefined;
  schema?: SchemaLoader | undefined;
  transformations?: readonly Transformation[] | undefined;
  /** Given for a stream whose records come newest first. */
  stoppingCursor?: StreamCursor | undefined;
  filteringCursor?: StreamCursor | undefined;
  /** Records are changed before they are filtered, unless the selector says otherwise. */
  transformsFirst?: boolean | undefined;
  cursor?: StreamCursor | undefined;
  mayCache?: boolean | undefined;
  takesEmbeddedPages?: boolean | undefined;
}

/** For a retriever inside a stream that reads something other than its records. */
export const apart: RetrieverSurroundings = {
  slicerParts: undefined,
  schema: undefined,
  transformations: undefined,
  stoppingCursor: undefined,
  filteringCursor: undefined,
  transformsFirst: undefined,
  cursor: undefined,
  mayCache: undefined,
  takesEmbeddedPages: undefined,
};
