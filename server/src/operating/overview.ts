/** How all customers of an organization do, in one answer, from our own tables: no platform is asked. */
import { type Failure, healthStates } from '@inlay/contract/pipelines/health';
import type {
  FailureCause,
  HealthCounts,
  Overview,
  SyncPeriod,
  UnwellWorkspace,
} from '@inlay/contract/pipelines/overview';
import type { Store } from '../kernel/db/open.ts';
import { isoTime } from '../kernel/iso-time.ts';
import { troubleIn } from '../pipelines/jobs/failure-causes.ts';
import type { Health } from '../pipelines/jobs/health.ts';
import { healthIn, presentFailure } from '../pipelines/jobs/job-words.ts';
import { countUnwell } from '../pipelines/sources/lists.ts';
import * as store from './overview.store.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const shownHours = 48;
const shownDays = 30;

export async function readOverview(
  { db, now }: Pick<Store, 'db' | 'now'>,
  organizationId: string,
  { unwell: limit = 20, causes: causeLimit = 10 }: { unwell?: number | undefined; causes?: number | undefined } = {},
): Promise<Overview> {
  const time = await now();
  const firstDay = startOf(time, dayMs) - (shownDays - 1) * dayMs;
  // At once: on PostgreSQL, most of the time would go into waiting for one answer after the other.
  const firstHour = startOf(time, hourMs) - (shownHours - 1) * hourMs;
  const [counts, unwell, causes, stale, queue, inHours, inDays] = await Promise.all([
    store.countByHealth(db, organizationId),
    listUnwell(db, organizationId, limit),
    store.countCauses(db, organizationId),
    store.countStale(db, organizationId),
    store.readQueue(db, organizationId),
    store.listHours(db, organizationId, firstHour),
    store.listDays(db, organizationId, firstDay),
  ]);
  const of = (kind: store.HealthCount['kind']) => presentCounts(counts.filter((count) => count.kind === kind));
  const workspaces = of('workspaces');
  const counted = causes.reduce((sum, { count }) => sum + count, 0);
  const named = causes.toSorted((a, b) => b.count - a.count || (a.cause < b.cause ? -1 : 1)).slice(0, causeLimit);
  const needing = (by: string) =>
    causes.filter(({ attention_by }) => attention_by === by).reduce((sum, { count }) => sum + count, 0);
  return {
    connections: of('connections'),
    sources: of('sources'),
    workspaces,
    unwell,
    more_unwell: Math.max(0, workspaces.failing + workspaces.needs_attention - unwell.length),
    causes: await Promise.all(named.map((cause) => presentCause(db, organizationId, cause))),
    more_causes: causes.length - named.length,
    attention: { customer: needing('customer'), operator: needing('operator') },
    stale,
    counts_are_complete: Math.max(counted, stale, queue.waiting + queue.running) < store.countedAtMost,
    queue: {
      waiting: queue.waiting,
      running: queue.running,
      oldest_waiting_since: queue.oldestWaitingAt === null ? null : isoTime(queue.oldestWaitingAt),
    },
    hours: periods(inHours, { first: firstHour, length: hourMs, count: shownHours }),
    days: periods(inDays, { first: firstDay, length: dayMs, count: shownDays }),
  };
}

/** What doctor says of syncs, of one organization. */
export async function readSyncsOf(
  { db, now }: Pick<Store, 'db' | 'now'>,
  organizationId: string,
): Promise<{ byHealth: HealthCounts; waiting: number; oldestWaitingMs: number | null }> {
  const counts = await store.countByHealth(db, organizationId);
  const { waiting, oldestWaitingAt } = await store.readQueue(db, organizationId);
  return {
    byHealth: presentCounts(counts.filter(({ kind }) => kind === 'connections')),
    waiting,
    oldestWaitingMs: oldestWaitingAt === null ? null : (await now()) - oldestWaitingAt,
  };
}

