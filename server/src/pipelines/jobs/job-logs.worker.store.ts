/** The logs of jobs of all workspaces, for the worker that copies them from the platform. */

import { fromNow, now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { JobLogRow, JobRow } from '../../kernel/db/tables.ts';

/** Jobs whose log is to be copied now; the longest due first. */
export async function listWantedLogs(db: Db, limit: number): Promise<JobRow[]> {
  return await db
    .selectFrom('job_logs_wanted as wanted')
    .innerJoin('jobs', (join) =>
      join.onRef('jobs.connection_id', '=', 'wanted.connection_id').onRef('jobs.id', '=', 'wanted.job_id'),
    )
    .selectAll('jobs')
    .where('wanted.due_at', '<=', now)
    .orderBy('wanted.due_at')
    .limit(limit)
    .execute();
}

export async function putOffLog(
  db: Db,
  { connection_id, id }: Pick<JobRow, 'connection_id' | 'id'>,
  ms: number,
): Promise<void> {
  await db
    .updateTable('job_logs_wanted')
    .set({ due_at: fromNow(ms) })
    .where('connection_id', '=', connection_id)
    .where('job_id', '=', id)
    .execute();
}

/** False when another replica was faster. */
export async function takeWantedLog(tx: Db, { connection_id, id }: Pick<JobRow, 'connection_id' | 'id'>) {
  const [taken] = await tx
    .deleteFrom('job_logs_wanted')
    .where('connection_id', '=', connection_id)
    .where('job_id', '=', id)
    .returning('job_id')
    .execute();
  return taken !== undefined;
}

export async function insertParts(tx: Db, parts: readonly JobLogRow[]): Promise<void> {
  for (const part of parts) await tx.insertInto('job_logs').values(part).execute();
}
