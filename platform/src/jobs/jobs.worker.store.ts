/** The SQL of `jobs` for the scheduler and its runs, which serve all workspaces. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import { jsonText, laterOf } from '../db/portable.ts';
import type { ActorRow, JobRow } from '../db/tables.ts';

/** As in attempts/desk.ts. */
interface AttemptRef {
  jobId: number;
  attempt: number;
  epoch: number;
}

/** The attempt, if it is the last one of its job and still has this owner: it runs, or it was cancelled and is being stopped. */
export async function findHeldAttempt(
  tx: Db,
  { jobId, attempt, epoch }: AttemptRef,
  owner: string,
): Promise<JobRow | undefined> {
  return await tx
    .selectFrom('jobs')
    .selectAll()
    .where('job_id', '=', jobId)
    .where('attempts', '=', attempt)
    .where('epoch', '=', epoch)
    .where('owner', '=', owner)
    .executeTakeFirst();
}

/** How far the jobs of an owner are. */
export async function listHeldJobs(tx: Db, owner: string, jobIds: readonly number[]) {
  return await tx
    .selectFrom('jobs')
    .innerJoin('job_attempts', (join) =>
      join.onRef('job_attempts.job_id', '=', 'jobs.job_id').onRef('job_attempts.attempt', '=', 'jobs.attempts'),
    )
    .select([
      'jobs.job_id',
      'jobs.workspace_id',
      'jobs.status',
      'jobs.attempts',
      'jobs.epoch',
      'jobs.lease_until',
      'jobs.stop',
      'jobs.records',
      'jobs.bytes',
      'jobs.row_points',
      'job_attempts.started_at',
    ])
    .where('jobs.owner', '=', owner)
    .where('jobs.job_id', 'in', jobIds)
    .execute();
}

export type HeldJob = Pick<
  JobRow,
  'workspace_id' | 'job_id' | 'connection_id' | 'status' | 'owner' | 'lease_until' | 'stop' | 'updated_at'
>;

/** Jobs that run on paper, and cancelled ones whose processes are being stopped. */
export async function listHeld(db: Db): Promise<HeldJob[]> {
  return await db
    .selectFrom('jobs')
    .select(['workspace_id', 'job_id', 'connection_id', 'status', 'owner', 'lease_until', 'stop', 'updated_at'])
    .where(({ or, and, eb }) =>
      or([eb('owner', 'is not', null), and([eb('status', '=', 'running'), eb('ended_at', 'is', null)])]),
    )
    .execute();
}

export async function putBackJobs(db: Db, abandoned: readonly Pick<JobRow, 'job_id'>[], now: number): Promise<void> {
  const ids = abandoned.map(({ job_id }) => job_id);
  await db
    .updateTable('jobs')
    .set({ status: 'incomplete', next_attempt_at: now, updated_at: now })
    .where('job_id', 'in', ids)
    .where('status', '=', 'running')
    .execute();
  await db.updateTable('jobs').set(notHeld).where('job_id', 'in', ids).execute();
}

export const notHeld = { owner: null, lease_until: null, stop: null } as const;

/** What lies further ahead than anything may, because the clock was set back. */
export async function bringTimesNearer(
  db: Db,
  time: number,
  longest: { jobMs: number; turnMs: number; leaseMs: number },
): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ next_attempt_at: time })
    .where('next_attempt_at', '>', time + longest.jobMs)
    .execute();
  const expires_at = time + longest.turnMs;
  await db.updateTable('credential_turns').set({ expires_at }).where('expires_at', '>', expires_at).execute();
  const lease_until = time + longest.leaseMs;
  await db.updateTable('jobs').set({ lease_until }).where('lease_until', '>', lease_until).execute();
  await db.updateTable('coordinators').set({ seen_at: time }).where('seen_at', '>', time).execute();
  await db.updateTable('workspaces').set({ last_turn: time }).where('last_turn', '>', time).execute();
}

export async function isAnyJobDue(db: Db, time: number): Promise<boolean> {
  const row = await db.selectFrom('jobs').select('job_id').where('next_attempt_at', '<=', time).executeTakeFirst();
  return row !== undefined;
}

export interface WaitingWorkspace {
  workspaceId: string;
  /** Limit on its concurrent syncs, if it has its own. */
  maxConcurrentSyncs: number | null;
  lastTurn: number;
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
    .select([
      'jobs.workspace_id as workspaceId',
      'workspaces.max_concurrent_syncs as maxConcurrentSyncs',
      'workspaces.last_turn as lastTurn',
    ])
    .where('next_attempt_at', '<=', time);
  if (busyConnections.length > 0) waiting = waiting.where('connection_id', 'not in', busyConnections);
  return await waiting
    .groupBy(['jobs.workspace_id', 'workspaces.max_concurrent_syncs', 'workspaces.last_turn'])
    .orderBy(({ fn }) => fn.min('next_attempt_at'))
    .orderBy(({ fn }) => fn.min('job_id'))
    .execute();
}

