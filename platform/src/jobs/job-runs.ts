/**
 * The life of a job while it runs: started, written to, ended. Only the scheduler moves a job along here; cancelling is
 * in jobs.ts and takes the row away from the process that runs the job.
 *
 * What always holds: everything a run writes is written in one transaction with the proof that the run is still the one
 * that counts: the lease is held under the same name, and the job is running in the same attempt.
 */
import { storableText } from '@inlay/contract/storable-text';
import { isInUse } from '../actors/credential-turns.ts';
import { stopConnection } from '../connections/connections.ts';
import { isAnyConnectionDue, takeDueConnections } from '../connections/due-connections.ts';
import type { Db } from '../db/open.ts';
import type { JobRow } from '../db/tables.ts';
import type { ChangeKind } from '../protocol.ts';
import type { Failure, Progress, StreamsMoved } from '../runner/runner.ts';
import type { JobsContext } from './context.ts';
import { createScheduledJob } from './jobs.ts';
import * as jobs from './jobs.worker.store.ts';
import type { RowPoints } from './row-points.ts';

export interface Run {
  readonly job: JobRow;
  /** The lease it was started under. */
  readonly holder: string;
}

/** Somebody else has the job now, or it was cancelled; what the run was about to write is not written. */
export class StaleRun extends Error {
  override readonly name = 'StaleRun';
}

const maxFailedAttempts = 3;
const retryDelaysMs = [10_000, 60_000];
const keptJobs = 100;

export async function asRun<T>({ store }: JobsContext, run: Run, work: (tx: Db) => Promise<T>): Promise<T> {
  return await store.transaction(async (tx) => {
    if (!(await jobs.isCurrentRun(tx, run.job, run.holder))) {
      throw new StaleRun(`job ${run.job.job_id} is no longer run in attempt ${run.job.attempts}`);
    }
    return await work(tx);
  });
}

/** Jobs that nobody runs any more go on where they were. Nobody did anything wrong, so it is no failed attempt. */
export async function takeOverJobs({ store, runtime }: JobsContext, runningHere: readonly number[]): Promise<void> {
  const abandoned = await jobs.listAbandonedJobs(store.db, runningHere);
  if (abandoned.length === 0) return;
  const now = runtime.now();
  await store.transaction(async (tx) => {
    await jobs.putBackJobs(tx, abandoned, now);
    for (const job of abandoned) await jobs.endAttempts(tx, job, now, 'interrupted');
  });
}

/** One job for each connection that is due, however many times it was missed; none while an earlier one goes on. */
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
  { store, runtime, onWaited }: JobsContext,
  holder: string,
  busyConnections: readonly string[],
  choose: (waiting: readonly jobs.WaitingWorkspace[]) => string | undefined,
): Promise<Run | undefined> {
  const time = runtime.now();
  return await store.transaction(async (tx) => {
    const notNow = [...busyConnections, ...(await listWithoutTurn(tx, time, busyConnections))];
    const workspaceId = choose(await jobs.listWaitingWorkspaces(tx, time, notNow));
    if (workspaceId === undefined) return undefined;
    const next = await jobs.findNextJob(tx, workspaceId, time, notNow);
    if (!next) return undefined;
    onWaited(Math.max(0, time - (next.next_attempt_at ?? time)));
    return { job: await jobs.startAttempt(tx, next.job_id, time), holder };
  });
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
    // A run has its turn only while a process of its connector runs; between two of them it needs the next one.
    const isUsed = used.some((one) => isSame(one, signIn)) || (await isInUse(tx, signIn, time));
    if (isUsed) waiting.push(signIn.connectionId);
  }
  return waiting;
}

/** Of all jobs that this lease runs, those that were taken away: cancelled, or their connection deactivated or deleted. */
export async function listLostJobs({ store }: JobsContext, jobIds: readonly number[]): Promise<number[]> {
  if (jobIds.length === 0) return [];
  const running = new Set(await jobs.listRunningJobs(store.db, jobIds));
  return jobIds.filter((id) => !running.has(id));
}

/** Also for a job that was cancelled: it tells how far it got. */
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
  /** Broken off by the platform itself, to be gone on with. */
  | { status: 'interrupted'; tokenEnd?: string }
  /** `arrived`: what is at the destination all the same. */
  | { status: 'failed'; failure: Failure; arrived: Progress; disablesConnection?: boolean };

/** Decides what becomes of the job. */
export async function endAttempt(ctx: JobsContext, run: Run, end: AttemptEnd): Promise<void> {
  await asRun(ctx, run, async (tx) => {
    const after = afterAttempt(run.job, end, ctx.runtime.now());
    await jobs.updateJob(tx, run.job, after);
    await jobs.endAttempts(tx, run.job, after.updated_at, end.status);
    if (end.status === 'failed' && end.disablesConnection)
      await stopConnection(tx, run.job, storableText(end.failure.message));
  });
  if (end.status === 'succeeded') countChangedValues(ctx, end.moved);
}

/** Once it is written: an attempt that could not be written is made again. */
function countChangedValues({ onValuesChanged }: JobsContext, { changedValues }: StreamsMoved): void {
  for (const [kind, count] of Object.entries(changedValues)) onValuesChanged(kind as ChangeKind, count);
}

function afterAttempt(job: JobRow, end: AttemptEnd, now: number): Partial<JobRow> & Pick<JobRow, 'updated_at'> {
  if (end.status === 'interrupted') {
    const { tokenEnd } = end;
    const noted = tokenEnd === undefined ? {} : { token_end: tokenEnd };
    return { status: 'incomplete', next_attempt_at: now, updated_at: now, ...noted };
  }
  if (end.status === 'succeeded') {
    const noFailure = { failure_message: null, failure_origin: null, failure_type: null, failure_fields: null };
    return { status: 'succeeded', ...noFailure, streams: JSON.stringify(end.moved), updated_at: now, ended_at: now };
  }
  const { message, origin, type, fields } = end.failure;
  const failedAttempts = job.failed_attempts + 1;
  const failed = {
    // What was passed to the destination and never got into place is nothing that anybody has.
    records: end.arrived.records,
    bytes: end.arrived.bytes,
    failed_attempts: failedAttempts,
    failure_message: storableText(message),
    failure_origin: origin,
    failure_type: type,
    failure_fields: fields ? JSON.stringify(fields) : null,
    updated_at: now,
  };
  // Trying again does not help where somebody has to change something.
  if (type === 'config_error' || failedAttempts >= maxFailedAttempts) {
    return { ...failed, status: 'failed', ended_at: now };
  }
  return { ...failed, status: 'incomplete', next_attempt_at: now + (retryDelaysMs[failedAttempts - 1] ?? 0) };
}

/** Removes the oldest jobs of a connection beyond the number that is kept; gives their ids. */
export async function trimJobs({ store }: JobsContext, { job }: Run): Promise<number[]> {
  return await jobs.trimJobs(store.db, job, keptJobs);
}
