/**
 * Brings the platform to one connection of a source: the destination it writes to, the connection, its first sync. Part
 * of setting up a source, under the source's lease; the destination is shared by the workspace's sources and has its
 * own.
 */
import { createHash } from 'node:crypto';
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import { QueueClosed, QueueFull } from '@inlay/schedule/fair-queue';
import { getDefinition } from '../../catalog/definitions/definitions.ts';
import { findAnyConnectionTemplate, openDestinationConfig } from '../../catalog/templates/connection-templates.ts';
import { couldBeTheSame, mayMeet } from '../../catalog/templates/placement.ts';
import { getVersion, openVersion } from '../../catalog/templates/versions.ts';
import type { ConnectionRow, DestinationRow, SourceRow, WorkspaceRow } from '../../kernel/db/tables.ts';
import { createTimeoutMs, slowCreateTimeoutMs } from '../../kernel/platform/calls.ts';
import type { NewPlatformConnection } from '../../kernel/platform/pipelines-port.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import { tellSyncLimit } from '../../tenancy/quotas/holds.ts';
import { acceptFirstSync, endStart } from '../../tenancy/quotas/quotas.ts';
import { findLiveWorkspace, readSettledWorkspace } from '../../tenancy/workspaces/live-workspaces.ts';
import { recordStatusApplied } from '../connection-changes.store.ts';
import * as connections from '../connections.store.ts';
import type { PipelinesContext } from '../context.ts';
import { failureTexts } from '../failure-texts.ts';
import { Outdated, Refused, refusing, Waiting } from '../interruptions.ts';
import { recordStarted } from '../jobs/jobs.ts';
import { markOf, nameOnPlatform } from '../marks.ts';
import { unbind } from '../remote.store.ts';
import { scheduleToTell } from '../slowed-schedules.ts';
import { configurationParts } from '../source-template.ts';
import { operatorsOnly } from '../two-texts.ts';
import { applyToConnection, readConnectionVersion } from './apply-version.ts';
import { assertSettled } from './assert-settled.ts';
import { isConnectionGone } from './connection-gone.ts';
import { createOnce } from './create-once.ts';
import { followOwnStatus, followWorkspace } from './follow-status.ts';
import { isGoneFromPlatform } from './gone-from-platform.ts';
import { keepCatalog, streamWishes } from './stream-catalogs.ts';
import { chooseStreams } from './streams.ts';

const leaseMs = 60_000;
const namesOfOthers = operatorsOnly({ code: 'destination_shared', parameters: {} });
/** Together with the pauses between the tries this takes a few seconds. */
const connectorTries = 3;

/** A destination that the platform has. */
interface MadeDestination extends DestinationRow {
  platform_id: string;
}

function isMade(row: DestinationRow): row is MadeDestination {
  return row.platform_id !== null;
}

/** `sourceId`: the source on the platform. */
export async function setUpConnection(
  ctx: PipelinesContext,
  source: SourceRow,
  planned: ConnectionRow,
  sourceId: string,
): Promise<void> {
  const { organization_id: organizationId, workspace_id: workspaceId } = planned;
  if (planned.platform_id === null) await tellSyncLimit(ctx.workspaces, { organizationId, workspaceId });
  const connection = planned.platform_id === null ? await applyNewestVersion(ctx, source, planned) : planned;
  const destination = await setUpDestination(ctx, connection.workspace_id, connection.destination_id);
  const destinationId = destination.platform_id;
  let isMadeNow = false;
  const platformId =
    connection.platform_id ??
    (await whereDestinationMayBeLost(ctx, destination, () =>
      inTurn(ctx, source.workspace_id, () =>
        createOnce(ctx, 'connections', connection, {
          find: async () => {
            const existing = await ctx.platform.listConnections(source.workspace_id);
            return existing.find((one) => one.sourceId === sourceId && one.destinationId === destinationId)?.id;
          },
          prepare: () => prepareConnection(ctx, source, connection, { sourceId, destination }),
          create: async (wanted) => {
            const id = await refusing('connection', () => ctx.platform.createConnection(wanted));
            isMadeNow = true;
            return id;
          },
          timeoutMs: slowCreateTimeoutMs,
        }),
      ),
    ));
  if (isMadeNow) await connections.recordConnectionApplied(ctx.store.db, connection.workspace_id, connection);
  // A connection that was found may be from an older version of its settings.
  else if (connection.applied_version !== connection.version) {
    await changeConnection(ctx, source, { ...connection, platform_id: platformId }, { sourceId, destination });
  }
  if (connection.is_set_up === 0) {
    await followWorkspace(ctx, connection, platformId);
    await connections.recordSetUp(ctx.store.db, connection.workspace_id, connection.id);
    await recordStatusApplied(ctx.store.db, connection.workspace_id, connection);
  } else if (connection.applied_status_version !== connection.status_version) {
    await followOwnStatus(ctx, connection, platformId);
    await recordStatusApplied(ctx.store.db, connection.workspace_id, connection);
  }
  if (connection.first_sync_wanted === 1) await startFirstSync(ctx, source, connection, platformId);
  // The obstacle, such as its destination, is fixed.
  if (connection.failure !== null) {
    await connections.recordFailure(ctx.store.db, 'connections', connection.workspace_id, connection.id, null);
  }
}

