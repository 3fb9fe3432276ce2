/**
 * Tries all connections again that fail for one reason: once the reason is gone, nobody wants to open two hundred customers.
 * This file starts retries, shows them and stops them; cause-retries.worker.ts carries them out.
 *
 * What always holds: a retry is recorded in one transaction with every connection it means, at most `maxConnections`; of one
 * cause, one retry runs at a time, so asking twice does no harm. It does not depend on who asked for it being there.
 */
import type {
  CauseRetry,
  CauseRetryItemList,
  CauseRetryItemState,
  ListCauseRetryItemsQuery,
} from '@inlay/contract/pipelines/cause-retries';
import { sayReason } from '@inlay/contract/reason-words';
import type { Db } from '../kernel/db/open.ts';
import type { CauseRetryRow } from '../kernel/db/tables.ts';
import { AppError } from '../kernel/errors.ts';
import { isoTime } from '../kernel/iso-time.ts';
import type { Entry } from '../log/events/catalogue.ts';
import type { Journal } from '../log/events/journal.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { troubleIn } from '../pipelines/jobs/failure-causes.ts';
import { healthIn } from '../pipelines/jobs/job-words.ts';
import { shownReason, storedReasons } from '../pipelines/two-texts.ts';
import * as retries from './cause-retries.store.ts';
import { listOfCause } from './overview.store.ts';

const maxConnections = 10_000;

/** The running retry, or a new one. */
export async function startCauseRetry(
  ctx: PipelinesContext,
  organizationId: string,
  cause: string,
): Promise<CauseRetry> {
  const { requestId: request_id, traceId: trace_id } = ctx.journal.cause;
  const made = await ctx.store.transaction(async (tx) => {
    const [example] = await listOfCause(tx, organizationId, cause, 1);
    const { message = null, code, parameters } = (example && troubleIn(healthIn(example))) ?? {};
    const reasons = code ? JSON.stringify({ operator: { code, parameters }, customer: null }) : null;
    const retry = { id: ctx.runtime.newId(), cause, message, reasons, request_id, trace_id };
    const row = example && (await retries.insertRetry(tx, organizationId, retry));
    if (!row) return await retries.findRunning(tx, organizationId, cause);
    const count = await retries.insertItems(tx, organizationId, row, maxConnections);
    if (count === maxConnections) await retries.putHasMore(tx, organizationId, row.id);
    await recordRetry(ctx.journal, tx, row, 'cause.retry_started', count);
    return row;
  });
  if (!made) throw new AppError('cause_not_found');
  return await getCauseRetry(ctx, organizationId, made.id);
}

export async function listCauseRetries(
  ctx: PipelinesContext,
  organizationId: string,
  limit: number,
): Promise<CauseRetry[]> {
  const rows = await retries.listRetries(ctx.store.db, organizationId, limit);
  return await Promise.all(rows.map((row) => present(ctx, row)));
}

export async function getCauseRetry(ctx: PipelinesContext, organizationId: string, id: string): Promise<CauseRetry> {
  return await present(ctx, await find(ctx, organizationId, id));
}

async function find(ctx: PipelinesContext, organizationId: string, id: string): Promise<CauseRetryRow> {
  const row = await retries.findRetry(ctx.store.db, organizationId, id);
  if (!row) throw new AppError('cause_retry_not_found');
  return row;
}

export async function listCauseRetryItems(
  ctx: PipelinesContext,
  organizationId: string,
  id: string,
  { limit = 20, cursor, state }: ListCauseRetryItemsQuery,
): Promise<CauseRetryItemList> {
  await find(ctx, organizationId, id);
  const page = { state, after: cursor, limit: limit + 1 };
  const rows = await retries.listItems(ctx.store.db, organizationId, id, page);
  const data = rows
    .slice(0, limit)
    .map(({ workspace_id, workspace_name, connection_id, source_name, state, code, job_id }) => {
      return { workspace_id, workspace_name, connection_id, source_name, state, code, job_id };
    });
  return { data, next: rows.length > limit ? (data.at(-1)?.connection_id ?? null) : null };
}

/** Started syncs continue. Retries that have ended stay unchanged. */
export async function stopCauseRetry(ctx: PipelinesContext, organizationId: string, id: string): Promise<CauseRetry> {
  await endCauseRetry(ctx, organizationId, id, 'stopped', 'retry_stopped');
  return await getCauseRetry(ctx, organizationId, id);
}

/** False when it has ended before. */
export async function endCauseRetry(
  ctx: PipelinesContext,
  organizationId: string,
  id: string,
  state: 'stopped' | 'finished',
  code: CauseRetryRow['stop_code'],
): Promise<boolean> {
  const reason = code && sayReason({ code, parameters: {} }, 'operator');
  return await ctx.store.transaction(async (tx) => {
    const row = await retries.endRetry(tx, organizationId, id, { state, state_reason: reason, stop_code: code });
    if (row) await recordRetry(ctx.journal, tx, row, `cause.retry_${state}`);
    return row !== undefined;
  });
}

type RetryEntry = Extract<Entry, { type: `cause.retry_${string}` }>['type'];

async function recordRetry(
  journal: Journal,
  tx: Db,
  { organization_id, id, cause, message, reasons, state, state_reason }: CauseRetryRow,
  type: RetryEntry,
  connections = 0,
): Promise<void> {
  const retry = { id, cause, message, ...shownReason(storedReasons(reasons), 'operator') };
  const isNew = type === 'cause.retry_started';
  const before = isNew ? undefined : { cause, state: 'running', state_reason: null };
  const change = { before, after: { cause, state, state_reason } };
  const entry: Entry =
    type === 'cause.retry_started'
      ? { type, data: { retry, connections }, change }
      : type === 'cause.retry_stopped'
        ? { type, data: { retry, reason: state_reason }, change }
        : { type, data: { retry }, change };
  await journal.record(tx, organization_id, entry);
}

async function present({ store }: PipelinesContext, row: CauseRetryRow): Promise<CauseRetry> {
  const counts = await retries.countItems(store.db, row.organization_id, row.id);
  const sum = (matches: (count: retries.ItemCount) => boolean) =>
    counts.filter(matches).reduce((total, { count }) => total + count, 0);
  const having = (...states: CauseRetryItemState[]) => sum(({ state }) => states.includes(state));
  return {
    id: row.id,
    cause: row.cause,
    message: row.message,
    ...shownReason(storedReasons(row.reasons), 'operator'),
    state: row.state,
    state_reason: row.state_reason,
    stop_reason: row.stop_code && { code: row.stop_code, parameters: {} },
    connections: {
      total: sum(() => true),
      waiting: having('waiting', 'starting'),
      started: having('started'),
      succeeded: sum(({ status }) => status === 'succeeded'),
      failed: sum(({ status }) => status === 'failed' || status === 'cancelled'),
      skipped: having('skipped'),
      refused: having('refused'),
    },
    has_more: row.has_more === 1,
    created_at: isoTime(row.created_at),
    ended_at: row.ended_at === null ? null : isoTime(row.ended_at),
  };
}
