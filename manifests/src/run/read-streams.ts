/*
 * Reads streams to an emitter: several at the same time, and several slices of each, the records of a slice in their order.
 * A stream that fails does not stop the others. A state goes out behind the records that it covers.
 */
import { ConnectorError, type Emitter, type StreamFailure } from '@inlay/protocol/connector';
import type { State, StreamDescriptor } from '@inlay/protocol/protocol';
import { Slots } from '@inlay/protocol/slots';
import type { StreamCursor } from '../cursors/stream-cursor.ts';
import { RunFailure } from '../http/failures.ts';
import type { Slice } from './slice.ts';
import { type DataRecord, SliceIgnored, type SourceStream } from './stream.ts';

export interface StreamToRead {
  name: string;
  /** Makes the stream. Throws an Error if the configuration does not allow it. Missing for one that the source has not. */
  open: (() => SourceStream) | undefined;
  /** Streams that have a group in common are read one after the other. */
  groups?: readonly string[];
  /** The words of an error, with its place in the manifest. */
  describe?: ((error: unknown) => string) | undefined;
}

/** More failures of one stream than these say nothing new. */
const mostFailures = 10;

/** Returns the failed streams with their reasons. */
export async function readStreams(
  streams: readonly StreamToRead[],
  emit: Emitter,
  concurrency: number,
  statesEverySlice = false,
): Promise<Map<string, StreamFailure>> {
  const slices = new Slots(concurrency);
  const places = new Slots(concurrency);
  const groups = new Map<string, Slots>();
  const groupOf = (name: string) => {
    const group = groups.get(name) ?? new Slots(1);
    groups.set(name, group);
    return group;
  };
  const failed = new Map<string, StreamFailure>();
  const work = streams.map(async (stream) => {
    // All streams acquire groups in the same order, which prevents deadlocks.
    const own = [...new Set(stream.groups)].sort().map(groupOf);
    for (const group of own) await group.take();
    await places.take();
    try {
      const failure = await readStream(stream, emit, slices, statesEverySlice);
      if (failure) failed.set(stream.name, failure);
    } finally {
      places.give();
      for (const group of own) group.give();
    }
  });
  await Promise.all(work);
  return failed;
}

async function readStream(
  { name, open, describe }: StreamToRead,
  emit: Emitter,
  slots: Slots,
  statesEverySlice: boolean,
): Promise<StreamFailure | undefined> {
  const descriptor: StreamDescriptor = { name };
  if (!open) {
    emit.log('WARN', `The source has no stream ${name}.`);
    await emit.status(descriptor, 'INCOMPLETE');
    return undefined;
  }
  const failures = new Map<string, StreamFailure>();
  const fail = async (error: unknown) => {
    const failure = failureOf(error, describe);
    if (failures.has(failure.message) || failures.size >= mostFailures) return;
    failures.set(failure.message, failure);
    await emit.failure?.(descriptor, failure);
  };
  await emit.status(descriptor, 'STARTED');
  let stream: SourceStream | undefined;
  try {
    stream = open();
    if (stream.forgetsState) await emit.state(stateOf(descriptor, {}));
    await readSlices(stream, descriptor, emit, slots, fail, statesEverySlice);
  } catch (error) {
    await fail(error);
  }
  if (stream) {
    stream.cursor.finish();
    await emitState(stream, descriptor, emit);
  }
  await emit.status(descriptor, failures.size === 0 ? 'COMPLETE' : 'INCOMPLETE');
  return failures.values().next().value;
}

async function readSlices(
  stream: SourceStream,
  descriptor: StreamDescriptor,
  emit: Emitter,
  slots: Slots,
  fail: (error: unknown) => Promise<void>,
  statesEverySlice: boolean,
): Promise<void> {
  const tasks = new Set<Promise<void>>();
  const secondsBetweenStates = statesEverySlice ? 0 : stream.cursor.secondsBetweenStates;
  const progress = { records: 0, lastState: Date.now(), secondsBetweenStates };
  try {
    for await (const slice of stream.cursor.slices()) {
      await slots.take();
      const task = readSlice(stream, slice, descriptor, emit, progress)
        .catch(fail)
        .finally(() => {
          slots.give();
          tasks.delete(task);
        });
      tasks.add(task);
    }
  } finally {
    await Promise.all(tasks);
  }
}

async function readSlice(
  stream: SourceStream,
  slice: Slice,
  descriptor: StreamDescriptor,
  emit: Emitter,
  progress: { records: number; lastState: number; secondsBetweenStates: number | undefined },
): Promise<void> {
  const { cursor } = stream;
  for await (const records of recordsOf(stream, slice)) {
    if (!records) return;
    if (progress.records === 0 && records.length > 0) await emit.status(descriptor, 'RUNNING');
    for (const record of records) {
      const readerIsBehind = emit.record(descriptor, record);
      cursor.observe(slice, record);
      if (readerIsBehind) await readerIsBehind;
      progress.records++;
      if (isTimeForState(cursor, progress.records)) await emitState(stream, descriptor, emit);
    }
  }
  cursor.close(slice);
  const { secondsBetweenStates } = progress;
  if (secondsBetweenStates === undefined || Date.now() - progress.lastState < secondsBetweenStates * 1000) return;
  progress.lastState = Date.now();
  await emitState(stream, descriptor, emit);
}

function isTimeForState({ recordsBetweenStates }: StreamCursor, records: number): boolean {
  return recordsBetweenStates !== undefined && records % recordsBetweenStates === 0;
}

/** Ends with undefined for a slice that should stay unchanged. */
async function* recordsOf(stream: SourceStream, slice: Slice): AsyncGenerator<DataRecord[] | undefined> {
  try {
    yield* stream.read(slice);
  } catch (error) {
    if (!(error instanceof SliceIgnored)) throw error;
    yield undefined;
  }
}

async function emitState(stream: SourceStream, descriptor: StreamDescriptor, emit: Emitter): Promise<void> {
  await emit.state(stateOf(descriptor, stream.cursor.state()));
}

function stateOf(descriptor: StreamDescriptor, state: Record<string, unknown>): State {
  return { type: 'STREAM', stream: { stream_descriptor: descriptor, stream_state: state } };
}

export function failureOf(error: unknown, describe = (one: unknown) => (one as Error).message): StreamFailure {
  const { cause } = error as Error;
  const message = describe(error);
  const internalMessage = cause instanceof Error ? cause.message : message;
  if (error instanceof RunFailure || error instanceof ConnectorError) {
    const { failureType, fields } = error;
    return { message, failureType, internalMessage, ...(fields && { fields }) };
  }
  return { message, failureType: 'system_error', internalMessage };
}
