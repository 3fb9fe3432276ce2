/**
 * The logs of jobs. While a job goes on, its log is where the platform keeps it. Where `INLAY_JOB_LOG_DAYS` says so, the
 * log of a job that has ended is copied into our own store (job-logs.worker.ts), so that it outlives the platform's
 * machine and any replica can hand it out. It reads the same from both places.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { JobLog, JobLogQuery } from '@inlay/contract/operating';
import type { JobRow } from '../db/tables.ts';
import { AppError } from '../errors.ts';
import { PlatformError, type PlatformPort } from '../platform/platform-port.ts';
import { delayOf } from '../workspaces/operations.ts';
import type { PipelinesContext } from './context.ts';
import * as logs from './job-logs.store.ts';

export type LogLine = JobLog['lines'][number];

const defaultBytes = 100_000;

type LogContext = Pick<PipelinesContext, 'store'> & { platform: Pick<PlatformPort, 'readJobLog'> };

/** What the connectors of a job have said, where the platform hands it out. */
export async function readJobLog(
  ctx: LogContext,
  job: JobRow,
  { first_error, ...query }: JobLogQuery,
): Promise<JobLog> {
  const log = await readLines(ctx, job, query);
  if (first_error === undefined) return log;
  return { ...log, first_error_offset: await findFirstError(ctx, job, log.attempt || undefined) };
}

/** A search for each level: only the lines that hold its name are looked at. */
async function findFirstError(ctx: LogContext, job: JobRow, attempt: number | undefined): Promise<number | null> {
  let first: number | null = null;
  for (const level of ['ERROR', 'FATAL']) {
    let offset: number | null = 0;
    while (offset !== null && (first === null || offset < first)) {
      const search: JobLogQuery = { search: level, offset, bytes: 10_000, ...(attempt !== undefined && { attempt }) };
      const { lines, next_offset }: JobLog = await readLines(ctx, job, search);
      const found = lines.find((line) => line.level === level)?.offset;
      if (found !== undefined) first = Math.min(first ?? found, found);
      offset = found === undefined ? next_offset : null;
    }
  }
  return first;
}

async function readLines(ctx: LogContext, job: JobRow, query: JobLogQuery): Promise<JobLog> {
  const kept = await readKeptLog(ctx, job, query);
  if (kept) return kept;
  try {
    const log = await ctx.platform.readJobLog(job.id, query);
    if (log) return log;
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new AppError('platform_does_not_answer', { delay: delayOf(error) }, { cause: error });
  }
  throw new AppError('log_not_told');
}

async function readKeptLog(
  { store: { db } }: Pick<PipelinesContext, 'store'>,
  { workspace_id: workspaceId, connection_id, id }: JobRow,
  query: JobLogQuery,
): Promise<JobLog | undefined> {
  const parts = await logs.listParts(db, workspaceId, { connection_id, job_id: id }, query.attempt);
  const [first] = parts;
  if (!first) return undefined;
  const { attempt } = first;
  const plain = plainWord.exec(query.search ?? '')?.[0]?.toLowerCase();
  const linesOf = async ({ part }: logs.LogPart) =>
    await unpack(await logs.readPart(db, workspaceId, { connection_id, job_id: id, attempt, part }), plain);
  const { lines, nextOffset } = await chooseLines(parts, linesOf, query);
  return { attempt, lines, total_bytes: parts.at(-1)?.end_offset ?? 0, next_offset: nextOffset };
}

/** Whole lines: from a byte on, or the last ones, or those that hold a text. Parts that are not needed are not read. */
async function chooseLines(
  parts: readonly logs.LogPart[],
  linesOf: (part: logs.LogPart) => Promise<LogLine[]>,
  { offset = 0, bytes = defaultBytes, tail, search }: JobLogQuery,
): Promise<{ lines: LogLine[]; nextOffset: number | null }> {
  const wanted = search?.toLowerCase();
  const isWanted = ({ level, origin, message }: LogLine) =>
    wanted === undefined || `${level} ${origin} ${message}`.toLowerCase().includes(wanted);
  const lines: LogLine[] = [];
  let length = 0;
  /** False: the line is one too many. */
  const take = (line: LogLine) => {
    length += Buffer.byteLength(line.message);
    if (lines.length > 0 && length > bytes) return false;
    lines.push(line);
    return true;
  };
  if (tail !== undefined) {
    let last: LogLine[] = [];
    for (const part of parts.toReversed()) {
      last = [...(await linesOf(part)).filter(isWanted), ...last].slice(-tail);
      if (last.length === tail) break;
    }
    const tooMany = last.find((line) => !take(line));
    return { lines, nextOffset: tooMany?.offset ?? null };
  }
  for (const part of parts.filter(({ end_offset }) => end_offset > offset)) {
    for (const line of await linesOf(part)) {
      if (line.offset >= offset && isWanted(line) && !take(line)) return { lines, nextOffset: line.offset };
    }
  }
  return { lines, nextOffset: null };
}

export async function pack(lines: readonly LogLine[]): Promise<Buffer> {
  return await promisify(gzip)(lines.map((line) => JSON.stringify(line)).join('\n'));
}

/** JSON writes such a word as it is, so that a part or a line without it need not be read as JSON. */
const plainWord = /^[A-Za-z0-9]+$/;

async function unpack(content: Uint8Array | undefined, word?: string): Promise<LogLine[]> {
  // Removed meanwhile.
  if (!content) return [];
  const text = (await promisify(gunzip)(content)).toString();
  if (word === undefined) return text.split('\n').map((line) => JSON.parse(line));
  if (!text.toLowerCase().includes(word)) return [];
  const lines = text.split('\n').filter((line) => line.toLowerCase().includes(word));
  return lines.map((line) => JSON.parse(line));
}
