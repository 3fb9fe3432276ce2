/**
 * Jobs in the service's own tables, and the health derived from them. The platform runs jobs; this file records what it
 * reports (job-watch.worker.ts), so that lists across workspaces need no request to the platform.
 *
 * What always holds: reports are idempotent, and a late report undoes nothing: a job that has ended stays ended. A job and
 * the health derived from it change in one transaction. What a platform does not report (reasons, attempts, streams) is
 * null, never made up.
 */
import type { ConnectionStatus } from '@inlay/contract/pipelines/connections';
import { storableText } from '@inlay/contract/text/storable-text';
import type { Cause } from '../../kernel/cause.ts';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { ConnectionRow, JobRow, RemoteRow } from '../../kernel/db/tables.ts';
import type { ConnectorFailure, PlatformJob } from '../../kernel/platform/pipelines-port.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Journal } from '../../log/events/journal.ts';
import { findHoldReasons, reviewWorkspace } from '../../tenancy/quotas/holds.ts';
import { countSync, endStart, syncLimitOf } from '../../tenancy/quotas/quotas.ts';
import { readWorkspace } from '../../tenancy/workspaces/live-workspaces.ts';
import { driveOperation } from '../../tenancy/workspaces/operations.ts';
import { statusOf } from '../connection-status.ts';
import * as connections from '../connections.store.ts';
import type { PipelinesContext } from '../context.ts';
import { aboutSource } from '../entries.ts';
import { failureTexts, reasonOf, showsDefaults } from '../failure-texts.ts';
import { wantLog } from '../job-logs.store.ts';
import * as jobs from '../jobs.store.ts';
import { signInTrouble } from '../sign-in-trouble.ts';
import { configurationParts } from '../source-template.ts';
import * as sources from '../sources.store.ts';
import { notReported, operatorsOnly, storedReasons } from '../two-texts.ts';
import { causeOf, staleAt } from './failure-causes.ts';
import { type Health, healthOf, type JobFailure, type Problem, worstOf } from './health.ts';
import { failureIn, firstErrorIn, healthIn, type StoredAttempt, type StoredStream } from './job-words.ts';
import { failureOf, recordSyncEnded, recordSyncStarted, toldOf } from './sync-entries.ts';

export const { countEnded } = jobs;

interface JobsContext {
  /** How long our own store keeps the log of a job after its end; 0: not at all. */
  jobLogMs: number;
  journal: Journal;
  runtime: Runtime;
}

interface HealthContext {
  store: Store;
  journal: Journal;
}

/** Something that is worth a line in the log, and a count. */
export interface JobNews {
  connection: ConnectionRow;
  job: JobRow;
  /** Attempts that failed since the last report. */
  failedAttempts: StoredAttempt[];
  hasEnded: boolean;
}

/** A job as the platform reports it, with the texts of its failures for each audience. */
export type WordedJob = Omit<PlatformJob, 'failure' | 'attempts' | 'streams'> & {
  failure: JobFailure | null;
  attempts: StoredAttempt[] | undefined;
  streams: StoredStream[] | undefined;
};

/** Before a transaction: the configuration of the source has to be read, and only where there is something to say. */
export async function wordJobs(
  ctx: PipelinesContext,
  { workspace_id, source_id }: Pick<ConnectionRow, 'workspace_id' | 'source_id'>,
  told: readonly PlatformJob[],
): Promise<WordedJob[]> {
  const saysSomething = ({ failure, attempts = [], streams = [] }: PlatformJob) =>
    failure !== null ||
    attempts.some((attempt) => attempt.failure !== null) ||
    streams.some(({ valuesChanged }) => valuesChanged.some(({ example }) => example !== ''));
  const source = told.some(saysSomething)
    ? await sources.findAnySource(ctx.store.db, workspace_id, source_id)
    : undefined;
  const parts = source && source.sealed_config !== '' ? await configurationParts(ctx, source) : undefined;
  const word = (failure: ConnectorFailure | null): JobFailure | null => {
    if (!failure) return null;
    const texts = parts ? failureTexts(failure, parts) : operatorsOnly(reasonOf(failure), failure.message);
    const { operator: message, customer: customerMessage, reasons, whose } = texts;
    return { kind: failure.type ?? 'unknown', origin: failure.origin, message, customerMessage, reasons, whose };
  };
  const isOperators = (example: string) => example !== '' && (!parts || showsDefaults(example, parts));
  return told.map((job) => ({
    ...job,
    failure: word(job.failure),
    attempts: job.attempts?.map((attempt) => ({ ...attempt, failure: word(attempt.failure) })),
    streams: job.streams?.map((stream) => ({
      ...stream,
      valuesChanged: stream.valuesChanged.map((change) =>
        isOperators(change.example) ? { ...change, isOperators: true } : change,
      ),
    })),
  }));
}

