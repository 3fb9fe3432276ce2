/**
 * Which streams a connection moves and how: validates the requested streams against the source's catalog and the
 * destination's modes, and fills in defaults (sync mode, cursor, primary key). The same function serves requests, where
 * a fault is the caller's, and runs, where a fault means that the source has changed.
 */
import { isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import {
  type Catalog,
  type ConnectorSpecification,
  type DestinationSyncMode,
  type Stream,
  type StreamDescriptor,
  type SyncMode,
  streamKey,
} from '@inlay/protocol/protocol';
import { Problem } from '../problems.ts';
import type { StreamConfiguration } from './requests.ts';

/** How one stream is moved, with everything settled. */
export interface ChosenStream {
  stream: Stream;
  syncMode: SyncMode;
  destinationSyncMode: DestinationSyncMode;
  cursorField?: string[];
  primaryKey?: string[][];
  /** Undefined: all. */
  selectedFields?: string[];
}

/** The ways of the public API that this platform's protocol has words for. */
const syncModes = {
  full_refresh_overwrite: ['full_refresh', 'overwrite'],
  full_refresh_append: ['full_refresh', 'append'],
  incremental_append: ['incremental', 'append'],
  incremental_deduped_history: ['incremental', 'append_dedup'],
} as const satisfies Record<string, readonly [SyncMode, DestinationSyncMode]>;
type ApiSyncMode = keyof typeof syncModes;

/** What the source offers for a stream and the destination can take, in the words of the public API. */
export function possibleSyncModes(stream: Stream, destination: ConnectorSpecification): ApiSyncMode[] {
  const accepted = destination.supported_destination_sync_modes ?? ['overwrite', 'append'];
  return (Object.keys(syncModes) as ApiSyncMode[]).filter((mode) => {
    const [read, write] = syncModes[mode];
    return stream.supported_sync_modes.includes(read) && accepted.includes(write);
  });
}

/** Without requested streams: all of them, each read in full and replaced. */
export function chooseStreams(
  catalog: Catalog,
  asked: readonly StreamConfiguration[],
  destination: ConnectorSpecification,
): ChosenStream[] {
  const wanted = asked.length > 0 ? asked : catalog.streams.map(({ name, namespace = '' }) => ({ name, namespace }));
  const find = streamFinder(catalog);
  const seen = new Set<string>();
  return wanted.map((stream) => {
    const chosen = chooseStream(find(stream as StreamDescriptor), stream, destination);
    const key = streamKey(chosen.stream);
    if (seen.has(key)) throw refused(`The stream ${shownName(chosen.stream)} is configured more than once.`);
    seen.add(key);
    return chosen;
  });
}

/** Without a namespace, the one stream of that name is meant, whichever namespace it is in. */
export function streamFinder({ streams }: Catalog): (asked: StreamDescriptor) => Stream | undefined {
  const byName = new Map<string, Stream[]>();
  for (const stream of streams) {
    const called = byName.get(stream.name);
    if (called) called.push(stream);
    else byName.set(stream.name, [stream]);
  }
  // Many namespaces may have a stream of one name.
  const byKey = new Map(streams.map((stream) => [streamKey(stream), stream]));
  return ({ name, namespace }) => {
    const called = byName.get(name) ?? [];
    if (namespace === undefined && called.length === 1) return called[0];
    return byKey.get(streamKey({ name, namespace: namespace ?? '' }));
  };
}

function chooseStream(
  stream: Stream | undefined,
  asked: StreamConfiguration,
  destination: ConnectorSpecification,
): ChosenStream {
  if (!stream) throw refused(`The source has no stream ${shownName(asked)}.`);
  const name = shownName(stream);
  if (asked.mappers?.length || asked.includeFiles || asked.destinationObjectName) {
    throw refused(`The stream ${name} uses mappers, includeFiles or destinationObjectName, which are not supported.`);
  }
  const possible = possibleSyncModes(stream, destination);
  const mode = possible.find((known) => known === (asked.syncMode ?? 'full_refresh_overwrite'));
  if (!mode) {
    const valid = possible.length > 0 ? `Valid modes: ${possible.join(', ')}` : 'No mode is valid';
    const given = asked.syncMode ?? 'full_refresh_overwrite';
    throw refused(`The stream ${name} does not support the sync mode ${given} with this destination. ${valid}.`);
  }
  const [syncMode, destinationSyncMode] = syncModes[mode];
  const cursorField = syncMode === 'incremental' ? chooseCursor(stream, asked.cursorField) : undefined;
  const primaryKey = choosePrimaryKey(stream, asked.primaryKey, destinationSyncMode === 'append_dedup');
  const selectedFields = chooseFields(stream, asked.selectedFields ?? [], [cursorField, ...(primaryKey ?? [])]);
  return {
    stream,
    syncMode,
    destinationSyncMode,
    ...(cursorField && { cursorField }),
    ...(primaryKey && { primaryKey }),
    ...(selectedFields && { selectedFields }),
  };
}

function chooseCursor(stream: Stream, asked: string[] = []): string[] | undefined {
  const { source_defined_cursor: isFixed, default_cursor_field: fallback = [] } = stream;
  if (isFixed && (asked.length === 0 || sameList(asked, fallback))) return fallback.length > 0 ? fallback : undefined;
  // A source may track changes without a field. If a field is chosen anyway, the source gets it.
  if (isFixed && fallback.length > 0) {
    throw refused(`The cursor of the stream ${shownName(stream)} is set by the source and cannot be changed.`);
  }
  const cursor = asked.length > 0 ? asked : fallback;
  if (cursor.length === 0)
    throw refused(`The stream ${shownName(stream)} requires a cursorField, because it has no default.`);
  requireField(stream, cursor, 'cursor');
  return cursor;
}

function choosePrimaryKey(stream: Stream, asked: string[][] = [], isNeeded: boolean): string[][] | undefined {
  const fixed = stream.source_defined_primary_key ?? [];
  if (asked.length > 0 && fixed.length > 0 && !sameList(asked.map(String), fixed.map(String))) {
    throw refused(`The primary key of the stream ${shownName(stream)} is set by the source and cannot be changed.`);
  }
  const key = fixed.length > 0 ? fixed : asked;
  for (const path of key) requireField(stream, path, 'primary key');
  if (key.length > 0) return key;
  if (isNeeded) throw refused(`The stream ${shownName(stream)} requires a primaryKey for deduplication.`);
  return undefined;
}

function chooseFields(
  stream: Stream,
  asked: readonly { fieldPath: string[] }[],
  needed: readonly (string[] | undefined)[],
): string[] | undefined {
  if (asked.length === 0) return undefined;
  const fields = asked.map(({ fieldPath: [field, ...nested] }) => {
    if (field === undefined) throw refused(`A selected field of the stream ${shownName(stream)} is empty.`);
    if (nested.length > 0) {
      throw refused(`Nested fields in ${field} of the stream ${shownName(stream)} cannot be selected individually.`);
    }
    requireField(stream, [field], 'selected field');
    return field;
  });
  for (const [field] of needed.filter((path) => path !== undefined)) {
    if (field !== undefined && !fields.includes(field)) {
      throw refused(
        `The field ${field} of the stream ${shownName(stream)} must be selected, because it is the cursor or part of the primary key.`,
      );
    }
  }
  return [...new Set(fields)];
}

function requireField(stream: Stream, path: readonly string[], role: string): void {
  if (path.length > 0 && hasField(stream.json_schema, path)) return;
  throw refused(`The stream ${shownName(stream)} has no field ${path.join('.')}, which is configured as its ${role}.`);
}

/** If a schema lists no properties, any field may exist. */
function hasField({ properties }: JsonSchema, [field = '', ...rest]: readonly string[]): boolean {
  if (!isObject(properties)) return true;
  const property = Object.hasOwn(properties, field) ? properties[field] : undefined;
  if (!isObject(property)) return false;
  return rest.length === 0 || hasField(property, rest);
}

function sameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

export function shownName({ name, namespace }: { name: string; namespace?: string | undefined }): string {
  return namespace ? `${namespace}.${name}` : name;
}

function refused(message: string): Problem {
  return new Problem('bad-request', { message });
}
