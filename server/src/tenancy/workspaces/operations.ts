/**
 * Finishes recorded work on the platform: rename, (de)activate, delete, and deleting duplicates of ours.
 * Level-triggered: a worker reads what is wanted now and makes the platform so; it never replays a request. Requests
 * drive their own operation at once and the reconciler drives what was left, through the same code.
 *
 * What always holds: one worker per operation (a lease); an older intent never overwrites a newer one (the generation
 * is compared before each call and again before closing); after a write whose outcome is unknown the operation stays
 * open until that write can no longer take effect, and then the wanted state is written once more.
 */
import type { Delay } from '@inlay/contract/error-catalogue';
import type { Db } from '../../kernel/db/open.ts';
import type { OperationRow, WorkspaceRow } from '../../kernel/db/tables.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import { shownForAudit } from './audited.ts';
import * as claims from './claims.store.ts';
import type { WorkspacesContext } from './context.ts';
import { runStatus } from './holds.ts';
import { nameIdentity } from './names.ts';
import * as operations from './operations.store.ts';
import * as workspaces from './workspaces.store.ts';

const leaseMs = 60_000;
const patienceMs = 25_000;
const maxBackoffMs = 60_000;
const connectionsAtATime = 8;
const maxRounds = 10;
/** A write is given up after this long, and may then still take effect for the settle time. */
const writeTimeoutMs = 8_000;
const lingerMs = ({ settleMs }: WorkspacesContext) => writeTimeoutMs + settleMs;

export function operationLease(ctx: WorkspacesContext, leaseId: string): operations.OperationLease {
  return { leaseId, leaseMs, lingerMs: lingerMs(ctx) };
}

export type Outcome =
  | { state: 'done' }
  /** Another worker is working on the operation. */
  | { state: 'busy' }
  | { state: 'open'; error?: PlatformError; pending?: number; total?: number };

/** Some connections could not be changed; the rest is done. */
class PartlyDone extends Error {
  constructor(
    readonly pending: number,
    readonly total: number,
    readonly first: PlatformError,
  ) {
    super(`${pending} of ${total} connections are left: ${first.message}`);
  }
}

/** Thrown inside a worker when the workspace has changed meanwhile; the worker starts again with the newer intent. */
class Outdated extends Error {}

/** Does the work now, or waits for the process that is doing it. */
export async function finishOperation(
  ctx: WorkspacesContext,
  ref: operations.OperationRef,
  leaseId: string,
): Promise<Outcome> {
  const deadline = ctx.runtime.elapsed() + patienceMs;
  for (;;) {
    const outcome = await driveOperation(ctx, ref, leaseId);
    if (outcome.state !== 'busy') return outcome;
    if (ctx.runtime.elapsed() >= deadline) return { state: 'open' };
    await ctx.runtime.sleep(100 + ctx.runtime.random() * 400);
  }
}

export async function driveOperation(
  ctx: WorkspacesContext,
  ref: operations.OperationRef,
  leaseId: string = ctx.runtime.newId(),
): Promise<Outcome> {
  const { store, runtime, log } = ctx;
  for (;;) {
    const operation = await operations.leaseOperation(store.db, ref, operationLease(ctx, leaseId));
    if (!operation) return (await operations.isOpen(store.db, ref)) ? { state: 'busy' } : { state: 'done' };
    try {
      await workers[ref.kind](ctx, ref, { ...operation, leaseId });
      return { state: 'done' };
    } catch (error) {
      if (error instanceof Outdated) continue;
      const failure = error instanceof PartlyDone ? error.first : error;
      if (!(failure instanceof PlatformError)) throw error;
      if (failure instanceof Refused) return { state: 'open', error: failure };
      if (!failure.settled) await operations.recordUnsettled(store.db, ref, lingerMs(ctx));
      const backoffMs = runtime.random() * Math.min(maxBackoffMs, 1_000 * 2 ** operation.attempts);
      await operations.postponeOperation(store.db, ref, leaseId, {
        delayMs: Math.max(backoffMs, (failure.retryAfterSeconds ?? 0) * 1000),
        error: failure.message,
      });
      log.warn(
        { workspaceId: ref.workspaceId, operation: ref.kind, err: error },
        'Failed to apply workspace change on the platform; will retry',
      );
      if (error instanceof PartlyDone) {
        return { state: 'open', error: failure, pending: error.pending, total: error.total };
      }
      return { state: 'open', error: failure };
    }
  }
}

/** The platform will never give the workspace this name; the intent was taken back. */
export class Refused extends PlatformError {
  constructor(
    readonly refusedName: string,
    cause: PlatformError,
  ) {
    super(cause.failure, cause.message, { cause });
  }
}

type Leased = OperationRow & { now: number; leaseId: string };
type Worker = (ctx: WorkspacesContext, ref: operations.OperationRef, operation: Leased) => Promise<void>;

const workers: Record<OperationRow['kind'], Worker> = {
  rename: rename,
  status: applyStatus,
  delete: deleteOnPlatform,
  orphan_delete: async (ctx, ref) => {
    await ctx.platform.deleteWorkspace(ref.workspaceId);
    await operations.closeOperation(ctx.store.db, ref);
  },
};

