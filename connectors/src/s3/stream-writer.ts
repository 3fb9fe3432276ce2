/*
 * The objects of one stream in one run. Appended records become visible with every flush. Those of an `overwrite` stream
 * wait, at the store but invisible, until the stream is complete; then they appear and everything older is deleted, in
 * this order, so that the stream is never empty in between.
 */
import { createHash } from 'node:crypto';
import type { ConfiguredStream, RecordMessage, StreamReport } from '@inlay/protocol/protocol';
import type { Slots } from '@inlay/protocol/slots';
import { TextBuffer } from '@inlay/protocol/text-buffer';
import { heldBefore } from '../kit/holdings.ts';
import { jsonLines } from '../kit/json-lines.ts';
import { pauseBefore } from './calls.ts';
import type { S3Client } from './client.ts';
import { doubtError } from './failures.ts';
import { findOrigin, numberedObject, runPrefix, streamFolder } from './keys.ts';
import { ObjectWriter } from './object-writer.ts';

export interface ObjectLimits {
  /** S3 wants at least 5 MiB, except for the last part of an object. */
  partBytes: number;
  /** A larger object is ended and another one begun; S3 takes at most 10,000 parts. */
  objectBytes: number;
  /** How often a call is tried before the sync fails. */
  tries: number;
}

/** What `StreamHolding.held` says, as JSON. */
interface Held {
  place: string;
  rows: boolean;
}

const deletesAtOnce = 8;
/** What a chunk of input becomes. */
const linesBytes = 80 * 1024;

export class StreamWriter {
  /** All earlier records are to go. */
  readonly isReplaced: boolean;
  readonly #folder: string;
  readonly #place: string;
  readonly #startedAtMs: number;
  readonly #runPrefix: string;
  readonly #addLine: ReturnType<typeof jsonLines>;
  readonly #lines = new TextBuffer(linesBytes);
  #count = 0;
  #current: ObjectWriter | undefined;
  #parked: ObjectWriter[] = [];
  #invisibleRecords = 0;
  #visibleRecords = 0;
  /** Whether there are objects of earlier runs. */
  #hadObjects: boolean;

  constructor(
    readonly stream: ConfiguredStream,
    private readonly client: S3Client,
    private readonly slots: Slots,
    private readonly limits: ObjectLimits,
    { bucketUrl, prefix, startedAtMs }: { bucketUrl: string; prefix: string; startedAtMs: number },
  ) {
    this.#folder = streamFolder(prefix, stream.stream);
    this.#addLine = jsonLines(stream.sync_id);
    this.#startedAtMs = startedAtMs;
    this.#runPrefix = runPrefix(stream, startedAtMs);
    this.#place = createHash('sha256').update(`${bucketUrl}/${this.#folder}`).digest('base64url');
    this.#hadObjects = heldBefore<Held>(stream)?.rows ?? false;
    this.isReplaced = stream.destination_sync_mode === 'overwrite';
  }

