/**
 * What a connection knows about its synced streams: how far the source was read, and which generation of each stream
 * the destination holds. A generation ends when a stream is read from its start again.
 *
 * Invariants: a state is written only after the destination has confirmed everything before it, and is deleted before a
 * stream is read from the start or emptied, never after: a crash in between repeats records instead of losing them.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import {
  type Catalog,
  type ConfiguredCatalog,
  type ConfiguredStream,
  type DestinationSyncMode,
  hasFurtherFields,
  type State,
  type StreamDescriptor,
  streamKey,
} from '@inlay/protocol/protocol';
import { Pieces } from '@inlay/schedule/pieces';
import type { renaming } from '../attempts/naming.ts';
import type { Db } from '../db/open.ts';
import type { ConnectionStreamRow, ReadAnewCause } from '../db/tables.ts';
import { Problem } from '../problems.ts';
import { readCatalog } from '../runner/catalog-text.ts';
import type { StreamNotice } from '../runner/runner.ts';
import { fieldsMissing, readAnew } from './stream-notices.ts';
import { type ChosenStream, shownName, streamFinder } from './stream-selection.ts';
import type { ConnectionRef } from './stream-states.store.ts';
import * as states from './stream-states.store.ts';
import { WholeState } from './whole-state.ts';

export interface Reading {
  catalog: ConfiguredCatalog;
  /** Each as its source wrote it. */
  state: string[];
  /** What the job says about its streams, by `streamKey`. */
  notices: Map<string, StreamNotice[]>;
  streams: PlannedStream[];
}

/** What an attempt needs of a stream after it was planned and besides what is stored anyway. Plain data. */
export interface PlannedStream {
  /** Its `streamKey`. */
  key: string;
  /** Whether it continues from its state, if it has one. */
  goesOn?: boolean;
  isContinued?: boolean;
  selectedFields?: readonly string[];
  notices?: StreamNotice[];
  /** Only for a stream that is settled once complete: the fields that its rows then have. */
  settled?: { fields: string | null };
}

/** Settles generations for one attempt, and where each stream is to be read from. */
export async function prepareReading(
  tx: Db,
  connection: ConnectionRef,
  { jobId, now }: { jobId: number; now: number },
  chosen: readonly ChosenStream[],
  rename: ReturnType<typeof renaming>,
): Promise<Reading> {
  const pieces = new Pieces();
  const known = await knownStreams(tx, connection);
  let plans = await planStreams(chosen, known, rename);
  const forgotten = plans.filter(({ isIncremental, before, goesOn }) => isIncremental && before && !goesOn);
  const { whole, isForgotten } = await forgetInWholeState(tx, connection, forgotten.map(streamOf), known);
  if (isForgotten) plans = await planStreams(chosen, await knownStreams(tx, connection), rename);
  const streams: ConfiguredStream[] = [];
  const kept: string[] = [];
  const rows: states.StreamRow[] = [];
  const notices: Reading['notices'] = new Map();
  const planned: PlannedStream[] = [];
  for (const { choice, row, before, place, isIncremental, cause, goesOn } of plans) {
    const key = streamKey(choice.stream);
    // Also for another attempt of the same job: leftovers of an attempt must never pass as part of the next one.
    const startsGeneration = !row || choice.destinationSyncMode === 'overwrite' || (isIncremental && !goesOn);
    const generation = (row?.generation_id ?? generationBefore(now)) + (startsGeneration ? 1 : 0);
    // An incomplete generation continues, including the rows to remove at its end.
    const minimum = startsGeneration
      ? minimumOf(choice.destinationSyncMode, before, generation)
      : goesOn && before
        ? before.minimum_generation_id
        : 0;
    const configured = configuredStream(choice, { generation, minimum, jobId });
    const state = goesOn ? (row?.state ?? null) : null;
    const anewBecause = goesOn ? (row?.anew_because ?? null) : (cause ?? null);
    const isContinued = goesOn && (state !== null || whole?.covers(choice.stream) === true);
    const fields = fieldsOf(choice);
    const missing = isContinued ? missingFields(row?.fields, fields) : [];
    const held = isContinued ? (row?.held ?? null) : null;
    const unfilled = missing.length > 0 ? (row?.fields ?? null) : fields;
    rows.push({ ...rowOf(configured, state), held, fields: unfilled, place, anew_because: anewBecause });
    streams.push(isContinued ? { ...configured, inlay_held: held } : configured);
    if (pieces.isPauseDue) await pieces.pause();
    if (state !== null) kept.push(state);
    const said = [
      ...(anewBecause === null ? [] : [readAnew(choice.stream, anewBecause)]),
      ...(missing.length === 0 ? [] : [fieldsMissing(connection.connectionId, choice.stream, missing)]),
    ];
    if (said.length > 0) notices.set(key, said);
    planned.push({
      key,
      goesOn,
      isContinued,
      ...(choice.selectedFields && { selectedFields: choice.selectedFields }),
      ...(said.length > 0 && { notices: said }),
      ...((said.length > 0 || (isIncremental && minimum > 0)) && { settled: { fields } }),
    });
  }
  await states.putStreams(tx, connection, rows);
  const reading = { catalog: { streams }, state: kept, notices, streams: planned };
  if (whole === undefined) return reading;
  const goingOn = plans.filter(({ goesOn }) => goesOn).map(streamOf);
  const readAgain = plans.filter(({ goesOn }) => !goesOn).map(streamOf);
  // Without what it says of streams that are read from their start: a source would take that for how far it has come.
  return { ...reading, state: goingOn.length === 0 ? [] : [whole.without(readAgain, goingOn)] };
}

