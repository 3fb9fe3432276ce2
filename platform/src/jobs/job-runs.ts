/*
 * The life of a job while it runs: started, written to, ended. Only the scheduler moves a job along here; cancelling is
 * in jobs.ts and takes the row away from whoever runs it.
 *
 * Always true: everything a run writes is written in one transaction with the proof that the run is still the one that
 * counts: the lease is held under the same name, and the job is running in the same attempt.
 */
import { sql } from 'kysely';
import { nextRunAfter } from '../connections/schedule.ts';
import type { Platform } from '../context.ts';
import type { JobRow, Store } from '../db/open.ts';
import type { Failure, Progress } from '../runner/runner.ts';
import { findOpenJob, insertJob } from './jobs.ts';

export interface Run {
  readonly job: JobRow;
  /** The lease it was started under. */
  readonly holder: string;
}

/** Somebody else has the job now, or it was cancelled; whatever the run was about to write is not written. */
export class StaleRun extends Error {
  override readonly name = 'StaleRun';
}

const maxFailedAttempts = 3;
const retryDelaysMs = [10_000, 60_000];
const keptJobs = 100;

export async function asRun<T>({ store }: Platform, run: Run, work: (trx: Store) => Promise<T>): Promise<T> {
  return store.transaction().execute(async (trx) => {
    const { job_id, attempts } = run.job;
    const current = await trx
      .selectFrom('jobs')
      .innerJoin('runner_lease', (join) => join.on('runner_lease.holder', '=', run.holder))
      .select('jobs.job_id')
      .where('jobs.job_id', '=', job_id)
      .where('jobs.status', '=', 'running')
      .where('jobs.attempts', '=', attempts)
      .executeTakeFirst();
    if (!current) throw new StaleRun(`job ${job_id} is no longer run in attempt ${attempts}`);
    return work(trx);
  });
}

/** Jobs that nobody runs any more go on where they were. Nobody did anything wrong, so it is no failed attempt. */
export async function takeOverJobs({ store, now }: Platform, runningHere: readonly number[]): Promise<void> {
  let abandoned = store
    .selectFrom('jobs')
    .select('job_id')
    .where('ended_at', 'is', null)
    .where('status', '=', 'running');
  if (runningHere.length > 0) abandoned = abandoned.where('job_id', 'not in', runningHere);
  const jobs = await abandoned.execute();
  if (jobs.length === 0) return;
  await store
    .updateTable('jobs')
    .set({ status: 'incomplete', next_attempt_at: now(), updated_at: now() })
    .where(
      'job_id',
      'in',
      jobs.map(({ job_id }) => job_id),
    )
    .where('status', '=', 'running')
    .execute();
}

/** One job for each connection that is due, however many times it was missed; none while an earlier one goes on. */
export async function queueDueJobs({ store, now }: Platform): Promise<void> {
  const time = now();
  const isDue = store.selectFrom('connections').where('next_run_at', '<=', time);
  if (!(await isDue.select('connection_id').executeTakeFirst())) return;
  await store.transaction().execute(async (trx) => {
    const due = await trx.selectFrom('connections').selectAll().where('next_run_at', '<=', time).execute();
    for (const connection of due) {
      const { connection_id, cron_expression } = connection;
      if (!(await findOpenJob(trx, connection_id))) {
        await insertJob(trx, connection, { jobType: 'sync', triggerKind: 'schedule', now: time });
      }
      await trx
        .updateTable('connections')
        .set({ next_run_at: nextRunAfter(cron_expression, time) })
        .where('connection_id', '=', connection_id)
        .execute();
    }
  });
}

/**
 * Starts the next job that is due, if there is any. Workspaces take turns: one with fewer jobs running comes first, so
 * that nobody has to wait for all that somebody else has asked for.
 */