async function rename(ctx: WorkspacesContext, ref: operations.OperationRef, { leaseId }: Leased): Promise<void> {
  const row = await readLive(ctx, ref);
  if (!row) return;
  const wanted = row.desired_name ?? row.name;
  try {
    const { settled } = await ctx.platform.renameWorkspace(row.id, wanted);
    if (!settled) await operations.recordUnsettled(ctx.store.db, ref, lingerMs(ctx));
  } catch (error) {
    if (!(error instanceof PlatformError) || (error.failure !== 'rejected' && error.failure !== 'not_found'))
      throw error;
    if (!error.settled) await operations.recordUnsettled(ctx.store.db, ref, lingerMs(ctx));
    await whileUnchanged(ctx, row, async (tx) => {
      await takeBackRename(tx, row);
      // Another name that was sent before may still take effect.
      await settleName(ctx, tx, ref, leaseId);
    });
    throw new Refused(wanted, error);
  }
  await whileUnchanged(ctx, row, async (tx) => {
    if (row.desired_name !== null) {
      const [before, after] = [nameIdentity(row.name), nameIdentity(row.desired_name)];
      await workspaces.applyName(tx, row.organization_id, row.id, row.desired_name);
      const data = { previous_name: row.name };
      const change = { before: { name: row.name }, after: { name: row.desired_name } };
      const about = { workspaceId: row.id, data, change };
      await ctx.journal.record(tx, row.organization_id, { type: 'workspace.renamed', ...about });
      if (before !== after) await claims.dropClaims(tx, row.organization_id, row.id, before);
    }
    await settleName(ctx, tx, ref, leaseId);
  });
}

async function settleName(
  ctx: WorkspacesContext,
  tx: Db,
  ref: operations.OperationRef,
  leaseId: string,
): Promise<void> {
  const closed = await closeOrAssertAgain(ctx, tx, ref, leaseId);
  if (closed) await workspaces.recordNameSettled(tx, ref.organizationId, ref.workspaceId);
}

async function takeBackRename(tx: Db, row: WorkspaceRow): Promise<void> {
  if (row.desired_name === null) return;
  const wanted = nameIdentity(row.desired_name);
  await workspaces.forgetDesiredName(tx, row.organization_id, row.id);
  if (wanted !== nameIdentity(row.name)) await claims.dropClaims(tx, row.organization_id, row.id, wanted);
}

async function applyStatus(ctx: WorkspacesContext, ref: operations.OperationRef, operation: Leased): Promise<void> {
  const row = await readLive(ctx, ref);
  if (!row) return;
  const mayRun = runStatus(row) === 'active';
  const change = mayRun ? enableConnections : disableConnections;
  await change(ctx, ref, row, operation);
  const isKept = await tellSyncLimit(ctx, ref, row, operation);
  await whileUnchanged(ctx, row, async (tx) => {
    await workspaces.recordSyncLimitKept(tx, row.organization_id, row.id, isKept);
    const closed = await closeOrAssertAgain(ctx, tx, ref, operation.leaseId);
    if (closed && mayRun) await workspaces.forgetPaused(tx, row.id);
  });
}

/** Whether the platform keeps a limit. */
async function tellSyncLimit(
  ctx: WorkspacesContext,
  ref: operations.OperationRef,
  row: WorkspaceRow,
  operation: Leased,
): Promise<boolean> {
  if (row.sync_limit === null) return false;
  await assertUnchanged(ctx, ref, row, operation);
  const { settled, isKept } = await ctx.platform.limitSyncs(row.id, row.sync_limit === 0 ? null : row.sync_limit);
  if (!settled) await operations.recordUnsettled(ctx.store.db, ref, lingerMs(ctx));
  return isKept;
}

/**
 * Repeats until no connection is active, because a new one may have been created meanwhile. The connections that we
 * disable are on disk before we disable them. A late worker, whose intent is no longer wanted, records nothing: a later
 * activation would otherwise enable its connections.
 */
async function disableConnections(
  ctx: WorkspacesContext,
  ref: operations.OperationRef,
  row: WorkspaceRow,
  operation: Leased,
): Promise<void> {
  for (let round = 1; round <= maxRounds; round++) {
    const all = await listConnections(ctx, row.id);
    const left = await leftToRun(ctx, row);
    const active = all.filter(({ id, status }) => status === 'active' && !left.has(id)).map(({ id }) => id);
    if (active.length === 0) return;
    await whileUnchanged(ctx, row, (tx) => workspaces.rememberPaused(tx, row.id, active));
    await setStatuses(ctx, ref, row, operation, active, 'inactive');
  }
  throw new PlatformError('unavailable', 'connections keep becoming active');
}

/**
 * A quota stops what would come next, not what runs. A connection whose sync began before the hold is disabled after the
 * sync.
 */
async function leftToRun(ctx: WorkspacesContext, row: WorkspaceRow): Promise<ReadonlySet<string>> {
  if (row.status === 'inactive' || row.held_since === null) return new Set();
  return await ctx.contents.listSyncing(row.id, row.held_since);
}

