/**
 * The attempts of jobs in the store: claimed, renewed, put back, ended. Any number of coordinators work on it, for attempts that
 * run in their own process or on workers.
 *
 * Invariants: an attempt belongs to one owner, under a lease on the database's clock and an epoch that grows with every attempt
 * of its connection. Every write of an attempt happens in one transaction with the proof that it is the current one (fencing). A
 * connection has one attempt at a time, including the processes of a cancelled one; the limits on concurrent attempts, per owner and per workspace,
 * hold in every state of the store. Transactions may be repeated by the store, so their callbacks only write to it.
 */
import { storableText } from '@inlay/contract/text/storable-text';
import { databaseTime } from '@inlay/database/open-database';
import { byTurn, mayTake } from '@inlay/schedule/turns';
import { turnMs as credentialTurnMs, isInUse } from '../actors/credential-turns.ts';
import { type Assignment, type AttemptRef, StaleAttempt, type Stop } from '../attempts/desk.ts';
import { stopConnection } from '../connections/connections.ts';
import { isAnyConnectionDue, judgeSchedules, takeDueConnections } from '../connections/due-connections.ts';
import type { Db } from '../db/open.ts';
import type { JobRow } from '../db/tables.ts';
import { isAbandoned } from '../process-names.ts';
import type { Failure, Progress, StreamsMoved } from '../runner/runner.ts';
import type { Candidate, Claimant, JobsContext } from './context.ts';
import { leaseMs, listLiveCoordinators } from './coordinators.ts';
import { listCoordinators } from './coordinators.worker.store.ts';
import { createScheduledJob } from './jobs.ts';
import * as jobs from './jobs.worker.store.ts';
import { noPoints, type RowPoints, withPoint } from './row-points.ts';

const maxFailedAttempts = 3;
const retryDelaysMs = [10_000, 60_000];
/** At least so long until the next attempt after a delay; the outage itself may keep the job waiting for longer. */
const delayMs = 5_000;
/** Limit for doubling a turn. With the default settings, the last one is nearly as long as a job may take. */
const mostDoublings = 7;

/** Throws StaleAttempt, also for an attempt that was cancelled. */
export async function asAttempt<T>(
  { store }: Pick<JobsContext, 'store'>,
  ref: AttemptRef,
  owner: string,
  work: (tx: Db, job: JobRow) => Promise<T>,
): Promise<T> {
  return await store.transaction(async (tx) => {
    const job = await jobs.findHeldAttempt(tx, ref, owner);
    if (job?.status !== 'running') throw staleAttempt(ref);
    return await work(tx, job);
  });
}

export const staleAttempt = ({ jobId, attempt, epoch }: AttemptRef) =>
  new StaleAttempt(`attempt ${attempt} of job ${jobId}, epoch ${epoch}, is no longer the current one`);

/** Creates one job for each due connection, however many runs were missed; none while an earlier job is open. */
export async function queueDueJobs(ctx: JobsContext): Promise<void> {
  const { store } = ctx;
  if (!(await isAnyConnectionDue(store, await databaseTime(store.db)))) return;
  await store.transaction(async (tx) => {
    const time = await databaseTime(tx);
    for (const connection of await takeDueConnections(tx, time)) await createScheduledJob(ctx, tx, connection, time);
  });
}

/** Nothing waits longer than its rule says: the clock may have been set back since its time was stored. */
export async function judgeTimes({ store }: JobsContext): Promise<void> {
  const time = await databaseTime(store.db);
  await judgeSchedules(store, time);
  const longest = { jobMs: Math.max(delayMs, ...retryDelaysMs), turnMs: credentialTurnMs, leaseMs };
  await jobs.bringTimesNearer(store.db, time, longest);
}

/** Whether any job waits for someone to run it, whoever that may be. */
export async function isAnyDue({ store }: Pick<JobsContext, 'store'>): Promise<boolean> {
  return await jobs.isAnyJobDue(store.db, await databaseTime(store.db));
}

