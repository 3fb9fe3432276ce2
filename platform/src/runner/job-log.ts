/**
 * The log of one job: a JSON object a line with time, level, origin and message. However much a connector says, the log
 * keeps its beginning and its end: `<file>` fills up first, then `<file>.end` does; each time that is full it becomes
 * `<file>.end.old`, in place of the one before.
 *
 * Each line is written before `write` returns, so that what led to a crash is there to be read.
 */
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { storageFaultOf } from '@inlay/database/storage-state';
import type { Failure, JobLog } from './runner.ts';

interface JobLogLimits {
  /** Limit for all files of the log together. */
  maxBytes?: number;
  maxMessageLength?: number;
}

export interface JobLogLine {
  time: string;
  level: string;
  origin: Failure['origin'];
  message: string;
}

export interface OpenJobLog extends JobLog {
  /** Every line so far is stored when it resolves. */
  flush(): Promise<void>;
  close(): void;
}

const endOf = (file: string) => `${file}.end`;
const oldEndOf = (file: string) => `${file}.end.old`;

/** The files of a log that there may be, in the order of their lines. Each begins with a line. */
export const partsOf = (file: string) => [file, oldEndOf(file), endOf(file)];

/**
 * Appends to an existing log: a job may be resumed. Neither the sync nor the service may fail because a log has no
 * space: lines that cannot be written are counted, and the next one that can be reports the count.
 */
export function jobLog(file: string, limits: JobLogLimits, now: () => number): OpenJobLog {
  const { maxBytes = 5_000_000, maxMessageLength = 8 * 1024 } = limits;
  const maxFileBytes = Math.floor(maxBytes / 3);
  let current: number | undefined;
  let isBeginning = true;
  let bytes = 0;
  let lost = 0;
  let isTorn = false;

  function open(): number {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    isBeginning = !existsSync(endOf(file));
    current = openSync(isBeginning ? file : endOf(file), 'a', 0o600);
    bytes = fstatSync(current).size;
    return current;
  }

  function turn(): number {
    close();
    if (!isBeginning) renameSync(endOf(file), oldEndOf(file));
    isBeginning = false;
    current = openSync(endOf(file), 'a', 0o600);
    bytes = 0;
    return current;
  }

  function close(): void {
    if (current !== undefined) closeSync(current);
    current = undefined;
  }

  function append(level: string, origin: Failure['origin'], message: string): void {
    const line: JobLogLine = { time: new Date(now()).toISOString(), level, origin, message };
    const text = Buffer.from(`${isTorn ? '\n' : ''}${JSON.stringify(line)}\n`);
    let descriptor = current ?? open();
    if (bytes > 0 && bytes + text.length > maxFileBytes) descriptor = turn();
    for (let written = 0; written < text.length; ) {
      const count = writeSync(descriptor, text, written);
      written += count;
      bytes += count;
      isTorn = written < text.length;
    }
  }

  function write(level: string, origin: Failure['origin'], message: string): void {
    try {
      if (lost > 0) {
        append('WARN', 'platform', `${lost} lines are missing because the disk was full.`);
        lost = 0;
      }
      append(level, origin, message.slice(0, maxMessageLength));
    } catch (error) {
      if (!storageFaultOf(error)) throw error;
      lost++;
      // The next line reopens it: the file may be gone, or on another disk.
      close();
    }
  }

  return { write, flush: async () => {}, close };
}

export interface PlacedLine extends JobLogLine {
  /** Start offset in the log, in bytes. */
  offset: number;
}

export function readLine(text: string): JobLogLine | undefined {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // The machine went down while it was written.
    return undefined;
  }
}

export function removeJobLog(file: string): void {
  for (const part of partsOf(file)) rmSync(part, { force: true });
}
