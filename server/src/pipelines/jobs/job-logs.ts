/**
 * The logs of jobs. The log of a running job stays on the platform. Where `INLAY_JOB_LOG_DAYS` says so, the
 * log of a job that has ended is copied into our own store (job-logs.worker.ts), so that it outlives the platform's
 * machine and any replica can hand it out. It reads the same from both places.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { JobLog, JobLogQuery } from '@inlay/contract/pipelines/operating';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { JobRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { PlatformError, type PlatformPort } from '../../kernel/platform/platform-port.ts';
import { delayOf } from '../../tenancy/workspaces/operations.ts';
import * as logs from '../job-logs.store.ts';

export type LogLine = JobLog['lines'][number];

const defaultBytes = 100_000;

interface LogContext {
  store: Store;
  platform: Pick<PlatformPort, 'readJobLog'>;
}

/** What the connectors of a job have said, where the platform hands it out. */
export async function readJobLog(ctx: LogContext, job: JobRow, query: JobLogQuery): Promise<JobLog> {
  const kept = await readKeptLog(ctx.store.db, job, query);
  if (kept) return kept;
  try {
    const log = await ctx.platform.readJobLog(job.platform_id, query);
    if (log) return query.first_error === undefined ? log : { first_error_offset: null, ...log };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new AppError('platform_does_not_answer', { delay: delayOf(error) }, { cause: error });
  }
  throw new AppError('log_not_told');
}

async function readKeptLog(
  db: Db,
  { workspace_id: workspaceId, connection_id, id }: JobRow,
  query: JobLogQuery,
): Promise<JobLog | undefined> {
  const parts = await logs.listParts(db, workspaceId, { connection_id, job_id: id }, query.attempt);
  const [first] = parts;
  if (!first) return undefined;
  const { attempt } = first;
  const linesOf = async ({ part }: logs.LogPart, search?: string) =>
    await unpack(await logs.readPart(db, workspaceId, { connection_id, job_id: id, attempt, part }), search);
  const { lines, nextOffset } = await chooseLines(parts, linesOf, query);
  const found = query.first_error && { first_error_offset: await findFirstError(parts, linesOf) };
  return { attempt, lines, total_bytes: parts.at(-1)?.end_offset ?? 0, next_offset: nextOffset, ...found };
}

type LinesOf = (part: logs.LogPart, search?: string) => Promise<LogLine[]>;

/** Searches the lines of parts that were stored before this offset was recorded. */
async function findFirstError(parts: readonly logs.LogPart[], linesOf: LinesOf): Promise<number | null> {
  for (const part of parts) {
    const first = part.first_error_offset ?? firstErrorIn(await linesOf(part));
    if (first !== noError) return first;
  }
  return null;
}

const noError = -1;

/** For `first_error_offset`. */
export function firstErrorIn(lines: readonly LogLine[]): number {
  return lines.find(({ level }) => level === 'ERROR' || level === 'FATAL')?.offset ?? noError;
}

/** A search looks at no more parts for one answer. */
const searchedParts = 16;

/** Whole lines: from a byte on, or the last ones, or those that hold a text. Parts that are not needed are not read. */
async function chooseLines(
  parts: readonly logs.LogPart[],
  linesOf: LinesOf,
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
  const isEnough = (looked: number) => search !== undefined && looked >= searchedParts;
  if (tail !== undefined) {
    let last: LogLine[] = [];
    for (const [looked, part] of parts.toReversed().entries()) {
      if (isEnough(looked)) break;
      last = [...(await linesOf(part, wanted)).filter(isWanted), ...last].slice(-tail);
      if (last.length === tail) break;
    }
    const tooMany = last.find((line) => !take(line));
    return { lines, nextOffset: tooMany?.offset ?? null };
  }
  const later = parts.filter(({ end_offset }) => end_offset > offset);
  for (const [looked, part] of later.entries()) {
    if (isEnough(looked)) return { lines, nextOffset: later[looked - 1]?.end_offset ?? null };
    for (const line of await linesOf(part, wanted)) {
      if (line.offset >= offset && isWanted(line) && !take(line)) return { lines, nextOffset: line.offset };
    }
  }
  return { lines, nextOffset: null };
}

export async function pack(lines: readonly LogLine[]): Promise<Buffer> {
  return await promisify(gzip)(lines.map((line) => JSON.stringify(line)).join('\n'));
}

/** JSON writes such a word as it is, so that a part or a line without it need not be read as JSON. */
function plainWordIn(search: string | undefined): string | undefined {
  const words = search?.match(/[a-z0-9]+/g) ?? [];
  return words.toSorted((a, b) => b.length - a.length)[0];
}

async function unpack(content: Uint8Array | undefined, search?: string): Promise<LogLine[]> {
  // Removed meanwhile.
  if (!content) return [];
  const text = (await promisify(gunzip)(content)).toString();
  const word = plainWordIn(search);
  if (word === undefined) return text.split('\n').map((line) => JSON.parse(line));
  if (!text.toLowerCase().includes(word)) return [];
  const lines = text.split('\n').filter((line) => line.toLowerCase().includes(word));
  return lines.map((line) => JSON.parse(line));
}
