/**
 * Decides which job runs when and stops jobs that must not continue. Works from the store alone: every second, and
 * whenever it is woken, it reads what is due and what was cancelled, so restarts, changes by other processes and clock
 * jumps need no special handling.
 *
 * Invariants: jobs run only while the lease is held; jobs of a connection run one at a time, including the processes of
 * a cancelled one; a job whose sign-in only one process can use does not start while another run uses it; the limits on
 * concurrent jobs, in total and per workspace, are never exceeded, and workspaces take turns (turns.ts); an attempt,
 * and all attempts of a job together, stay within their time limits; a job that has had its turn makes room for a
 * workspace without a running job; a job continues only while its lease can be renewed.
 */

import type { TraceContext } from '@inlay/contract/text/trace-context';
import { storageFaultOf } from '@inlay/database/storage-state';
import { Turns } from '@inlay/schedule/turns';
import { platformFailure } from '../runner/ask.ts';
import type { OpenJobLog } from '../runner/job-log.ts';
import type { Failure, Progress } from '../runner/runner.ts';
import { readTraceparent } from '../tracing.ts';
import { runAttempt } from './attempt.ts';
import type { JobsContext } from './context.ts';
import { openAttemptLog, removeLogs } from './job-logs.ts';
import {
  type AttemptEnd,
  claimJob,
  endAttempt,
  judgeTimes,
  listLostJobs,
  listWaiting,
  queueDueJobs,
  type Run,
  StaleRun,
  saveProgress,
  takeOverJobs,
  trimJobs,
} from './job-runs.ts';
import type { WaitingWorkspace } from './jobs.worker.store.ts';
import { createLease, leaseMs } from './lease.ts';
import { noPoints, type RowPoints, withPoint } from './row-points.ts';

interface Scheduler {
  start(): void;
  wake(): void;
  /** Does what is due now; over when that has been started, stopped or written down. */
  look(): Promise<void>;
  /** Stops what runs, leaves it to be continued after the next start, and lets another process have the lease. */
  stop(): Promise<void>;
}

const lookEveryMs = 1_000;
const judgeEveryMs = 60_000;
/** Limit for doubling a turn. With the default settings, the last one is nearly as long as a job may take. */
const mostDoublings = 7;

interface Active {
  run: Run;
  startedMs: number;
  stopping: AbortController;
  /** How a stopped attempt ends; if not set, another process has decided that. */
  stoppedWith?: AttemptEnd;
  progress: Progress;
  savedRecords: number;
  points: RowPoints;
  done: Promise<void>;
}

