/**
 * What the rows of jobs and of their health say, and how each audience reads it. Nothing here writes.
 */
import type { Job, JobStream } from '@inlay/contract/pipelines/connections';
import type { Audience, Failure, Health as PresentedHealth } from '@inlay/contract/pipelines/health';
import { sayReason } from '@inlay/contract/reason-words';
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionRow, JobRow } from '../../kernel/db/tables.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { PlatformJobAttempt, PlatformJobStream, RowPoint } from '../../kernel/platform/pipelines-port.ts';
import { findWaitReasons, type WaitReasons } from '../../tenancy/quotas/holds.ts';
import { notReported, shownReason, storedReasons } from '../two-texts.ts';
import type { Health, JobFailure } from './health.ts';

export type StoredAttempt = Omit<PlatformJobAttempt, 'failure'> & { failure: JobFailure | null };
export type StoredStream = Omit<PlatformJobStream, 'valuesChanged'> & {
  valuesChanged: (PlatformJobStream['valuesChanged'][number] & { isOperators?: true })[];
};

export type StoredHealth = Pick<ConnectionRow, 'health' | 'health_detail' | 'unwell_since'>;

export function healthIn({ health: state, health_detail, unwell_since }: StoredHealth): Health {
  const unknown = { since: null, failuresInARow: 0, firstError: null, lastGoodAt: null, isTryingAgain: false };
  const told: Health = { ...unknown, attention: null, pausedBecause: null, ...JSON.parse(health_detail), state };
  // What fails before there is a job, such as its set-up, has no job to say since when.
  return { ...told, since: told.since ?? unwell_since };
}

export function failureIn(job: JobRow): JobFailure {
  const { failure_kind, failure_origin, failure_whose, error: message, customer_error: customerMessage } = job;
  const reasons = failure_kind === null ? notReported : storedReasons(job.reasons);
  const [kind, origin, whose] = [failure_kind ?? 'unknown', failure_origin ?? 'unknown', failure_whose ?? 'operator'];
  return { kind, origin, message, customerMessage, reasons, whose } as const;
}

/** Undefined where the platform reports no attempts. */
export function attemptsIn({ attempt_list }: JobRow): StoredAttempt[] | undefined {
  return attempt_list === null ? undefined : JSON.parse(attempt_list);
}

export function rowPointsIn({ row_points }: JobRow) {
  if (row_points === null) return null;
  return (JSON.parse(row_points) as RowPoint[]).map(([at, attempt, rows]) => ({ at: isoTime(at), attempt, rows }));
}

export function firstErrorIn(job: JobRow): JobFailure | undefined {
  return attemptsIn(job)?.find(({ failure }) => failure !== null)?.failure ?? undefined;
}

export function presentFailure(audience: Audience, failure: JobFailure): Failure {
  const { kind, origin, message, customerMessage, reasons } = failure;
  return {
    kind,
    origin,
    message: audience === 'operator' ? message : customerMessage,
    ...shownReason(reasons, audience),
  };
}

export function presentHealth(health: Health, audience: Audience): PresentedHealth {
  const { since, firstError, lastGoodAt, attention } = health;
  return {
    state: health.state,
    since: since === null ? null : isoTime(since),
    failures_in_a_row: health.failuresInARow,
    trying_again: health.isTryingAgain,
    first_error: firstError && presentFailure(audience, firstError),
    last_good_at: lastGoodAt === null ? null : isoTime(lastGoodAt),
    attention: attention && {
      by: attention.by,
      what: audience === 'operator' ? attention.what : attention.customerWhat,
      ...shownReason(attention.reasons, audience),
    },
    paused_because: health.pausedBecause?.[audience] ?? null,
    paused_reason: health.pausedBecause?.reasons?.[audience] ?? null,
  };
}

/** Why those of the jobs that wait do so, where a quota is the reason. */
export async function readWaitReasons(db: Db, shown: readonly JobRow[]): Promise<WaitReasons> {
  const waiting = shown.filter(({ status }) => status === 'pending');
  return await findWaitReasons(db, [...new Set(waiting.map(({ workspace_id }) => workspace_id))]);
}

export function presentJob(job: JobRow, audience: Audience, waitReasons?: WaitReasons): Job {
  const { id, status, started_at, ended_at, row_count, byte_count, streams, more_streams } = job;
  const waits = status === 'pending' ? waitReasons?.(job.workspace_id, audience) : undefined;
  return {
    id,
    status,
    started_at: isoTime(started_at),
    ended_at: ended_at === null ? null : isoTime(ended_at),
    duration_seconds: ended_at === null ? null : Math.max(0, (ended_at - started_at) / 1000),
    rows: row_count,
    bytes: byte_count,
    error: presentFailure(audience, failureIn(job)).message,
    error_reason: storedReasons(job.reasons)?.[audience] ?? null,
    ...(waits && { waiting_because: sayReason(waits, audience), waiting_reason: waits }),
    ...(streams !== null && {
      streams: (JSON.parse(streams) as StoredStream[]).map((stream) => presentJobStream(job, stream, audience)),
    }),
    ...(more_streams > 0 && { more_streams }),
  };
}

function presentJobStream(job: JobRow, stream: StoredStream, audience: Audience): JobStream {
  const { name, namespace, recordsWritten, recordsDeleted, recordsSkipped, moreChanged, notices } = stream;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    records_emitted: stream.recordsEmitted,
    ...(recordsWritten !== undefined && { records_written: recordsWritten }),
    ...(recordsDeleted !== undefined && { records_deleted: recordsDeleted }),
    ...(stream.notReplaced && { not_replaced: true }),
    ...(notices && { notices: notices.map((notice) => presentNotice(job, stream, notice, audience)) }),
    ...(recordsSkipped && { records_skipped: recordsSkipped }),
    values_changed: stream.valuesChanged.map(({ isOperators, example, ...change }) => ({
      ...change,
      // Where a value is may be the operator's to know.
      example: isOperators && audience === 'customer' ? '' : example,
    })),
    ...(moreChanged && { more_values_changed: moreChanged }),
  };
}

/** For `fields_missing` the platform names a request of its own; operators use the request of this service. */
function presentNotice(
  { connection_id }: JobRow,
  { name, namespace }: StoredStream,
  notice: NonNullable<StoredStream['notices']>[number],
  audience: Audience,
) {
  const { code, fields } = notice;
  const stream = namespace === undefined ? name : `${namespace}.${name}`;
  if (code !== 'fields_missing') return { ...notice, parameters: { stream } };
  const parameters = { stream, fields: fields ?? [] };
  const said = sayReason({ code, parameters }, audience);
  const path = `/api/v1/integrations/connections/${connection_id}/sync?from_start=${encodeURIComponent(stream)}`;
  const message = audience === 'customer' ? said : `${said} To read the stream from the start: POST ${path}`;
  return { ...notice, parameters, message };
}
