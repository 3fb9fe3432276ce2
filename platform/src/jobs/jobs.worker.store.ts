/** The SQL of `jobs` for the scheduler and its runs, which serve all workspaces. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import { jsonText, laterOf } from '../db/portable.ts';
import type { JobRow } from '../db/tables.ts';

/** Whether the job is running in this attempt, under a lease that is still held. */
export async function isCurrentRun(
  tx: Db,
  { job_id, attempts }: Pick<JobRow, 'job_id' | 'attempts'>,
  holder: string,
): Promise<boolean> {
  const row = await tx
    .selectFrom('jobs')
    .innerJoin('runner_lease', (join) => join.on('runner_lease.holder', '=', holder))
    .select('jobs.job_id')
    .where('jobs.job_id', '=', job_id)
    .where('jobs.status', '=', 'running')
    .where('jobs.attempts', '=', attempts)
    .executeTakeFirst();
  return row !== undefined;
}

/** Jobs that are running on paper, and not here. */
export async function listAbandonedJobs(
  db: Db,
  runningHere: readonly number[],
): Promise<Pick<JobRow, 'workspace_id' | 'job_id' | 'updated_at'>[]> {
  let abandoned = db
    .selectFrom('jobs')
    .select(['workspace_id', 'job_id', 'updated_at'])
    .where('ended_at', 'is', null)
    .where('status', '=', 'running');
  if (runningHere.length > 0) abandoned = abandoned.where('job_id', 'not in', runningHere);
  return await abandoned.execute();
}

export async function putBackJobs(db: Db, abandoned: readonly Pick<JobRow, 'job_id'>[], now: number): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ status: 'incomplete', next_attempt_at: now, updated_at: now })
    .where(
      'job_id',
      'in',
      abandoned.map(({ job_id }) => job_id),
    )
    .where('status', '=', 'running')
    .execute();
}

/** Jobs that would wait longer than any job does, and turns that nobody has taken for so long. */
export async function bringTimesNearer(
  db: Db,
  time: number,
  longest: { jobMs: number; turnMs: number },
): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ next_attempt_at: time })
    .where('next_attempt_at', '>', time + longest.jobMs)
    .execute();
  const expires_at = time + longest.turnMs;
  await db.updateTable('credential_turns').set({ expires_at }).where('expires_at', '>', expires_at).execute();
}

export interface WaitingWorkspace {
  workspaceId: string;
  /** Limit on its concurrent syncs, if it has its own. */
  maxConcurrentSyncs: number | null;
}

/** Workspaces with a due job; the workspace that waits longest comes first. */
export async function listWaitingWorkspaces(
  tx: Db,
  time: number,
  busyConnections: readonly string[],
): Promise<WaitingWorkspace[]> {
  let waiting = tx
    .selectFrom('jobs')
    .innerJoin('workspaces', 'workspaces.workspace_id', 'jobs.workspace_id')
    .select(['jobs.workspace_id as workspaceId', 'workspaces.max_concurrent_syncs as maxConcurrentSyncs'])
    .where('next_attempt_at', '<=', time);
  if (busyConnections.length > 0) waiting = waiting.where('connection_id', 'not in', busyConnections);
  return await waiting
    .groupBy('jobs.workspace_id')
    .orderBy(({ fn }) => fn.min('next_attempt_at'))
    .orderBy(({ fn }) => fn.min('job_id'))
    .execute();
}

export interface HandedOverSignIn {
  connectionId: string;
  workspaceId: string;
  credentialId: string;
}

/** The sign-ins that one process at a time may use, of connections with a due job and of the given ones. */
export async function listHandedOverSignIns(
  tx: Db,
  time: number,
  busyConnections: readonly string[],
): Promise<HandedOverSignIn[]> {
  return await tx
    .selectFrom('connections')
    .innerJoin('connectors', 'connectors.connector_id', 'connections.source_id')
    .select([
      'connections.connection_id as connectionId',
      'connections.workspace_id as workspaceId',
      jsonText(tx, 'connectors.credential', 'id').$castTo<string>().as('credentialId'),
    ])
    .where(jsonText(tx, 'connectors.credential', 'hand_over'), '=', 'refresh_token')
    .where(({ or, eb, selectFrom }) =>
      or([
        eb('connections.connection_id', 'in', busyConnections),
        eb(
          'connections.connection_id',
          'in',
          selectFrom('jobs').select('jobs.connection_id').where('next_attempt_at', '<=', time),
        ),
      ]),
    )
    .execute();
}

/** Syncs that are due and whose source has a credential. */
export async function listDueWithCredential(
  tx: Db,
  time: number,
): Promise<Pick<JobRow, 'workspace_id' | 'job_id' | 'connection_id' | 'failure_message'>[]> {
  return await tx
    .selectFrom('jobs')
    .innerJoin('connections', 'connections.connection_id', 'jobs.connection_id')
    .innerJoin('connectors', 'connectors.connector_id', 'connections.source_id')
    .select(['jobs.workspace_id', 'jobs.job_id', 'jobs.connection_id', 'jobs.failure_message'])
    .where('jobs.next_attempt_at', '<=', time)
    .where('jobs.job_type', '=', 'sync')
    .where('connectors.credential', 'is not', null)
    .execute();
}

/** The job of a workspace that waits longest. */
export async function findNextJob(
  tx: Db,
  workspaceId: string,
  time: number,
  busyConnections: readonly string[],
): Promise<Pick<JobRow, 'job_id' | 'next_attempt_at'> | undefined> {
  let waiting = tx
    .selectFrom('jobs')
    .select(['job_id', 'next_attempt_at'])
    .where('workspace_id', '=', workspaceId)
    .where('next_attempt_at', '<=', time);
  if (busyConnections.length > 0) waiting = waiting.where('connection_id', 'not in', busyConnections);
  return await waiting.orderBy('next_attempt_at').orderBy('job_id').executeTakeFirst();
}

