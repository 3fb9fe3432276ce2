/** Which connections are due, over all workspaces: for the scheduler. No request leads here. */
import type { Db, Store } from '../db/open.ts';
import type { ConnectionRow } from '../db/tables.ts';
import {
  bringRunsNearer,
  isAnyDue,
  listDue,
  listLatestRuns,
  listUnscheduled,
  setNextRun,
} from './connections.worker.store.ts';
import { nextRunAfter } from './schedule.ts';

/** Sets the next run of schedules that were stored before there was a scheduler. */
export async function completeSchedules(store: Store, time: number): Promise<void> {
  await store.transaction(async (tx) => {
    for (const { connection_id, cron_expression } of await listUnscheduled(tx)) {
      await setNextRun(tx, connection_id, nextRunAfter(cron_expression, time));
    }
  });
}

/** No connection runs later than its schedule says: the clock may have been set back since its next run was stored. */
export async function judgeSchedules({ db }: Store, time: number): Promise<void> {
  for (const { cronExpression, latest } of await listLatestRuns(db)) {
    const next = nextRunAfter(cronExpression, time);
    if (latest > (next ?? time)) await bringRunsNearer(db, cronExpression, next);
  }
}

export async function isAnyConnectionDue(store: Store, time: number): Promise<boolean> {
  return await isAnyDue(store.db, time);
}

/** Each is given once for all the times it was missed, and is due again at its next time. */
export async function takeDueConnections(tx: Db, time: number): Promise<ConnectionRow[]> {
  const due = await listDue(tx, time);
  for (const { connection_id, cron_expression } of due) {
    await setNextRun(tx, connection_id, nextRunAfter(cron_expression, time));
  }
  return due;
}
