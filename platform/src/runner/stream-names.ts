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
} from '@inlay/protocol/protocol';
import { mapInPieces } from '@inlay/schedule/pieces';
import { elementsOf, membersOf, objectText } from './json-members.ts';
import { RunFailure, type WriteRequest } from './runner.ts';

export interface StreamNames {
  /** The same catalog in the destination's words. */
  destinationCatalog: ConfiguredCatalog;
  /** Undefined for a stream that takes no part. */
  atDestination(stream: StreamDescriptor): StreamDescriptor | undefined;
  /** The other way round. */
  atSource(stream: StreamDescriptor): StreamDescriptor | undefined;
  /** A STATE message as text. Everything else in it is unchanged. */
  stateForDestination(message: string): string;
  /** The state of a message as an object; the text that its source wrote is what is stored. */
  stateFromDestination(state: State): State;
}

/** In pieces, since a catalog can have ten thousand streams. */
export async function streamNames(
  { streams }: ConfiguredCatalog,
  rename: WriteRequest['rename'],
  writer?: WriteRequest['writer'],
): Promise<StreamNames> {
  const fence = writer && { inlay_epoch: writer.epoch, inlay_writer: writer.connectionId };
  const there = new Map<string, StreamDescriptor>();
  const here = new Map<string, StreamDescriptor>();
  let isRenaming = false;
  const renamed = await mapInPieces(streams, (configured): ConfiguredStream => {
    const { name, namespace, ...stream } = configured.stream;
    const source = namespace ? { name, namespace } : { name };
    const space = rename.namespace(source.namespace);
    const destination = { name: rename.prefix + name, ...(space && { namespace: space }) };
    const sourceKey = streamKey(source);
    const destinationKey = streamKey(destination);
    const other = here.get(destinationKey);
    if (other) throw new RunFailure(clash(other, source, destination));
    there.set(sourceKey, destination);
    here.set(destinationKey, source);
    isRenaming ||= sourceKey !== destinationKey;
    return { ...configured, ...fence, stream: { ...stream, ...destination } };
  });

  return {
    destinationCatalog: { streams: renamed },
    atDestination: (stream) => there.get(streamKey(stream)),
    atSource: (stream) => here.get(streamKey(stream)),
    stateForDestination: (message) => (isRenaming ? renameInMessage(message, there) : message),
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

/** The same for a message that is text, in which nothing else changes. */
function renameInMessage(message: string, names: ReadonlyMap<string, StreamDescriptor>): string {
  const renamed = (stream: string): string =>
    withMember(stream, 'stream_descriptor', (text) => {
      const destination = names.get(streamKey(JSON.parse(text)));
      if (!destination) return text;
      const descriptor = membersOf(text);
      descriptor.delete('namespace');
      for (const [key, value] of Object.entries(destination)) descriptor.set(key, JSON.stringify(value));
      return objectText(descriptor);
    });
  const inList = (list: string) => `[${elementsOf(list).map(renamed).join(',')}]`;
  const inGlobal = (global: string) => withMember(global, 'stream_states', inList);
  return withMember(message, 'state', (state) => withMember(withMember(state, 'stream', renamed), 'global', inGlobal));
}

/** The object with that member changed, where it has one that is neither null nor absent. */
function withMember(text: string, key: string, change: (value: string) => string): string {
  const members = membersOf(text);
  const value = members.get(key);
  if (value === undefined || value === 'null') return text;
  return objectText(members.set(key, change(value)));
}

function clash(one: StreamDescriptor, other: StreamDescriptor, target: StreamDescriptor) {
  const names = `${displayName(one)} and ${displayName(other)}`;
  return {
    origin: 'platform',
    type: 'config_error',
    message:
      `The streams ${names} would both be written to ${displayName(target)}. ` +
      "Keep the source's namespaces, or remove one of the streams.",
  } as const;
}

export function displayName({ name, namespace }: StreamDescriptor): string {
  return namespace ? `${namespace}.${name}` : name;
}
