/**
 * A schedule that runs more often than the workspace's quota allows is slowed: the platform gets the most frequent schedule
 * that keeps the quota. What was requested stays on the connection, and is what runs again once the quota allows it.
 */
import type { Quotas } from '@inlay/contract/tenancy/quotas';
import { shortestIntervalMs } from '@inlay/schedule/intervals';
import { scheduleEvery } from '@inlay/schedule/slower';
import type { Db } from '../kernel/db/open.ts';
import type { ConnectionRow } from '../kernel/db/tables.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { limitsOf } from '../tenancy/quotas/limits.ts';
import { wakeSources } from './apply-version.store.ts';
import * as connections from './connections.store.ts';
import type { PipelinesContext } from './context.ts';

/** Null where the schedule is allowed as it is. */
function slowedSchedule(cron: string | null, seconds: number | null, now: Date): string | null {
  if (cron === null || seconds === null) return null;
  const intervalMs = shortestIntervalMs(cron, now);
  return intervalMs === undefined || intervalMs >= seconds * 1000 ? null : scheduleEvery(seconds * 1000);
}

/** The schedule on the platform, from which the next run is shown. */
export function scheduleOf({ cron_expression, slowed_cron }: ConnectionRow): string | null {
  return slowed_cron ?? cron_expression;
}

/** The schedule to write to the platform now; records it first. */
export async function scheduleToTell(ctx: PipelinesContext, connection: ConnectionRow): Promise<string | null> {
  const { organization_id: organizationId, workspace_id: workspaceId, id, cron_expression: cron } = connection;
  const { shortest_interval_seconds: seconds } = await limitsOf(ctx.store.db, organizationId, workspaceId);
  const slowed = slowedSchedule(cron, seconds, new Date(ctx.runtime.now()));
  if (slowed !== connection.slowed_cron) await connections.putSlowed(ctx.store.db, workspaceId, id, slowed);
  return slowed ?? cron;
}

/** After a change of a workspace's quotas: marks every connection whose schedule has to change on the platform. */
export async function followQuotas(
  runtime: Runtime,
  tx: Db,
  workspaceId: string,
  { shortest_interval_seconds: seconds }: Quotas,
): Promise<void> {
  const now = new Date(runtime.now());
  const changed = new Set<string>();
  for (const row of await connections.listConnections(tx, workspaceId)) {
    const slowed = slowedSchedule(row.cron_expression, seconds, now);
    if (slowed === row.slowed_cron) continue;
    await connections.changeSlowed(tx, workspaceId, row.id, slowed);
    changed.add(row.source_id);
  }
  if (changed.size > 0) await wakeSources(tx, workspaceId, [...changed]);
}