async function enableConnections(
  ctx: WorkspacesContext,
  ref: operations.OperationRef,
  row: WorkspaceRow,
  operation: Leased,
): Promise<void> {
  const paused = await workspaces.listPaused(ctx.store.db, row.id);
  // Read after the operation was opened, so later pauses are sent to the platform after the operation.
  const kept = await ctx.contents.listKeptDisabled(row.id);
  const ids = paused.filter((id) => !kept.has(id));
  await setStatuses(ctx, ref, row, operation, ids, 'active');
}

async function listConnections(ctx: WorkspacesContext, workspaceId: string) {
  try {
    return await ctx.platform.listConnections(workspaceId);
  } catch (error) {
    // A workspace that the platform no longer has runs nothing.
    if (error instanceof PlatformError && error.failure === 'not_found') return [];
    throw error;
  }
}

/** Tries all of them, whatever fails, and reports what is left. */
async function setStatuses(
  ctx: WorkspacesContext,
  ref: operations.OperationRef,
  row: WorkspaceRow,
  operation: Leased,
  ids: string[],
  status: 'active' | 'inactive',
): Promise<void> {
  const failures: PlatformError[] = [];
  const queue = [...ids];
  const work = async () => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      await assertUnchanged(ctx, ref, row, operation);
      try {
        const { settled } = await ctx.platform.setConnectionStatus(id, status);
        if (!settled) await operations.recordUnsettled(ctx.store.db, ref, lingerMs(ctx));
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error;
        failures.push(error);
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: connectionsAtATime }, work));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  // The most uncertain failure decides how long the operation must stay open.
  const worst = failures.find((error) => !error.settled) ?? failures[0];
  if (worst) throw new PartlyDone(failures.length, ids.length, worst);
}

async function deleteOnPlatform(ctx: WorkspacesContext, ref: operations.OperationRef): Promise<void> {
  await ctx.platform.deleteWorkspace(ref.workspaceId);
  await ctx.store.transaction(async (tx) => {
    const row = await workspaces.lockWorkspace(tx, ref.organizationId, ref.workspaceId);
    if (row?.lifecycle === 'deleting') {
      const deletedAt = await workspaces.recordDeleted(tx, row.organization_id, row.id);
      await ctx.contents.recordDeleted(ctx.journal, tx, row, deletedAt);
      const change = { before: shownForAudit(row), after: undefined };
      const entry = { type: 'workspace.deleted', workspaceId: row.id, data: {}, change } as const;
      await ctx.journal.record(tx, row.organization_id, entry);
    }
    await claims.dropClaims(tx, ref.organizationId, ref.workspaceId);
    await workspaces.forgetPaused(tx, ref.workspaceId);
    await operations.closeOperation(tx, ref);
  });
}

/** The workspace as it is wanted now. A workspace that is no longer live needs nothing: its deletion has taken over. */
async function readLive(ctx: WorkspacesContext, ref: operations.OperationRef): Promise<WorkspaceRow | undefined> {
  const row = await workspaces.findWorkspace(ctx.store.db, ref.organizationId, ref.workspaceId);
  if (row?.lifecycle === 'live') return row;
  await operations.closeOperation(ctx.store.db, ref);
  return undefined;
}

/** Before a call to the platform: is this still what is wanted, and is the lease still ours? */
async function assertUnchanged(
  ctx: WorkspacesContext,
  ref: operations.OperationRef,
  row: WorkspaceRow,
  { leaseId }: Leased,
): Promise<void> {
  const present = await workspaces.findWorkspace(ctx.store.db, row.organization_id, row.id);
  if (present?.gen !== row.gen) throw new Outdated();
  if (!(await operations.leaseOperation(ctx.store.db, ref, operationLease(ctx, leaseId)))) throw new Outdated();
}

/** Runs the closing transaction only if nothing newer was wanted meanwhile. */
async function whileUnchanged(
  ctx: WorkspacesContext,
  row: WorkspaceRow,
  work: (tx: Db) => Promise<void>,
): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const present = await workspaces.lockWorkspace(tx, row.organization_id, row.id);
    if (present?.gen !== row.gen) throw new Outdated();
    await work(tx);
  });
}

async function closeOrAssertAgain(
  ctx: WorkspacesContext,
  tx: Db,
  ref: operations.OperationRef,
  leaseId: string,
): Promise<boolean> {
  // Read again: what was sent under this lease may have become unsettled since.
  const operation = await operations.leaseOperation(tx, ref, operationLease(ctx, leaseId));
  const unsettledMs = operation ? operation.unsettled_until - operation.now : 0;
  if (unsettledMs <= 0) {
    await operations.closeOperation(tx, ref);
    return true;
  }
  await operations.postponeOperation(tx, ref, leaseId, { delayMs: unsettledMs, error: null });
  return false;
}

/** How a failure is reported to the caller if the work will still be completed. */
export function delayOf(error: PlatformError | undefined): Delay {
  if (!error) return 'unavailable';
  if (error.timedOut) return 'timed_out';
  return error.failure === 'unavailable' || error.failure === 'throttled' ? 'unavailable' : 'bad_answer';
}
