/** The SQL of `connections` for the scheduler, which serves all workspaces. */
import type { Db } from '../db/open.ts';
import type { ConnectionRow } from '../db/tables.ts';

/** Active, with a schedule, and without the time of the next run. */
export async function listUnscheduled(tx: Db): Promise<Pick<ConnectionRow, 'connection_id' | 'cron_expression'>[]> {
  return await tx
    .selectFrom('connections')
    .select(['connection_id', 'cron_expression'])
    .where('status', '=', 'active')
    .where('cron_expression', 'is not', null)
    .where('next_run_at', 'is', null)
    .execute();
}

export async function isAnyDue(db: Db, time: number): Promise<boolean> {
  const row = await db
    .selectFrom('connections')
    .select('connection_id')
    .where('next_run_at', '<=', time)
    .executeTakeFirst();
  return row !== undefined;
}

export async function listDue(tx: Db, time: number): Promise<ConnectionRow[]> {
  return await tx.selectFrom('connections').selectAll().where('next_run_at', '<=', time).execute();
}

/** The latest next run of each schedule that is in use. */
export async function listLatestRuns(tx: Db): Promise<{ cronExpression: string; latest: number }[]> {
  const rows = await tx
    .selectFrom('connections')
    .select(({ fn }) => ['cron_expression', fn.max('next_run_at').as('latest')])
    .where('next_run_at', 'is not', null)
    .groupBy('cron_expression')
    .execute();
  return rows.flatMap(({ cron_expression, latest }) =>
    cron_expression === null || latest === null ? [] : [{ cronExpression: cron_expression, latest: Number(latest) }],
  );
}

/** For those whose schedule would run later. */
export async function bringRunsNearer(tx: Db, cronExpression: string, nextRunAt: number | null): Promise<void> {
  await tx
    .updateTable('connections')
    .set({ next_run_at: nextRunAt })
    .where('cron_expression', '=', cronExpression)
    .where('next_run_at', '>', nextRunAt ?? 0)
    .execute();
}

export async function setNextRun(tx: Db, connectionId: string, nextRunAt: number | null): Promise<void> {
  await tx
    .updateTable('connections')
    .set({ next_run_at: nextRunAt })
    .where('connection_id', '=', connectionId)
    .execute();
}