/** A connection that the platform does not have yet gets the newest version of its template, its place included. */
async function applyNewestVersion(
  ctx: PipelinesContext,
  source: SourceRow,
  row: ConnectionRow,
): Promise<ConnectionRow> {
  const { organization_id: organizationId, connection_template_id: templateId } = row;
  const template = await findAnyConnectionTemplate(ctx.templates, organizationId, templateId);
  if (!template || template.version <= row.template_version) return row;
  const ref = { organizationId, kind: 'connection', templateId } as const;
  const workspace = await findLiveWorkspace(ctx.workspaces, organizationId, row.workspace_id);
  if (!workspace) throw new Outdated();
  await ctx.store.transaction(async (tx) => {
    const target = await readConnectionVersion(tx, ref, template.version);
    await applyToConnection(ctx.journal, tx, row, {
      workspace,
      slug: source.slug,
      base: undefined,
      target,
      moveData: true,
    });
  });
  const [applied] = (await connections.listConnectionsOfSource(ctx.store.db, row.workspace_id, source.id)).filter(
    ({ id }) => id === row.id,
  );
  if (!applied) throw new Outdated();
  return applied;
}

/** Reports to the platform the settings of a connection that it has. Its status stays, whatever it is. */
async function changeConnection(
  ctx: PipelinesContext,
  source: SourceRow,
  connection: ConnectionRow & { platform_id: string },
  { sourceId, destination }: { sourceId: string; destination: MadeDestination },
): Promise<void> {
  const { platform_id: platformId, workspace_id: workspaceId, id } = connection;
  await refuseNamesOfOthers(ctx, connection);
  const isAnew = connection.streams_anew > 0;
  const change = async () => {
    const streams = isAnew
      ? await streamsFor(ctx, source, connection, { sourceId, destinationId: destination.platform_id })
      : undefined;
    const changes = {
      name: nameOnPlatform(`${source.name} → ${destination.name}`, id),
      cronExpression: await scheduleToTell(ctx, connection),
      namespaceFormat: connection.namespace_format,
      prefix: connection.prefix,
      schemaChanges: connection.schema_changes,
      ...(streams && { streams }),
    };
    await assertSettled(
      ctx,
      { table: 'connections', workspaceId, id },
      () => refusing('connection', () => ctx.platform.changeConnection(platformId, changes)),
      { timeoutMs: isAnew ? slowCreateTimeoutMs : createTimeoutMs, content: fingerprint(changes) },
    );
  };
  try {
    await (isAnew ? inTurn(ctx, workspaceId, change) : change());
  } catch (error) {
    // A connection that was deleted on the platform has nothing to change, and is shown as deleted.
    if (!(await isConnectionGone(ctx, workspaceId, platformId, error))) throw error;
  }
  await connections.recordConnectionApplied(ctx.store.db, workspaceId, connection);
}

const fingerprint = (changes: object) => createHash('sha256').update(JSON.stringify(changes)).digest('base64');

/** A connection runs its source to learn its streams, which may take minutes. Workspaces take turns. */
async function inTurn<T>(ctx: PipelinesContext, workspaceId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await ctx.turns.setUps.run(workspaceId, work);
  } catch (error) {
    if (error instanceof QueueFull) throw new Waiting(error.message, error.retryAfterSeconds * 1000);
    if (error instanceof QueueClosed) throw new Waiting('the service is stopping', 0);
    throw error;
  }
}

