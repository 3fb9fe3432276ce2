/**
 * The loop of a coordinator: decides which jobs are due, runs attempts in its own process, and stops those that must not
 * continue. Works from the store alone: every second, and whenever it is woken, it reads what is due and what was cancelled, so
 * restarts, changes by other coordinators and clock jumps need no special handling.
 *
 * Invariants: attempts run only while their leases are held (attempts-book.ts). What could not be renewed is stopped: on PostgreSQL before the
 * lease ends, because another coordinator then takes the attempt over; on SQLite, where nobody else does, once the lease has ended,
 * because nothing that the attempt does could be recorded.
 */
import { storageFaultOf } from '@inlay/database/storage-state';
import { failureOf, runAttempt } from '../attempts/attempt.ts';
import { type Assignment, type AttemptReport, type Desk, StaleAttempt } from '../attempts/desk.ts';
import { type Progress, RunFailure } from '../runner/runner.ts';
import { readTraceparent } from '../tracing.ts';
import {
  claimAttempt,
  judgeTimes,
  makeRoom,
  noteUnplaceable,
  putBackAbandoned,
  queueDueJobs,
  renewAttempts,
} from './attempts-book.ts';
import type { JobsContext } from './context.ts';
import { createCoordinator, leaseMs, renewEveryMs } from './coordinators.ts';
import { openDesk, type StoreDesk } from './desk.ts';

interface Scheduler {
  start(): void;
  wake(): void;
  /** Does what is due now; over when that has been started, stopped or written down. */
  look(): Promise<void>;
  /** Whether this process coordinates attempts now: on SQLite only one does. */
  isCoordinating(): boolean;
  /** Stops what runs, leaves it to be continued after the next start, and lets another process have the file. */
  stop(): Promise<void>;
}

const lookEveryMs = 1_000;
const judgeEveryMs = 60_000;
/** What is left of a lease after the last pass that renewed it or let it rest, less the time that connectors take to end. */
const stopAfterMs = leaseMs - renewEveryMs - 5_000;

interface Active {
  assignment: Assignment;
  stopping: AbortController;
  progress: Progress;
  done: Promise<void>;
}

