/**
 * A state that a source keeps for all its streams together. In the GLOBAL form, it has a part for each stream and one
 * that they share. The legacy form has no defined content; by convention it has the state of each stream under its
 * name.
 *
 * Whatever is kept of a state stays exactly as the source wrote it.
 */
import { type StreamDescriptor, streamKey } from '@inlay/protocol/protocol';
import { elementsOf, membersOf, objectText } from '../runner/json-members.ts';

export class WholeState {
  readonly text: string;
  readonly #state: Map<string, string>;
  readonly #global: Map<string, string> | undefined;
  /** Keyed by `streamKey`, or by name in the legacy form. */
  readonly #parts: Map<string, string>;
  readonly #tellsApart: boolean;

  /** @param streams all that the source may speak of. */
  constructor(text: string, streams: Iterable<StreamDescriptor>) {
    this.text = text;
    this.#state = membersOf(text);
    this.#global = this.#state.get('type') === '"GLOBAL"' ? membersOf(this.#state.get('global') ?? '{}') : undefined;
    const data = this.#state.get('data') ?? '{}';
    this.#parts = this.#global
      ? new Map(elementsOf(this.#global.get('stream_states') ?? '[]').map((part) => [keyOfPart(part), part]))
      : new Map(data.startsWith('{') ? membersOf(data) : []);
    this.#tellsApart = this.#global
      ? this.#parts.size > 0
      : [...streams].some((stream) => this.#parts.has(this.#keyOf(stream)));
  }

  /** Whether a stream continues from it. A state that does not separate streams may cover every stream. */
  covers(stream: StreamDescriptor): boolean {
    return !this.#tellsApart || this.#parts.has(this.#keyOf(stream));
  }

  /** Whether some streams can be removed from it without changing it for the others. */
  tellsApart(streams: readonly StreamDescriptor[], others: readonly StreamDescriptor[]): boolean {
    const keys = new Set(others.map((other) => this.#keyOf(other)));
    return this.#tellsApart && streams.every((stream) => !keys.has(this.#keyOf(stream)));
  }

  /** What it says about the others. If two streams have the same part, the part stays. */
  without(streams: readonly StreamDescriptor[], others: readonly StreamDescriptor[]): string {
    const left = new Set(streams.map((stream) => this.#keyOf(stream)));
    for (const other of others) left.delete(this.#keyOf(other));
    const rest = [...this.#parts].filter(([key]) => !left.has(key));
    if (this.#global) {
      const parts = `[${rest.map(([, part]) => part).join(',')}]`;
      const global = objectText(new Map(this.#global).set('stream_states', parts));
      return objectText(new Map(this.#state).set('global', global));
    }
    return rest.length === this.#parts.size
      ? this.text
      : objectText(new Map(this.#state).set('data', objectText(rest)));
  }

  #keyOf(stream: StreamDescriptor): string {
    return this.#global ? streamKey(stream) : stream.name;
  }
}

function keyOfPart(part: string): string {
  return streamKey(JSON.parse(membersOf(part).get('stream_descriptor') ?? '{}'));
}