export interface HandedOverSignIn {
  connectionId: string;
  workspaceId: string;
  credentialId: string;
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
    .where(({ or, eb, selectFrom }) => {
      const due = selectFrom('jobs').select('jobs.connection_id').where('next_attempt_at', '<=', time);
      const isDue = eb('connections.connection_id', 'in', due);
      return busyConnections.length === 0 ? isDue : or([isDue, eb('connections.connection_id', 'in', busyConnections)]);
    })
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

const ofDueJob = [
  'job_id',
  'job_type',
  'next_attempt_at',
  'connection_id',
  'failure_message',
  'attempts',
  'row_points',
] as const;
export type DueJob = Pick<JobRow, (typeof ofDueJob)[number]>;

/** The due jobs of a workspace; the one that waits longest comes first. */
export async function listDueJobs(
  tx: Db,
  workspaceId: string,
  time: number,
  { not, limit, offset = 0 }: { not: readonly string[]; limit: number; offset?: number },
): Promise<DueJob[]> {
  let waiting = tx
    .selectFrom('jobs')
    .select(ofDueJob)
    .where('workspace_id', '=', workspaceId)
    .where('next_attempt_at', '<=', time);
  if (not.length > 0) waiting = waiting.where('connection_id', 'not in', not);
  return await waiting.orderBy('next_attempt_at').orderBy('job_id').limit(limit).offset(offset).execute();
}

/** Due jobs of all workspaces, by their ids. */
export async function listDueAfter(
  tx: Db,
  jobId: number,
  time: number,
  limit: number,
): Promise<(DueJob & Pick<JobRow, 'workspace_id'>)[]> {
  return await tx
    .selectFrom('jobs')
    .select([...ofDueJob, 'workspace_id'])
    .where('next_attempt_at', '<=', time)
    .where('job_id', '>', jobId)
    .orderBy('job_id')
    .limit(limit)
    .execute();
}

/** What says where a job of a connection can run. */
export async function findPlace(tx: Db, connectionId: string) {
  const { source_id, destination_id, ...workspace } = await tx
    .selectFrom('connections')
    .innerJoin('workspaces', 'workspaces.workspace_id', 'connections.workspace_id')
    .select(['connections.source_id', 'connections.destination_id'])
    .selectAll('workspaces')
    .where('connections.connection_id', '=', connectionId)
    .executeTakeFirstOrThrow();
  const actors = await tx
    .selectFrom('connectors')
    .selectAll()
    .where('connector_id', 'in', [source_id, destination_id])
    .execute();
  const actor = (id: string) => actors.find(({ connector_id }) => connector_id === id) as ActorRow;
  return { workspace, source: actor(source_id), destination: actor(destination_id) };
}

/** Of the connection's next attempt: greater than that of any before, also in a database that was restored from a backup. */
async function raiseEpoch(tx: Db, connectionId: string, time: number): Promise<number> {
  const epoch = sql<number>`case when epoch >= ${time} then epoch + 1 else cast(${time} as bigint) end`;
  const row = await tx
    .updateTable('connections')
    .set({ epoch })
    .where('connection_id', '=', connectionId)
    .returning('epoch')
    .executeTakeFirstOrThrow();
  return Number(row.epoch);
}

export async function startAttempt(
  tx: Db,
  { job_id: jobId, connection_id }: Pick<JobRow, 'job_id' | 'connection_id'>,
  { time, ...started }: Pick<JobRow, 'owner' | 'lease_until' | 'attempts' | 'row_points'> & { time: number },
): Promise<JobRow> {
  const epoch = await raiseEpoch(tx, connection_id, time);
  const job = await tx
    .updateTable('jobs')
    .set(({ eb, fn }) => ({
      status: 'running',
      ...started,
      epoch,
      stop: null,
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
  await tx.updateTable('workspaces').set({ last_turn: time }).where('workspace_id', '=', workspace_id).execute();
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
      plan: null,
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
  const ended = await tx
    .selectFrom('job_attempts')
    .select(['status', 'started_at', 'ended_at'])
    .where('workspace_id', '=', workspace_id)
    .where('job_id', '=', job_id)
    .where('ended_at', 'is not', null)
    .execute();
  const took = ended.map(({ status, started_at, ended_at }) => ({ status, ms: (ended_at ?? started_at) - started_at }));
  return {
    ranMs: took.reduce((sum, { ms }) => sum + ms, 0),
    wholeTurns: took.filter(({ status, ms }) => status === 'interrupted' && ms >= turnMs).length,
  };
}

/** When the attempts began that run now. */
export async function listStarts(tx: Db, jobIds: readonly number[]): Promise<Map<number, number>> {
  const rows = await tx
    .selectFrom('job_attempts')
    .select(['job_id', 'started_at'])
    .where('job_id', 'in', jobIds)
    .where('ended_at', 'is', null)
    .execute();
  return new Map(rows.map(({ job_id, started_at }) => [job_id, started_at]));
}

export async function findPlan(tx: Db, { jobId, attempt }: AttemptRef): Promise<string | null> {
  const row = await tx
    .selectFrom('job_attempts')
    .select('plan')
    .where('job_id', '=', jobId)
    .where('attempt', '=', attempt)
    .executeTakeFirst();
  return row?.plan ?? null;
}

export async function putPlan(tx: Db, { jobId, attempt }: AttemptRef, plan: string): Promise<void> {
  await tx
    .updateTable('job_attempts')
    .set({ plan })
    .where('job_id', '=', jobId)
    .where('attempt', '=', attempt)
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
export async function trimJobs(
  db: Db,
  { workspaceId: workspace_id, connectionId: connection_id }: { workspaceId: string; connectionId: string },
  keptJobs: number,
): Promise<number[]> {
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