/** The next attempt for a claimant; undefined if nothing is due that it may and can run. */
export async function claimAttempt(ctx: JobsContext, claimant: Claimant): Promise<Assignment | undefined> {
  const { store } = ctx;
  if (!(await isAnyDue(ctx))) return undefined;
  const claimed = await store.transaction((tx) => claim(ctx, tx, claimant));
  if (!claimed) return undefined;
  ctx.onWaited(claimed.waitedMs);
  ctx.onJobsChanged();
  return assignmentOf(claimed.job);
}

export function assignmentOf(job: JobRow): Assignment {
  return {
    jobId: job.job_id,
    attempt: job.attempts,
    epoch: job.epoch,
    workspaceId: job.workspace_id,
    connectionId: job.connection_id,
    kind: kindOf(job),
    traceparent: job.traceparent,
  };
}

const kindOf = ({ job_type }: Pick<JobRow, 'job_type'>) => (job_type === 'sync' ? 'sync' : 'clear');

async function claim(ctx: JobsContext, tx: Db, claimant: Claimant) {
  const time = await databaseTime(tx);
  const held = await jobs.listHeld(tx);
  const freeHere = claimant.slots - held.filter(({ owner }) => owner === claimant.owner).length;
  if (freeHere <= 0) return undefined;
  const notNow = await listNotNow(ctx, tx, time, held);
  const waiting = await jobs.listWaitingWorkspaces(tx, time, notNow);
  if (waiting.length === 0) return undefined;
  const claimants = await listClaimants(ctx, tx);
  const total = claimants.reduce(
    (sum, { owner, slots }) => sum + (owner === claimant.owner ? 0 : slots),
    claimant.slots,
  );
  const { whyNot } = claimants.find(({ owner }) => owner === claimant.owner) ?? claimant;
  const perTenant = ctx.maxConcurrentSyncsPerWorkspace;
  // Slots are kept for newcomers among all and here: others may be unable to run what a newcomer has.
  const mayStart = (workspace: ReturnType<typeof turnOf>) =>
    mayTake(workspace, { total, perTenant }, total - held.length) &&
    mayTake(workspace, { total: claimant.slots, perTenant }, freeHere);
  const turns = waiting.map((workspace) => turnOf(workspace, held)).filter(mayStart);
  for (const { workspaceId } of turns.sort(byTurn)) {
    const next = await findFitting(tx, whyNot, workspaceId, time, notNow);
    if (!next) continue;
    const attempts = next.attempts + 1;
    const { row_points } = furtherColumns({ ...next, attempts }, { records: 0, bytes: 0 }, time);
    const lease = { owner: claimant.owner, lease_until: time + leaseMs };
    const job = await jobs.startAttempt(tx, next, { ...lease, attempts, row_points, time });
    return { job, waitedMs: Math.max(0, time - (next.next_attempt_at ?? time)) };
  }
  return undefined;
}

function turnOf({ workspaceId, maxConcurrentSyncs, lastTurn }: jobs.WaitingWorkspace, held: readonly jobs.HeldJob[]) {
  const taken = held.filter(({ workspace_id }) => workspace_id === workspaceId).length;
  return { workspaceId, taken, lastTurn, cap: maxConcurrentSyncs ?? undefined };
}

/** The job of the workspace that waits longest among those that the claimant can run. */
async function findFitting(
  tx: Db,
  whyNot: Claimant['whyNot'],
  workspaceId: string,
  time: number,
  not: readonly string[],
): Promise<jobs.DueJob | undefined> {
  const limit = whyNot ? candidatesAtATime : 1;
  for (let offset = 0; ; offset += limit) {
    const due = await jobs.listDueJobs(tx, workspaceId, time, { not, limit, offset });
    for (const job of due) {
      if (!whyNot) return job;
      const place = await jobs.findPlace(tx, job.connection_id);
      if (whyNot({ kind: kindOf(job), ...place }) === undefined) return job;
    }
    if (due.length < limit) return undefined;
  }
}

/** Nearly always the first one fits. */
const candidatesAtATime = 20;

/** Everybody who runs attempts now. */
async function listClaimants(ctx: JobsContext, tx: Db): Promise<Claimant[]> {
  const whyNot = await ctx.workers?.whyNotHere(tx);
  const here = (await listLiveCoordinators(tx))
    .filter(({ slots }) => slots > 0)
    .map(({ name, slots }) => ({ owner: name, slots, whyNot }));
  return [...here, ...((await ctx.workers?.list(tx)) ?? [])];
}

