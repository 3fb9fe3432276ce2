/**
 * Tries all connections again that fail for one reason: once the reason is gone, nobody wants to open two hundred customers.
 *
 * What always holds: one request starts a bounded number of syncs and says where the next goes on, so that nothing of it is
 * lost when a caller or a replica ends. Asking twice does no harm: a sync that runs is not started again. Quotas, holds and
 * pauses count as for any other sync, and are told for each connection.
 */
import type { CauseRetry, CauseRetryRequest } from '@inlay/contract/operating';
import { AppError } from '../errors.ts';
import { startSync } from './connections.ts';
import type { PipelinesContext } from './context.ts';
import { decodePosition, encodePosition } from './list-cursor.ts';
import { listConnectionPage } from './lists.store.ts';

/** Each keeps the platform busy for a moment. */
const atOnce = 5;
/** After these, the next connections would fare no better. */
const endsAll: readonly string[] = ['platform_does_not_answer', 'queue_full'];

export async function retryCause(
  ctx: PipelinesContext,
  organizationId: string,
  { cause, limit = 25, cursor }: CauseRetryRequest,
): Promise<CauseRetry> {
  const after = cursor === undefined ? undefined : decodePosition(cursor);
  const slice = { after, isNewestFirst: false, limit: limit + 1, from: undefined, until: undefined };
  const found = await listConnectionPage(ctx.store.db, organizationId, { cause }, slice);
  const answer: CauseRetry = { started: [], not_started: [], next_cursor: null, stopped_by: null };
  let position = cursor ?? null;
  for (let from = 0; from < Math.min(limit, found.length); from += atOnce) {
    const some = found.slice(from, Math.min(from + atOnce, limit));
    const outcomes = await Promise.all(
      some.map(async ({ workspace_id, workspace_name, id }) => {
        const about = { workspace_id, workspace_name, connection_id: id };
        const scope = { organizationId, workspaceId: workspace_id, audience: 'operator' } as const;
        try {
          return { about, job_id: (await startSync(ctx, scope, id)).id };
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          return { about, code: error.code };
        }
      }),
    );
    for (const { about, job_id, code } of outcomes) {
      if (job_id !== undefined) answer.started.push({ ...about, job_id });
      else if (code !== undefined) answer.not_started.push({ ...about, code });
    }
    const stop = outcomes.find(({ code }) => code !== undefined && endsAll.includes(code))?.code;
    if (stop !== undefined) return { ...answer, next_cursor: position, stopped_by: stop };
    const last = some.at(-1);
    if (last) position = encodePosition({ time: last.created_at, id: last.id });
  }
  return { ...answer, next_cursor: found.length > limit ? position : null };
}
