/** The log of each attempt in a file `<job>-<attempt>.log` of its connection's folder. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { jobLog, removeJobLog } from '../runner/job-log.ts';
import { openLogRanges } from '../runner/log-ranges.ts';
import type { JobLogs } from './context.ts';
import type { LogRef } from './job-log-parts.store.ts';

/** The first log of a connection creates its folder. */
export function fileLogs(folderOf: (connectionId: string) => string, now: () => number): JobLogs {
  const fileOf = ({ connectionId, jobId, attempt }: LogRef) => join(folderOf(connectionId), `${jobId}-${attempt}.log`);
  return {
    open: (ref) => jobLog(fileOf(ref), {}, now),
    read: (ref) => openLogRanges(fileOf(ref)),
    async remove(connectionId, jobIds) {
      if (jobIds.length === 0) return;
      const folder = folderOf(connectionId);
      // Without room for any log there is not even a folder.
      if (!existsSync(folder)) return;
      for (const file of readdirSync(folder)) {
        const [, jobId] = /^(\d+)-\d+\.log$/.exec(file) ?? [];
        if (jobIds.includes(Number(jobId))) removeJobLog(join(folder, file));
      }
    },
    close: async () => {},
  };
}
