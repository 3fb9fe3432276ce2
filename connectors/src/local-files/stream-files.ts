/*
 * The files of one stream during one sync. A generation of records is a folder with the generation's number for a name;
 * all visible files of all visible generations together are the stream's records.
 *
 * Always true: a visible file is complete and on the disk. Records of an appended stream become visible by renaming
 * their file; those of an overwritten stream are collected in a hidden folder, which takes the place of the old ones at
 * the end: first the new generation becomes visible, then the old ones go, so a reader may for a moment see both but
 * never neither. A crash between the two leaves both until the next sync is complete.
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ConfiguredStream, RecordMessage, StreamReport } from '@inlay/protocol/protocol';
import { heldBefore } from '../kit/holdings.ts';
import { folderName, isThere, makeFolder, removeLeftovers, syncFolder } from './folders.ts';
import type { LineFormat } from './formats.ts';
import { type Compression, PartFile } from './part-file.ts';
import type { RunFolder } from './run-folder.ts';

/** What `StreamHolding.held` says, as JSON. */
interface Held {
  rows: boolean;
}

/** A larger file is finished and another one begun. */
const maxPartBytes = 256 * 1024 * 1024;

export class StreamFiles {
  readonly #folder: string;
  readonly #runFolder: RunFolder;
  readonly #format: LineFormat;
  readonly #compression: Compression;
  /** One run of one sync: a sync that is tried again writes other files. */
  readonly #run: string;
  #part: PartFile | undefined;
  #parts = 0;
  #unfinishedRecords = 0;
  #finishedRecords = 0;
  #hasFiles: boolean;
  isComplete = false;

  private constructor(
    readonly configured: ConfiguredStream,
    folder: string,
    runFolder: RunFolder,
    format: LineFormat,
    compression: Compression,
    hasFiles: boolean,
  ) {
    this.#hasFiles = hasFiles;
    this.#folder = folder;
    this.#runFolder = runFolder;
    this.#format = format;
    this.#compression = compression;
    this.#run = `${configured.sync_id}-${Date.now()}`;
  }

  static async open(
    target: string,
    runFolder: RunFolder,
    configured: ConfiguredStream,
    format: LineFormat,
    compression: Compression,
  ): Promise<StreamFiles> {
    const folder = await makeFolder(target, folderName(configured.stream));
    await removeLeftovers(folder);
    for (const generation of await listGenerations(folder)) await removeLeftovers(join(folder, generation));
    return new StreamFiles(configured, folder, runFolder, format, compression, await hasFiles(folder));
  }

  /** Whether the folder of a stream that continues from a state is missing. An emptied folder still exists. */
  static async isLost(target: string, configured: ConfiguredStream): Promise<boolean> {
    return heldBefore(configured) !== undefined && !(await isThere(join(target, folderName(configured.stream))));
  }

  /** Check before anything is stored. */
  get isEmptiedByHand(): boolean {
    return heldBefore<Held>(this.configured)?.rows === true && !this.#hasFiles;
  }

  /** What the next sync compares with. */
  get held(): Held {
    return { rows: this.#hasFiles };
  }

  get isOverwritten(): boolean {
    return this.configured.destination_sync_mode === 'overwrite';
  }

  /** What this sync has made visible. */
  get report(): StreamReport {
    const { name, namespace } = this.configured.stream;
    return {
      stream_descriptor: namespace === undefined ? { name } : { name, namespace },
      records_written: this.isOverwritten && !this.isComplete ? 0 : this.#finishedRecords,
    };
  }

  /** What is still to be made visible. */
  get pendingBytes(): number {
    return this.isOverwritten ? 0 : (this.#part?.bytes ?? 0);
  }

  /** A promise means: wait before adding more. */
  add(record: RecordMessage['record']): Promise<void> | undefined {
    const isOtherFile = this.#format.needsOtherHeader?.(record) ?? false;
    if (isOtherFile || !this.#part || this.#part.bytes >= maxPartBytes) return this.#addToNewPart(record);
    this.#format.add(record, this.#part.lines);
    this.#unfinishedRecords += 1;
    return this.#part.writeWhenFull();
  }

  async #addToNewPart(record: RecordMessage['record']): Promise<void> {
    await this.finishPart();
    this.#part = await this.#openPart();
    this.#format.add(record, this.#part.lines);
    this.#unfinishedRecords += 1;
    await this.#part.writeWhenFull();
  }

  /** Afterwards every record is on the disk and, where records are appended, visible. */
  async finishPart(): Promise<void> {
    const part = this.#part;
    if (!part) return;
    this.#part = undefined;
    await part.close();
    const folder = this.isOverwritten ? await this.#stagingFolder() : await this.#generationFolder();
    if (!this.isOverwritten) await rename(part.path, join(folder, basename(part.path)));
    await syncFolder(folder);
    this.#finishedRecords += this.#unfinishedRecords;
    this.#hasFiles ||= !this.isOverwritten;
    this.#unfinishedRecords = 0;
  }

  /** The source has read the stream to its end: what this sync replaces goes. */
  async complete(): Promise<void> {
    await this.finishPart();
    const before = await listGenerations(this.#folder);
    if (this.isOverwritten) {
      const number = this.configured.generation_id;
      let name = String(number);
      for (let copy = 1; before.includes(name); copy++) name = `${number}.${copy}`;
      await rename(await this.#stagingFolder(), join(this.#folder, name));
      await syncFolder(this.#folder);
    }
    const minimum = this.configured.minimum_generation_id;
    const replaced = this.isOverwritten ? before : before.filter((name) => Number.parseInt(name, 10) < minimum);
    const own = folderName(this.configured.stream);
    for (const name of replaced) await this.#runFolder.remove(own, join(this.#folder, name));
    if (replaced.length > 0) this.#hasFiles = await hasFiles(this.#folder);
    this.isComplete = true;
  }

  /** The input has ended; a stream that is not complete leaves the records it was to replace unchanged. */
  async end(): Promise<void> {
    await this.finishPart();
    if (this.isOverwritten && !this.isComplete) await rm(await this.#stagingFolder(), { recursive: true, force: true });
  }

  async #openPart(): Promise<PartFile> {
    const compressed = this.#compression === 'gzip' ? '.gz' : '';
    const number = String(++this.#parts).padStart(4, '0');
    const name = `${this.#run}-${number}.${this.#format.extension}${compressed}`;
    const folder = this.isOverwritten ? this.#stagingFolder() : this.#runFolder.of(folderName(this.configured.stream));
    const path = join(await folder, name);
    return PartFile.open(path, this.#compression, this.#format.header());
  }

  async #stagingFolder(): Promise<string> {
    return makeFolder(await this.#runFolder.of(folderName(this.configured.stream)), 'new');
  }

  #generationFolder(): Promise<string> {
    return makeFolder(this.#folder, String(this.configured.generation_id));
  }
}

/** What is hidden is not counted. */
async function hasFiles(folder: string): Promise<boolean> {
  for (const generation of await listGenerations(folder)) {
    if ((await readdir(join(folder, generation))).some((name) => !name.startsWith('.'))) return true;
  }
  return false;
}

/** A generation that was completed twice has a copy's number behind its own. */
async function listGenerations(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^\d+(\.\d+)?$/.test(name));
}
