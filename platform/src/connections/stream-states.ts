/**
 * What a connection knows of the streams it has moved: how far the source was read, and which generation of each
 * stream the destination holds. A generation ends when a stream is read anew from its start.
 *
 * What always holds: a state is written only after the destination has confirmed everything before it, and is forgotten
 * before a stream is read anew or emptied, never after: a crash in between costs repeated records, not missing ones.
 */
import { Pieces } from '@inlay/schedule/pieces';
import type { Db } from '../db/open.ts';
import type { ConnectionStreamRow } from '../db/tables.ts';
import { type Catalog, type ConfiguredCatalog, type ConfiguredStream, type State, streamKey } from '../protocol.ts';
import { readCatalog } from '../runner/catalog-text.ts';
import { elementsOf, membersOf, objectText } from '../runner/json-members.ts';
import type { ChosenStream } from './stream-selection.ts';
import type { ConnectionRef } from './stream-states.store.ts';
import * as states from './stream-states.store.ts';

export interface Reading {
  catalog: ConfiguredCatalog;
  /** Each as its source wrote it. */
  state: string[];
}

/** Settles generations for one attempt, and where each stream is to be read from. */
export async function prepareReading(
  tx: Db,
  connection: ConnectionRef,
  jobId: number,
  chosen: readonly ChosenStream[],
): Promise<Reading> {
  const known = await knownStreams(tx, connection);
  const streams: ConfiguredStream[] = [];
  const kept: string[] = [];
  const goingOn = new Set<string>();
  let readsAnew = false;
  const rows: states.StreamRow[] = [];
  const pieces = new Pieces();
  for (const choice of chosen) {
    const row = known.get(streamKey(choice.stream));
    const before = row && (JSON.parse(row.configured) as ConfiguredStream);
    const isOverwritten = choice.destinationSyncMode === 'overwrite';
    // A state speaks of the cursor it was made with, and means nothing to a stream that is read in another way.
    const goesOn =
      choice.syncMode === 'incremental' &&
      before?.sync_mode === 'incremental' &&
      String(before.cursor_field) === String(choice.cursorField);
    readsAnew ||= choice.syncMode === 'incremental' && before !== undefined && !goesOn;
    // Also for another attempt of the same job: what an attempt left behind must never pass for part of the next one.
    const startsGeneration = !row || isOverwritten || (choice.syncMode === 'incremental' && !goesOn);
    const generation = (row?.generation_id ?? 0) + (startsGeneration ? 1 : 0);
    const configured = configuredStream(choice, generation, jobId);
    const state = goesOn ? row?.state : null;
    rows.push(rowOf(configured, state ?? null));
    streams.push(configured);
    if (pieces.isPauseDue) await pieces.pause();
    if (state) kept.push(state);
    if (goesOn) goingOn.add(streamKey(choice.stream));
  }
  await states.putStreams(tx, connection, rows);
  const whole = await states.findWholeState(tx, connection);
  if (whole === undefined) return { catalog: { streams }, state: kept };
  // One state for all streams cannot be forgotten for one of them.
  if (readsAnew) await states.deleteWholeState(tx, connection);
  const read = readsAnew || goingOn.size === 0 ? [] : [withoutReadAnew(whole, streams, goingOn)];
  return { catalog: { streams }, state: read };
}

/**
 * A state of all streams together without what it says of those that are read from their start: a source would take
 * that for how far it has come. What cannot be told apart (the shared part, streams that take no part) stays.
 */
function withoutReadAnew(whole: string, streams: readonly ConfiguredStream[], goingOn: ReadonlySet<string>): string {
  const isReadAnew = (key: string) => !goingOn.has(key) && streams.some(({ stream }) => streamKey(stream) === key);
  const state = membersOf(whole);
  const global = membersOf(state.get('global') ?? '{}');
  if (state.get('type') === '"GLOBAL"') {
    const ofStreams = elementsOf(global.get('stream_states') ?? '[]').filter(
      (each) => !isReadAnew(streamKey(JSON.parse(membersOf(each).get('stream_descriptor') ?? '{}'))),
    );
    return objectText(state.set('global', objectText(global.set('stream_states', `[${ofStreams.join(',')}]`))));
  }
  // The old form has no rule for what is inside; by custom it is the state of each stream under its name.
  const isOnlyReadAnew = (name: string) =>
    streams.some(({ stream }) => stream.name === name) &&
    streams.every(({ stream }) => stream.name !== name || !goingOn.has(streamKey(stream)));
  const data = state.get('data') ?? '{}';
  if (!data.startsWith('{')) return whole;
  const rest = [...membersOf(data)].filter(([name]) => !isOnlyReadAnew(name));
  return objectText(state.set('data', objectText(rest)));
}

