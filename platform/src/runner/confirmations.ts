/**
 * Which states the destination still owes. It may pass over a state when it confirms a later one of the same stream, so
 * only the last one sent counts.
 *
 * A confirmed state is kept in the text that the source wrote: a destination may have parsed it into less precise
 * numbers and may have dropped fields it does not know.
 */
import { isDeepStrictEqual } from 'node:util';
import { type State, type StreamDescriptor, streamKey } from '@inlay/protocol/protocol';
import type { Progress } from './runner.ts';

interface SentState {
  content: unknown;
  text: string;
  moved: Progress;
}

/** A destination that confirms nothing before the end would else have the platform remember every state of a sync. */
const maxRememberedLength = 16_000_000;

export class Confirmations {
  readonly #owed = new Map<string, unknown>();
  readonly #sent = new Map<string, SentState[]>();
  /** Per stream, or for all streams together: what had been sent before the last confirmed state. */
  readonly #arrived = new Map<string, Progress>();
  #rememberedLength = 0;

  /** `text` is the state as the source wrote it; `moved` is what it covers: of its stream, or of all streams. */
  sent(state: State, text: string, moved: Progress): void {
    const subject = subjectOf(state);
    const content = contentOf(state);
    this.#owed.set(subject, content);
    const sent = this.#sent.get(subject) ?? [];
    this.#sent.set(subject, sent);
    sent.push({ content, text, moved: { ...moved } });
    this.#rememberedLength += text.length;
    while (this.#rememberedLength > maxRememberedLength && sent.length > 1) this.#forget(sent, 1);
  }

  /** The text of the state as the source wrote it; undefined when the source has not sent such a state. */
  textOf(state: State): string | undefined {
    const sent = this.#sent.get(subjectOf(state)) ?? [];
    const content = contentOf(state);
    // States that differ only in digits that a number does not have look the same: the earlier one is the safe one.
    const index = sent.findIndex((each) => isDeepStrictEqual(each.content, content));
    if (index === -1) return undefined;
    this.#forget(sent, index);
    if (sent[0]) this.#arrived.set(subjectOf(state), sent[0].moved);
    return sent[0]?.text;
  }

  confirmed(state: State): void {
    const subject = subjectOf(state);
    if (isDeepStrictEqual(this.#owed.get(subject), contentOf(state))) this.#owed.delete(subject);
  }

  /** The destination rightly keeps what it was sent of a stream out of place, and confirms no state that covers it. */
  release(stream: StreamDescriptor): void {
    for (const subject of [`stream ${streamKey(stream)}`, 'GLOBAL', 'LEGACY']) this.#owed.delete(subject);
  }

  /** What the destination has confirmed for a stream. Undefined if states cover all streams together. */
  arrivedOf(stream: StreamDescriptor): Progress | undefined {
    return this.#arrived.get(`stream ${streamKey(stream)}`);
  }

  /** What the destination has confirmed for all streams together, if the source keeps one state for all. */
  get arrivedOfAll(): Progress | undefined {
    return this.#arrived.get('GLOBAL') ?? this.#arrived.get('LEGACY');
  }

  get areComplete(): boolean {
    return this.#owed.size === 0;
  }

  #forget(sent: SentState[], count: number): void {
    for (const { text } of sent.splice(0, count)) this.#rememberedLength -= text.length;
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