/** The same reading once more, from what is stored now: for a caller who didn't get the first answer. */
export async function readPlanned(
  tx: Db,
  connection: ConnectionRef,
  planned: readonly PlannedStream[],
): Promise<Reading> {
  const known = await knownStreams(tx, connection);
  const there = planned.flatMap((stream) => {
    const row = known.get(stream.key);
    return row ? [{ ...stream, row, configured: JSON.parse(row.configured) as ConfiguredStream }] : [];
  });
  const streams = there.map(({ configured, row, isContinued }) =>
    isContinued ? { ...configured, inlay_held: row.held } : configured,
  );
  const notices = new Map(there.flatMap(({ key, notices }) => (notices ? [[key, notices] as const] : [])));
  const text = await states.findWholeState(tx, connection);
  const [goingOn, readAgain] = [there.filter(({ goesOn }) => goesOn), there.filter(({ goesOn }) => !goesOn)];
  const ofStreams = goingOn.flatMap(({ row }) => (row.state === null ? [] : [row.state]));
  const rowOf = ({ row }: { row: StreamDescriptor }) => row;
  const ofAll =
    text !== undefined && goingOn.length > 0
      ? [new WholeState(text, known.values()).without(readAgain.map(rowOf), goingOn.map(rowOf))]
      : [];
  return { catalog: { streams }, state: text === undefined ? ofStreams : ofAll, notices, streams: [...planned] };
}

/** What was chosen when the streams were planned, to be planned again. */
export async function chosenBefore(
  tx: Db,
  connection: ConnectionRef,
  planned: readonly PlannedStream[],
): Promise<ChosenStream[]> {
  const known = await knownStreams(tx, connection);
  return planned.flatMap(({ key, selectedFields }) => {
    const row = known.get(key);
    if (!row) return [];
    const { stream, sync_mode, destination_sync_mode, cursor_field, primary_key } = JSON.parse(
      row.configured,
    ) as ConfiguredStream;
    return {
      stream,
      syncMode: sync_mode,
      destinationSyncMode: destination_sync_mode,
      ...(cursor_field && { cursorField: cursor_field }),
      ...(primary_key && { primaryKey: primary_key }),
      ...(selectedFields && { selectedFields: [...selectedFields] }),
    };
  });
}

/**
 * The first generation of a connection comes after those of connections that filled the same table before, so that it
 * replaces their rows: no stream begins a generation every second.
 */
const generationBefore = (now: number) => Math.floor((now - Date.UTC(2026, 0)) / 1_000);

async function planStreams(
  chosen: readonly ChosenStream[],
  known: ReadonlyMap<string, ConnectionStreamRow>,
  rename: ReturnType<typeof renaming>,
): Promise<Plan[]> {
  const pieces = new Pieces();
  const plans: Plan[] = [];
  for (const choice of chosen) {
    plans.push(planOf(choice, known.get(streamKey(choice.stream)), rename));
    if (pieces.isPauseDue) await pieces.pause();
  }
  return plans;
}

type Plan = ReturnType<typeof planOf>;

const streamOf = ({ choice }: Plan): StreamDescriptor => choice.stream;

/** Whether a stream continues from its state, and why not. */
function planOf(choice: ChosenStream, row: ConnectionStreamRow | undefined, rename: ReturnType<typeof renaming>) {
  const before = row && (JSON.parse(row.configured) as ConfiguredStream);
  const place = JSON.stringify([rename.namespace(choice.stream.namespace), rename.prefix + choice.stream.name]);
  const isIncremental = choice.syncMode === 'incremental';
  const wasIncremental = isIncremental && before?.sync_mode === 'incremental';
  const cause = row && wasIncremental ? causeToReadAnew(row, before, choice, place) : undefined;
  return { choice, row, before, place, isIncremental, cause, goesOn: wasIncremental && cause === undefined };
}

/**
 * Why an incremental stream cannot continue from its state. A state belongs to the cursor it was created with. It also
 * covers every row at the destination, as deduplicated by the key and mode of that time: other rows were merged away or
 * exist in several versions, and only reading again shows which are right.
 */
