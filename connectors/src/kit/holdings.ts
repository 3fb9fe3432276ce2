/* Reports to the platform how a destination recognizes what it has stored of its streams, whenever that changes. */

import type { Emitter } from '@inlay/protocol/connector';
import { type ConfiguredCatalog, type ConfiguredStream, streamKey } from '@inlay/protocol/protocol';

export class Holdings {
  readonly #emit: Emitter;
  /** What the platform knows, by `streamKey`. */
  readonly #told: Map<string, string | null | undefined>;

  constructor({ streams }: ConfiguredCatalog, emit: Emitter) {
    this.#emit = emit;
    this.#told = new Map(streams.map(({ stream, inlay_held }) => [streamKey(stream), inlay_held]));
  }

  /** Await before passing on a state of the stream. Never used for streams that are overwritten each time. */
  async tell({ stream, destination_sync_mode }: ConfiguredStream, held: object): Promise<void> {
    const text = JSON.stringify(held);
    const key = streamKey(stream);
    if (destination_sync_mode === 'overwrite' || this.#told.get(key) === text) return;
    this.#told.set(key, text);
    await this.#emit.holding?.({ stream_descriptor: stream, held: text });
  }
}

/** What the last sync left of a stream that continues from a state; undefined for any other. */
export function heldBefore<Held extends object>({ inlay_held }: ConfiguredStream): Partial<Held> | undefined {
  return inlay_held === undefined ? undefined : JSON.parse(inlay_held ?? '{}');
}