export function createScheduler(ctx: JobsContext): Scheduler {
  const { log, runtime } = ctx;
  const lease = createLease({ ...ctx, keyIds: ctx.actors.sealer.keyIds });
  /** By connection id. */
  const active = new Map<string, Active>();
  const turns = new Turns({ total: ctx.maxConcurrentSyncs, perTenant: ctx.maxConcurrentSyncsPerWorkspace });
  let holder: string | undefined;
  let heldMs = runtime.elapsed();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let judgedMs = Number.NEGATIVE_INFINITY;
  const closing = new AbortController();
  let isClosing = false;
  let wokenAgain = false;
  let wakeUp = () => {};
  let loop: Promise<void> | undefined;
  let looking = Promise.resolve();

  function wake(): void {
    wokenAgain = true;
    wakeUp();
  }

  /** One after the other, for all callers. */
  function look(): Promise<void> {
    looking = looking.then(lookOnce).catch((err) => {
      log.error({ err }, 'platform: Scheduler pass failed; will retry');
      // A process that cannot renew its lease must stop, because it could not record anything that its jobs do.
      if (runtime.elapsed() - heldMs > leaseMs) for (const current of active.values()) stopFor(current, failedBy(err));
    });
    return looking;
  }

  /** At once after the clock was set back, and now and then: it may have been set back while nothing ran. */
  async function judge(): Promise<void> {
    const [now, elapsed] = [runtime.now(), runtime.elapsed()];
    const isBehind = now < lookedAt;
    lookedAt = now;
    if (!isBehind && elapsed - judgedMs < judgeEveryMs) return;
    await judgeTimes(ctx);
    judgedMs = elapsed;
  }

  async function lookOnce(): Promise<void> {
    if (isClosing) return;
    await judge();
    const held = await lease.hold();
    heldMs = runtime.elapsed();
    if (held !== holder) {
      holder = held;
      // Whatever runs was started under a lease that is lost: its writes are refused from now on.
      for (const { stopping } of active.values()) stopping.abort();
      if (held === undefined) log.warn({}, 'platform: Another process runs the jobs');
    }
    if (holder === undefined) return;
    await takeOverJobs(ctx, activeJobs());
    await stopLost();
    await queueDueJobs(ctx);
    await startDue(holder);
    await makeRoom();
    await saveAllProgress();
  }

  function stopFor(current: Active, end: AttemptEnd): void {
    current.stoppedWith ??= end;
    current.stopping.abort();
  }

  const activeJobs = () => [...active.values()].map(({ run }) => run.job.job_id);

  async function stopLost(): Promise<void> {
    const lost = await listLostJobs(ctx, activeJobs());
    for (const { run, stopping } of active.values()) if (lost.includes(run.job.job_id)) stopping.abort();
  }

  async function startDue(currentHolder: string): Promise<void> {
    while (!turns.isFull && !isClosing) {
      const run = await claimJob(ctx, currentHolder, [...active.keys()], whoseTurn);
      if (!run) return;
      ctx.onJobsChanged();
      turns.take(run.job.workspace_id);
      const started: Active = {
        run,
        startedMs: runtime.elapsed(),
        stopping: new AbortController(),
        progress: { records: 0, bytes: 0 },
        savedRecords: 0,
        points: run.job.row_points === null ? noPoints : JSON.parse(run.job.row_points),
        done: Promise.resolve(),
      };
      active.set(run.job.connection_id, started);
      started.done = perform(started).finally(() => {
        active.delete(run.job.connection_id);
        turns.giveBack(run.job.workspace_id);
        ctx.onJobsChanged();
        wake();
      });
    }
  }

  /**
   * As many workspaces as there are slots could hold all of them for as long as a job may take. So a job that has had
   * its turn returns to the queue while a workspace without a slot waits. This is not a failure, and the job continues
   * from its last state. A full refresh starts over, so the next turn of a job is twice as long.
   */
  async function makeRoom(): Promise<void> {
    if (!turns.isFull) return;
    const hasHadTurn = ({ run, startedMs }: Active) =>
      runtime.elapsed() - startedMs >= ctx.turnMs * 2 ** Math.min(run.earlier.wholeTurns, mostDoublings);
    const running = [...active.values()].filter(({ stopping }) => !stopping.signal.aborted);
    const longest = running.filter(hasHadTurn).sort((one, other) => one.startedMs - other.startedMs);
    if (longest.length === 0) return;
    const waiting = await listWaiting(ctx, [...active.keys()]);
    const newcomers = waiting.filter(
      ({ workspaceId, maxConcurrentSyncs }) => turns.taken(workspaceId) === 0 && maxConcurrentSyncs !== 0,
    );
    const wanted = newcomers.length - (active.size - running.length);
    for (const current of longest.slice(0, Math.max(0, wanted))) {
      const { job_id: jobId, workspace_id: workspaceId } = current.run.job;
      log.info({ jobId, workspaceId }, 'platform: Preempting a long job for a waiting workspace');
      stopFor(current, { status: 'interrupted' });
    }
  }

  function whoseTurn(waiting: readonly WaitingWorkspace[]): string | undefined {
    const caps = new Map(waiting.map(({ workspaceId, maxConcurrentSyncs }) => [workspaceId, maxConcurrentSyncs]));
    return turns.next(caps.keys(), (workspaceId) => caps.get(workspaceId) ?? undefined);
  }

  async function perform(current: Active): Promise<void> {
    const { run } = current;
    const { job_id: jobId, connection_id } = run.job;
    const { job_type, attempts, traceparent } = run.job;
    const span = ctx.tracer.start({
      name: `job ${job_type}`,
      kind: 'internal',
      parent: readTraceparent(traceparent, runtime),
      attributes: { 'inlay.job_id': jobId, 'inlay.connection_id': connection_id, 'inlay.attempt': attempts },
    });
    try {
      const end = await attempt(current, span.trace);
      span.end({
        ...(end?.status === 'failed' ? { failure: `${end.failure.origin} ${end.failure.type}` } : {}),
        attributes: { 'inlay.outcome': end?.status ?? 'interrupted', 'inlay.records': current.progress.records },
      });
      notePoint(current, true);
      await onceWritable(async () => {
        await saveProgress(ctx, run, current.progress, current.points);
        if (end) await endAttempt(ctx, run, end);
        else if (isClosing) await endAttempt(ctx, run, { status: 'interrupted' });
        await removeLogs(ctx, connection_id, await trimJobs(ctx, run));
      });
    } catch (err) {
      span.end({ failure: 'unexpected' });
      // A cancelled job already has its end; any other is taken over on the next pass.
      const { traceId } = span.trace;
      if (!(err instanceof StaleRun))
        log.error({ err, jobId, traceId }, 'platform: Failed to store the result of a job');
    }
  }

  /** What a full disk does not let us write now is written as soon as there is room. */
  async function onceWritable(write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await write();
      } catch (err) {
        if (!storageFaultOf(err) || isClosing) throw err;
        await runtime.sleep(lookEveryMs, closing.signal);
      }
    }
  }

  async function attempt(current: Active, trace: TraceContext): Promise<AttemptEnd | undefined> {
    const { run, stopping, progress } = current;
    let jobLog: OpenJobLog | undefined;
    const ended = new AbortController();
    const limit = limitOf(run);
    void runtime.sleep(limit.ms, ended.signal).then(() => {
      if (!ended.signal.aborted) stopFor(current, limit.end);
    });
    try {
      jobLog = openAttemptLog(ctx, run.job);
      const end = await runAttempt(ctx, run, {
        signal: stopping.signal,
        log: jobLog,
        trace,
        onProgress: (now) => Object.assign(progress, { records: now.records, bytes: now.bytes }),
      });
      if (end || !current.stoppedWith) return end;
      if (current.stoppedWith.status === 'failed') {
        jobLog.write('ERROR', 'platform', current.stoppedWith.failure.message);
        return { ...current.stoppedWith, arrived: { records: progress.records, bytes: progress.bytes } };
      }
      if (current.stoppedWith.status === 'interrupted')
        jobLog.write(
          'INFO',
          'platform',
          'Paused so that another workspace gets its turn. The job continues automatically.',
        );
      return current.stoppedWith;
    } catch (err) {
      log.error({ err, jobId: run.job.job_id, traceId: trace.traceId }, 'platform: Job failed to run');
      return failedBy(err);
    } finally {
      ended.abort();
      jobLog?.close();
    }
  }

  function limitOf({ earlier }: Run): { ms: number; end: AttemptEnd } {
    const leftMs = Math.max(0, ctx.maxJobMs - earlier.ranMs);
    return leftMs > ctx.maxAttemptMs
      ? { ms: ctx.maxAttemptMs, end: overdue(ctx.maxAttemptMs, 'an attempt') }
      : { ms: leftMs, end: { ...overdue(ctx.maxJobMs, 'a job'), isFinal: true } };
  }

  async function saveAllProgress(): Promise<void> {
    for (const current of active.values()) {
      notePoint(current);
      if (current.progress.records === current.savedRecords) continue;
      current.savedRecords = current.progress.records;
      await saveProgress(ctx, current.run, current.progress, current.points);
    }
  }

  function notePoint(current: Active, isLast = false): void {
    const point = [runtime.now(), current.run.job.attempts, current.progress.records] as const;
    current.points = withPoint(current.points, point, isLast);
  }

  async function lookAgainAndAgain(): Promise<void> {
    while (!isClosing) {
      wokenAgain = false;
      await look();
      if (wokenAgain) continue;
      const waking = new AbortController();
      wakeUp = () => waking.abort();
      await runtime.sleep(lookEveryMs, waking.signal);
    }
  }

  return {
    start() {
      loop ??= lookAgainAndAgain();
    },
    wake,
    look,
    async stop() {
      isClosing = true;
      closing.abort();
      wake();
      await loop;
      await looking;
      for (const { stopping } of active.values()) stopping.abort();
      await Promise.all([...active.values()].map(({ done }) => done));
      // Without it, the next process takes the lease as soon as this one is gone, or when the lease has run out.
      await lease.release().catch((err) => log.warn({ err }, 'platform: Failed to release the job lease'));
    },
  };
}

type FailedEnd = Extract<AttemptEnd, { status: 'failed' }>;

const nothing: Progress = { records: 0, bytes: 0 };

/** What the destination has confirmed is kept, so an incremental sync resumes from there. */
function overdue(limitMs: number, limited: string): FailedEnd {
  const message = `The sync was stopped after ${durationInWords(limitMs)}, the time limit for ${limited}.`;
  return { status: 'failed', failure: { message, origin: 'platform', type: 'transient_error' }, arrived: nothing };
}

/** For faults of the platform itself. */
function failedBy(error: unknown): FailedEnd {
  const failure: Failure = storageFaultOf(error)
    ? platformFailure(error)
    : { message: 'The job could not run because of a platform error.', origin: 'platform', type: 'system_error' };
  return { status: 'failed', failure, arrived: nothing };
}

function durationInWords(ms: number): string {
  const units = [
    [3_600_000, 'hour'],
    [60_000, 'minute'],
  ] as const;
  const [unitMs, unit] = units.find(([length]) => ms % length === 0) ?? [1_000, 'second'];
  const count = ms / unitMs;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
