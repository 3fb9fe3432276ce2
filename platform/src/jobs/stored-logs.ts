/**
 * The logs of attempts in the store, for coordinators on several machines. What always holds: a line is stored within a second
 * of being written, as long as the database answers; a crash loses no earlier line. Several coordinators may write the log of
 * one attempt: each appends whole lines in a transaction.
 *
 * However much a connector says, the log keeps its beginning and its end, and a line in between says how many are missing.
 */
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { Db, Store } from '../db/open.ts';
import type { Log } from '../log.ts';
import type { JobLogLine, OpenJobLog } from '../runner/job-log.ts';
import type { Chunk, LogRanges } from '../runner/log-ranges.ts';
import type { Runtime } from '../runtime.ts';
import type { JobLogs } from './context.ts';
import { deleteParts, insertPart, type LogRef, listParts, type PartSize, readParts } from './job-log-parts.store.ts';

interface StoredLogsContext {
  store: Store;
  runtime: Pick<Runtime, 'now' | 'sleep'>;
  log: Pick<Log, 'warn'>;
  /** Limit for the log of one attempt, uncompressed. */
  maxBytes?: number;
}

const flushEveryMs = 1_000;
/** So much is stored at once without waiting. */
const pieceBytes = 64 * 1024;
/** What waits in memory while the database doesn't answer. */
const maxWaitingBytes = 1024 * 1024;
const maxMessageLength = 8 * 1024;
const usualMaxBytes = 5_000_000;

/** Somebody who says little fills many parts below this fraction of the limit, which are then joined. */
const smallFraction = 1 / 150;
const mostSmallParts = 16;

const newline = 10;
const compress = promisify(deflateRaw);
const expand = promisify(inflateRaw);
const pack = async (text: string | Buffer) => (await compress(text)).toString('base64');
const unpack = (content: string): Promise<Buffer> => expand(Buffer.from(content, 'base64'));

export function storedLogs(ctx: StoredLogsContext): JobLogs {
  const writers = new Set<Writer>();
  return {
    open(ref) {
      const writer = new Writer(ctx, ref, () => writers.delete(writer));
      writers.add(writer);
      return writer;
    },
    async read(ref) {
      const own = [...writers].filter(({ ref: { jobId, attempt } }) => jobId === ref.jobId && attempt === ref.attempt);
      await Promise.all(own.map((writer) => writer.flush()));
      return rangesOf(ctx.store, ref, await listParts(ctx.store.db, ref));
    },
    // The database deletes them with their job.
    remove: async () => {},
    async close() {
      await Promise.all([...writers].map((writer) => writer.end()));
    },
  };
}

class Writer implements OpenJobLog {
  readonly ref: LogRef;
  readonly #ctx: StoredLogsContext;
  readonly #onEnd: () => void;
  #lines: string[] = [];
  #bytes = 0;
  #lost = 0;
  #isClosed = false;
  #hurry = new AbortController();
  #draining: Promise<void> | undefined;

  constructor(ctx: StoredLogsContext, ref: LogRef, onEnd: () => void) {
    this.#ctx = ctx;
    this.ref = ref;
    this.#onEnd = onEnd;
  }