export async function startAttempt(tx: Db, jobId: number, time: number): Promise<JobRow> {
  const job = await tx
    .updateTable('jobs')
    .set(({ eb, fn }) => ({
      status: 'running',
      attempts: eb('attempts', '+', 1),
      next_attempt_at: null,
      records: 0,
      bytes: 0,
      // The clock may have been set back since the job was made, or since it was started.
      started_at: fn.coalesce('started_at', laterOf(sql.ref<number>('created_at'), time)),
      updated_at: time,
      // The job's dependency is available again; the failure of an attempt is kept.
      ...Object.fromEntries(
        (['failure_message', 'failure_origin', 'failure_type', 'failure_fields'] as const).map((column) => [
          column,
          eb.case().when('failed_attempts', '=', 0).then(null).else(eb.ref(column)).end(),
        ]),
      ),
    }))
    .where('job_id', '=', jobId)
    .returningAll()
    .executeTakeFirstOrThrow();
  const { workspace_id, attempts: attempt } = job;
  await tx
    .insertInto('job_attempts')
    .values({ job_id: jobId, workspace_id, attempt, status: 'running', started_at: time })
    .execute();
  return job;
}

/** The attempt that is running, or was when its job was taken away, has ended: with the numbers and the failure of its job. */
export async function endAttempts(
  tx: Db,
  { workspace_id, job_id }: Pick<JobRow, 'workspace_id' | 'job_id'>,
  endedAt: number,
  status: 'succeeded' | 'failed' | 'interrupted',
): Promise<void> {
  const ofJob = <
    Column extends 'records' | 'bytes' | 'failure_message' | 'failure_origin' | 'failure_type' | 'failure_fields',
  >(
    column: Column,
  ) => tx.selectFrom('jobs').select(column).where('workspace_id', '=', workspace_id).where('job_id', '=', job_id);
  await tx
    .updateTable('job_attempts')
    .set({
      status,
      ended_at: laterOf(sql.ref<number>('started_at'), endedAt),
      records: ofJob('records'),
      bytes: ofJob('bytes'),
      ...(status === 'failed' && {
        failure_message: ofJob('failure_message'),
        failure_origin: ofJob('failure_origin'),
        failure_type: ofJob('failure_type'),
        failure_fields: ofJob('failure_fields'),
      }),
    })
    .where('workspace_id', '=', workspace_id)
    .where('job_id', '=', job_id)
    .where('ended_at', 'is', null)
    .execute();
}

export interface EarlierAttempts {
  /** How long they ran together. */
  ranMs: number;
  /** How many of them were interrupted after their turn. */
  wholeTurns: number;
}

export async function readEarlierAttempts(
  tx: Db,
  { workspace_id, job_id }: Pick<JobRow, 'workspace_id' | 'job_id'>,
  turnMs: number,
): Promise<EarlierAttempts> {
  return await tx
    .selectFrom('job_attempts')
    .select([
      // PostgreSQL adds up as numeric, which is too exact for a number of ours.
      sql<number>`cast(coalesce(sum(ended_at - started_at), 0) as bigint)`.as('ranMs'),
      sql<number>`count(case when status = 'interrupted' and ended_at - started_at >= ${turnMs} then 1 end)`.as(
        'wholeTurns',
      ),
    ])
    .where('workspace_id', '=', workspace_id)
    .where('job_id', '=', job_id)
    .where('ended_at', 'is not', null)
    .executeTakeFirstOrThrow();
}

/** Those of the given jobs that are still running on paper. */
export async function listRunningJobs(db: Db, jobIds: readonly number[]): Promise<number[]> {
  const running = await db
    .selectFrom('jobs')
    .select('job_id')
    .where('job_id', 'in', jobIds)
    .where('status', '=', 'running')
    .execute();
  return running.map(({ job_id }) => job_id);
}

/** Only while the job is in this attempt. */
export async function putProgress(
  db: Db,
  { workspace_id, job_id, attempts }: JobRow,
  progress: Pick<JobRow, 'records' | 'bytes' | 'row_points' | 'updated_at'>,
): Promise<void> {
  await db
    .updateTable('jobs')
    .set(progress)
    .where('workspace_id', '=', workspace_id)
    .where('job_id', '=', job_id)
    .where('attempts', '=', attempts)
    .execute();
}

export async function updateJob(
  tx: Db,
  { workspace_id, job_id }: Pick<JobRow, 'workspace_id' | 'job_id'>,
  changes: Partial<JobRow>,
): Promise<void> {
  await tx
    .updateTable('jobs')
    .set(changes)
    .where('workspace_id', '=', workspace_id)
    .where('job_id', '=', job_id)
    .execute();
}

/** Removes all but the newest jobs of a connection; returns the ids of the removed ones. */
export async function trimJobs(db: Db, { workspace_id, connection_id }: JobRow, keptJobs: number): Promise<number[]> {
  const trimmed = await db
    .deleteFrom('jobs')
    .where('workspace_id', '=', workspace_id)
    .where('connection_id', '=', connection_id)
    .where('job_id', 'not in', (eb) =>
      eb
        .selectFrom('jobs')
        .select('job_id')
        .where('connection_id', '=', connection_id)
        .orderBy('job_id', 'desc')
        .limit(keptJobs),
    )
    .returning('job_id')
    .execute();
  return trimmed.map(({ job_id }) => job_id);
}
