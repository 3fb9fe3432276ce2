/** The SQL of `workers`. They belong to the deployment; which workspaces one serves is a column. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { WorkerRow } from '../db/tables.ts';

const now = sql<number>`now_ms()`;
const ago = (ms: number) => sql<number>`now_ms() - ${sql.lit(ms)}`;

export async function insertWorker(
  tx: Db,
  worker: Omit<WorkerRow, 'created_at' | 'enrolment_ends_at'>,
  enrolmentMs: number | undefined,
): Promise<WorkerRow> {
  const enrolment_ends_at = enrolmentMs === undefined ? null : sql<number>`now_ms() + ${sql.lit(enrolmentMs)}`;
  return await tx
    .insertInto('workers')
    .values({ ...worker, created_at: now, enrolment_ends_at })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** With the database's clock, by which `seen_at` and `enrolment_ends_at` are judged. */
export interface TimedWorker extends WorkerRow {
  now: number;
}

const timed = (db: Db) => db.selectFrom('workers').selectAll().select(now.as('now'));

export async function findWorker(db: Db, workerId: string): Promise<TimedWorker | undefined> {
  return await timed(db).where('worker_id', '=', workerId).executeTakeFirst();
}

/** A machine that joins with a reusable enrolment asks again if it got no answer. */
export async function findJoined(db: Db, enrolmentId: string, tokenHash: string): Promise<WorkerRow | undefined> {
  return await db
    .selectFrom('workers')
    .selectAll()
    .where('enrolment_id', '=', enrolmentId)
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
}

export async function listWorkers(db: Db, limit: number): Promise<TimedWorker[]> {
  return await timed(db).orderBy('created_at', 'desc').orderBy('worker_id').limit(limit).execute();
}

export async function updateWorker(
  tx: Db,
  workerId: string,
  changes: Partial<Pick<WorkerRow, 'token_hash' | 'is_draining'>>,
): Promise<void> {
  await tx.updateTable('workers').set(changes).where('worker_id', '=', workerId).execute();
}

/** Also what it says about itself, each time it is heard of. */
export async function recordSeen(
  db: Db,
  workerId: string,
  seen: Pick<WorkerRow, 'version' | 'slots' | 'free_slots'> & Partial<Pick<WorkerRow, 'connectors'>>,
): Promise<void> {
  await db
    .updateTable('workers')
    .set({ ...seen, seen_at: now })
    .where('worker_id', '=', workerId)
    .execute();
}

/** Those that joined with a reusable enrolment go with it. */
export async function revokeWorkers(tx: Db, workerId: string): Promise<void> {
  await tx
    .updateTable('workers')
    .set({ revoked_at: now })
    .where((where) => where.or([where('worker_id', '=', workerId), where('enrolment_id', '=', workerId)]))
    .where('revoked_at', 'is', null)
    .execute();
}

/**
 * Revoked ones, enrolments that nobody used in time, and machines of a reusable enrolment that are gone: an autoscaler
 * makes new ones all the time.
 */
export async function deleteGoneWorkers(tx: Db, keptMs: number): Promise<void> {
  await tx
    .deleteFrom('workers')
    .where((where) =>
      where.or([
        where('revoked_at', '<', ago(keptMs)),
        where.and([where('token_hash', 'is', null), where('enrolment_ends_at', '<', ago(keptMs))]),
        where.and([where('enrolment_id', 'is not', null), where('seen_at', '<', ago(keptMs))]),
      ]),
    )
    .execute();
}

/** Those that take jobs now: a worker says every 10 s that it is there. */
export async function listLive(db: Db, seenWithinMs: number): Promise<WorkerRow[]> {
  return await db
    .selectFrom('workers')
    .selectAll()
    .where('seen_at', '>', ago(seenWithinMs))
    .where('revoked_at', 'is', null)
    .where('is_draining', '=', 0)
    .orderBy('worker_id')
    .execute();
}

