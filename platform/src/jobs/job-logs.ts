/** The log of each attempt of a job: in a file `<job>-<attempt>.log`, and handed out line by line. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JobRow } from '../db/tables.ts';
import { jobLog, type OpenJobLog, type PlacedLine, placedLines, removeJobLog } from '../runner/job-log.ts';
import type { JobsContext } from './context.ts';
import type { JobLogQuery } from './requests.ts';

export function openAttemptLog({ logsFolder, runtime }: JobsContext, job: JobRow): OpenJobLog {
  return jobLog(join(logsFolder(job.connection_id), `${job.job_id}-${job.attempts}.log`), {}, runtime.now);
}

interface LogPart {
  /** 0 when there is no log. */
  attempt: number;
  lines: PlacedLine[];
  totalBytes: number;
  nextOffset: number | null;
}

/** Whole lines: from a byte on, or the last ones, or those that hold a text. */
export function readLog({ logsFolder }: JobsContext, job: JobRow, query: JobLogQuery): LogPart {
  const attempt = query.attempt ?? job.attempts;
  const file = join(logsFolder(job.connection_id), `${job.job_id}-${attempt}.log`);
  const { lines, totalBytes } = placedLines(file);
  const wanted = query.search?.toLowerCase();
  const matching = wanted === undefined ? lines : lines.filter((line) => textOf(line).includes(wanted));
  const tail = query.tail;
  const candidates =
    tail === undefined ? matching.filter(({ offset }) => offset >= (query.offset ?? 0)) : matching.slice(-tail);
  const shown: PlacedLine[] = [];
  let length = 0;
  for (const line of candidates) {
    length += Buffer.byteLength(line.message);
    if (shown.length > 0 && length > (query.bytes ?? defaultBytes)) break;
    shown.push(line);
  }
  const nextOffset = candidates[shown.length]?.offset ?? null;
  return { attempt: totalBytes === 0 ? 0 : attempt, lines: shown, totalBytes, nextOffset };
}

const defaultBytes = 100_000;
const textOf = ({ level, origin, message }: PlacedLine) => `${level} ${origin} ${message}`.toLowerCase();

export function removeLogs({ logsFolder }: JobsContext, connectionId: string, jobIds: readonly number[]): void {
  if (jobIds.length === 0) return;
  const folder = logsFolder(connectionId);
  for (const file of readdirSync(folder)) {
    const [, jobId] = /^(\d+)-\d+\.log$/.exec(file) ?? [];
    if (jobIds.includes(Number(jobId))) removeJobLog(join(folder, file));
  }
}