/** Every stream the connection has ever moved, to be emptied at the destination; their states are gone at once. */
export async function prepareClearing(tx: Db, connection: ConnectionRef, jobId: number): Promise<ConfiguredCatalog> {
  const streams: ConfiguredStream[] = [];
  const rows: states.StreamRow[] = [];
  const pieces = new Pieces();
  for (const row of (await knownStreams(tx, connection)).values()) {
    const before = JSON.parse(row.configured) as ConfiguredStream;
    const generation = row.generation_id + 1;
    const configured: ConfiguredStream = {
      ...before,
      sync_mode: 'full_refresh',
      destination_sync_mode: 'overwrite',
      generation_id: generation,
      minimum_generation_id: generation,
      sync_id: jobId,
    };
    rows.push(rowOf(configured, null));
    streams.push(configured);
    if (pieces.isPauseDue) await pieces.pause();
  }
  await states.putStreams(tx, connection, rows);
  await states.deleteWholeState(tx, connection);
  return { streams };
}

/** `text` is the state as its source wrote it. A state of one stream replaces that stream's; any other is for all streams together and replaces everything. */
export async function keepState(tx: Db, connection: ConnectionRef, state: State, text: string): Promise<void> {
  if (state.type === 'STREAM' && state.stream) {
    const { stream_descriptor: stream, stream_state: value } = state.stream;
    await states.deleteWholeState(tx, connection);
    await states.putStreamState(tx, connection, stream, value === undefined || value === null ? null : text);
    return;
  }
  await states.putWholeState(tx, connection, text);
  await states.clearStreamStates(tx, connection);
}

/** The states that are kept now: by stream, and the one for all streams, if there is one. */
export async function readStates(db: Db, connection: ConnectionRef) {
  const rows = await states.listStreams(db, connection);
  const whole = await states.findWholeState(db, connection);
  return { streams: new Map(rows.map((row) => [streamKey(row), row.state])), whole };
}

/** What the source had at the last run; undefined before the first one. */
export async function findAcceptedCatalog(db: Db, connection: ConnectionRef): Promise<Catalog | undefined> {
  const catalog = await states.findAcceptedCatalog(db, connection);
  return catalog === undefined ? undefined : await readCatalog(catalog);
}

/** `accepted` is the text of a catalog: to write a large one takes longer than a transaction may. */
export async function keepAcceptedCatalog(tx: Db, connection: ConnectionRef, accepted: string): Promise<void> {
  await states.putAcceptedCatalog(tx, connection, accepted);
}

function configuredStream(choice: ChosenStream, generation: number, jobId: number): ConfiguredStream {
  return {
    stream: choice.stream,
    sync_mode: choice.syncMode,
    destination_sync_mode: choice.destinationSyncMode,
    ...(choice.cursorField && { cursor_field: choice.cursorField }),
    ...(choice.primaryKey && { primary_key: choice.primaryKey }),
    generation_id: generation,
    minimum_generation_id: choice.destinationSyncMode === 'overwrite' ? generation : 0,
    sync_id: jobId,
  };
}

async function knownStreams(tx: Db, connection: ConnectionRef): Promise<Map<string, ConnectionStreamRow>> {
  const rows = await states.listStreams(tx, connection);
  return new Map(rows.map((row) => [streamKey(row), row]));
}

function rowOf(stream: ConfiguredStream, state: string | null): states.StreamRow {
  const { name, namespace = '' } = stream.stream;
  return { namespace, name, configured: JSON.stringify(stream), generation_id: stream.generation_id, state };
}
