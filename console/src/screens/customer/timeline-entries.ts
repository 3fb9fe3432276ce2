/**
 * Merges jobs and audit entries, newest first, although each list is paged separately.
 *
 * Invariant: an entry is shown only when everything newer has been loaded from both lists. So nothing appears above what has
 * been read, nothing is lost between pages, and nothing is shown twice.
 */
import type { AuditEvent } from '@inlay/contract/log/audit';
import type { OperatorJob } from '@inlay/contract/pipelines/operating';

export interface TimelineEntry {
  key: string;
  time: string;
  job?: OperatorJob;
  audit?: AuditEvent;
}

/** One page, newest first. `next`: cursor of the following page, or null on the last page. */
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

/** Puts freshly loaded first pages above the older ones. If there is a gap between them, the older ones are dropped. */
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

/** Everything after this time has been loaded. */
const reachOf = <T, Next>({ rows, next }: Part<T, Next>, momentOf: (row: T) => number) => {
  const last = rows.at(-1);
  return next === null || last === undefined ? Number.NEGATIVE_INFINITY : momentOf(last);
};

/**
 * Platforms report starts in whole seconds. Whatever triggered a job happened before it, often within the same second, so a job
 * is placed at the end of its second.
 */
const startOf = ({ started_at }: OperatorJob) => Math.floor(Date.parse(started_at) / 1000) * 1000 + 999;
const timeOf = ({ timestamp }: AuditEvent) => Date.parse(timestamp);

/** Which of the two lists needs another page before more can be shown. */
export function lagging<Next>({ jobs, trail }: Parts<Next>): { jobs: boolean; trail: boolean } {
  const [ofJobs, ofTrail] = [reachOf(jobs, startOf), reachOf(trail, timeOf)];
  return { jobs: jobs.next !== null && ofJobs >= ofTrail, trail: trail.next !== null && ofTrail >= ofJobs };
}

/**
 * Leaves out sync events, because their jobs say more. A job is placed at its start. Entries exactly at the reach wait for the
 * next page, which may have more of the same time.
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
