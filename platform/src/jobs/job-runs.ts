/**
 * The life of a job while it runs: started, written to, ended. Only the scheduler moves a job along here; cancelling is
 * in jobs.ts and takes the row away from the process that runs the job.
 *
 * Invariant: every write of a run happens in one transaction with the proof that the run is still current: the lease is
 * held under the same name, and the job is running in the same attempt (fencing).
 */
import { storableText } from '@inlay/contract/text/storable-text';
import type { ChangeKind } from '@inlay/protocol/protocol';
import { isInUse, turnMs } from '../actors/credential-turns.ts';
import { stopConnection } from '../connections/connections.ts';
import { isAnyConnectionDue, judgeSchedules, takeDueConnections } from '../connections/due-connections.ts';
import type { Db } from '../db/open.ts';
import type { JobRow } from '../db/tables.ts';
import type { Failure, Progress, StreamsMoved } from '../runner/runner.ts';
import type { JobsContext } from './context.ts';
import { createScheduledJob } from './jobs.ts';
import * as jobs from './jobs.worker.store.ts';
import type { RowPoints } from './row-points.ts';

export interface Run {
  readonly job: JobRow;
  /** The lease it was started under. */
  readonly holder: string;
  readonly earlier: jobs.EarlierAttempts;
}

/** Someone else has the job now, or it was cancelled; what the run was about to write is not written. */
export class StaleRun extends Error {
  override readonly name = 'StaleRun';
}

const maxFailedAttempts = 3;
const retryDelaysMs = [10_000, 60_000];
/** At least so long until the next attempt after a delay; the outage itself may keep the job waiting for longer. */
const delayMs = 5_000;
const keptJobs = 100;

export async function asRun<T>({ store }: JobsContext, run: Run, work: (tx: Db) => Promise<T>): Promise<T> {
  return await store.transaction(async (tx) => {
    if (!(await jobs.isCurrentRun(tx, run.job, run.holder))) {
      throw new StaleRun(`attempt ${run.job.attempts} of job ${run.job.job_id} is no longer running`);
    }
    return await work(tx);
  });
}

/** Jobs whose process is gone resume where they were. Nobody caused this, so it does not count as a failed attempt. */
export async function takeOverJobs({ store, runtime }: JobsContext, runningHere: readonly number[]): Promise<void> {
  const abandoned = await jobs.listAbandonedJobs(store.db, runningHere);
  if (abandoned.length === 0) return;
  const now = runtime.now();
  await store.transaction(async (tx) => {
    await jobs.putBackJobs(tx, abandoned, now);
    // Their process ended at its last heartbeat, not now: the time in between does not count as running time.
    for (const job of abandoned) await jobs.endAttempts(tx, job, job.updated_at, 'interrupted');
  });
}

/** Nothing waits longer than its rule says: the clock may have been set back since its time was stored. */
export async function judgeTimes({ store, runtime }: JobsContext): Promise<void> {
  const time = runtime.now();
  await judgeSchedules(store, time);
  await jobs.bringTimesNearer(store.db, time, { jobMs: Math.max(delayMs, ...retryDelaysMs), turnMs });
}

/** Creates one job for each due connection, however many runs were missed; none while an earlier job is open. */
export async function queueDueJobs(ctx: JobsContext): Promise<void> {
  const { store, runtime } = ctx;
  const time = runtime.now();
  if (!(await isAnyConnectionDue(store, time))) return;
  await store.transaction(async (tx) => {
    for (const connection of await takeDueConnections(tx, time)) await createScheduledJob(ctx, tx, connection, time);
  });
}

/** Starts the next job that is due, if there is any. `choose` says which of the workspaces that wait has its turn. */
export async function claimJob(
  ctx: JobsContext,
  holder: string,
  busyConnections: readonly string[],
  choose: (waiting: readonly jobs.WaitingWorkspace[]) => string | undefined,
): Promise<Run | undefined> {
  const { store, runtime, onWaited, turnMs } = ctx;
  const time = runtime.now();
  return await store.transaction(async (tx) => {
    const notNow = await listNotNow(ctx, tx, time, busyConnections);
    const workspaceId = choose(await jobs.listWaitingWorkspaces(tx, time, notNow));
    if (workspaceId === undefined) return undefined;
    const next = await jobs.findNextJob(tx, workspaceId, time, notNow);
    if (!next) return undefined;
    onWaited(Math.max(0, time - (next.next_attempt_at ?? time)));
    const job = await jobs.startAttempt(tx, next.job_id, time);
    return { job, holder, earlier: await jobs.readEarlierAttempts(tx, job, turnMs) };
  });
}

/** Workspaces that have a job which could start now, in the order in which they have waited. */
export async function listWaiting(
  ctx: JobsContext,
  busyConnections: readonly string[],
): Promise<jobs.WaitingWorkspace[]> {
  const { store, runtime } = ctx;
  const time = runtime.now();
  const notNow = await listNotNow(ctx, store.db, time, busyConnections);
  return await jobs.listWaitingWorkspaces(store.db, time, notNow);
}

/** Connections whose jobs cannot start now, even if there is a slot. */
async function listNotNow(ctx: JobsContext, tx: Db, time: number, busyConnections: readonly string[]) {
  return [
    ...busyConnections,
    ...(await listWithoutTurn(tx, time, busyConnections)),
    ...(await listWithoutKeeper(ctx, tx, time)),
  ];
}

/**
 * Connections whose sign-in another run uses, where only one process at a time may use it. Their jobs are not started: they
 * would wait in a slot that others need.
 */