export function createScheduler(ctx: JobsContext): Scheduler {
  const { log, runtime, store, actors, maxConcurrentSyncs: slots } = ctx;
  const coordinator = createCoordinator({ store, runtime, slots, keyIds: actors.sealer.keyIds });
  /** By job id. */
  const active = new Map<number, Active>();
  let name: string | undefined;
  let heldMs = runtime.elapsed();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let judgedMs = Number.NEGATIVE_INFINITY;
  let placedMs = Number.NEGATIVE_INFINITY;
  let placedUpTo = 0;
  const closing = new AbortController();
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
      if (runtime.elapsed() - heldMs > leaseMs) stopAll(new RunFailure(failureOf(err)));
    });
    return looking;
  }

  function stopAll(reason: unknown): void {
    for (const { stopping } of active.values()) stopping.abort(reason);
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
    if (closing.signal.aborted) return;
    await judge();
    const held = await coordinator.hold();
    if (held !== name) {
      name = held;
      // Another process has the file, and with it the attempts.
      stopAll('lost');
      if (held === undefined) log.warn({}, 'platform: Another process runs the jobs');
    }
    if (name !== undefined) await coordinate(name);
  }

  async function coordinate(owner: string): Promise<void> {
    const renewedMs = runtime.elapsed();
    await renew(owner);
    heldMs = renewedMs;
    await putBackAbandoned(ctx, store.kind === 'sqlite' ? owner : undefined);
    await queueDueJobs(ctx);
    await startDue(owner);
    for (const { job_id: jobId, workspace_id: workspaceId } of await makeRoom(ctx)) {
      log.info({ jobId, workspaceId }, 'platform: Preempting a long job for a waiting workspace');
      if (active.has(jobId)) wake();
    }
    if (runtime.elapsed() - placedMs < renewEveryMs) return;
    placedMs = runtime.elapsed();
    placedUpTo = await noteUnplaceable(ctx, placedUpTo);
  }

  async function renew(owner: string): Promise<void> {
    const beats = [...active.values()].map(({ assignment: ref, progress }) => ({ ref, progress }));
    for (const { ref, stop } of await renewAttempts(ctx, owner, beats, renewEveryMs)) {
      if (stop) active.get(ref.jobId)?.stopping.abort(stop);
    }
  }

  async function startDue(owner: string): Promise<void> {
    while (active.size < slots && !closing.signal.aborted) {
      const assignment = await claimAttempt(ctx, { owner, slots });
      if (!assignment) return;
      const started: Active = {
        assignment,
        stopping: new AbortController(),
        progress: { records: 0, bytes: 0 },
        done: Promise.resolve(),
      };
      active.set(assignment.jobId, started);
      started.done = perform(started, owner).finally(() => {
        active.delete(assignment.jobId);
        ctx.onJobsChanged();
        wake();
      });
    }
  }

  async function perform(current: Active, owner: string): Promise<void> {
    const { assignment, stopping } = current;
    const { jobId, attempt, connectionId, kind, traceparent } = assignment;
    const span = ctx.tracer.start({
      name: `job ${kind}`,
      kind: 'internal',
      parent: readTraceparent(traceparent, runtime),
      attributes: { 'inlay.job_id': jobId, 'inlay.connection_id': connectionId, 'inlay.attempt': attempt },
    });
    const { traceId } = span.trace;
    let desk: StoreDesk | undefined;
    try {
      desk = await openDesk(ctx, assignment, owner);
      await runAttempt(deskOf(desk, current), {
        runner: ctx.runner,
        runtime,
        signal: stopping.signal,
        trace: span.trace,
        onFault: (err) => log.error({ err, jobId, traceId }, 'platform: Job failed to run'),
      });
      const { end } = desk;
      span.end({
        ...(end?.status === 'failed' ? { failure: `${end.failure.origin} ${end.failure.type}` } : {}),
        attributes: { 'inlay.outcome': end?.status ?? 'interrupted', 'inlay.records': current.progress.records },
      });
    } catch (err) {
      span.end({ failure: 'unexpected' });
      // Any attempt that is not ended is put back once its lease has run out.
      if (!(err instanceof StaleAttempt))
        log.error({ err, jobId, traceId }, 'platform: Failed to store the result of a job');
    } finally {
      desk?.close();
    }
  }

  function deskOf(desk: StoreDesk, current: Active): Desk {
    return {
      ...desk,
      progress(progress) {
        current.progress = progress;
      },
      finish: (report) => finishOnceWritable(desk, report),
    };
  }

  /** What a full disk does not let us write now is written as soon as there is room. */
  async function finishOnceWritable(desk: StoreDesk, report: AttemptReport): Promise<void> {
    for (;;) {
      try {
        return await desk.finish(report);
      } catch (err) {
        if (!storageFaultOf(err) || closing.signal.aborted) throw err;
        await runtime.sleep(lookEveryMs, closing.signal);
      }
    }
  }

  /** Also while a pass hangs. */
  async function watchLeases(): Promise<void> {
    while (!closing.signal.aborted) {
      await runtime.sleep(lookEveryMs, closing.signal);
      if (runtime.elapsed() - heldMs > stopAfterMs) stopAll('lost');
    }
  }

  async function lookAgainAndAgain(): Promise<void> {
    while (!closing.signal.aborted) {
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
      if (loop) return;
      loop = lookAgainAndAgain();
      if (store.kind === 'postgres') void watchLeases();
    },
    wake,
    look,
    isCoordinating: () => name !== undefined && !closing.signal.aborted,
    async stop() {
      closing.abort();
      wake();
      await loop;
      await looking;
      stopAll('closing');
      await Promise.all([...active.values()].map(({ done }) => done));
      // Without it, the next process takes the file as soon as this one is gone, or when the lease has run out.
      await coordinator.release().catch((err) => log.warn({ err }, 'platform: Failed to release the job lease'));
    },
  };
}
