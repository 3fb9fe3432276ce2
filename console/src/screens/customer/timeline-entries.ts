/** Puts jobs and entries of the audit trail in one order. */
import type { AuditEvent } from '@inlay/contract/audit';
import type { OperatorJob } from '@inlay/contract/operating';

export interface TimelineEntry {
  key: string;
  time: string;
  job?: OperatorJob;
  audit?: AuditEvent;
}

/** Newest first. Events of syncs are left out: their jobs tell the same and more. */
export function entriesOf(jobs: readonly OperatorJob[], trail: readonly AuditEvent[]): TimelineEntry[] {
  return [
    ...jobs.map((job): TimelineEntry => ({ key: `job ${job.id}`, time: job.ended_at ?? job.started_at, job })),
    ...trail
      .filter(({ type }) => !type.startsWith('sync.'))
      .map((audit): TimelineEntry => ({ key: audit.id, time: audit.timestamp, audit })),
  ].sort((a, b) => Date.parse(b.time) - Date.parse(a.time));
}
