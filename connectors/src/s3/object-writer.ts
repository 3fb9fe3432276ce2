/*
 * One object being written: lines are compressed, parts are uploaded as they fill up, and data short of a part stays in
 * memory. An object becomes visible in the bucket all at once, with `finish`. An object smaller than a part is a single
 * request.
 */
import { once } from 'node:events';
import { createGzip } from 'node:zlib';
import type { Slots } from '@inlay/protocol/slots';
import type { S3Client, Upload } from './client.ts';

/** Memory of a compressor, regardless of its content: about 256 kB plus its buffers. */
const compressorBytes = 512 * 1024;

/** Takes about a third less time than the default of 6 and produces objects that are 5 % larger. */
const compressionLevel = 3;

export class ObjectWriter {
  /** Compressed bytes so far. */
  bytes = 0;
  readonly #gzip = createGzip({ level: compressionLevel });
  readonly #chunks: Buffer[] = [];
  #chunkBytes = 0;
  #isEnded = false;
  #upload: Promise<Upload> | undefined;
  #failure: Error | undefined;
  readonly #parts: Promise<string>[] = [];

  constructor(
    readonly key: string,
    private readonly client: S3Client,
    private readonly slots: Slots,
    private readonly partBytes: number,
  ) {
    this.#gzip.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#chunkBytes += chunk.length;
      this.bytes += chunk.length;
    });
  }

  get heldBytes(): number {
    return this.#chunkBytes + (this.#isEnded ? 0 : compressorBytes);
  }

  async write(lines: Buffer): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (!this.#gzip.write(lines)) await once(this.#gzip, 'drain');
    if (this.#chunkBytes >= this.partBytes) await this.#sendPart();
  }

  /** Hands everything to the store and keeps nothing in memory, without making the object visible. */
  async park(): Promise<void> {
    await this.#end();
    await this.#sendPart();
  }

  async finish(): Promise<void> {
    await this.#end();
    if (this.#upload) {
      await this.#sendPart();
      await this.client.completeUpload(await this.#upload, await Promise.all(this.#parts), this.bytes);
      return;
    }
    await this.slots.take();
    await this.client.put(this.key, this.#takeChunks()).finally(() => this.slots.give());
  }

  async abort(): Promise<void> {
    this.#gzip.destroy();
    // Parts still in progress would arrive after the end of the upload, and stay.
    const [upload] = await Promise.allSettled([this.#upload, ...this.#parts]);
    if (upload.status === 'fulfilled' && upload.value) await this.client.abortUpload(upload.value);
  }

  async #end(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const ended = once(this.#gzip, 'end');
    this.#gzip.end();
    await ended;
  }

  async #sendPart(): Promise<void> {
    if (this.#chunkBytes === 0) return;
    await this.slots.take();
    const body = this.#takeChunks();
    const partNumber = this.#parts.length + 1;
    this.#upload ??= this.client.startUpload(this.key);
    const part = this.#upload
      .then((upload) => this.client.uploadPart(upload, partNumber, body))
      .finally(() => this.slots.give());
    // Runs concurrently with the reading of records; the next call of this object throws its failure.
    part.catch((error) => {
      this.#failure ??= error;
    });
    this.#parts.push(part);
  }

  #takeChunks(): Buffer {
    const body = Buffer.concat(this.#chunks);
    this.#chunks.length = 0;
    this.#chunkBytes = 0;
    return body;
  }
}