const examplesOfCause = 3;

async function presentCause(
  db: Store['db'],
  organizationId: string,
  { cause, attention_by, count, since }: store.CauseCount,
): Promise<FailureCause> {
  const found = await store.listOfCause(db, organizationId, cause, examplesOfCause);
  const examples = found.map((row) => {
    const { workspace_id, workspace_name, unwell_since } = row;
    const { message, code, parameters } = troubleIn(healthIn(row)) ?? noTrouble;
    const reason = { message, code, parameters };
    return { workspace_id, workspace_name, ...presentUnwell(row), since: timeOf(unwell_since), ...reason };
  });
  const [first] = found;
  const trouble = (first && troubleIn(healthIn(first))) ?? noTrouble;
  return { cause, ...trouble, attention_by, connections: count, since: timeOf(since), examples };
}

function presentUnwell(row: store.UnwellConnection) {
  const { id, source_id, source_name, job_id } = row;
  return { connection_id: id, source_id, source_name, last_good_at: timeOf(healthIn(row).lastGoodAt), job_id };
}

/** If no sync has failed, as before the first one, it is what someone has to fix. */
function presentFirstError(health: Health): Failure | null {
  if (health.firstError) return presentFailure('operator', health.firstError);
  const { attention_by: _, ...trouble } = troubleIn(health) ?? noTrouble;
  return trouble.message === null ? null : trouble;
}

/** For a connection that has just recovered. */
const noTrouble: NonNullable<ReturnType<typeof troubleIn>> = {
  ...{ kind: 'unknown', origin: 'unknown', message: null, attention_by: null },
  ...{ code: null, parameters: {} },
};

const timeOf = (ms: number | null) => (ms === null ? null : isoTime(ms));

function presentCounts(counts: readonly store.HealthCount[]): HealthCounts {
  const all = healthStates.map((state) => [state, counts.find(({ health }) => health === state)?.count ?? 0]);
  return Object.fromEntries(all) as HealthCounts;
}

async function listUnwell(db: Store['db'], organizationId: string, limit: number): Promise<UnwellWorkspace[]> {
  const failing = await store.listUnwell(db, organizationId, 'failing', limit);
  const rest = limit - failing.length;
  const needy = rest > 0 ? await store.listUnwell(db, organizationId, 'needs_attention', rest) : [];
  const found = [...failing, ...needy];
  const ids = found.map(({ id }) => id);
  const countOf = await countUnwell(db, ids);
  const first = new Map((await store.findFirstUnwell(db, ids)).map((row) => [row.workspace_id, row]));
  return found.map(({ id, name, health, unwell_since }) => {
    const connection = first.get(id);
    return {
      workspace_id: id,
      workspace_name: name,
      health,
      since: isoTime(unwell_since),
      failing_connections: countOf(id, 'failing'),
      connections_that_need_attention: countOf(id, 'needs_attention'),
      first_error: connection ? presentFirstError(healthIn(connection)) : null,
      connection: connection ? presentUnwell(connection) : null,
    };
  });
}

const startOf = (time: number, length: number) => Math.floor(time / length) * length;

/** Also those in which nothing ended: a chart has no gaps. */
function periods(
  ended: readonly store.EndedInHour[],
  { first, length, count }: { first: number; length: number; count: number },
): SyncPeriod[] {
  const shown = Array.from({ length: count }, (_, index) => ({
    from: isoTime(first + index * length),
    ...{ succeeded: 0, failed: 0, cancelled: 0, rows: 0, bytes: 0 },
  }));
  for (const { hour, status, jobs, row_count, byte_count } of ended) {
    const period = shown[Math.floor((hour - first) / length)];
    if (!period) continue;
    if (status === 'succeeded' || status === 'failed' || status === 'cancelled') period[status] += Number(jobs);
    period.rows += Number(row_count);
    period.bytes += Number(byte_count);
  }
  return shown;
}
