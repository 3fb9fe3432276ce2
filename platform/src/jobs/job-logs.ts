/** The logs of attempts, handed out line by line. Where they are kept is up to `JobLogs`. */
import type { JobRow } from '../db/tables.ts';
import type { OpenJobLog, PlacedLine } from '../runner/job-log.ts';
import { findLevel, type LogRanges, linesIn } from '../runner/log-ranges.ts';
import type { JobsContext } from './context.ts';
import type { LogRef } from './job-log-parts.store.ts';
import type { JobLogQuery } from './requests.ts';

const refOf = ({ workspace_id, connection_id, job_id }: JobRow, attempt: number): LogRef => ({
  ...{ workspaceId: workspace_id, connectionId: connection_id, jobId: job_id, attempt },
});

export const openAttemptLog = ({ logs }: Pick<JobsContext, 'logs'>, job: JobRow): OpenJobLog =>
  logs.open(refOf(job, job.attempts));

export const removeLogs = ({ logs }: Pick<JobsContext, 'logs'>, connectionId: string, jobIds: readonly number[]) =>
  logs.remove(connectionId, jobIds);

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
export async function readLog({ logs }: Pick<JobsContext, 'logs'>, job: JobRow, query: JobLogQuery): Promise<LogPart> {
  const attempt = query.attempt ?? job.attempts;
  const log = await logs.read(refOf(job, attempt));
  try {
    const { totalBytes } = log;
    const page = await (query.tail === undefined ? readForwards(log, query) : readTail(log, query.tail, query));
    const found = query.firstError && { firstErrorOffset: (await findLevel(log, ['ERROR', 'FATAL'])) ?? null };
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
