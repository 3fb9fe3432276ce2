/*
 * One file while it is written. Lines are collected and written in large pieces; with gzip each piece is compressed on
 * its own, since gzip files may be put together. The file is complete and on the disk when `close` resolves.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { TextBuffer } from '@inlay/protocol/text-buffer';

export type Compression = 'none' | 'gzip';

const pieceBytes = 1024 * 1024;
/** Slack for the line that fills a block. */
const spareBytes = 16 * 1024;

export class PartFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #compression: Compression;
  /** Buffer for lines; call `writeWhenFull` after each. */
  readonly lines = new TextBuffer(pieceBytes + spareBytes);
  #writtenBytes = 0;

  private constructor(path: string, handle: FileHandle, compression: Compression) {
    this.path = path;
    this.#handle = handle;
    this.#compression = compression;
  }

  static async open(path: string, compression: Compression, header: string): Promise<PartFile> {
    const part = new PartFile(path, await open(path, 'wx', 0o600), compression);
    part.lines.add(header);
    return part;
  }

  /** Before compression. */
  get bytes(): number {
    return this.#writtenBytes + this.lines.length;
  }

  /** A promise means: wait before adding more. */
  writeWhenFull(): Promise<void> | undefined {
    return this.lines.length >= pieceBytes ? this.#write() : undefined;
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
    const piece = this.lines.take();
    if (piece.length === 0) return;
    this.#writtenBytes += piece.length;
    await this.#handle.appendFile(this.#compression === 'gzip' ? await compress(piece) : piece);
  }
}

/** What compresses is loaded only where it is needed: it is a tenth of the start of this connector. */
function compress(piece: Buffer): Promise<Buffer> {
  return promisify(process.getBuiltinModule('node:zlib').gzip)(piece);
}
