/** What the log says of syncs: that one began, how it ended, and that a connection works again. */
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionRow, JobRow } from '../../kernel/db/tables.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { PlatformJobStream } from '../../kernel/platform/pipelines-port.ts';
import type { Entry } from '../../log/events/catalogue.ts';
import type { Journal } from '../../log/events/journal.ts';
import { aboutConnection } from '../entries.ts';
import { shownReason } from '../two-texts.ts';
import type { JobFailure } from './health.ts';

/** A log entry is for people and programs that react, not for reports. */
const maxWarnings = 100;

/** Syncs that failed since the last success, before the one that is recorded now. */
interface FailedBefore {
  count: number;
  firstAt: number;
  first: JobFailure;
}

type OfConnection = Pick<ConnectionRow, 'organization_id' | 'workspace_id' | 'id'>;

/** The log covers syncs only. */
const isSync = ({ type }: JobRow) => type === 'sync';

export async function recordSyncStarted(
  journal: Journal,
  tx: Db,
  { organization_id, workspace_id: workspaceId, id }: OfConnection,
  job: JobRow,
): Promise<void> {
  if (!isSync(job)) return;
  const connection = await aboutConnection(tx, workspaceId, id);
  await journal.record(tx, organization_id, {
    type: 'sync.started',
    workspaceId,
    data: { connection, job: jobOf(job) },
  });
}

export async function recordSyncEnded(
  journal: Journal,
  tx: Db,
  of: OfConnection,
  job: JobRow,
  failure: JobFailure,
  before: FailedBefore | undefined,
): Promise<void> {
  if (!isSync(job)) return;
  const { organization_id: organizationId, workspace_id: workspaceId } = of;
  const connection = await aboutConnection(tx, workspaceId, of.id);
  const data = {
    connection,
    job: jobOf(job),
    ended_at: isoTime(job.ended_at ?? job.started_at),
    rows: job.row_count,
    bytes: job.byte_count,
  };
  const entries: Entry[] = [];
  if (job.status === 'succeeded') {
    entries.push({ type: 'sync.succeeded', workspaceId, data: { ...data, warnings: warningsIn(job) } });
    if (before) {
      const { count: failures_in_a_row, firstAt } = before;
      const recovered = { connection, job: data.job, failures_in_a_row, failing_since: isoTime(firstAt) };
      entries.push({ type: 'sync.recovered', workspaceId, data: recovered });
    }
  } else if (job.status === 'failed') {
    const first_error = failureOf(before?.first ?? failure);
    const failures_in_a_row = (before?.count ?? 0) + 1;
    entries.push({
      type: 'sync.failed',
      workspaceId,
      data: { ...data, reason: failureOf(failure), first_error, failures_in_a_row },
    });
  } else {
    entries.push({ type: 'sync.cancelled', workspaceId, data });
  }
  await journal.record(tx, organizationId, ...entries);
}

/** Jobs that have ended although the platform did not say so: their connection is deleted, or the platform lost them. */
export async function recordSyncsEnded(
  journal: Journal,
  tx: Db,
  of: OfConnection,
  jobs: readonly JobRow[],
  failureIn: (job: JobRow) => JobFailure,
): Promise<void> {
  for (const job of jobs) await recordSyncEnded(journal, tx, of, job, failureIn(job), undefined);
}

const jobOf = ({ id, started_at }: JobRow) => ({ id, started_at: isoTime(started_at) });

export function failureOf({ kind, origin, message, customerMessage, reasons }: JobFailure) {
  return { kind, origin, ...toldOf(message, customerMessage, reasons) };
}

/** What both audiences read of a problem; events.ts gives customers theirs. */
export function toldOf(message: string | null, customer_message: string | null, reasons: JobFailure['reasons']) {
  const { code: customer_code, parameters: customer_parameters } = shownReason(reasons, 'customer');
  return { message, customer_message, ...shownReason(reasons, 'operator'), customer_code, customer_parameters };
}

function warningsIn({ streams }: JobRow): { stream: string; kind: string; count: number }[] {
  const told: Pick<PlatformJobStream, 'name' | 'valuesChanged' | 'recordsSkipped'>[] =
    streams === null ? [] : JSON.parse(streams);
  const sums = new Map<string, { stream: string; kind: string; count: number }>();
  for (const { name: stream, valuesChanged, recordsSkipped } of told) {
    const skipped = recordsSkipped ? [{ kind: 'skipped', count: recordsSkipped.count }] : [];
    for (const { kind, count } of [...skipped, ...valuesChanged]) {
      const key = `${kind} ${stream}`;
      sums.set(key, { stream, kind, count: (sums.get(key)?.count ?? 0) + count });
    }
  }
  return [...sums.values()].slice(0, maxWarnings);
}
