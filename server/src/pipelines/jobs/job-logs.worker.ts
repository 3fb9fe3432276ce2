/**
 * Copies the logs of jobs that have ended from the platform into our own store. Runs in every replica.
 *
 * What always holds: that a log is wanted is written down with the end of its job, and forgotten in the transaction that
 * stores the log. So a process that is killed leaves none out, and none is stored twice.
 */
import type { JobLogRow, JobRow } from '../../kernel/db/tables.ts';
import type { PipelinesContext } from '../context.ts';
import { firstErrorIn, pack } from './job-logs.ts';
import * as wanted from './job-logs.worker.store.ts';

const atATime = 20;
const againAfterMs = 30_000;
const partBytes = 250_000;
/** Limit for one job, before compression. The platform keeps 5 MB of each attempt. */
const maxJobBytes = 10_000_000;

export async function keepLogs(ctx: PipelinesContext): Promise<void> {
  if (ctx.jobLogMs === 0) return;
  for (const job of await wanted.listWantedLogs(ctx.store.db, atATime)) {
    const parts = await readParts(ctx, job).catch(async (error) => {
      // The others have their turn before it is tried again.
      await wanted.putOffLog(ctx.store.db, job, againAfterMs);
      throw error;
    });
    await ctx.store.transaction(async (tx) => {
      if (await wanted.takeWantedLog(tx, job)) await wanted.insertParts(tx, parts);
    });
  }
}

/** The last attempts, as far as there is room: the last one always. */
async function readParts(ctx: PipelinesContext, job: JobRow): Promise<JobLogRow[]> {
  const parts: JobLogRow[] = [];
  let bytes = 0;
  for (let attempt = job.attempts ?? 1; attempt > 0; attempt -= 1) {
    const ofAttempt = await readAttempt(ctx, job, attempt);
    // A hosted platform hands no logs out.
    if (!ofAttempt) break;
    bytes += ofAttempt.at(-1)?.end_offset ?? 0;
    if (bytes > maxJobBytes && parts.length > 0) break;
    parts.push(...ofAttempt);
  }
  return parts;
}

async function readAttempt(ctx: PipelinesContext, job: JobRow, attempt: number): Promise<JobLogRow[] | undefined> {
  const { organization_id, workspace_id, connection_id, id: job_id, platform_id, ended_at } = job;
  const parts: JobLogRow[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const log = await ctx.platform.readJobLog(platform_id, { attempt, offset, bytes: partBytes });
    if (!log) return undefined;
    if (log.attempt === 0 || log.lines.length === 0) break;
    parts.push({
      organization_id,
      workspace_id,
      connection_id,
      job_id,
      attempt,
      part: parts.length,
      end_offset: log.next_offset ?? log.total_bytes,
      ended_at: ended_at ?? 0,
      first_error_offset: firstErrorIn(log.lines),
      content: await pack(log.lines),
    });
    offset = log.next_offset;
  }
  return parts;
}
