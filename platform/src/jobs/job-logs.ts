/* Where the log of each attempt of a job is, for the operator of this machine to read: `<job>-<attempt>.log`. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from '../context.ts';
import type { JobRow } from '../db/open.ts';
import { jobLog, type OpenJobLog, removeJobLog } from '../runner/job-log.ts';

export function openAttemptLog({ folders, now }: Platform, job: JobRow): OpenJobLog {
  return jobLog(join(folders.logs(job.connection_id), `${job.job_id}-${job.attempts}.log`), {}, now);
}

export function removeLogs({ folders }: Platform, connectionId: string, jobIds: readonly number[]): void {
  if (jobIds.length === 0) return;
  const folder = folders.logs(connectionId);
  for (const file of readdirSync(folder)) {
    const [, jobId] = /^(\d+)-\d+\.log$/.exec(file) ?? [];
    if (jobIds.includes(Number(jobId))) removeJobLog(join(folder, file));
  }
}
