/** The SQL of `job_logs`: logs of jobs that have ended, in parts that are small enough to be read one by one. */
import { sql } from 'kysely';
import type { Db } from '../kernel/db/open.ts';
import type { JobLogRow } from '../kernel/db/tables.ts';

type JobKey = Pick<JobLogRow, 'connection_id' | 'job_id'>;
export type LogPart = Pick<JobLogRow, 'attempt' | 'part' | 'end_offset' | 'first_error_offset'>;

/** The job has ended: its log is to be copied, after a while where connectors may still be ending. */
export async function wantLog(tx: Db, workspaceId: string, { connection_id, job_id }: JobKey, inMs: number) {
  const due = sql<number>`now_ms() + ${sql.lit(inMs)}`;
  await tx
    .insertInto('job_logs_wanted')
    .values({ workspace_id: workspaceId, connection_id, job_id, due_at: due })
    .onConflict((conflict) => conflict.columns(['connection_id', 'job_id']).doNothing())
    .execute();
}

/** The parts of an attempt, in order; of the last attempt if none is named. */
export async function listParts(
  db: Db,
  workspaceId: string,
  { connection_id, job_id }: JobKey,
  attempt: number | undefined,
): Promise<LogPart[]> {
  const parts = db
    .selectFrom('job_logs')
    .select(['attempt', 'part', 'end_offset', 'first_error_offset'])
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connection_id)
    .where('job_id', '=', job_id);
  const last = () => parts.clearSelect().select(({ fn }) => fn.max('attempt').as('attempt'));
  return await parts
    .where('attempt', '=', attempt ?? last())
    .orderBy('part')
    .execute();
}

export async function readPart(
  db: Db,
  workspaceId: string,
  { connection_id, job_id, attempt, part }: JobKey & Pick<JobLogRow, 'attempt' | 'part'>,
): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('job_logs')
    .select('content')
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connection_id)
    .where('job_id', '=', job_id)
    .where('attempt', '=', attempt)
    .where('part', '=', part)
    .executeTakeFirst();
  return row?.content;
}

/** Nobody can ask for the logs of a workspace that is deleted. */
export async function removeLogsOfWorkspace(tx: Db, workspaceId: string): Promise<void> {
  await tx.deleteFrom('job_logs').where('workspace_id', '=', workspaceId).execute();
  await tx.deleteFrom('job_logs_wanted').where('workspace_id', '=', workspaceId).execute();
}
