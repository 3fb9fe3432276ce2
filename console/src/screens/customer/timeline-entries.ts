/**
 * Puts jobs and entries of the audit trail in one order, newest first, although each comes in pages of its own.
 *
 * What always holds: an entry is shown only when everything newer is there, from both. So nothing appears above what a person
 * has read already, nothing is lost between two pages, and nothing is shown twice.
 */
import type { AuditEvent } from '@inlay/contract/log/audit';
import type { OperatorJob } from '@inlay/contract/pipelines/operating';

export interface TimelineEntry {
  key: string;
  time: string;
  job?: OperatorJob;
  audit?: AuditEvent;
}

/** One page, newest first. `next`: where the following page begins; null: there is none. */
export interface Part<T, Next> {
  rows: readonly T[];
  next: Next | null;
}
export interface Parts<Next> {
  jobs: Part<OperatorJob, Next>;
  trail: Part<AuditEvent, number>;
}

const bothIn = <T, Next>(newer: Part<T, Next>, older: Part<T, Next>, keyOf: (row: T) => unknown): Part<T, Next> => {
  const known = new Set(newer.rows.map(keyOf));
  return { rows: [...newer.rows, ...older.rows.filter((row) => !known.has(keyOf(row)))], next: older.next };
};
const jobKey = ({ id }: OperatorJob) => id;
const trailKey = ({ position }: AuditEvent) => position;

/** The first pages anew, above what was loaded before. Where they do not meet, what was loaded before is let go. */
export function renewed<Next>(kept: Parts<Next> | undefined, first: Parts<Next>): Parts<Next> {
  if (!kept) return first;
  const meets = <T, N>(newer: Part<T, N>, older: Part<T, N>, keyOf: (row: T) => unknown) =>
    newer.next === null || older.rows.some((row) => keyOf(row) === keyOf(newer.rows.at(-1) as T));
  const join = <T, N>(newer: Part<T, N>, older: Part<T, N>, keyOf: (row: T) => unknown) =>
    newer.next !== null && meets(newer, older, keyOf) ? bothIn(newer, older, keyOf) : newer;
  return { jobs: join(first.jobs, kept.jobs, jobKey), trail: join(first.trail, kept.trail, trailKey) };
}

export function continued<Next>(kept: Parts<Next>, more: Partial<Parts<Next>>): Parts<Next> {
  return {
    jobs: more.jobs ? bothIn(kept.jobs, more.jobs, jobKey) : kept.jobs,
    trail: more.trail ? bothIn(kept.trail, more.trail, trailKey) : kept.trail,
  };
}

/** Down to when everything is loaded. */
const reachOf = <T, Next>({ rows, next }: Part<T, Next>, momentOf: (row: T) => number) => {
  const last = rows.at(-1);
  return next === null || last === undefined ? Number.NEGATIVE_INFINITY : momentOf(last);
};

/**
 * Platforms tell starts in whole seconds. What led to a job happened before it, often within the same second, so the job stands
 * at the end of its second.
 */
const startOf = ({ started_at }: OperatorJob) => Math.floor(Date.parse(started_at) / 1000) * 1000 + 999;
const timeOf = ({ timestamp }: AuditEvent) => Date.parse(timestamp);

/** Which of the two has to be read on for more to be shown. */
export function lagging<Next>({ jobs, trail }: Parts<Next>): { jobs: boolean; trail: boolean } {
  const [ofJobs, ofTrail] = [reachOf(jobs, startOf), reachOf(trail, timeOf)];
  return { jobs: jobs.next !== null && ofJobs >= ofTrail, trail: trail.next !== null && ofTrail >= ofJobs };
}

/**
 * Events of syncs are left out: their jobs tell the same and more. A job stands where it started. At the very moment down to
 * which everything is loaded there may be more, so what is there waits for the next page.
 */
export function entriesOf<Next>({ jobs, trail }: Parts<Next>): TimelineEntry[] {
  const reach = Math.max(reachOf(jobs, startOf), reachOf(trail, timeOf));
  return [
    ...jobs.rows.map((job) => ({ key: `job ${job.id}`, time: job.started_at, moment: startOf(job), job })),
    ...trail.rows
      .filter(({ type }) => !type.startsWith('sync.'))
      .map((audit) => ({ key: audit.id, time: audit.timestamp, moment: timeOf(audit), audit })),
  ]
    .filter(({ moment }) => moment > reach)
    .sort((a, b) => b.moment - a.moment);
}