/** Connections whose jobs cannot start now, even if there is a slot. */
async function listNotNow(ctx: JobsContext, tx: Db, time: number, held: readonly jobs.HeldJob[]): Promise<string[]> {
  const busy = held.map(({ connection_id }) => connection_id);
  return [...busy, ...(await listWithoutTurn(tx, time, busy)), ...(await listWithoutKeeper(ctx, tx, time))];
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
  for (const job of waiting) await noteReason(tx, job, outage, time);
  return waiting.map(({ connection_id }) => connection_id);
}

/** Why a due job isn't started. Forgotten when it is. */
async function noteReason(
  tx: Db,
  job: Pick<JobRow, 'workspace_id' | 'job_id' | 'failure_message'>,
  message: string,
  time: number,
): Promise<void> {
  const reason = failureColumns({ origin: 'platform', type: 'transient_error', message });
  if (job.failure_message !== reason.failure_message) await jobs.updateJob(tx, job, { ...reason, updated_at: time });
}

/**
 * Due jobs that nobody who lives can run say so. Looks at a bounded number of them, those after a job; returns the last one, or 0
 * after the end.
 */
export async function noteUnplaceable(ctx: JobsContext, afterJob = 0): Promise<number> {
  const { store, workers } = ctx;
  if (!workers || !(await jobs.isAnyJobDue(store.db, await databaseTime(store.db)))) return 0;
  return await store.transaction(async (tx) => {
    const time = await databaseTime(tx);
    const claimants = await listClaimants(ctx, tx);
    const due = await jobs.listDueAfter(tx, afterJob, time, placedAtATime);
    for (const job of due) {
      const reason = await whyNowhere(tx, claimants, job);
      if (reason !== undefined) await noteReason(tx, job, reason, time);
    }
    return due.length < placedAtATime ? 0 : (due.at(-1)?.job_id ?? 0);
  });
}

const placedAtATime = 100;

async function whyNowhere(tx: Db, claimants: readonly Claimant[], job: jobs.DueJob): Promise<string | undefined> {
  if (claimants.length === 0) return 'No worker is connected. Start a worker to run this job.';
  const place: Candidate = { kind: kindOf(job), ...(await jobs.findPlace(tx, job.connection_id)) };
  const reasons = new Set<string>();
  for (const { whyNot } of claimants) {
    const reason = whyNot?.(place);
    if (reason === undefined) return undefined;
    reasons.add(reason);
  }
  return [...reasons].slice(0, maxReasons).join(' ');
}

const maxReasons = 3;

export interface Beat {
  ref: AttemptRef;
  progress?: Progress | undefined;
}

/**
 * Keeps the leases of an owner's attempts and stores how far they are; says which ones must stop, and why. An owner continues to
 * name an attempt that must stop until it has ended it: until then its connection and its slot stay taken.
 * `restMs`: leaves a lease as it is that was renewed so recently, for an owner who asks often.
 */
export async function renewAttempts(
  ctx: JobsContext,
  owner: string,
  beats: readonly Beat[],
  restMs = 0,
): Promise<{ ref: AttemptRef; stop?: Stop }[]> {
  if (beats.length === 0) return [];
  return await ctx.store.transaction(async (tx) => {
    const time = await databaseTime(tx);
    const held = await jobs.listHeldJobs(
      tx,
      owner,
      beats.map(({ ref }) => ref.jobId),
    );
    const renewed: { ref: AttemptRef; stop?: Stop }[] = [];
    for (const { ref, progress } of beats) {
      const job = held.find((one) => one.job_id === ref.jobId);
      if (job?.epoch !== ref.epoch || job.attempts !== ref.attempt || !isHeld(job)) {
        renewed.push({ ref, stop: 'lost' });
        continue;
      }
      const isRunning = job.status === 'running';
      const stop = isRunning ? (job.stop ?? (await limitPassed(ctx, tx, job, time))) : null;
      const leftMs = (job.lease_until ?? time) - time;
      const isDue = leftMs <= leaseMs - restMs || leftMs > leaseMs;
      const isFurther = isRunning && progress && (isDue || progress.records !== job.records);
      const changes = {
        ...(isDue && { lease_until: time + leaseMs }),
        ...(isFurther && { ...furtherColumns(job, progress, time), updated_at: time }),
        ...(stop !== job.stop && { stop }),
      };
      if (Object.keys(changes).length > 0) await jobs.updateJob(tx, job, changes);
      const reason = isRunning ? stop : 'lost';
      renewed.push(reason ? { ref, stop: reason } : { ref });
    }
    return renewed;
  });
}

