/*
 * A file to read, wherever it is: on the web (web-file.ts) or in a folder that the operator has allowed (local-file.ts).
 * It is opened together with its version, and not opened when the caller has read that version already.
 */
import type { Readable } from 'node:stream';

export interface SourceFile {
  /** Distinguishes the files of one source. */
  name: string;
  /** Undefined: unchanged since the version that the caller knows. */
  open(knownVersion?: string): Promise<OpenFile | undefined>;
  /** Turns a read failure into a message; returns anything else unchanged. */
  explain(error: unknown): unknown;
}

export interface OpenFile {
  /** Undefined: cannot determine whether the file has changed. */
  version: string | undefined;
  modifiedAt: Date;
  body: Readable;
}