async function listWithoutTurn(tx: Db, time: number, busyConnections: readonly string[]): Promise<string[]> {
  const signIns = await jobs.listHandedOverSignIns(tx, time, busyConnections);
  const isSame = (one: jobs.HandedOverSignIn, other: jobs.HandedOverSignIn) =>
    one.workspaceId === other.workspaceId && one.credentialId === other.credentialId;
  const used = signIns.filter(({ connectionId }) => busyConnections.includes(connectionId));
  const waiting: string[] = [];
  for (const signIn of signIns) {
    // A run uses its turn only while a connector process runs; between two processes it waits for the next turn.
    const isUsed = used.some((one) => isSame(one, signIn)) || (await isInUse(tx, signIn, time));
    if (isUsed) waiting.push(signIn.connectionId);
  }
  return waiting;
}

/**
 * Connections that need a credential while its keeper cannot be reached. Their jobs report this and wait without a
 * slot.
 */
async function listWithoutKeeper({ actors }: JobsContext, tx: Db, time: number): Promise<string[]> {
  const outage = actors.credentials?.outage();
  if (outage === undefined) return [];
  const waiting = await jobs.listDueWithCredential(tx, time);
  const reason = failureColumns({ origin: 'platform', type: 'transient_error', message: outage });
  for (const job of waiting) {
    if (job.failure_message !== reason.failure_message) await jobs.updateJob(tx, job, { ...reason, updated_at: time });
  }
  return waiting.map(({ connection_id }) => connection_id);
}

/**
 * Jobs of this lease that must stop: cancelled, or with a connection that was deactivated or
 * deleted.
 */
export async function listLostJobs({ store }: JobsContext, jobIds: readonly number[]): Promise<number[]> {
  if (jobIds.length === 0) return [];
  const running = new Set(await jobs.listRunningJobs(store.db, jobIds));
  return jobIds.filter((id) => !running.has(id));
}

/** Also called for a cancelled job, to record how far it got. */
export async function saveProgress(
  { store, runtime }: JobsContext,
  { job }: Run,
  { records, bytes }: Progress,
  points: RowPoints,
): Promise<void> {
  await jobs.putProgress(store.db, job, {
    records,
    bytes,
    row_points: JSON.stringify(points),
    updated_at: runtime.now(),
  });
}

export type AttemptEnd =
  | { status: 'succeeded'; moved: StreamsMoved }
  /** Broken off by the platform itself, to be continued. `delay`: what the job waits for. */
  | { status: 'interrupted'; tokenEnd?: string; delay?: Failure }
  /** `arrived`: what is at the destination all the same. `isFinal`: trying again would not help. */
  | { status: 'failed'; failure: Failure; arrived: Progress; disablesConnection?: boolean; isFinal?: boolean };

/** Decides how the job continues or ends. */
export async function endAttempt(ctx: JobsContext, run: Run, end: AttemptEnd): Promise<void> {
  await asRun(ctx, run, async (tx) => {
    const now = ctx.runtime.now();
    await jobs.updateJob(tx, run.job, afterAttempt(run.job, end, now));
    await jobs.endAttempts(tx, run.job, now, end.status);
    if (end.status === 'failed' && end.disablesConnection)
      await stopConnection(tx, run.job, storableText(end.failure.message));
  });
  if (end.status === 'succeeded') countChangedValues(ctx, end.moved);
}

/** Only after it was written: an attempt that could not be recorded is repeated. */
function countChangedValues({ onValuesChanged }: JobsContext, { changedValues }: StreamsMoved): void {
  for (const [kind, count] of Object.entries(changedValues)) onValuesChanged(kind as ChangeKind, count);
}

function afterAttempt(job: JobRow, end: AttemptEnd, now: number): Partial<JobRow> {
  // The clock may have been set back since the job was started.
  const ended_at = Math.max(now, job.started_at ?? now);
  if (end.status === 'interrupted') {
    const { tokenEnd, delay } = end;
    const noted = tokenEnd === undefined ? {} : { token_end: tokenEnd };
    const reason = delay ? failureColumns(delay) : {};
    return {
      status: 'incomplete',
      next_attempt_at: now + (delay ? delayMs : 0),
      updated_at: now,
      ...noted,
      ...reason,
    };
  }
  if (end.status === 'succeeded') {
    const noFailure = { failure_message: null, failure_origin: null, failure_type: null, failure_fields: null };
    return { status: 'succeeded', ...noFailure, streams: JSON.stringify(end.moved), updated_at: now, ended_at };
  }
  const { type } = end.failure;
  const failedAttempts = job.failed_attempts + 1;
  const failed = {
    // Rows that were passed to the destination but never committed do not count.
    records: end.arrived.records,
    bytes: end.arrived.bytes,
    failed_attempts: failedAttempts,
    ...failureColumns(end.failure),
    updated_at: now,
  };
  // Retrying does not help if someone has to change something.
  if (type === 'config_error' || end.isFinal || failedAttempts >= maxFailedAttempts) {
    return { ...failed, status: 'failed', ended_at };
  }
  return { ...failed, status: 'incomplete', next_attempt_at: now + (retryDelaysMs[failedAttempts - 1] ?? 0) };
}

function failureColumns({ message, origin, type, fields }: Failure) {
  return {
    failure_message: storableText(message),
    failure_origin: origin,
    failure_type: type,
    failure_fields: fields ? JSON.stringify(fields) : null,
  };
}

/** Removes the oldest jobs of a connection beyond the limit; returns their ids. */
export async function trimJobs({ store }: JobsContext, { job }: Run): Promise<number[]> {
  return await jobs.trimJobs(store.db, job, keptJobs);
}
