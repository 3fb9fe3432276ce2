/**
 * How the streams of a sync are called on its two sides. The source keeps its own names; the destination gets a prefix
 * and another namespace. Both ways are one to one: two streams that would meet at the destination are refused.
 */
import {
  type ConfiguredCatalog,
  type ConfiguredStream,
  type State,
  type StreamDescriptor,
  type StreamState,
  streamKey,
} from '../protocol.ts';
import { RunFailure, type WriteRequest } from './runner.ts';

export interface StreamNames {
  /** The same catalog in the destination's words. */
  destinationCatalog: ConfiguredCatalog;
  /** Undefined for a stream that takes no part. */
  atDestination(stream: StreamDescriptor): StreamDescriptor | undefined;
  stateForDestination(state: State): State;
  stateFromDestination(state: State): State;
}

export function streamNames({ streams }: ConfiguredCatalog, rename: WriteRequest['rename']): StreamNames {
  const there = new Map<string, StreamDescriptor>();
  const here = new Map<string, StreamDescriptor>();
  const renamed = streams.map((configured): ConfiguredStream => {
    const { name, namespace, ...stream } = configured.stream;
    const source = namespace ? { name, namespace } : { name };
    const space = rename.namespace(source.namespace);
    const destination = { name: rename.prefix + name, ...(space && { namespace: space }) };
    const other = here.get(streamKey(destination));
    if (other) throw new RunFailure(clash(other, source, destination));
    there.set(streamKey(source), destination);
    here.set(streamKey(destination), source);
    return { ...configured, stream: { ...stream, ...destination } };
  });

  return {
    destinationCatalog: { streams: renamed },
    atDestination: (stream) => there.get(streamKey(stream)),
    stateForDestination: (state) => renameState(state, there),
    stateFromDestination: (state) => renameState(state, here),
  };
}

/** A LEGACY state names no streams. A GLOBAL one may name streams that take no part: it is kept whole. */
function renameState(state: State, names: ReadonlyMap<string, StreamDescriptor>): State {
  const renamed = (stream: StreamState): StreamState => ({
    ...stream,
    stream_descriptor: names.get(streamKey(stream.stream_descriptor)) ?? stream.stream_descriptor,
  });
  if (state.type === 'STREAM' && state.stream) return { ...state, stream: renamed(state.stream) };
  if (state.type === 'GLOBAL' && state.global) {
    return { ...state, global: { ...state.global, stream_states: (state.global.stream_states ?? []).map(renamed) } };
  }
  return state;
}

function clash(one: StreamDescriptor, other: StreamDescriptor, target: StreamDescriptor) {
  const names = `${displayName(one)} and ${displayName(other)}`;
  return {
    origin: 'platform',
    type: 'config_error',
    message:
      `The streams ${names} would both be written to ${displayName(target)}. ` +
      "Keep the source's namespaces, or leave one of them out.",
  } as const;
}

export function displayName({ name, namespace }: StreamDescriptor): string {
  return namespace ? `${namespace}.${name}` : name;
}
