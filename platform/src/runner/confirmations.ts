/**
 * Which states the destination still owes. It may pass over a state when it confirms a later one of the same stream, so
 * only the last one sent counts.
 */
import { isDeepStrictEqual } from 'node:util';
import { type State, streamKey } from '../protocol.ts';

export class Confirmations {
  readonly #owed = new Map<string, unknown>();

  sent(state: State): void {
    this.#owed.set(subjectOf(state), contentOf(state));
  }

  confirmed(state: State): void {
    const subject = subjectOf(state);
    if (isDeepStrictEqual(this.#owed.get(subject), contentOf(state))) this.#owed.delete(subject);
  }

  get areComplete(): boolean {
    return this.#owed.size === 0;
  }
}

function subjectOf({ type, stream }: State): string {
  return type === 'STREAM' && stream ? `stream ${streamKey(stream.stream_descriptor)}` : (type ?? 'LEGACY');
}

/** What a state says, apart from counts and spellings that a destination may change. */
function contentOf({ type, stream, global, data }: State): unknown {
  if (type === 'STREAM') return stream?.stream_state ?? null;
  if (type !== 'GLOBAL') return data ?? null;
  const streams = (global?.stream_states ?? []).map(
    ({ stream_descriptor, stream_state }) => [streamKey(stream_descriptor), stream_state ?? null] as const,
  );
  return [global?.shared_state ?? null, new Map(streams)];
}
