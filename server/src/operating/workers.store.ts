/** The SQL for what workers run. */
import type { Db } from '../kernel/db/open.ts';

/** The organization's jobs among those of the platform. */
export async function findRunning(db: Db, organizationId: string, platformIds: readonly string[]) {
  if (platformIds.length === 0) return [];
  return await db
    .selectFrom('jobs')
    .innerJoin('workspaces', 'workspaces.id', 'jobs.workspace_id')
    .select(['jobs.id', 'jobs.platform_id', 'jobs.workspace_id', 'workspaces.name as workspace_name'])
    .where('jobs.organization_id', '=', organizationId)
    .where('workspaces.organization_id', '=', organizationId)
    .where('jobs.status', 'in', ['pending', 'running', 'incomplete'])
    .where('jobs.platform_id', 'in', [...platformIds])
    .execute();
}
