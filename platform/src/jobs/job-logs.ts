/** The log of each attempt of a job: in a file `<job>-<attempt>.log`, and handed out line by line. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JobRow } from '../db/tables.ts';
import { jobLog, type OpenJobLog, type PlacedLine, removeJobLog } from '../runner/job-log.ts';
import { type LogRanges, linesIn, openLogRanges } from '../runner/log-ranges.ts';
import type { JobsContext } from './context.ts';
import type { JobLogQuery } from './requests.ts';

export function openAttemptLog({ logsFolder, runtime }: JobsContext, job: JobRow): OpenJobLog {
  return jobLog(join(logsFolder(job.connection_id), `${job.job_id}-${job.attempts}.log`), {}, runtime.now);
}

interface LogPart {
  /** 0 if there is no log. */
  attempt: number;
  lines: PlacedLine[];
  totalBytes: number;
  /** Where to continue. A search can stop before it finds anything. */
  nextOffset: number | null;
  /** Only if requested. */
  firstErrorOffset?: number | null;
}

/** Whole lines: from an offset, the last ones, or those that contain a text. */
export async function readLog({ logsFolder }: JobsContext, job: JobRow, query: JobLogQuery): Promise<LogPart> {
  const attempt = query.attempt ?? job.attempts;
  const log = await openLogRanges(join(logsFolder(job.connection_id), `${job.job_id}-${attempt}.log`));
  try {
    const { totalBytes } = log;
    const page = await (query.tail === undefined ? readForwards(log, query) : readTail(log, query.tail, query));
    const found = query.firstError && { firstErrorOffset: (await log.findLevel(['ERROR', 'FATAL'], 0)) ?? null };
    return { attempt: totalBytes === 0 ? 0 : attempt, ...page, totalBytes, ...found };
  } finally {
    await log.close();
  }
}

const defaultBytes = 100_000;
/** A search looks at no more for one answer. */
const searchedBytes = 16_000_000;

type Page = Pick<LogPart, 'lines' | 'nextOffset'>;

async function readForwards(log: LogRanges, { offset = 0, bytes = defaultBytes, search }: JobLogQuery): Promise<Page> {
  const page = pageOf(bytes);
  let searched = 0;
  for await (const chunk of log.from(offset)) {
    for (const line of linesIn(chunk, search?.toLowerCase())) {
      if (!page.take(line)) return { lines: page.lines, nextOffset: line.offset };
    }
    searched += chunk.bytes.length;
    const end = chunk.offset + chunk.bytes.length;
    if (search !== undefined && searched >= searchedBytes && end < log.totalBytes) {
      return { lines: page.lines, nextOffset: end };
    }
  }
  return { lines: page.lines, nextOffset: null };
}

async function readTail(log: LogRanges, tail: number, { bytes = defaultBytes, search }: JobLogQuery): Promise<Page> {
  const pieces: PlacedLine[][] = [];
  let count = 0;
  let searched = 0;
  for await (const chunk of log.backwards()) {
    const lines = linesIn(chunk, search?.toLowerCase());
    pieces.unshift(lines);
    count += lines.length;
    searched += chunk.bytes.length;
    if (count >= tail || (search !== undefined && searched >= searchedBytes)) break;
  }
  const page = pageOf(bytes);
  const tooMany = pieces
    .flat()
    .slice(-tail)
    .find((line) => !page.take(line));
  return { lines: page.lines, nextOffset: tooMany?.offset ?? null };
}

/** Lines of about so many bytes, at least one. */
function pageOf(bytes: number) {
  const lines: PlacedLine[] = [];
  let length = 0;
  return {
    lines,
    /** False: the line is one too many. */
    take(line: PlacedLine): boolean {
      length += Buffer.byteLength(line.message);
      if (lines.length > 0 && length > bytes) return false;
      lines.push(line);
      return true;
    },
  };
}

export function removeLogs({ logsFolder }: JobsContext, connectionId: string, jobIds: readonly number[]): void {
  if (jobIds.length === 0) return;
  const folder = logsFolder(connectionId);
  // Without room for any log there is not even a folder.
  if (!existsSync(folder)) return;
  for (const file of readdirSync(folder)) {
    const [, jobId] = /^(\d+)-\d+\.log$/.exec(file) ?? [];
    if (jobIds.includes(Number(jobId))) removeJobLog(join(folder, file));
  }
}
