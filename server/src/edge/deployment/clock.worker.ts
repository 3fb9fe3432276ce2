/**
 * Notices that the clock was set back, also while nothing ran: times that were stored before would otherwise be waited for
 * as long as the step. Runs in every replica; one of them sets the times back.
 *
 * What always holds: no time in the store is further ahead than it is ever set, whatever the clock has done.
 */
import type { Logger } from 'pino';
import { type Repetition, repeatedly } from '../../kernel/background.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import * as clock from './clock.worker.store.ts';

const everyMs = 10_000;

export interface ClockWatch extends Repetition {
  /** Looks now. */
  pass(): Promise<void>;
}

interface ClockContext {
  store: Store;
  runtime: Runtime;
  log: Logger;
  settleMs: number;
}

export function createClockWatch({ store, runtime, log, settleMs }: ClockContext): ClockWatch {
  const times = clock.dueTimes(settleMs);
  async function pass(): Promise<void> {
    if (!(await clock.noteTime(store.db))) {
      const stepMs = await store.exclusively(async (tx) => {
        const step = await clock.takeStepBack(tx);
        const columns = new Map(times.map((time) => [`${time.table}.${time.column}`, time]));
        if (step > 0) for (const time of columns.values()) await clock.setBack(tx, time, step);
        return step;
      });
      if (stepMs > 0) log.warn({ seconds: stepMs / 1000 }, 'Clock was set back; pending work rescheduled');
    }
    for (const time of await clock.findTooFar(store.db, times)) await clock.bringNearer(store.db, time);
  }
  return {
    pass,
    ...repeatedly({ runtime, log }, { what: 'Clock check', pauseMs: () => everyMs, work: pass }),
  };
}
