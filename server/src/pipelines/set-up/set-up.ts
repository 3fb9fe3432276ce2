/**
 * Brings the platform to what a source is meant to be: the source itself with its present configuration, the
 * destinations its connections write to, the connections, their first sync; or, for a source that is being deleted,
 * nothing. Durable and level-triggered: every pass reads what is wanted now and does what is missing, so it may be cut
 * off anywhere and taken up by any replica.
 *
 * What always holds: one worker per source (a lease, kept alive while a connector is at work); what the platform
 * refuses is shown to the customer and not retried before something changes; everything else is retried until it works.
 */

import { definitionOf, findDefinition } from '../../catalog/definitions/definitions.ts';
import { openConfiguration } from '../../catalog/definitions/sealed-configuration.ts';
import { openDefaults } from '../../catalog/templates/source-templates.ts';
import type { SourceRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { createTimeoutMs } from '../../kernel/platform/calls.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import { findLiveWorkspace } from '../../tenancy/workspaces/live-workspaces.ts';
import { mergeWithDefaults } from '../configuration.ts';
import * as connections from '../connections.store.ts';
import { changedByWorker, type PipelinesContext } from '../context.ts';
import { recordConnections, recordSourcesDeleted } from '../entries.ts';
import { Outdated, Refused, refusing, Waiting } from '../interruptions.ts';
import { holdHealth, refreshHealth } from '../jobs/jobs.ts';
import { markOf, nameOnPlatform } from '../marks.ts';
import { configuredFor } from '../signed-in.ts';
import { versionedTemplateOf } from '../source-template.ts';
import * as sources from '../sources.store.ts';
import { type FailureTexts, sameForBoth, storedReasons } from '../two-texts.ts';
import { assertSettled, readSettleWindow } from './assert-settled.ts';
import { createOnce } from './create-once.ts';
import { copyDefinition, removeCopy } from './definition-copies.ts';
import { isGoneFromPlatform } from './gone-from-platform.ts';
import { prepareHandOver } from './handed-over.ts';
import { setUpConnection } from './set-up-connection.ts';
import { takeDownConnections } from './take-down-connections.ts';

const leaseMs = 60_000;
const renewEveryMs = 20_000;
const maxBackoffMs = 300_000;
const signInLost = sameForBoth({ code: 'sign_in_lost', parameters: {} });
const sourceLost = sameForBoth({ code: 'source_lost', parameters: {} });

interface SourceRef {
  workspaceId: string;
  id: string;
}

interface Work {
  ctx: PipelinesContext;
  row: SourceRow;
  leaseId: string;
}

/** Sets the source up in the background now, without waiting for the next pass of the worker. */
export function setUpSoon(ctx: PipelinesContext, source: SourceRef): void {
  ctx.background.run('Source set-up', () => setUpSource(changedByWorker(ctx), source));
}

/**
 * Does everything that is due for one source. Resolves when all is done or another worker does it; when the work is put
 * off, with the reason.
 */
export async function setUpSource(ctx: PipelinesContext, { workspaceId, id }: SourceRef): Promise<Error | undefined> {
  const { db } = ctx.store;
  const leaseId = ctx.runtime.newId();
  for (;;) {
    const row = await sources.leaseSource(db, workspaceId, id, leaseId, leaseMs);
    if (!row) return undefined;
    const work = { ctx, row, leaseId };
    try {
      if (await whileHolding(work, () => (row.lifecycle === 'live' ? setUp(work) : takeDown(work)))) return undefined;
    } catch (error) {
      if (error instanceof Outdated) continue;
      if (error instanceof Refused) {
        const isDone = await sources.finishSource(db, workspaceId, id, leaseId, row.version, error.texts);
        await refreshHealthOf(ctx, row);
        if (isDone) return undefined;
        continue;
      }
      return await putOff(work, error);
    }
  }
}

/**
 * Renews a short lease while the work runs: a connector may take minutes, but a dead process must not hold the lease that
 * long.
 */
async function whileHolding<T>({ ctx, row, leaseId }: Work, doWork: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const renewal = (async () => {
    for (;;) {
      await ctx.runtime.sleep(renewEveryMs, over.signal);
      if (over.signal.aborted) return;
      await sources.leaseSource(ctx.store.db, row.workspace_id, row.id, leaseId, leaseMs);
    }
  })().catch((err) => ctx.log.warn({ err, sourceId: row.id }, 'Failed to renew set-up lease'));
  try {
    return await doWork();
  } finally {
    over.abort();
    await renewal;
  }
}

/** Gives the lease back, whatever has gone wrong: one source must not keep the others waiting. */
async function putOff({ ctx, row, leaseId }: Work, thrown: unknown): Promise<Error> {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const backoffMs = ctx.runtime.random() * Math.min(maxBackoffMs, 1_000 * 2 ** row.attempts);
  const askedForMs = error instanceof PlatformError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  const delayMs = error instanceof Waiting ? error.delayMs : Math.max(backoffMs, askedForMs);
  await sources.postponeSource(ctx.store.db, row.workspace_id, row.id, leaseId, { delayMs, error: error.message });
  if (error instanceof Waiting) return error;
  const about = { sourceId: row.id, workspaceId: row.workspace_id, err: error };
  // A platform or a registry that does not answer is no fault of this program, so it is only a warning.
  if (error instanceof PlatformError || error instanceof AppError)
    ctx.log.warn(about, 'Source set-up incomplete; will retry');
  else ctx.log.error(about, 'Source set-up failed; will retry');
  return error;
}

/** True when nothing is left to do. */
async function setUp(work: Work): Promise<boolean> {
  const { ctx, row, leaseId } = work;
  const workspace = await findLiveWorkspace(ctx.workspaces, row.organization_id, row.workspace_id);
  // The workspace is being deleted, and its deletion deletes everything in it.
  if (!workspace)
    return await sources.finishSource(ctx.store.db, row.workspace_id, row.id, leaseId, row.version, failureOf(row));
  // First, so that nothing new stands beside what is to be removed, and even if the platform refuses the source itself.
  await takeDownConnections(ctx, row);
  const platformId = await whereSourceMayBeLost(work, () => setUpConnector(work));
  const planned = await connections.listConnectionsOfSource(ctx.store.db, row.workspace_id, row.id);
  const failures: FailureTexts[] = [];
  for (const connection of planned) {
    try {
      await whereSourceMayBeLost(work, () => setUpConnection(ctx, row, connection, platformId));
    } catch (error) {
      // One refused connection does not stop the other connections.
      if (!(error instanceof Refused)) throw error;
      await connections.recordFailure(ctx.store.db, 'connections', row.workspace_id, connection.id, error.texts);
      failures.push(error.texts);
    }
  }
  const isDone = await sources.finishSource(
    ctx.store.db,
    row.workspace_id,
    row.id,
    leaseId,
    row.version,
    failures[0] ?? null,
  );
  await refreshHealthOf(ctx, row);
  return isDone;
}

async function refreshHealthOf(ctx: PipelinesContext, { workspace_id, id }: SourceRow): Promise<void> {
  await ctx.store.transaction((tx) => refreshHealth(ctx, tx, [workspace_id], { sourceId: id }));
}

function failureOf({ failure, customer_failure, failure_reasons }: SourceRow) {
  if (failure === null) return null;
  return { operator: failure, customer: customer_failure ?? failure, reasons: storedReasons(failure_reasons) };
}

/** The source itself, with its present name and configuration. */
async function setUpConnector({ ctx, row }: Work): Promise<string> {
  const template = await versionedTemplateOf(ctx, row);
  if (row.platform_id === null)
    await sources.applyNewestVersion(ctx.store.db, row.workspace_id, row.id, template.version);
  const merged = mergeWithDefaults(
    openConfiguration(ctx.sealer, 'source', row.id, row.sealed_config),
    openDefaults(ctx.templates, template),
  );
  const definition = template.oauth === null ? undefined : await findDefinition(ctx.templates, definitionOf(template));
  const configured = configuredFor(definition?.specification, template, merged, row.credential_id);
  const handOver = await prepareHandOver(ctx, row, configured);
  const name = nameOnPlatform(row.name, row.id);
  const isNew = row.platform_id === null;
  const definitionId = row.definition_version > 0 ? await copyDefinition(ctx, row) : template.definition_id;
  const platformId = await refusing('source', () =>
    createOnce(ctx, 'sources', row, {
      find: () => ctx.platform.findConnector('source', row.workspace_id, markOf(row.id)),
      prepare: async () => {
        if (handOver && !handOver.hasTokens) throw new Refused(signInLost);
        const wanted = handOver ? { configuration: handOver.configuration } : configured;
        return { workspaceId: row.workspace_id, name, definitionId, ...wanted };
      },
      create: (wanted) => ctx.platform.createConnector('source', wanted),
      timeoutMs: createTimeoutMs,
    }),
  );
  // A source that was found, not made just now, may still have an older version of the configuration.
  if (row.applied_version === row.version && !isNew && !handOver?.hasTokens) return platformId;
  await refusing('source', () =>
    assertSettled(
      ctx,
      { table: 'sources', workspaceId: row.workspace_id, id: row.id },
      () =>
        handOver
          ? ctx.platform.changeConnector('source', platformId, { name, configuration: handOver.changes })
          : ctx.platform.replaceConnector('source', platformId, { name, ...configured }),
      { content: handOver ? null : `${row.version} ${template.version}` },
    ),
  );
  await handOver?.confirmed();
  await sources.recordApplied(ctx.store.db, row.workspace_id, row.id, {
    version: row.version,
    templateVersion: template.version,
  });
  return platformId;
}

async function whereSourceMayBeLost<T>({ ctx, row }: Work, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const source = { id: row.id, workspaceId: row.workspace_id };
    if (await isGoneFromPlatform(ctx, 'source', source, error)) throw new Refused(sourceLost, { cause: error });
    throw error;
  }
}