/** Records reported jobs of a connection, oldest first, and returns what is new about them. */
export async function recordJobs(
  { jobLogMs, journal, runtime }: JobsContext,
  tx: Db,
  connection: ConnectionRow,
  told: readonly WordedJob[],
  /** What ran before this service kept jobs is no news for the log, and its ids were handed out. */
  isHistory = false,
): Promise<JobNews[]> {
  const { workspace_id: workspaceId, organization_id: organizationId } = connection;
  const ids = [...new Set(told.map(({ id }) => id))];
  const known = new Map(
    (await jobs.findJobs(tx, workspaceId, connection.id, ids)).map((row) => [row.platform_id, row]),
  );
  const news: JobNews[] = [];
  for (const job of told) {
    const before = known.get(job.id);
    const after = jobRow(connection, job, before, isHistory ? () => job.id : runtime.newId);
    if (before && isOlder(after, before)) continue;
    const hasEnded = after.ended_at !== null && (before?.ended_at ?? null) === null;
    const failedBefore = hasEnded && !isHistory ? await findFailed(tx, connection) : undefined;
    await jobs.putJob(tx, organizationId, workspaceId, after);
    known.set(job.id, after);
    await jobs.countEnded(tx, organizationId, after, before);
    if (!before || hasEnded) await jobs.putActivity(tx, workspaceId, after.ended_at ?? after.started_at);
    if (!before && !isHistory) await recordSyncStarted(journal, tx, connection, after);
    if (hasEnded) {
      if (!isHistory) await recordSyncEnded(journal, tx, connection, after, failureIn(after), failedBefore);
      const { ended_at, row_count, byte_count } = after;
      const sync = { endedAt: ended_at ?? 0, rows: row_count ?? 0, bytes: byte_count ?? 0 };
      await countSync(tx, organizationId, workspaceId, sync);
      const log = { connection_id: connection.id, job_id: after.id };
      // After a cancellation, connectors need a moment to end.
      if (jobLogMs > 0) await wantLog(tx, workspaceId, log, after.status === 'cancelled' ? 10_000 : 0);
    }
    const failedAttempts = failedIn(job).slice(before?.failed_attempts ?? 0);
    if (hasEnded || failedAttempts.length > 0) news.push({ connection, job: after, failedAttempts, hasEnded });
  }
  return news;
}

/** Syncs of a connection that failed since its last success. */
async function findFailed(tx: Db, { workspace_id, id }: ConnectionRow) {
  const { failed } = await jobs.findOutcomes(tx, workspace_id, id);
  if (!failed) return undefined;
  const { first, count } = failed;
  return { count, firstAt: first.failed_at ?? first.started_at, first: firstErrorIn(first) ?? failureIn(first) };
}

/** A finished sync may have used up a quota. Returns the workspaces whose status the platform needs to learn. */
export async function reviewQuotas(ctx: PipelinesContext, tx: Db, news: readonly JobNews[]): Promise<WorkspaceRef[]> {
  const ended = new Map(
    news.filter(({ hasEnded }) => hasEnded).map(({ connection }) => [connection.workspace_id, connection]),
  );
  const told: WorkspaceRef[] = [];
  for (const [workspaceId, { organization_id: organizationId }] of [...ended].sort()) {
    const ref = { organizationId, workspaceId };
    if (await reviewWorkspace(ctx.workspaces, tx, ref, true)) told.push(ref);
    // A first sync may have waited for its turn.
    if ((await syncLimitOf(tx, ref)) !== null) await connections.wakeFirstSyncs(tx, workspaceId);
  }
  return told;
}

interface WorkspaceRef {
  organizationId: string;
  workspaceId: string;
}