export interface RunningAttempt {
  owner: string;
  job_id: number;
  connection_id: string;
  workspace_id: string;
  started_at: number;
}

export async function listRunning(db: Db): Promise<RunningAttempt[]> {
  return await db
    .selectFrom('jobs')
    .innerJoin('job_attempts', (join) =>
      join.onRef('job_attempts.job_id', '=', 'jobs.job_id').onRef('job_attempts.attempt', '=', 'jobs.attempts'),
    )
    .select(['jobs.owner', 'jobs.job_id', 'connection_id', 'jobs.workspace_id', 'job_attempts.started_at'])
    .where('jobs.status', '=', 'running')
    .where('jobs.owner', 'is not', null)
    .$narrowType<{ owner: string }>()
    .orderBy('job_attempts.started_at')
    .execute();
}

/** Jobs that could start if there was a slot, by the labels that their workspaces want of workers. */
export async function countDue(db: Db) {
  const rows = await db
    .selectFrom('jobs')
    .innerJoin('workspaces', 'workspaces.workspace_id', 'jobs.workspace_id')
    .select((select) => [
      'worker_labels as labels',
      select.fn.countAll().as('jobs'),
      select.fn.min('next_attempt_at').as('since'),
      now.as('now'),
    ])
    .where('next_attempt_at', '<=', now)
    .groupBy('worker_labels')
    .execute();
  return rows.map(({ labels, ...row }) => ({
    labels,
    jobs: Number(row.jobs),
    oldestMs: Math.max(0, Number(row.now) - Number(row.since)),
  }));
}

interface AttemptKey {
  jobId: number;
  attempt: number;
}

/** What a worker has, also of jobs that were cancelled. */
export async function listHeldBy(db: Db, owner: string): Promise<(AttemptKey & { epoch: number })[]> {
  return await db
    .selectFrom('jobs')
    .select(['job_id as jobId', 'attempts as attempt', 'epoch'])
    .where('owner', '=', owner)
    .where('status', 'in', ['running', 'cancelled'])
    .execute();
}

/** Nothing of it has arrived yet. What is left of attempts that are over goes. */
export async function beginAttempt(db: Db, { jobId, attempt }: AttemptKey): Promise<void> {
  await db
    .deleteFrom('worker_attempts')
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('jobs')
            .select('jobs.job_id')
            .whereRef('jobs.job_id', '=', 'worker_attempts.job_id')
            .whereRef('jobs.attempts', '=', 'worker_attempts.attempt')
            .where('jobs.status', '=', 'running'),
        ),
      ),
    )
    .execute();
  await db.insertInto('worker_attempts').values({ job_id: jobId, attempt, checkpoint: 0, log_lines: 0 }).execute();
}

/** False for a request that was overtaken by a later one. */
export async function takeCheckpoint(tx: Db, { jobId, attempt }: AttemptKey, number: number): Promise<boolean> {
  const taken = await tx
    .updateTable('worker_attempts')
    .set({ checkpoint: number })
    .where('job_id', '=', jobId)
    .where('attempt', '=', attempt)
    .where('checkpoint', '<', number)
    .executeTakeFirst();
  return taken.numUpdatedRows > 0n;
}

/** How many of these lines have arrived before. */
export async function takeLogLines(
  tx: Db,
  { jobId, attempt }: AttemptKey,
  from: number,
  count: number,
): Promise<number> {
  const kept = await tx
    .selectFrom('worker_attempts')
    .select('log_lines')
    .where('job_id', '=', jobId)
    .where('attempt', '=', attempt)
    .executeTakeFirst();
  const there = kept?.log_lines ?? 0;
  await tx
    .updateTable('worker_attempts')
    .set({ log_lines: Math.max(there, from + count) })
    .where('job_id', '=', jobId)
    .where('attempt', '=', attempt)
    .execute();
  return Math.max(0, there - from);
}