function causeToReadAnew(
  row: ConnectionStreamRow,
  before: ConfiguredStream,
  choice: ChosenStream,
  place: string,
): ReadAnewCause | undefined {
  if (String(before.cursor_field) !== String(choice.cursorField)) return 'cursor_changed';
  // A destination that identifies its tables detects this itself, also after someone renamed them.
  if (row.held === null && row.place !== null && row.place !== place) return 'place_changed';
  if (choice.destinationSyncMode !== 'append_dedup') return undefined;
  if (before.destination_sync_mode !== 'append_dedup') return 'mode_changed';
  return JSON.stringify(before.primary_key) === JSON.stringify(choice.primaryKey) ? undefined : 'key_changed';
}

/** Appended rows stay. Rows that are replaced each time, or deduplicated by key, are replaced again. */
function minimumOf(mode: DestinationSyncMode, before: ConfiguredStream | undefined, generation: number): number {
  if (mode === 'overwrite') return generation;
  const isReplaced = mode === 'append_dedup' || before?.destination_sync_mode === 'overwrite';
  return before && isReplaced ? generation : 0;
}

/** The fields that records are stored with, as JSON. Null: every field that a record has. */
function fieldsOf({ stream, selectedFields }: ChosenStream): string | null {
  if (selectedFields) return JSON.stringify(selectedFields);
  const { properties } = stream.json_schema;
  return isObject(properties) && !hasFurtherFields(stream) ? JSON.stringify(Object.keys(properties)) : null;
}

function missingFields(before: string | null | undefined, now: string | null): string[] {
  if (before == null || now === null || before === now) return [];
  const stored = new Set(JSON.parse(before) as string[]);
  return (JSON.parse(now) as string[]).filter((field) => !stored.has(field));
}

/** Begins a new generation of streams that the connection has synced; without names, of all. */
export async function refreshStreams(
  tx: Db,
  connection: ConnectionRef,
  named: readonly StreamDescriptor[] | undefined,
): Promise<void> {
  const known = (await states.listStreams(tx, connection)).map(
    ({ configured }) => (JSON.parse(configured) as ConfiguredStream).stream,
  );
  const find = streamFinder({ streams: known });
  const streams = (named ?? known).map((each) => {
    // Callers may know a stream by the name that jobs call it.
    const stream = find(each) ?? known.find((one) => each.namespace === undefined && shownName(one) === each.name);
    if (stream) return { stream, cause: 'refreshed' as const };
    const message = `The connection has not synced the stream ${shownName(each)} yet.`;
    throw new Problem('bad-request', { message });
  });
  await startOver(tx, connection, streams);
}

/** Forgets how far streams were read: they are read from their start, whatever becomes of the job that was to do it. */
export async function startOver(
  tx: Db,
  connection: ConnectionRef,
  streams: readonly { stream: StreamDescriptor; cause: ReadAnewCause }[],
): Promise<void> {
  const known = await knownStreams(tx, connection);
  const rows: states.StreamRow[] = [];
  for (const { stream, cause } of streams) {
    const row = known.get(streamKey(stream));
    if (!row) continue;
    rows.push(fromStart(row, cause, cause === 'refreshed'));
  }
  await states.putStreams(tx, connection, rows);
  const forgotten = streams.map(({ stream }) => stream);
  await forgetInWholeState(tx, connection, forgotten, known);
}

/** Starts a new generation. `isReplaced`: also replaces appended rows. */
function fromStart(row: ConnectionStreamRow, cause: ReadAnewCause, isReplaced: boolean): states.StreamRow {
  const before = JSON.parse(row.configured) as ConfiguredStream;
  const generation = row.generation_id + 1;
  const minimum = isReplaced ? generation : minimumOf(before.destination_sync_mode, before, generation);
  const configured = { ...before, generation_id: generation, minimum_generation_id: minimum };
  return { ...row, ...rowOf(configured, null), held: null, anew_because: cause };
}

/** After a sync that succeeded: nothing is left of earlier generations, and what was to be said was said. */
export async function settle(
  tx: Db,
  connection: ConnectionRef,
  planned: readonly PlannedStream[],
  notReplaced: ReadonlySet<string> = new Set(),
): Promise<void> {
  if (!planned.some(({ settled }) => settled)) return;
  const known = await knownStreams(tx, connection);
  const rows = planned.flatMap(({ key, settled }) => {
    const row = known.get(key);
    if (!row || !settled || notReplaced.has(key)) return [];
    const { fields } = settled;
    const configured = { ...(JSON.parse(row.configured) as ConfiguredStream), minimum_generation_id: 0 };
    return [{ ...row, configured: JSON.stringify(configured), fields, anew_because: null }];
  });
  await states.putStreams(tx, connection, rows);
}

