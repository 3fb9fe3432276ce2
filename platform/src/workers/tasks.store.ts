/** The SQL of `worker_tasks`. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { WorkerTaskRow } from '../db/tables.ts';

const now = sql<number>`now_ms()`;
const fromNow = (ms: number) => sql<number>`now_ms() + ${sql.lit(ms)}`;

export async function insertTask(
  db: Db,
  workspaceId: string,
  { taskId, request, callerMs }: { taskId: string; request: string; callerMs: number },
): Promise<void> {
  await db.deleteFrom('worker_tasks').where('caller_until', '<', now).execute();
  const unclaimed = { answer: null, worker_id: null, worker_until: 0 };
  const times = { caller_until: fromNow(callerMs), created_at: now };
  const row = { task_id: taskId, workspace_id: workspaceId, request, ...unclaimed, ...times };
  await db.insertInto('worker_tasks').values(row).execute();
}

/** Also says that the caller still waits. */
export async function readAnswer(
  db: Db,
  workspaceId: string,
  taskId: string,
  callerMs: number,
): Promise<Pick<WorkerTaskRow, 'answer' | 'worker_id'> | undefined> {
  return await db
    .updateTable('worker_tasks')
    .set({ caller_until: fromNow(callerMs) })
    .where('workspace_id', '=', workspaceId)
    .where('task_id', '=', taskId)
    .returning(['answer', 'worker_id'])
    .executeTakeFirst();
}

export async function deleteTask(db: Db, workspaceId: string, taskId: string): Promise<void> {
  await db.deleteFrom('worker_tasks').where('workspace_id', '=', workspaceId).where('task_id', '=', taskId).execute();
}

/** Those that nobody works on, oldest first. */
export async function listOpenTasks(db: Db, limit: number): Promise<WorkerTaskRow[]> {
  return await db
    .selectFrom('worker_tasks')
    .selectAll()
    .where('worker_until', '<', now)
    .where('caller_until', '>=', now)
    .where('answer', 'is', null)
    .orderBy('created_at')
    .limit(limit)
    .execute();
}

export async function claimTask(tx: Db, taskId: string, workerId: string, workerMs: number): Promise<void> {
  await tx
    .updateTable('worker_tasks')
    .set({ worker_id: workerId, worker_until: fromNow(workerMs) })
    .where('task_id', '=', taskId)
    .execute();
}

/** Returns those of the worker's tasks whose caller still waits. */
export async function renewTasks(
  db: Db,
  workerId: string,
  taskIds: readonly string[],
  workerMs: number,
): Promise<string[]> {
  const renewed = await db
    .updateTable('worker_tasks')
    .set({ worker_until: fromNow(workerMs) })
    .where('worker_id', '=', workerId)
    .where('task_id', 'in', taskIds)
    .where('caller_until', '>=', now)
    .returning('task_id')
    .execute();
  return renewed.map(({ task_id }) => task_id);
}

/** False if it is no longer the worker's. */
export async function putAnswer(db: Db, workerId: string, taskId: string, answer: string): Promise<boolean> {
  const kept = await db
    .updateTable('worker_tasks')
    .set({ answer })
    .where('worker_id', '=', workerId)
    .where('task_id', '=', taskId)
    .where('answer', 'is', null)
    .executeTakeFirst();
  return kept.numUpdatedRows > 0n;
}
