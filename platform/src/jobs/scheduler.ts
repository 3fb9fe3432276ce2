/**
 * Decides which job runs when, and stops those that must not go on. It works from the store alone: every second, and
 * whenever it is woken, it looks at what is due and what was taken away, so that a restart, a change made by another
 * process or a clock that jumps are nothing special.
 *
 * What always holds: jobs run only while the lease is held; a connection's jobs run one after the other, the processes of a
 * cancelled one included; a job whose sign-in only one process at a time may use does not start while another run uses it;
 * no more than the allowed number run at a time, in all and in each workspace, and workspaces take turns (turns.ts); an
 * attempt takes no longer than the limit.
 */

import type { TraceContext } from '@inlay/contract/trace-context';
import { Turns } from '@inlay/schedule/turns';
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
  listLostJobs,
  queueDueJobs,
  type Run,
  StaleRun,
  saveProgress,
  takeOverJobs,
  trimJobs,
} from './job-runs.ts';
import type { WaitingWorkspace } from './jobs.worker.store.ts';
import { createLease } from './lease.ts';
import { noPoints, type RowPoints, withPoint } from './row-points.ts';

interface Scheduler {
  start(): void;
  wake(): void;
  /** Does what is due now; over when that has been started, stopped or written down. */
  look(): Promise<void>;
  /** Stops what runs, leaves it to be gone on with after the next start, and lets another process have the lease. */
  stop(): Promise<void>;
}

const lookEveryMs = 1_000;

interface Active {
  run: Run;
  stopping: AbortController;
  progress: Progress;
  savedRecords: number;
  points: RowPoints;
  done: Promise<void>;
}

export function createScheduler(ctx: JobsContext): Scheduler {
  const { log, runtime } = ctx;
  const lease = createLease(ctx);
  /** By connection. */
  const active = new Map<string, Active>();
  const turns = new Turns({ total: ctx.maxConcurrentSyncs, perTenant: ctx.maxConcurrentSyncsPerWorkspace });
  let holder: string | undefined;
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
      log.error({ err }, 'platform: the scheduler could not do its work; it tries again');
    });
    return looking;
  }

  async function lookOnce(): Promise<void> {
    if (isClosing) return;
    const held = await lease.hold();
    if (held !== holder) {
      holder = held;
      // Whatever runs was started under a lease that is lost: its writes are refused from now on.
      for (const { stopping } of active.values()) stopping.abort();
      if (held === undefined) log.warn({}, 'platform: another process runs the jobs');
    }
    if (holder === undefined) return;
    await takeOverJobs(ctx, activeJobs());
    await stopLost();
    await queueDueJobs(ctx);
    await startDue(holder);
    await saveAllProgress();
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
      await saveProgress(ctx, run, current.progress, current.points);
      if (end) await endAttempt(ctx, run, end);
      else if (isClosing) await endAttempt(ctx, run, { status: 'interrupted' });
      removeLogs(ctx, connection_id, await trimJobs(ctx, run));
    } catch (err) {
      span.end({ failure: 'unexpected' });
      // A job that was taken away meanwhile has its end already; any other is taken over at the next look.
      const { traceId } = span.trace;
      if (!(err instanceof StaleRun))
        log.error({ err, jobId, traceId }, 'platform: the end of a job could not be written');
    }
  }

  async function attempt({ run, stopping, progress }: Active, trace: TraceContext): Promise<AttemptEnd | undefined> {
    let jobLog: OpenJobLog | undefined;
    const overdue = new AbortController();
    const ended = new AbortController();
    void runtime.sleep(ctx.maxAttemptMs, ended.signal).then(() => {
      if (!ended.signal.aborted) overdue.abort();
    });
    try {
      jobLog = openAttemptLog(ctx, run.job);
      const end = await runAttempt(ctx, run, {
        signal: AbortSignal.any([stopping.signal, overdue.signal]),
        log: jobLog,
        trace,
        onProgress: (now) => Object.assign(progress, { records: now.records, bytes: now.bytes }),
      });
      if (end || !overdue.signal.aborted || stopping.signal.aborted) return end;
      const failure = overdueFailure(ctx.maxAttemptMs);
      jobLog.write('ERROR', 'platform', failure.message);
      return { status: 'failed', failure, arrived: { records: 0, bytes: 0 } };
    } catch (err) {
      log.error({ err, jobId: run.job.job_id, traceId: trace.traceId }, 'platform: a job could not be run');
      const failure = {
        message: 'The platform could not run the job.',
        origin: 'platform',
        type: 'system_error',
      } as const;
      return { status: 'failed', failure, arrived: { records: 0, bytes: 0 } };
    } finally {
      ended.abort();
      jobLog?.close();
    }
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
      wake();
      await loop;
      await looking;
      for (const { stopping } of active.values()) stopping.abort();
      await Promise.all([...active.values()].map(({ done }) => done));
      await lease.release();
    },
  };
}

/** What the destination has confirmed is kept, so an incremental sync goes on where it was. */
function overdueFailure(limitMs: number): Failure {
  const message = `The sync did not end within ${durationInWords(limitMs)}, the limit of one attempt, and was stopped.`;
  return { message, origin: 'platform', type: 'transient_error' };
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