const isHeld = ({ status }: Pick<JobRow, 'status'>) => status === 'running' || status === 'cancelled';

/** How far an attempt is, and the point of it in the plot. */
export function furtherColumns(
  job: Pick<JobRow, 'attempts' | 'row_points'>,
  { records, bytes }: Progress,
  time: number,
  isLast = false,
) {
  const points: RowPoints = job.row_points === null ? noPoints : JSON.parse(job.row_points);
  return { records, bytes, row_points: JSON.stringify(withPoint(points, [time, job.attempts, records], isLast)) };
}

type HeldRow = Awaited<ReturnType<typeof jobs.listHeldJobs>>[number];

async function limitPassed(
  { maxAttemptMs, maxJobMs, turnMs }: JobsContext,
  tx: Db,
  job: HeldRow,
  time: number,
): Promise<'attempt_limit' | 'job_limit' | null> {
  const ranMs = time - job.started_at;
  // Only the first attempt knows without looking that there were no others.
  const earlier = job.attempts === 1 ? 0 : (await jobs.readEarlierAttempts(tx, job, turnMs)).ranMs;
  if (earlier + ranMs >= maxJobMs) return 'job_limit';
  return ranMs >= maxAttemptMs ? 'attempt_limit' : null;
}

/**
 * As many workspaces as there are slots could hold all of them for as long as a job may take. So a job that has had
 * its turn returns to the queue while a workspace without a slot waits. This is not a failure, and the job continues
 * from its last state. A full refresh starts over, so the next turn of a job is twice as long. Their owners learn of it when they
 * renew their leases. Returns those jobs.
 */
export async function makeRoom(ctx: JobsContext): Promise<jobs.HeldJob[]> {
  const { store, turnMs } = ctx;
  const now = await databaseTime(store.db);
  const running = await jobs.listHeld(store.db);
  const starts = running.length === 0 ? [] : [...(await jobs.listStarts(store.db, idsOf(running))).values()];
  // Nearly always nobody has had a turn, or nobody waits.
  if (!starts.some((startedAt) => now - startedAt >= turnMs)) return [];
  if (!(await jobs.isAnyJobDue(store.db, now))) return [];
  return await store.transaction(async (tx) => {
    const time = await databaseTime(tx);
    const held = await jobs.listHeld(tx);
    const claimants = await listClaimants(ctx, tx);
    const free = new Map(
      claimants.map(({ owner, slots }) => [owner, slots - held.filter((job) => job.owner === owner).length]),
    );
    // Those that are being stopped make room, too.
    for (const { owner, status, stop } of held) {
      if (owner !== null && (stop !== null || status !== 'running')) free.set(owner, (free.get(owner) ?? 0) + 1);
    }
    const preemptable = await listPreemptable(ctx, tx, held, time);
    const stopped: jobs.HeldJob[] = [];
    const notNow = await listNotNow(ctx, tx, time, held);
    for (const workspace of await jobs.listWaitingWorkspaces(tx, time, notNow)) {
      const { workspaceId, taken, cap } = turnOf(workspace, held);
      if (taken > 0 || cap === 0) continue;
      const fitting: string[] = [];
      for (const { owner, whyNot } of claimants) {
        if (await findFitting(tx, whyNot, workspaceId, time, notNow)) fitting.push(owner);
      }
      const roomy = fitting.find((owner) => (free.get(owner) ?? 0) > 0);
      if (roomy !== undefined) {
        free.set(roomy, (free.get(roomy) ?? 0) - 1);
        continue;
      }
      const index = preemptable.findIndex(({ owner }) => owner !== null && fitting.includes(owner));
      const [longest] = index === -1 ? [] : preemptable.splice(index, 1);
      if (!longest) continue;
      await jobs.updateJob(tx, longest, { stop: 'turn' });
      stopped.push(longest);
    }
    return stopped;
  });
}

