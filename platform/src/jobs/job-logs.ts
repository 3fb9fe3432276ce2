/** Where the log of each attempt of a job is, for the operator of this machine to read: `<job>-<attempt>.log`. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JobRow } from '../db/tables.ts';
import { jobLog, type OpenJobLog, removeJobLog } from '../runner/job-log.ts';
import type { JobsContext } from './context.ts';

export function openAttemptLog({ logsFolder, runtime }: JobsContext, job: JobRow): OpenJobLog {
  return jobLog(join(logsFolder(job.connection_id), `${job.job_id}-${job.attempts}.log`), {}, runtime.now);
}

export function removeLogs({ logsFolder }: JobsContext, connectionId: string, jobIds: readonly number[]): void {
  if (jobIds.length === 0) return;
  const folder = logsFolder(connectionId);
  for (const file of readdirSync(folder)) {
    const [, jobId] = /^(\d+)-\d+\.log$/.exec(file) ?? [];
    if (jobIds.includes(Number(jobId))) removeJobLog(join(folder, file));
  }
}
