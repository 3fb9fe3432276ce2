/**
 * Notices that the clock jumped. Set back, also while nothing ran: times that were stored before would otherwise be waited
 * for as long as the step. Ahead: leases and guards against sending a request twice would end early. Runs in every
 * replica; one of them sets times back.
 *
 * What always holds: no time in the store is further ahead than it is ever set, whatever the clock has done.
 */
import type { Logger } from 'pino';
import { type Repetition, repeatedly } from '../../kernel/background.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Metrics } from '../../kernel/telemetry/metrics.ts';
import * as clock from './clock.worker.store.ts';

const everyMs = 10_000;
/** A clock that is merely adjusted never gains as much between two passes. */
const leastJumpMs = 5_000;

export interface ClockWatch extends Repetition {
  /** Looks now. */
  pass(): Promise<void>;
}

interface ClockContext {
  store: Store;
  runtime: Runtime;
  log: Logger;
  settleMs: number;
  metrics: Pick<Metrics, 'clockJumped'>;
}

export function createClockWatch({ store, runtime, log, settleMs, metrics }: ClockContext): ClockWatch {
  const times = clock.dueTimes(settleMs);
  const columns = new Map(times.map((time) => [`${time.table}.${time.column}`, time]));
  let last: { now: number; askedMs: number } | undefined;

  async function noticeJump(): Promise<void> {
    const seen = { askedMs: runtime.elapsed(), now: await store.now() };
    // By how much the clock gained on the one that never jumps, at the least: a slow database is no jump.
    const jumpMs = last ? seen.now - last.now - (runtime.elapsed() - last.askedMs) : 0;
    if (jumpMs > leastJumpMs) {
      // Every replica may notice. Nothing is held longer than if it had begun now.
      for (const time of columns.values()) if (clock.isHold(time)) await clock.holdLonger(store.db, time, jumpMs);
      metrics.clockJumped('forward');
      log.warn({ seconds: jumpMs / 1000 }, 'Clock jumped forward, or the machine was suspended; leases extended');
    }
    last = seen;
  }

  async function pass(): Promise<void> {
    await noticeJump();
    if (!(await clock.noteTime(store.db))) {
      const stepMs = await store.exclusively(async (tx) => {
        const step = await clock.takeStepBack(tx);
        if (step > 0) for (const time of columns.values()) await clock.setBack(tx, time, step);
        return step;
      });
      if (stepMs > 0) {
        metrics.clockJumped('back');
        log.warn({ seconds: stepMs / 1000 }, 'Clock was set back; pending work rescheduled');
      }
    }
    for (const time of await clock.findTooFar(store.db, times)) await clock.bringNearer(store.db, time);
  }
  return {
    pass,
    ...repeatedly({ runtime, log }, { what: 'Clock check', pauseMs: () => everyMs, work: pass }),
  };
}
