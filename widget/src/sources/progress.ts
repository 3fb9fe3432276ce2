/** The status of sources and connections, derived from the service's lists. Pure. */

import type { WidgetEvent } from '@inlay/contract/embedding';
import type { Connection, Job, JobStream } from '@inlay/contract/pipelines/connections';
import type { Health } from '@inlay/contract/pipelines/health';
import type { Source, SourceSummary } from '@inlay/contract/pipelines/sources';

/** The sources and connections of a customer, as the service listed them at one time. */
export interface Pipelines {
  sources: readonly SourceSummary[];
  /** Undefined when the platform did not answer: only the platform knows the state of connections. */
  connections: readonly Connection[] | undefined;
}

export function isOngoing({ status }: Pick<Job, 'status'>): boolean {
  return status === 'pending' || status === 'running' || status === 'incomplete';
}

export function connectionsOf({ connections }: Pipelines, sourceId: string): Connection[] {
  return connections?.filter((connection) => connection.source_id === sourceId) ?? [];
}

/** Whether changes are imminent, so that the widget should poll often. */
export function isInMotion({ sources, connections = [] }: Pipelines): boolean {
  return (
    sources.some(({ status }) => status === 'pending') ||
    connections.some(({ status, last_run }) => status === 'pending' || (last_run !== null && isOngoing(last_run)))
  );
}

export type SourceState = 'pending' | 'failed' | 'syncing' | 'sync_failed' | 'paused' | 'ready';

/** The most urgent state of a source and its connections. */
export function stateOf(
  source: Pick<SourceSummary, 'status' | 'health'>,
  connections: readonly Connection[],
): SourceState {
  if (source.status === 'failed' || connections.some(({ status }) => status === 'failed')) return 'failed';
  if (source.status === 'pending' || connections.some(({ status }) => status === 'pending')) return 'pending';
  if ([source, ...connections].some(({ health }) => health.attention?.by === 'customer')) return 'failed';
  const runs = connections.flatMap(({ last_run }) => last_run ?? []);
  // A retry after failures must not look healthy.
  if (connections.some(({ health }) => isBroken(health))) return 'sync_failed';
  if (runs.some(isOngoing)) return 'syncing';
  if (connections.some(({ status }) => status === 'inactive')) return 'paused';
  if (runs.some(({ status }) => status === 'failed')) return 'sync_failed';
  return 'ready';
}

export function isBroken({ state }: Health): boolean {
  return state === 'failing' || state === 'needs_attention';
}

export interface SyncSummary {
  /** The newest run, finished or still running. */
  lastRun: Job | undefined;
  /** The rows of the newest run of each connection, added up. */
  rows: number | undefined;
  nextRunAt: string | undefined;
}

export function summarize(connections: readonly Connection[]): SyncSummary {
  const runs = connections.flatMap(({ last_run }) => last_run ?? []);
  const counts = runs.flatMap(({ rows }) => rows ?? []);
  const next = connections.flatMap(({ next_run_at }) => next_run_at ?? []).sort();
  return {
    lastRun: runs.toSorted((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at))[0],
    rows: counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0),
    nextRunAt: next[0],
  };
}

type SyncFinished = Extract<WidgetEvent, { type: 'sync_finished' }>['sync'];

/** Syncs that ended between two refreshes. Those that ended before the first are not reported. */
export function finishedSyncs(before: Pipelines | undefined, now: Pipelines): SyncFinished[] {
  if (!before?.connections || !now.connections) return [];
  const known = new Map(before.connections.map(({ id, last_run }) => [id, last_run]));
  return now.connections.flatMap(({ id, source_id, last_run: run }) => {
    if (!run || isOngoing(run)) return [];
    const earlier = known.get(id);
    if (earlier?.id === run.id && !isOngoing(earlier)) return [];
    const status = run.status as SyncFinished['status'];
    return [{ connection_id: id, source_id, status, rows: run.rows }];
  });
}

/** The list's form of a source. */
export function summaryOf({ source_template, source_config: _, ...source }: Source): SourceSummary {
  return { ...source, summarized_source_template: source_template };
}

/** A successful sync with no rows and nothing to report. */
function isQuiet(job: Job): boolean {
  return job.status === 'succeeded' && job.rows === 0 && streamsToMention(job).length === 0;
}

/** Streams with changed, skipped or kept rows to report. */
export function streamsToMention({ streams = [] }: Job): JobStream[] {
  return streams.filter((stream) => stream.not_replaced || stream.records_skipped || countChanged(stream) > 0);
}

/** Number of values changed during the sync. */
export function countChanged({ values_changed, more_values_changed: more }: JobStream): number {
  return values_changed.reduce((sum, { count }) => sum + count, more?.values ?? 0);
}

export interface HistoryEntry {
  /** Newest first. Only jobs without new data share an entry. */
  jobs: readonly [Job, ...Job[]];
  /** Whether there was nothing new since the previous sync. Always false for the very first. */
  isNothingNew: boolean;
}

/**
 * The displayed history, with consecutive syncs without new data merged into one entry. The newest sync has its own entry,
 * because it shows whether syncing works. `isWhole`: the last job is the first that ever ran.
 */
export function historyOf(jobs: readonly Job[], isWhole: boolean): HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  for (const [index, job] of jobs.entries()) {
    const isNothingNew = isQuiet(job) && !(isWhole && index === jobs.length - 1);
    const last = entries.at(-1);
    if (index > 1 && isNothingNew && last?.isNothingNew) {
      entries[entries.length - 1] = { jobs: [...last.jobs, job], isNothingNew };
    } else {
      entries.push({ jobs: [job], isNothingNew });
    }
  }
  return entries;
}

/** Newest first, each job once, in its newest state. */
export function mergeJobs(known: readonly Job[], newer: readonly Job[]): Job[] {
  const byId = new Map([...known, ...newer].map((job) => [job.id, job]));
  return [...byId.values()].sort(
    (a, b) => Date.parse(b.started_at) - Date.parse(a.started_at) || Number(b.id) - Number(a.id),
  );
}