  write(level: string, origin: JobLogLine['origin'], message: string): void {
    const text = this.#lineOf(level, origin, message.slice(0, maxMessageLength));
    if (this.#bytes + text.length > maxWaitingBytes) {
      this.#lost++;
      return;
    }
    this.#lines.push(text);
    this.#bytes += text.length;
    if (this.#bytes >= pieceBytes) this.#hurry.abort();
    this.#draining ??= this.#drain();
  }

  async flush(): Promise<void> {
    this.#hurry.abort();
    await this.#draining;
  }

  close(): void {
    void this.end();
  }

  async end(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    this.#onEnd();
  }

  #lineOf(level: string, origin: JobLogLine['origin'], message: string): string {
    const line: JobLogLine = { time: this.#now(), level, origin, message };
    return `${JSON.stringify(line)}\n`;
  }

  #now(): string {
    return new Date(this.#ctx.runtime.now()).toISOString();
  }

  /** Only one at a time, until nothing is left. */
  async #drain(): Promise<void> {
    const { store, runtime, log, maxBytes = usualMaxBytes } = this.#ctx;
    while (this.#lines.length > 0) {
      await runtime.sleep(flushEveryMs, this.#hurry.signal);
      this.#hurry = new AbortController();
      const [lines, lost] = [this.#lines, this.#lost];
      if (lost > 0)
        lines.push(this.#lineOf('WARN', 'platform', `${lost} lines are missing because the database was away.`));
      [this.#lines, this.#bytes, this.#lost] = [[], 0, 0];
      try {
        await append(store, this.ref, lines, { maxBytes, time: this.#now() });
      } catch (err) {
        if (this.#isClosed) {
          log.warn({ err, job: this.ref.jobId, lines: lines.length }, 'platform: The end of a job log was not stored');
          break;
        }
        if (lost > 0) lines.pop();
        this.#lines.unshift(...lines);
        this.#bytes += lines.reduce((sum, { length }) => sum + length, 0);
        this.#lost += lost;
      }
    }
    this.#draining = undefined;
  }
}

async function append(store: Store, ref: LogRef, added: readonly string[], dropping: Dropping): Promise<void> {
  await store.transaction(async (tx) => {
    const parts = await listParts(tx, ref);
    const firstSmall =
      parts.findLastIndex(({ bytes, dropped }) => bytes >= dropping.maxBytes * smallFraction || dropped > 0) + 1;
    const small = parts.length - firstSmall >= mostSmallParts ? parts.splice(firstSmall) : [];
    const numbers = small.map(({ part }) => part);
    const earlier = await Promise.all((await readParts(tx, ref, numbers)).map(({ content }) => unpack(content)));
    const text = Buffer.concat([...earlier, Buffer.from(added.join(''))]);
    const last = small.at(-1) ?? parts.at(-1);
    const lines = small.reduce((sum, part) => sum + part.lines, added.length);
    const part: PartSize = { part: (last?.part ?? 0) + 1, bytes: text.length, lines, dropped: 0 };
    await deleteParts(tx, ref, numbers);
    await insertPart(tx, ref, { ...part, content: await pack(text) });
    await dropMiddle(tx, ref, [...parts, part], dropping);
  });
}

interface Dropping {
  maxBytes: number;
  /** Of the line that says what is missing. */
  time: string;
}

/** More at a time than is needed, so that it happens rarely. */
async function dropMiddle(tx: Db, ref: LogRef, parts: PartSize[], { maxBytes, time }: Dropping): Promise<void> {
  let total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return;
  const third = maxBytes / 3;
  let head = 0;
  const middle: PartSize[] = [];
  for (const part of parts.slice(0, -1)) {
    head += part.bytes;
    if (head <= third && part.dropped === 0) continue;
    head = Number.POSITIVE_INFINITY;
    middle.push(part);
    total -= part.bytes;
    if (total <= maxBytes - third) break;
  }
  const [first] = middle;
  if (!first) return;
  const dropped = middle.reduce((sum, part) => sum + (part.dropped || part.lines), 0);
  const line: JobLogLine = {
    ...{ time, level: 'WARN', origin: 'platform' },
    message: `${dropped} lines are missing here because the log has reached its limit.`,
  };
  const text = `${JSON.stringify(line)}\n`;
  await deleteParts(
    tx,
    ref,
    middle.map(({ part }) => part),
  );
  const marker = { part: first.part, bytes: text.length, lines: 1, dropped };
  await insertPart(tx, ref, { ...marker, content: await pack(text) });
}

/** Copies a log that nobody writes any more, whole. False if there is nothing to copy. */
export async function copyLog(store: Store, ref: LogRef, log: LogRanges): Promise<boolean> {
  const copied = await listParts(store.db, ref);
  if (copied.reduce((sum, { bytes }) => sum + bytes, 0) === log.totalBytes) return false;
  await store.transaction(async (tx) => {
    await deleteParts(
      tx,
      ref,
      (await listParts(tx, ref)).map(({ part }) => part),
    );
    let part = 1;
    for await (const { bytes } of log.from(0)) {
      const lines = bytes.reduce((sum, byte) => (byte === newline ? sum + 1 : sum), 0);
      await insertPart(tx, ref, { part: part++, bytes: bytes.length, lines, dropped: 0, content: await pack(bytes) });
    }
  });
  return true;
}

/** Offsets count the bytes of the parts that are left. */
function rangesOf(store: Store, ref: LogRef, sizes: readonly PartSize[]): LogRanges {
  let totalBytes = 0;
  const parts = sizes.map(({ part, bytes }) => {
    const from = totalBytes;
    totalBytes += bytes;
    return { part, from, until: totalBytes };
  });
  /** Undefined for a part that has been removed since: its lines are in another one, or gone. */
  const load = async ({ part, from }: { part: number; from: number }): Promise<Chunk | undefined> => {
    const [row] = await readParts(store.db, ref, [part]);
    return row && { offset: from, bytes: await unpack(row.content) };
  };
  return {
    totalBytes,
    async *from(offset) {
      for (const part of parts.filter(({ until }) => until > offset)) {
        const chunk = await load(part);
        const skipped = chunk && offset > part.from ? chunk.bytes.indexOf(newline, offset - part.from - 1) + 1 : 0;
        if (chunk && skipped < chunk.bytes.length) {
          yield { offset: chunk.offset + skipped, bytes: chunk.bytes.subarray(skipped) };
        }
      }
    },
    async *backwards() {
      for (const part of parts.toReversed()) {
        const chunk = await load(part);
        if (chunk) yield chunk;
      }
    },
    close: async () => {},
  };
}