/**
 * Removes some streams from a state of all streams and returns the rest. A state that cannot be split is deleted
 * entirely: its source would read the rest as its progress in them. The other streams then also start new generations,
 * since their rows come again.
 */
async function forgetInWholeState(
  tx: Db,
  connection: ConnectionRef,
  forgotten: readonly StreamDescriptor[],
  known: ReadonlyMap<string, ConnectionStreamRow>,
): Promise<{ whole?: WholeState; isForgotten?: boolean }> {
  const text = await states.findWholeState(tx, connection);
  if (text === undefined) return {};
  const whole = new WholeState(text, known.values());
  if (forgotten.length === 0) return { whole };
  const keys = new Set(forgotten.map(streamKey));
  const others = [...known].flatMap(([key, row]) => (keys.has(key) ? [] : [row]));
  if (whole.tellsApart(forgotten, others)) {
    const rest = whole.without(forgotten, others);
    await states.putWholeState(tx, connection, rest);
    return { whole: new WholeState(rest, known.values()) };
  }
  await states.deleteWholeState(tx, connection);
  const goingOn = others.filter(
    ({ configured }) => (JSON.parse(configured) as ConfiguredStream).sync_mode === 'incremental',
  );
  await states.putStreams(
    tx,
    connection,
    goingOn.map((row) => fromStart(row, 'state_shared', true)),
  );
  return { isForgotten: true };
}

/**
 * Synced streams to empty at the destination: all of them, or only the named ones. Their states are deleted at once;
 * the states of others stay.
 */
export async function prepareClearing(
  tx: Db,
  connection: ConnectionRef,
  jobId: number,
  only?: readonly StreamDescriptor[],
): Promise<ConfiguredCatalog> {
  const streams: ConfiguredStream[] = [];
  const rows: states.StreamRow[] = [];
  const wanted = only && new Set(only.map(streamKey));
  const known = await knownStreams(tx, connection);
  const pieces = new Pieces();
  for (const [key, row] of known) {
    if (wanted && !wanted.has(key)) continue;
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
    // If others keep a state shared with it, the stream continues in it without its own part.
    const kept = rowOf(wanted ? { ...before, generation_id: generation } : configured, null);
    rows.push({ ...row, ...kept, held: null, anew_because: null });
    streams.push(configured);
    if (pieces.isPauseDue) await pieces.pause();
  }
  await states.putStreams(tx, connection, rows);
  const forgotten = streams.map(({ stream }) => stream);
  if (wanted) await forgetInWholeState(tx, connection, forgotten, known);
  else await states.deleteWholeState(tx, connection);
  return { streams };
}

/** Every stream that the connection has moved. */
export async function listKnownStreams(tx: Db, connection: ConnectionRef): Promise<StreamDescriptor[]> {
  return (await states.listStreams(tx, connection)).map(({ name, namespace }) => ({ name, namespace }));
}

/** `text` is the state as its source wrote it. A state of one stream replaces that stream's; any other is for all streams together and replaces everything. */
export async function keepState(tx: Db, connection: ConnectionRef, state: State, text: string): Promise<void> {
  if (state.type === 'STREAM' && state.stream) {
    const { stream_descriptor: stream, stream_state: value } = state.stream;
    await states.deleteWholeState(tx, connection);
    await states.putStreamState(tx, connection, stream, { state: value === undefined || value === null ? null : text });
    return;
  }
  await states.putWholeState(tx, connection, text);
  await states.clearStreamStates(tx, connection);
}

/** What the destination says about the place of a stream. */
export async function keepHeld(
  tx: Db,
  connection: ConnectionRef,
  stream: StreamDescriptor,
  held: string,
): Promise<void> {
  await states.putStreamState(tx, connection, stream, { held });
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

function configuredStream(
  choice: ChosenStream,
  { generation, minimum, jobId }: { generation: number; minimum: number; jobId: number },
): ConfiguredStream {
  return {
    stream: choice.stream,
    sync_mode: choice.syncMode,
    destination_sync_mode: choice.destinationSyncMode,
    ...(choice.cursorField && { cursor_field: choice.cursorField }),
    ...(choice.primaryKey && { primary_key: choice.primaryKey }),
    generation_id: generation,
    minimum_generation_id: minimum,
    sync_id: jobId,
  };
}

async function knownStreams(tx: Db, connection: ConnectionRef): Promise<Map<string, ConnectionStreamRow>> {
  const rows = await states.listStreams(tx, connection);
  return new Map(rows.map((row) => [streamKey(row), row]));
}

function rowOf(stream: ConfiguredStream, state: string | null) {
  const { name, namespace = '' } = stream.stream;
  return { namespace, name, configured: JSON.stringify(stream), generation_id: stream.generation_id, state };
}