/** Removes a source that is being deleted from the platform. */
async function takeDown({ ctx, row }: Work): Promise<boolean> {
  const { waitMs } = await readSettleWindow(ctx, { table: 'sources', workspaceId: row.workspace_id, id: row.id });
  const platformId = row.platform_id ?? (await ctx.platform.findConnector('source', row.workspace_id, markOf(row.id)));
  if (platformId !== undefined) await deleteOnPlatform(ctx, row, platformId);
  else if (waitMs > 0) {
    // A create may still take effect, and would leave a source that nobody knows.
    throw new Waiting('waiting for an unconfirmed request to settle', Math.min(waitMs, 2_000));
  }
  if (row.definition_version > 0) await removeCopy(ctx, row);
  await ctx.store.transaction(async (tx) => {
    await holdHealth(ctx.store, tx, [row.workspace_id]);
    const deleted = await sources.recordSourceDeleted(tx, row.workspace_id, row.id);
    // Its workspace may have been deleted meanwhile, and everything in it.
    if (!deleted) return;
    const deletedAt = deleted.deleted_at ?? ctx.runtime.now();
    const gone = await connections.recordConnectionsDeleted(tx, row.workspace_id, row.id, deletedAt);
    const place = { organizationId: row.organization_id, workspaceId: row.workspace_id };
    await recordConnections(ctx.journal, tx, place, 'connection.deleted', gone);
    await recordSourcesDeleted(ctx, tx, [deleted]);
    await refreshHealth(ctx, tx, [row.workspace_id], { ids: [] });
  });
  return true;
}

async function deleteOnPlatform(ctx: PipelinesContext, row: SourceRow, platformId: string): Promise<void> {
  try {
    await ctx.platform.deleteConnector('source', platformId);
  } catch (error) {
    if (!(await isGoneFromPlatform(ctx, 'source', { id: row.id, workspaceId: row.workspace_id }, error))) throw error;
  }
}