/** Once what was reviewed is committed. */
export function tellOfQuotas(ctx: PipelinesContext, workspaces: readonly WorkspaceRef[]): void {
  for (const ref of workspaces) {
    const tell = () => driveOperation(ctx.workspaces, { ...ref, kind: 'status' });
    ctx.background.run('Applying the sync limit', tell);
  }
}

/** The newest job of a connection. */
export async function findLastJob(db: Db, workspaceId: string, connectionId: string): Promise<JobRow | undefined> {
  return (await jobs.findLastJobs(db, [workspaceId], [connectionId]))[0];
}

/** A job that was started just now: nobody has to wait for the next look. Undefined when its connection is gone. */
export async function recordStarted(
  ctx: PipelinesContext,
  { workspace_id: workspaceId, source_id, id }: Pick<ConnectionRow, 'workspace_id' | 'source_id' | 'id'>,
  job: PlatformJob,
  /** `askedBy`: the request that asked for it, where there is one. `isCounted`: a quota counts it as starting. */
  { askedBy, isCounted = false }: { askedBy?: Cause; isCounted?: boolean } = {},
): Promise<JobRow | undefined> {
  const worded = await wordJobs(ctx, { workspace_id: workspaceId, source_id }, [job]);
  const recorded = await ctx.store.transaction(async (tx) => {
    await holdHealth(ctx.store, tx, [workspaceId]);
    const connection = await connections.findConnection(tx, workspaceId, id);
    if (!connection) return undefined;
    const told = await reviewQuotas(ctx, tx, await recordJobs(ctx, tx, connection, worded));
    // The watch may have seen the job before.
    if (askedBy) await jobs.putAsker(tx, workspaceId, { connectionId: id, jobId: job.id }, askedBy);
    if (isCounted) await endStart(tx, workspaceId, id);
    await refreshHealth(ctx, tx, [workspaceId], { ids: [id] });
    return { job: (await jobs.findJobs(tx, workspaceId, id, [job.id]))[0], told };
  });
  tellOfQuotas(ctx, recorded?.told ?? []);
  return recorded?.job;
}

function isOlder(after: JobRow, before: JobRow): boolean {
  if (before.ended_at !== null && after.ended_at === null) return true;
  return (after.attempts ?? 0) < (before.attempts ?? 0);
}

const failedIn = ({ attempts = [] }: Pick<WordedJob, 'attempts'>) =>
  attempts.filter(({ status }) => status === 'failed');

function jobRow(connection: ConnectionRow, job: WordedJob, before: JobRow | undefined, newId: () => string): JobRow {
  const startedAt = timeOf(job.startedAt) ?? before?.started_at ?? 0;
  const endedAt = timeOf(job.endedAt);
  const isOver = job.status === 'succeeded' || job.status === 'failed' || job.status === 'cancelled';
  // The clock of the platform may have been set back meanwhile.
  const ended = isOver ? Math.max(startedAt, endedAt ?? before?.ended_at ?? startedAt) : null;
  const hasFailed = job.status === 'incomplete' || job.status === 'failed';
  // A hosted platform does not count attempts. Once it was seen waiting for the next one, one has failed.
  const failedAttempts = job.failedAttempts ?? Math.max(before?.failed_attempts ?? 0, hasFailed ? 1 : 0);
  const firstFailed = timeOf(failedIn(job)[0]?.endedAt ?? null);
  const failure = job.failure ?? (hasFailed ? notTold : null);
  return {
    organization_id: connection.organization_id,
    workspace_id: connection.workspace_id,
    connection_id: connection.id,
    source_id: connection.source_id,
    source_template_id: connection.source_template_id,
    connection_template_id: connection.connection_template_id,
    definition_id: connection.definition_id,
    id: before?.id ?? newId(),
    platform_id: job.id,
    type: job.type,
    status: job.status,
    started_at: startedAt,
    ended_at: ended,
    attempts: job.attemptCount ?? null,
    failed_attempts: failedAttempts,
    failed_at: failedAttempts > 0 ? (before?.failed_at ?? firstFailed ?? ended ?? startedAt) : null,
    row_count: job.rows,
    byte_count: job.bytes,
    failure_kind: failure?.kind ?? null,
    failure_origin: failure?.origin ?? null,
    failure_whose: failure?.whose ?? null,
    error: failure?.message ?? null,
    customer_error: failure?.customerMessage ?? null,
    reasons: failure?.reasons ? JSON.stringify(failure.reasons) : null,
    attempt_list: job.attempts ? storableText(JSON.stringify(job.attempts)) : null,
    streams: job.streams ? storableText(JSON.stringify(job.streams)) : null,
    more_streams: job.moreStreams,
    row_points: job.rowPoints ? JSON.stringify(job.rowPoints) : null,
    request_id: before?.request_id ?? null,
    trace_id: before?.trace_id ?? job.traceId ?? null,
    seen_at: before?.seen_at ?? 0,
  };
}