async function prepareConnection(
  ctx: PipelinesContext,
  source: SourceRow,
  connection: ConnectionRow,
  { sourceId, destination }: { sourceId: string; destination: MadeDestination },
): Promise<NewPlatformConnection> {
  const destinationId = destination.platform_id;
  const streams = await streamsFor(ctx, source, connection, { sourceId, destinationId });
  const workspace = await findLiveWorkspace(ctx.workspaces, source.organization_id, source.workspace_id);
  if (!workspace) throw new Outdated();
  await refuseNamesOfOthers(ctx, connection);
  return {
    name: nameOnPlatform(`${source.name} → ${destination.name}`, connection.id),
    sourceId,
    destinationId,
    status: connection.paused === 1 ? 'inactive' : workspace.status,
    cronExpression: await scheduleToTell(ctx, connection),
    streams,
    namespaceFormat: connection.namespace_format,
    prefix: connection.prefix,
    schemaChanges: connection.schema_changes,
  };
}

/** Compares the source's current streams with the wanted ones. Runs the source. */
async function streamsFor(
  ctx: PipelinesContext,
  source: SourceRow,
  connection: ConnectionRow,
  { sourceId, destinationId }: { sourceId: string; destinationId: string },
) {
  const fresh = connection.streams_anew === 2;
  const available = await whereConnectorMayFail(ctx, source, () =>
    refusing('streams', () => ctx.platform.listStreams(sourceId, destinationId, { fresh })),
  );
  await keepCatalog(ctx, connection, available);
  const choice = chooseStreams(available, await streamWishes(ctx, source, connection));
  if ('problem' in choice) throw new Refused(choice.problem);
  return choice.streams;
}

/**
 * A template of an earlier release may give two workspaces the same names. The workspace that came first keeps them.
 */
async function refuseNamesOfOthers(ctx: PipelinesContext, connection: ConnectionRow): Promise<void> {
  const { organization_id: organizationId, connection_template_id: templateId } = connection;
  const template = await findAnyConnectionTemplate(ctx.templates, organizationId, templateId);
  if (!template) return;
  const wanted = { organizationId, kind: 'destination', id: template.definition_id } as const;
  if (!mayMeet(await getDefinition(ctx.templates, wanted), template)) return;
  const others = await connections.listNamesOfOthers(ctx.store.db, organizationId, connection);
  if (others.some((other) => couldBeTheSame(connection, other))) throw new Refused(namesOfOthers);
}

/**
 * Retries, because the system behind the source may be away for a moment. If it stays away, the customer has to look at it.
 */
async function whereConnectorMayFail<T>(ctx: PipelinesContext, source: SourceRow, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PlatformError) || error.reason === undefined) throw error;
    if (source.attempts < connectorTries) throw error;
    throw new Refused(failureTexts(error.reason, await configurationParts(ctx, source)), { cause: error });
  }
}

/** The destination, in the version that is wanted. The first source of the workspace that needs it sees to that. */
export async function setUpDestination(
  ctx: PipelinesContext,
  workspaceId: string,
  id: string,
): Promise<MadeDestination> {
  const { db } = ctx.store;
  const known = await connections.findDestination(db, workspaceId, id);
  if (known && isMade(known) && known.applied_template_version === known.template_version) return known;
  const leaseId = ctx.runtime.newId();
  const row = await connections.leaseDestination(db, workspaceId, id, leaseId, leaseMs);
  if (!row) {
    // Another source of the workspace is making or changing the destination. That is quick, so this worker just waits.
    await ctx.runtime.sleep(100 + ctx.runtime.random() * 200);
    return await setUpDestination(ctx, workspaceId, id);
  }
  try {
    return isMade(row) ? await changeDestination(ctx, row) : await makeDestination(ctx, row);
  } catch (error) {
    if (error instanceof Refused) await connections.recordFailure(db, 'destinations', workspaceId, id, error.texts);
    throw error;
  } finally {
    await connections.releaseDestination(db, workspaceId, id, leaseId);
  }
}

async function makeDestination(ctx: PipelinesContext, row: DestinationRow): Promise<MadeDestination> {
  const { id, organization_id: organizationId, workspace_id: workspaceId } = row;
  // The template as it is now: when an operator corrects it, a destination that could not be made before is made.
  const template = await findAnyConnectionTemplate(ctx.templates, organizationId, row.connection_template_id);
  if (!template) throw new Error(`the template of the destination ${id} is gone`);
  const { version: templateVersion, destination_name: name } = template;
  const wanted = { name: nameOnPlatform(name, id), configuration: openDestinationConfig(ctx.templates, template) };
  let isMadeNow = false;
  const platformId = await refusing('destination', () =>
    createOnce(ctx, 'destinations', row, {
      find: () => ctx.platform.findConnector('destination', workspaceId, markOf(id)),
      prepare: async () => ({ workspaceId, definitionId: template.definition_id, ...wanted }),
      create: async (connector) => {
        const made = await ctx.platform.createConnector('destination', connector);
        isMadeNow = true;
        return made;
      },
      timeoutMs: createTimeoutMs,
    }),
  );
  const destination = { ...row, name, platform_id: platformId };
  // A destination that was found may be from an older version.
  if (!isMadeNow) await assertDestination(ctx, destination, wanted, templateVersion);
  await connections.recordDestinationApplied(ctx.store.db, workspaceId, id, { templateVersion, name });
  return destination;
}

