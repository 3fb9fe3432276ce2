/*
 * One file while it is written. Text is collected and written in large pieces; with gzip each piece is compressed on its
 * own, since gzip files may be put together. The file is complete and on the disk when `close` resolves.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export type Compression = 'none' | 'gzip';

const compress = promisify(gzip);
const pieceLength = 1024 * 1024;

export class PartFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #compression: Compression;
  #pending = '';
  /** Characters, before compression: close enough to bytes for deciding when a file is large. */
  length = 0;

  private constructor(path: string, handle: FileHandle, compression: Compression) {
    this.path = path;
    this.#handle = handle;
    this.#compression = compression;
  }

  static async open(path: string, compression: Compression, header: string): Promise<PartFile> {
    const part = new PartFile(path, await open(path, 'wx', 0o600), compression);
    part.#pending = header;
    return part;
  }

  /** A promise means: wait before adding more. */
  add(text: string): Promise<void> | undefined {
    this.#pending += text;
    this.length += text.length;
    return this.#pending.length >= pieceLength ? this.#write() : undefined;
  }

  async close(): Promise<void> {
    try {
      await this.#write();
      await this.#handle.sync();
    } finally {
      await this.#handle.close();
    }
  }

  async #write(): Promise<void> {
    const text = Buffer.from(this.#pending);
    this.#pending = '';
    if (text.length === 0) return;
    await this.#handle.appendFile(this.#compression === 'gzip' ? await compress(text) : text);
  }
}
