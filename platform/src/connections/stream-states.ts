/*
 * What a connection knows of the streams it has moved: how far the source was read, and which generation of each
 * stream the destination holds. A generation ends when a stream is read anew from its start.
 *
 * Always true: a state is written only after the destination has confirmed everything before it, and is forgotten
 * before a stream is read anew or emptied, never after: a crash in between costs repeated records, not missing ones.
 */

import type { ConnectionStreamRow, Store } from '../db/open.ts';
import {
  type Catalog,
  type ConfiguredCatalog,
  type ConfiguredStream,
  type State,
  type StreamDescriptor,
  streamKey,
} from '../protocol.ts';
import type { ChosenStream } from './stream-selection.ts';

export interface Reading {
  catalog: ConfiguredCatalog;
  state: State[];
}

/** Settles generations for one attempt, and where each stream is to be read from. */
export async function prepareReading(
  trx: Store,
  { connectionId, jobId }: { connectionId: string; jobId: number },
  chosen: readonly ChosenStream[],
): Promise<Reading> {
  const known = await knownStreams(trx, connectionId);
  const streams: ConfiguredStream[] = [];
  const states: State[] = [];
  let readsAnew = false;
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
    await putStream(trx, connectionId, configured, state ?? null);
    streams.push(configured);
    if (state) states.push(streamState(choice.stream, state));
  }
  const whole = await trx
    .selectFrom('connection_states')
    .select('state')
    .where('connection_id', '=', connectionId)
    .executeTakeFirst();
  // One state for all streams cannot be forgotten for one of them.
  if (whole && readsAnew) await trx.deleteFrom('connection_states').where('connection_id', '=', connectionId).execute();
  return { catalog: { streams }, state: whole && !readsAnew ? [JSON.parse(whole.state)] : states };
}

/** Every stream the connection has ever moved, to be emptied at the destination; their states are gone at once. */
export async function prepareClearing(
  trx: Store,
  { connectionId, jobId }: { connectionId: string; jobId: number },
): Promise<ConfiguredCatalog> {
  const streams: ConfiguredStream[] = [];
  for (const row of (await knownStreams(trx, connectionId)).values()) {
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
    await putStream(trx, connectionId, configured, null);
    streams.push(configured);
  }
  await trx.deleteFrom('connection_states').where('connection_id', '=', connectionId).execute();
  return { streams };
}

/** A state of one stream replaces that stream's; any other is for all streams together and replaces everything. */
export async function putState(trx: Store, connectionId: string, state: State): Promise<void> {
  if (state.type === 'STREAM' && state.stream) {
    const { stream_descriptor: stream, stream_state: value } = state.stream;
    await trx.deleteFrom('connection_states').where('connection_id', '=', connectionId).execute();
    await trx
      .updateTable('connection_streams')
      .set({ state: value === undefined ? null : JSON.stringify(value) })
      .where('connection_id', '=', connectionId)
      .where('namespace', '=', stream.namespace ?? '')
      .where('name', '=', stream.name)
      .execute();
    return;
  }
  const whole = JSON.stringify(state);
  await trx
    .insertInto('connection_states')
    .values({ connection_id: connectionId, state: whole })
    .onConflict((conflict) => conflict.column('connection_id').doUpdateSet({ state: whole }))
    .execute();
  await trx.updateTable('connection_streams').set({ state: null }).where('connection_id', '=', connectionId).execute();
}

export async function findAcceptedCatalog(store: Store, connectionId: string): Promise<Catalog | undefined> {
  const row = await store
    .selectFrom('connection_catalogs')
    .select('catalog')
    .where('connection_id', '=', connectionId)
    .executeTakeFirst();
  return row && JSON.parse(row.catalog);
}

export async function putAcceptedCatalog(trx: Store, connectionId: string, accepted: Catalog): Promise<void> {
  const catalog = JSON.stringify(accepted);
  await trx
    .insertInto('connection_catalogs')
    .values({ connection_id: connectionId, catalog })
    .onConflict((conflict) => conflict.column('connection_id').doUpdateSet({ catalog }))
    .execute();
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

async function knownStreams(trx: Store, connectionId: string): Promise<Map<string, ConnectionStreamRow>> {
  const rows = await trx
    .selectFrom('connection_streams')
    .selectAll()
    .where('connection_id', '=', connectionId)
    .orderBy('namespace')
    .orderBy('name')
    .execute();
  return new Map(rows.map((row) => [streamKey(row), row]));
}

async function putStream(trx: Store, connectionId: string, stream: ConfiguredStream, state: string | null) {
  const { name, namespace = '' } = stream.stream;
  const row = { configured: JSON.stringify(stream), generation_id: stream.generation_id, state };
  await trx
    .insertInto('connection_streams')
    .values({ connection_id: connectionId, namespace, name, ...row })
    .onConflict((conflict) => conflict.columns(['connection_id', 'namespace', 'name']).doUpdateSet(row))
    .execute();
}

function streamState({ name, namespace }: StreamDescriptor, state: string): State {
  const descriptor = namespace === undefined ? { name } : { name, namespace };
  return { type: 'STREAM', stream: { stream_descriptor: descriptor, stream_state: JSON.parse(state) } };
}