async function changeDestination(ctx: PipelinesContext, row: MadeDestination): Promise<MadeDestination> {
  const { id, organization_id: organizationId, workspace_id: workspaceId, name } = row;
  if (row.applied_template_version === row.template_version) return row;
  const ref = { organizationId, kind: 'connection', templateId: row.connection_template_id } as const;
  const version = await getVersion(ctx.store.db, ref, row.template_version);
  const configuration = openVersion(ctx.templates, version);
  await assertDestination(ctx, row, { name: nameOnPlatform(name, id), configuration }, row.template_version);
  const applied = { templateVersion: row.template_version, name };
  await connections.recordDestinationApplied(ctx.store.db, workspaceId, id, applied);
  return row;
}

async function assertDestination(
  ctx: PipelinesContext,
  row: MadeDestination,
  wanted: { name: string; configuration: Configuration },
  version: number,
): Promise<void> {
  const ref = { table: 'destinations', workspaceId: row.workspace_id, id: row.id } as const;
  await whereDestinationMayBeLost(ctx, row, () =>
    refusing('destination', () =>
      assertSettled(ctx, ref, () => ctx.platform.replaceConnector('destination', row.platform_id, wanted), {
        content: String(version),
      }),
    ),
  );
}

/** Someone deleted the destination on the platform, but the operator's template still wants it: it is recreated. */
async function whereDestinationMayBeLost<T>(
  ctx: PipelinesContext,
  { id, workspace_id: workspaceId, platform_id: platformId }: MadeDestination,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(await isGoneFromPlatform(ctx, 'destination', { id, workspaceId }, error))) throw error;
    await unbind(ctx.store.db, { table: 'destinations', workspaceId, id }, platformId);
    throw new Waiting('the destination no longer exists on the platform and is being recreated', 1_000);
  }
}

/** In an inactive workspace no sync runs; its schedule, if it has one, brings the data once it is active. */
async function startFirstSync(
  ctx: PipelinesContext,
  source: SourceRow,
  connection: ConnectionRow,
  platformId: string,
): Promise<void> {
  const workspace = await findLiveWorkspace(ctx.workspaces, source.organization_id, source.workspace_id);
  // Where a quota holds syncs back, the first one waits for the end of the hold.
  if (workspace && workspace.held_since !== null && !workspace.isDeactivated) return;
  if (workspace && !(await readSettledWorkspace(ctx.store.db, source.organization_id, source.workspace_id))) {
    throw new Waiting('waiting until the status of the workspace is settled', 1_000);
  }
  const isThere = async () =>
    (await ctx.platform.listConnections(source.workspace_id)).some(({ id }) => id === platformId);
  // A connection that was deleted on the platform meanwhile has nothing to sync, and is shown as deleted.
  if (workspace?.status === 'active' && connection.paused === 0 && (await isThere())) {
    // A start whose answer was lost has left a job behind.
    const [job] = await ctx.platform.listJobs(platformId, { limit: 1, offset: 0 });
    if (job) await recordStarted(ctx, connection, job);
    // As many syncs run as may run: the first one waits until another one has ended.
    else if (!(await startNow(ctx, workspace, connection, platformId))) return;
  }
  await connections.forgetFirstSync(ctx.store.db, connection.workspace_id, connection.id);
}

async function startNow(
  ctx: PipelinesContext,
  workspace: WorkspaceRow,
  connection: ConnectionRow,
  platformId: string,
): Promise<boolean> {
  const isCounted = await acceptFirstSync(ctx.workspaces, workspace, connection.id);
  if (isCounted === false) return false;
  const { db } = ctx.store;
  try {
    const job = await refusing('firstSync', () => ctx.platform.startSync(platformId));
    if (job) await recordStarted(ctx, connection, job, { isCounted: isCounted ?? false });
    else if (isCounted) await endStart(db, connection.workspace_id, connection.id);
  } catch (error) {
    const mayHaveStarted = error instanceof PlatformError && !error.settled;
    if (isCounted && !mayHaveStarted) await endStart(db, connection.workspace_id, connection.id);
    throw error;
  }
  return true;
}
