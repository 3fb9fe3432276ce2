/** The SQL of `job_log_parts`. A part belongs to a job, and goes with it. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { JobLogPartRow } from '../db/tables.ts';

export interface LogRef {
  workspaceId: string;
  connectionId: string;
  jobId: number;
  attempt: number;
}

export type PartSize = Omit<JobLogPartRow, 'job_id' | 'workspace_id' | 'attempt' | 'content'>;

/** In order. */
export async function listParts(db: Db, { workspaceId, jobId, attempt }: LogRef): Promise<PartSize[]> {
  return await db
    .selectFrom('job_log_parts')
    .select(['part', 'bytes', 'lines', 'dropped'])
    .where('workspace_id', '=', workspaceId)
    .where('job_id', '=', jobId)
    .where('attempt', '=', attempt)
    .orderBy('part')
    .execute();
}

export async function readParts(
  db: Db,
  { workspaceId, jobId, attempt }: LogRef,
  parts: readonly number[],
): Promise<Pick<JobLogPartRow, 'part' | 'content'>[]> {
  if (parts.length === 0) return [];
  return await db
    .selectFrom('job_log_parts')
    .select(['part', 'content'])
    .where('workspace_id', '=', workspaceId)
    .where('job_id', '=', jobId)
    .where('attempt', '=', attempt)
    .where('part', 'in', parts)
    .orderBy('part')
    .execute();
}

/** Nothing is kept for a job that has been deleted. */
export async function insertPart(
  tx: Db,
  { workspaceId, jobId, attempt }: LogRef,
  { part, bytes, lines, dropped, content }: PartSize & Pick<JobLogPartRow, 'content'>,
): Promise<void> {
  await tx
    .insertInto('job_log_parts')
    .columns(['job_id', 'workspace_id', 'attempt', 'part', 'bytes', 'lines', 'dropped', 'content'])
    .expression((eb) =>
      eb
        .selectFrom('jobs')
        .select(['job_id', 'workspace_id', ...[attempt, part, bytes, lines, dropped].map(numberAs), textAs(content)])
        .where('workspace_id', '=', workspaceId)
        .where('job_id', '=', jobId),
    )
    .execute();
}

const numberAs = (value: number, place: number) => sql<number>`cast(${value} as bigint)`.as(`n${place}`);
const textAs = (value: string) => sql<string>`${value}`.as('text');

export async function deleteParts(
  tx: Db,
  { workspaceId, jobId, attempt }: LogRef,
  parts: readonly number[],
): Promise<void> {
  if (parts.length === 0) return;
  await tx
    .deleteFrom('job_log_parts')
    .where('workspace_id', '=', workspaceId)
    .where('job_id', '=', jobId)
    .where('attempt', '=', attempt)
    .where('part', 'in', parts)
    .execute();
}