const idsOf = (held: readonly jobs.HeldJob[]) => held.map(({ job_id }) => job_id);

/** Attempts that have had their turn; the longest comes first. */
async function listPreemptable({ turnMs }: JobsContext, tx: Db, held: readonly jobs.HeldJob[], time: number) {
  const running = held.filter(({ status, stop }) => status === 'running' && stop === null);
  if (running.length === 0) return [];
  const starts = await jobs.listStarts(tx, idsOf(running));
  const had: (jobs.HeldJob & { startedAt: number })[] = [];
  for (const job of running) {
    const startedAt = starts.get(job.job_id) ?? time;
    if (time - startedAt < turnMs) continue;
    const { wholeTurns } = await jobs.readEarlierAttempts(tx, job, turnMs);
    if (time - startedAt >= turnMs * 2 ** Math.min(wholeTurns, mostDoublings)) had.push({ ...job, startedAt });
  }
  return had.sort((one, other) => one.startedAt - other.startedAt);
}

/**
 * Attempts whose owner is gone continue where they were. Nobody caused this, so it does not count as a failed attempt. An owner is
 * gone when its lease has run out; a process of this machine, as soon as it has ended. `only`: the coordinator that has taken
 * the SQLite file; the ones before it are gone, too.
 */
export async function putBackAbandoned(ctx: JobsContext, only?: string): Promise<void> {
  const { store } = ctx;
  const now = await databaseTime(store.db);
  const held = await jobs.listHeld(store.db);
  const predecessors = new Set<string | null>(
    only !== undefined && held.some(({ owner }) => owner !== only)
      ? [null, ...(await listCoordinators(store.db)).map(({ name }) => name)]
      : [],
  );
  if (only !== undefined) predecessors.delete(only);
  const isGone = ({ owner, lease_until }: jobs.HeldJob, time: number) =>
    predecessors.has(owner) || (lease_until ?? 0) <= time || (owner !== null && isAbandoned(owner));
  if (!held.some((job) => isGone(job, now))) return;
  await store.transaction(async (tx) => {
    const time = await databaseTime(tx);
    const abandoned = (await jobs.listHeld(tx)).filter((job) => isGone(job, time));
    if (abandoned.length === 0) return;
    await jobs.putBackJobs(tx, abandoned, time);
    for (const job of abandoned.filter(({ status }) => status === 'running')) {
      // The attempt ended when its owner was last heard of: the time in between does not count as running time.
      const lastHeard = Math.max(job.updated_at, (job.lease_until ?? 0) - leaseMs);
      await jobs.endAttempts(tx, job, Math.min(lastHeard, time), 'interrupted');
    }
  });
  ctx.onJobsChanged();
}

export type AttemptEnd =
  | { status: 'succeeded'; moved: StreamsMoved }
  /** Broken off by the platform itself, to be continued. `delay`: what the job waits for. */
  | { status: 'interrupted'; tokenEnd?: string; delay?: Failure }
  /** `arrived`: what is at the destination all the same. `isFinal`: trying again would not help. */
  | { status: 'failed'; failure: Failure; arrived: Progress; disablesConnection?: boolean; isFinal?: boolean };

/** Decides how the job continues or ends. `progress`: what the attempt has moved. */
export async function endAttempt(tx: Db, job: JobRow, end: AttemptEnd, progress: Progress): Promise<void> {
  const time = await databaseTime(tx);
  await jobs.updateJob(tx, job, {
    ...furtherColumns(job, progress, time, true),
    ...afterAttempt(job, end, time),
    ...jobs.notHeld,
  });
  await jobs.endAttempts(tx, job, time, end.status);
  if (end.status === 'failed' && end.disablesConnection)
    await stopConnection(tx, job, storableText(end.failure.message));
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