/** A hosted platform gives no reasons. */
const notTold: JobFailure = {
  kind: 'unknown',
  origin: 'unknown',
  message: null,
  customerMessage: null,
  reasons: notReported,
  whose: 'operator',
};

function timeOf(text: string | null): number | null {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/**
 * Until the transaction ends, nobody else works out the health of what is in these workspaces. A transaction that changes
 * connections before it calls `refreshHealth` calls this first: workspaces are always locked before connections.
 */
export async function holdHealth(store: Store, tx: Db, workspaceIds: readonly string[]): Promise<void> {
  // On SQLite a transaction is alone anyway.
  if (store.kind === 'postgres') await jobs.lockWorkspaces(tx, workspaceIds);
}

/**
 * Works the health of connections out from what is known now, and that of their sources and workspaces, which is the worst
 * of theirs. They are locked first and looked at after, so of two who do this at once the later sees what the earlier knew.
 */
export async function refreshHealth(
  ctx: HealthContext,
  tx: Db,
  workspaceIds: readonly string[],
  which: { ids?: readonly string[]; sourceId?: string } = {},
): Promise<void> {
  await holdHealth(ctx.store, tx, workspaceIds);
  const isPostgres = ctx.store.kind === 'postgres';
  const rows = await jobs.lockConnections(tx, workspaceIds, { ...which, isPostgres });
  for (const row of rows) {
    const { health, status } = await workOutHealth(tx, row);
    const shown = {
      health: health.state,
      health_detail: JSON.stringify(health),
      status,
      cause: causeOf(health),
      attention_by: health.attention?.by ?? null,
      stale_at: staleAt(row, health),
    };
    const isSame = (Object.keys(shown) as (keyof typeof shown)[]).every((column) => shown[column] === row[column]);
    if (!isSame) await jobs.putHealth(tx, row.workspace_id, row.id, shown, health.since);
  }
  const touched = new Map(rows.map((row) => [row.source_id, row.workspace_id]));
  for (const [sourceId, workspaceId] of touched) {
    await refreshSourceHealth(ctx.journal, tx, workspaceId, sourceId);
  }
  for (const workspaceId of workspaceIds) {
    const worst = worstOf((await jobs.listHealthsOfWorkspace(tx, workspaceId)).map((state) => ({ state })));
    await jobs.putWorkspaceHealth(tx, workspaceId, worst?.state ?? 'never_synced');
  }
}

/** How the sources that use a credential do, after the credential has changed. */
export async function followCredential(
  ctx: HealthContext,
  tx: Db,
  { workspaceId, credentialId }: { workspaceId: string; credentialId: string },
): Promise<void> {
  for (const sourceId of await sources.listSourcesOfCredential(tx, workspaceId, credentialId)) {
    await refreshHealth(ctx, tx, [workspaceId], { sourceId });
  }
}

/** For a source whose connections changed, or lost one. */
export async function refreshSourceHealth(
  journal: Journal,
  tx: Db,
  workspaceId: string,
  sourceId: string,
): Promise<void> {
  const siblings = await connections.listConnectionsOfSource(tx, workspaceId, sourceId);
  const worst = worstOf(siblings.map(({ health }) => ({ state: health })));
  await jobs.putSourceHealth(tx, workspaceId, sourceId, worst?.state ?? 'never_synced');
  await tellOfAttention(journal, tx, workspaceId, sourceId, siblings);
}

/**
 * Says once that someone has to do something about a source, and once that nobody has to any more. While it is being set
 * up, or something of it is paused, nothing new is known.
 */
async function tellOfAttention(
  journal: Journal,
  tx: Db,
  workspaceId: string,
  sourceId: string,
  siblings: readonly ConnectionRow[],
): Promise<void> {
  const source = await sources.findSource(tx, workspaceId, sourceId);
  if (!source) return;
  const needy = siblings.find(({ health }) => health === 'needs_attention');
  const about = { workspaceId, data: { source: aboutSource(source) } };
  if (needy && source.needs_attention === 0) {
    const { attention, firstError } = healthIn(needy);
    const known = firstError ? failureOf(firstError) : { kind: null, origin: null };
    const words = toldOf(attention?.what ?? null, attention?.customerWhat ?? null, attention?.reasons);
    await jobs.putNeedsAttention(tx, workspaceId, sourceId, 1);
    await journal.record(tx, source.organization_id, {
      type: 'source.needs_attention',
      workspaceId,
      data: { ...about.data, attention_by: attention?.by ?? 'operator', problem: { ...known, ...words } },
    });
  }
  const isKnown = source.due_at === null && !siblings.some(({ health }) => health === 'paused');
  if (!needy && source.needs_attention === 1 && isKnown) {
    await jobs.putNeedsAttention(tx, workspaceId, sourceId, 0);
    await journal.record(tx, source.organization_id, { type: 'source.recovered', ...about });
  }
}

async function workOutHealth(tx: Db, row: ConnectionRow): Promise<{ health: Health; status: ConnectionStatus }> {
  const { organization_id, workspace_id: workspaceId } = row;
  const workspace = await readWorkspace(tx, organization_id, workspaceId);
  const source = await sources.findAnySource(tx, workspaceId, row.source_id);
  const destination = await connections.findDestination(tx, workspaceId, row.destination_id);
  const { good, failed, open } = await jobs.findOutcomes(tx, workspaceId, row.id);
  const credentialId = source?.credential_id ?? null;
  const credential =
    credentialId === null ? undefined : await sources.findCredentialStatus(tx, workspaceId, credentialId);
  const earlier = healthIn(row);
  // During a set-up, an earlier refusal means nothing.
  const isSettled = source?.due_at === null;
  const refused = isSettled ? [destination, row, source].find((part) => part?.failure != null) : undefined;
  const status = statusOf({
    ...row,
    isWorkspaceActive: workspace?.status === 'active',
    isRefused: row.failure !== null || destination?.failure != null,
  });
  const isHeld = workspace != null && workspace.held_since !== null && !workspace.isDeactivated;
  const health = healthOf({
    pausedBecause: isHeld && row.paused === 0 ? ((await findHoldReasons(tx, workspaceId)) ?? null) : null,
    isPaused:
      workspace?.status === 'inactive' ||
      row.paused === 1 ||
      (row.platform_state === 'inactive' && row.platform_reason === null),
    stoppedBecause: row.platform_state === 'inactive' ? row.platform_reason : null,
    isGone: row.platform_state === 'gone',
    refused: refused ? refusalIn(refused) : null,
    signIn: credential ? signInTrouble(credential) : null,
    open: open
      ? {
          startedAt: open.started_at,
          failedAt: open.failed_at,
          failure: open.failed_at === null ? null : failureIn(open),
        }
      : null,
    failed: failed
      ? {
          count: failed.count,
          firstAt: failed.first.failed_at ?? failed.first.started_at,
          first: firstErrorIn(failed.first) ?? failureIn(failed.first),
          last: sinceSignIn(failed.last, credential),
        }
      : null,
    // The job that proves it may be older than what is kept.
    lastGoodAt: good?.ended_at ?? earlier.lastGoodAt ?? null,
  });
  return { health, status };
}

/** A failure from before the last sign-in requires no action: the next sync decides. */
function sinceSignIn(job: JobRow, credential: sources.CredentialStatus | undefined): JobFailure {
  const failure = failureIn(job);
  const isBefore = credential !== undefined && (job.ended_at ?? job.started_at) < credential.signed_in_at;
  return isBefore && failure.kind === 'config_error' ? { ...failure, kind: 'unknown' } : failure;
}

function refusalIn({ failure, customer_failure, failure_reasons }: RemoteRow): Problem {
  const operator = failure ?? '';
  const reasons = storedReasons(failure_reasons);
  const whose = reasons?.customer?.code === 'problem_on_our_side' ? 'operator' : 'customer';
  return { operator, customer: customer_failure ?? operator, reasons, whose };
}