  /**
   * Check before anything is stored: whether the objects of the last sync still exist. An emptied folder and one that
   * never existed look alike, so only a folder with a different name or in a different bucket counts as `gone`; objects
   * missing in the same place were moved elsewhere or have expired.
   */
  async findLoss(): Promise<'gone' | 'emptied' | undefined> {
    if (!this.#hadObjects || (await this.#hasObjects())) return undefined;
    this.#hadObjects = false;
    return heldBefore<Held>(this.stream)?.place === this.#place ? 'emptied' : 'gone';
  }

  /** What the next sync compares with. */
  get held(): Held {
    return { place: this.#place, rows: this.#hadObjects || this.#visibleRecords > 0 };
  }

  async #hasObjects(): Promise<boolean> {
    for await (const keys of this.client.listKeys(this.#folder)) if (keys.some((key) => this.owns(key))) return true;
    return false;
  }

  get heldBytes(): number {
    return this.#current?.heldBytes ?? 0;
  }

  /** What this run has made visible. */
  get report(): StreamReport {
    const { name, namespace } = this.stream.stream;
    return {
      stream_descriptor: namespace === undefined ? { name } : { name, namespace },
      records_written: this.#visibleRecords,
    };
  }

  /** Compressed bytes that `flush` would make visible. */
  get unflushedBytes(): number {
    return this.isReplaced ? 0 : (this.#current?.bytes ?? 0);
  }

  add(record: RecordMessage['record']): void {
    this.#addLine(record, this.#lines);
    this.#invisibleRecords += 1;
  }

  /** Takes in what was added. */
  async write(): Promise<void> {
    if (this.#lines.length === 0) return;
    this.#current ??= new ObjectWriter(this.#nextKey(), this.client, this.slots, this.limits.partBytes);
    await this.#current.write(this.#lines.take());
    if (this.#current.bytes >= this.limits.objectBytes) await this.release();
  }

  /** Frees the memory of what was written so far. */
  async release(): Promise<void> {
    if (!this.isReplaced) {
      await this.flush();
    } else if (this.#current) {
      await this.#current.park();
      this.#parked.push(this.#current);
      this.#current = undefined;
    }
  }

  /** Afterwards every appended record is safely stored. */
  async flush(): Promise<void> {
    if (this.isReplaced || !this.#current) return;
    await this.#current.finish();
    this.#current = undefined;
    this.#show();
  }

  /** The source has sent all there is: shows the new records and deletes those they replace. */
  async complete(): Promise<void> {
    for (const object of [...this.#parked, this.#current]) await object?.finish();
    this.#parked = [];
    this.#current = undefined;
    this.#show();
    await this.#deleteReplaced();
  }

  /** Drops what is not visible yet. */
  async abort(): Promise<void> {
    const objects = [...this.#parked, this.#current];
    this.#parked = [];
    this.#current = undefined;
    for (const object of objects) await object?.abort();
  }

  /** Whether an object is one of this stream, made by this run or another one. */
  owns(key: string): boolean {
    return key.startsWith(this.#folder) && findOrigin(key.slice(this.#folder.length)) !== undefined;
  }

  /** All records that were added are visible: `write` comes after the last `add` and before anything is finished. */
  #show(): void {
    this.#visibleRecords += this.#invisibleRecords;
    this.#invisibleRecords = 0;
  }

  #nextKey(): string {
    this.#count += 1;
    return `${this.#folder}${this.#runPrefix}${numberedObject(this.#count)}`;
  }

  /** Until a listing shows that nothing old is left: a store may say that it has deleted an object, and keep it. */
  async #deleteReplaced(): Promise<void> {
    // Without a minimum there is nothing to look for, and a key that may only write is enough.
    if (!this.isReplaced && this.stream.minimum_generation_id === 0) return;
    for (let round = 1; await this.#deleteListed(); round++) {
      if (round === this.limits.tries) throw doubtError('reported objects as deleted but kept them', 'delete objects');
      if (round > 1) await pauseBefore(round);
    }
  }

  /** Whether there was anything to delete. */
  async #deleteListed(): Promise<boolean> {
    let isAnyOld = false;
    for await (const keys of this.client.listKeys(this.#folder)) {
      const replaced = keys.filter((key) => this.#isOld(key.slice(this.#folder.length)));
      isAnyOld ||= replaced.length > 0;
      for (let next = 0; next < replaced.length; next += deletesAtOnce) {
        await Promise.all(replaced.slice(next, next + deletesAtOnce).map((key) => this.client.delete(key)));
      }
    }
    if (!this.isReplaced) this.#hadObjects = await this.#hasObjects();
    return isAnyOld;
  }

  #isOld(name: string): boolean {
    const origin = findOrigin(name);
    if (!origin || name.startsWith(this.#runPrefix)) return false;
    // The entire stream is replaced, whatever generation the old records belong to. Only a run that was declared dead
    // finds later ones: its platform was killed and has run the stream again. Those objects are kept.
    if (this.isReplaced) return origin.startedAtMs <= this.#startedAtMs;
    return origin.generation < this.stream.minimum_generation_id;
  }
}