export async function claimJob(
  { store, now }: Platform,
  holder: string,
  busyConnections: readonly string[],
): Promise<Run | undefined> {
  const time = now();
  return store.transaction().execute(async (trx) => {
    let waiting = trx.selectFrom('jobs').select('job_id').where('next_attempt_at', '<=', time);
    if (busyConnections.length > 0) waiting = waiting.where('connection_id', 'not in', busyConnections);
    const next = await waiting
      .orderBy(
        sql`(select count(*) from jobs as others where others.workspace_id = jobs.workspace_id and others.status = 'running')`,
      )
      .orderBy('next_attempt_at')
      .orderBy('job_id')
      .executeTakeFirst();
    if (!next) return undefined;
    const job = await trx
      .updateTable('jobs')
      .set(({ eb, fn, val }) => ({
        status: 'running',
        attempts: eb('attempts', '+', 1),
        next_attempt_at: null,
        started_at: fn.coalesce('started_at', val(time)),
        updated_at: time,
      }))
      .where('job_id', '=', next.job_id)
      .returningAll()
      .executeTakeFirstOrThrow();
    return { job, holder };
  });
}

/** Of all jobs that this lease runs, those that were taken away: cancelled, or their connection deactivated or deleted. */
export async function listLostJobs({ store }: Platform, jobIds: readonly number[]): Promise<number[]> {
  if (jobIds.length === 0) return [];
  const running = await store
    .selectFrom('jobs')
    .select('job_id')
    .where('job_id', 'in', jobIds)
    .where('status', '=', 'running')
    .execute();
  const still = new Set(running.map(({ job_id }) => job_id));
  return jobIds.filter((id) => !still.has(id));
}

/** Adds to what earlier attempts have moved. Also for a job that was cancelled: it tells how far it got. */
export async function saveProgress({ store, now }: Platform, { job }: Run, progress: Progress): Promise<void> {
  await store
    .updateTable('jobs')
    .set({ records: job.records + progress.records, bytes: job.bytes + progress.bytes, updated_at: now() })
    .where('job_id', '=', job.job_id)
    .where('attempts', '=', job.attempts)
    .execute();
}

export type AttemptEnd =
  | { status: 'succeeded' }
  /** Broken off by the platform itself, to be gone on with. */
  | { status: 'interrupted' }
  | { status: 'failed'; failure: Failure; disablesConnection?: boolean };

/** Decides what becomes of the job. */
export async function endAttempt(platform: Platform, run: Run, end: AttemptEnd): Promise<void> {
  const { job_id, connection_id } = run.job;
  await asRun(platform, run, async (trx) => {
    await trx
      .updateTable('jobs')
      .set(afterAttempt(run.job, end, platform.now()))
      .where('job_id', '=', job_id)
      .execute();
    if (end.status !== 'failed' || !end.disablesConnection) return;
    await trx
      .updateTable('connections')
      .set({ status: 'inactive', status_reason: end.failure.message, next_run_at: null })
      .where('connection_id', '=', connection_id)
      .execute();
  });
}

function afterAttempt(job: JobRow, end: AttemptEnd, now: number): Partial<JobRow> {
  if (end.status === 'interrupted') return { status: 'incomplete', next_attempt_at: now, updated_at: now };
  if (end.status === 'succeeded') {
    const noFailure = { failure_message: null, failure_origin: null, failure_type: null };
    return { status: 'succeeded', ...noFailure, updated_at: now, ended_at: now };
  }
  const { message, origin, type } = end.failure;
  const failedAttempts = job.failed_attempts + 1;
  const failed = {
    failed_attempts: failedAttempts,
    failure_message: message,
    failure_origin: origin,
    failure_type: type,
    updated_at: now,
  };
  // Trying again does not help where somebody has to change something.
  if (type === 'config_error' || failedAttempts >= maxFailedAttempts) {
    return { ...failed, status: 'failed', ended_at: now };
  }
  return { ...failed, status: 'incomplete', next_attempt_at: now + (retryDelaysMs[failedAttempts - 1] ?? 0) };
}

/** Removes the oldest jobs of a connection beyond the number that is kept; their ids. */
export async function trimJobs({ store }: Platform, connectionId: string): Promise<number[]> {
  const trimmed = await store
    .deleteFrom('jobs')
    .where('connection_id', '=', connectionId)
    .where('job_id', 'not in', (eb) =>
      eb
        .selectFrom('jobs')
        .select('job_id')
        .where('connection_id', '=', connectionId)
        .orderBy('job_id', 'desc')
        .limit(keptJobs),
    )
    .returning('job_id')
    .execute();
  return trimmed.map(({ job_id }) => job_id);
}
