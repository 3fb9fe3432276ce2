/**
 * Brings the platform to what a source is meant to be: the source itself with its present configuration, the destinations
 * its connections write to, the connections, their first sync; or, for one that is being deleted, nothing of it. Durable
 * and level-triggered: every pass reads what is wanted now and does what is missing, so it may be cut off anywhere and
 * taken up by any replica.
 *
 * What always holds: one worker per source (a lease, kept alive while a connector is at work); what the platform refuses is
 * told to the customer and not tried again before something changes; everything else is tried until it works.
 */
import { type Repetition, repeatedly } from '../background.ts';
import type { ConnectionRow, DestinationRow, SourceRow } from '../db/tables.ts';
import { getDefinition } from '../definitions/definitions.ts';
import { openConfiguration } from '../definitions/sealed-configuration.ts';
import { createTimeoutMs, slowCreateTimeoutMs } from '../platform/calls.ts';
import { PlatformError } from '../platform/platform.ts';
import { findAnyConnectionTemplate, openDestinationConfig } from '../templates/connection-templates.ts';
import { customizationOf, openDefaults } from '../templates/source-templates.ts';
import { findLiveWorkspace, recordNewConnection } from '../workspaces/connections.ts';
import { mergeWithDefaults } from './configuration.ts';
import * as connections from './connections.store.ts';
import type { PipelinesContext } from './context.ts';
import { createOnce, Waiting } from './create-once.ts';
import { templateOf } from './source-template.ts';
import * as sources from './sources.store.ts';
import { chooseStreams } from './streams.ts';

const leaseMs = 60_000;
const renewEveryMs = 20_000;
const maxBackoffMs = 300_000;

/** The customer or the operator has to change something; the message tells them. */
class Refused extends Error {}

/** Somebody else has taken over, or something newer is wanted. */
class Outdated extends Error {}

interface Work {
  ctx: PipelinesContext;
  row: SourceRow;
  leaseId: string;
}

/** Everything that is due for one source. Resolves when it is done, in other hands, or put off: then with the reason. */
export async function setUpSource(ctx: PipelinesContext, sourceId: string): Promise<PlatformError | undefined> {
  const leaseId = ctx.runtime.newId();
  for (;;) {
    const row = await sources.leaseSource(ctx.store.db, sourceId, leaseId, leaseMs);
    if (!row) return undefined;
    const work = { ctx, row, leaseId };
    try {
      if (await whileHolding(work, () => (row.lifecycle === 'live' ? setUp(work) : takeDown(work)))) return undefined;
    } catch (error) {
      if (error instanceof Outdated) continue;
      if (error instanceof Refused) {
        if (await sources.finishSource(ctx.store.db, sourceId, leaseId, row.version, error.message)) return undefined;
        continue;
      }
      return await putOff(work, error);
    }
  }
}

/** Renews the lease while the work goes on: a connector may take minutes, and a process that died must not hold it long. */
async function whileHolding<T>({ ctx, row, leaseId }: Work, doWork: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const renewal = (async () => {
    for (;;) {
      await ctx.runtime.sleep(renewEveryMs, over.signal);
      if (over.signal.aborted) return;
      await sources.leaseSource(ctx.store.db, row.id, leaseId, leaseMs);
    }
  })().catch((err) => ctx.log.warn({ err, sourceId: row.id }, 'a lease could not be renewed'));
  try {
    return await doWork();
  } finally {
    over.abort();
    await renewal;
  }
}

async function putOff({ ctx, row, leaseId }: Work, error: unknown): Promise<PlatformError | undefined> {
  if (!(error instanceof PlatformError) && !(error instanceof Waiting)) throw error;
  const backoffMs = ctx.runtime.random() * Math.min(maxBackoffMs, 1_000 * 2 ** row.attempts);
  const askedForMs = error instanceof Waiting ? error.delayMs : (error.retryAfterSeconds ?? 0) * 1000;
  const delayMs = error instanceof Waiting ? askedForMs : Math.max(backoffMs, askedForMs);
  await sources.postponeSource(ctx.store.db, row.id, leaseId, { delayMs, error: error.message });
  if (!(error instanceof PlatformError)) return undefined;
  ctx.log.warn({ sourceId: row.id, workspaceId: row.workspace_id, err: error }, 'a source is not set up yet');
  return error;
}

/** True when nothing is left to do. */
async function setUp(work: Work): Promise<boolean> {
  const { ctx, row, leaseId } = work;
  const workspace = await findLiveWorkspace(ctx.workspaces, row.organization_id, row.workspace_id);
  // Its deletion takes everything along.
  if (!workspace) return await sources.finishSource(ctx.store.db, row.id, leaseId, row.version, row.failure);
  const platformId = await setUpConnector(work);
  const planned = await connections.listConnectionsOfSource(ctx.store.db, row.id);
  const failures: string[] = [];
  for (const connection of planned) {
    try {
      await setUpConnection(work, connection, platformId);
    } catch (error) {
      // The others are not to blame.
      if (!(error instanceof Refused)) throw error;
      await connections.recordFailure(ctx.store.db, 'connections', connection.id, error.message);
      failures.push(error.message);
    }
  }
  return await sources.finishSource(ctx.store.db, row.id, leaseId, row.version, failures[0] ?? null);
}

/** The source itself, with its present name and configuration. */
async function setUpConnector({ ctx, row }: Work): Promise<string> {
  const template = await templateOf(ctx, row);
  const configuration = mergeWithDefaults(
    openConfiguration(ctx.sealer, 'source', row.id, row.sealed_config),
    openDefaults(ctx.templates, template),
  );
  const name = nameOnPlatform(row.name, row.id);
  const isNew = row.platform_id === null;
  const platformId = await refusing('the source', () =>
    createOnce(ctx, 'sources', row, {
      find: () => ctx.platform.findConnector('source', row.workspace_id, markOf(row.id)),
      create: () =>
        ctx.platform.createConnector('source', {
          workspaceId: row.workspace_id,
          name,
          definitionId: template.definition_id,
          configuration,
        }),
      timeoutMs: createTimeoutMs,
    }),
  );
  // One that was found rather than made may have been made from an older version.
  if (row.applied_version === row.version && !isNew) return platformId;
  const { settled } = await refusing('the source', () =>
    ctx.platform.replaceConnector('source', platformId, { name, configuration }),
  );
  // An earlier try may still take effect, and might undo a later change: assert once more when it no longer can.
  if (!settled) throw new Waiting('waiting for an unconfirmed change to settle', createTimeoutMs + ctx.settleMs);
  await sources.recordApplied(ctx.store.db, row.id, row.version);
  return platformId;
}

async function setUpConnection(work: Work, connection: ConnectionRow, sourceId: string): Promise<void> {
  const { ctx, row } = work;
  const destination = await setUpDestination(ctx, connection.destination_id);
  const destinationId = destination.platform_id as string;
  const platformId = await createOnce(ctx, 'connections', connection, {
    find: async () => {
      const existing = await ctx.platform.listConnections(row.workspace_id);
      return existing.find((one) => one.sourceId === sourceId && one.destinationId === destinationId)?.id;
    },
    create: () => createConnection(work, connection, destination, sourceId),
    timeoutMs: slowCreateTimeoutMs,
  });
  if (connection.is_set_up === 0) {
    await followWorkspace(work, platformId);
    await connections.recordSetUp(ctx.store.db, connection.id);
  }
  if (connection.first_sync_wanted === 1) await startFirstSync(work, connection, platformId);
}

async function createConnection(
  { ctx, row }: Work,
  connection: ConnectionRow,
  destination: DestinationRow,
  sourceId: string,
): Promise<string> {
  const destinationId = destination.platform_id as string;
  const template = await templateOf(ctx, row);
  const { suggestedStreams } = await getDefinition(ctx.templates, 'source', template.definition_id);
  const available = await refusing('its streams', () => ctx.platform.listStreams(sourceId, destinationId));
  const choice = chooseStreams(available, customizationOf(template), suggestedStreams);
  if ('problem' in choice) throw new Refused(choice.problem);
  const workspace = await findLiveWorkspace(ctx.workspaces, row.organization_id, row.workspace_id);
  if (!workspace) throw new Outdated();
  return await refusing('the connection', () =>
    ctx.platform.createConnection({
      name: nameOnPlatform(`${row.name} → ${destination.name}`, connection.id),
      sourceId,
      destinationId,
      status: workspace.status,
      cronExpression: connection.cron_expression,
      streams: choice.streams,
      namespaceFormat: connection.namespace_format,
      prefix: connection.prefix,
      schemaChanges: connection.schema_changes as 'ignore',
    }),
  );
}

/** Shared by the workspace's sources, so it has a lease of its own. */
async function setUpDestination(ctx: PipelinesContext, id: string): Promise<DestinationRow> {
  const { db } = ctx.store;
  const known = await connections.findDestination(db, id);
  if (known && known.platform_id !== null) return known;
  const leaseId = ctx.runtime.newId();
  const row = await connections.leaseDestination(db, id, leaseId, leaseMs);
  if (!row) {
    // Another source of the workspace is making it, which takes no time worth coming back for.
    await ctx.runtime.sleep(100 + ctx.runtime.random() * 200);
    return await setUpDestination(ctx, id);
  }
  try {
    const { organization_id: organizationId, workspace_id: workspaceId } = row;
    // As it is now: an operator who mends the template mends what could not be made with it.
    const template = await findAnyConnectionTemplate(ctx.templates, organizationId, row.connection_template_id);
    if (!template) throw new Error(`the template of the destination ${id} is gone`);
    const platformId = await refusing('the destination', () =>
      createOnce(ctx, 'destinations', row, {
        find: () => ctx.platform.findConnector('destination', workspaceId, markOf(id)),
        create: () =>
          ctx.platform.createConnector('destination', {
            workspaceId,
            name: nameOnPlatform(row.name, id),
            definitionId: template.definition_id,
            configuration: openDestinationConfig(ctx.templates, template),
          }),
        timeoutMs: createTimeoutMs,
      }),
    );
    await connections.recordFailure(db, 'destinations', id, null);
    return { ...row, platform_id: platformId };
  } catch (error) {
    if (error instanceof Refused) await connections.recordFailure(db, 'destinations', id, error.message);
    throw error;
  } finally {
    await connections.releaseDestination(db, id, leaseId);
  }
}

/**
 * A connection made while its workspace was being (de)activated follows the workspace. What is to be enabled with the
 * workspace is written down before the workspace is looked at again, so either we or whoever activates it sees the other.
 */
async function followWorkspace({ ctx, row }: Work, platformId: string): Promise<void> {
  const { organization_id: organizationId, workspace_id: workspaceId } = row;
  for (let before: string | undefined; ; ) {
    const workspace = await findLiveWorkspace(ctx.workspaces, organizationId, workspaceId);
    if (!workspace || workspace.status === before) return;
    await recordNewConnection(ctx.workspaces, workspaceId, platformId, workspace.status);
    await ctx.platform.setConnectionStatus(platformId, workspace.status);
    before = workspace.status;
  }
}

/** In an inactive workspace no sync runs; its schedule, if it has one, brings the data once it is active. */
async function startFirstSync({ ctx, row }: Work, connection: ConnectionRow, platformId: string): Promise<void> {
  const workspace = await findLiveWorkspace(ctx.workspaces, row.organization_id, row.workspace_id);
  if (workspace?.status === 'active') {
    // A start whose answer was lost has left a job behind.
    const jobs = await ctx.platform.listJobs(platformId, { limit: 1, offset: 0 });
    if (jobs.length === 0) await ctx.platform.startSync(platformId);
  }
  await connections.forgetFirstSync(ctx.store.db, connection.id);
}

/** For a source that is being deleted. */
async function takeDown({ ctx, row }: Work): Promise<boolean> {
  const platformId = row.platform_id ?? (await ctx.platform.findConnector('source', row.workspace_id, markOf(row.id)));
  if (platformId !== undefined) await ctx.platform.deleteConnector('source', platformId);
  else await waitUntilSettled(ctx, row);
  await ctx.store.transaction(async (tx) => {
    const deleted = await sources.recordSourceDeleted(tx, row.id);
    await connections.recordConnectionsDeleted(tx, row.id, deleted?.deleted_at ?? ctx.runtime.now());
  });
  return true;
}

/** A create may still take effect, and would leave a source that nobody knows. */
async function waitUntilSettled(ctx: PipelinesContext, row: SourceRow): Promise<void> {
  const now = await ctx.store.now();
  if (row.no_post_before > now) throw new Waiting('waiting for an unconfirmed request to settle', 2_000);
}

/** What the platform will never accept is told apart from what it may accept later. */
async function refusing<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PlatformError && error.failure === 'rejected' && !error.isConflict) {
      throw new Refused(`The platform did not accept ${what}. Check the configuration.`, { cause: error });
    }
    throw error;
  }
}

/** Names on the platform end in a mark of ours, by which a create whose answer was lost is found again. */
function nameOnPlatform(name: string, id: string): string {
  return `${name}${markOf(id)}`;
}

function markOf(id: string): string {
  return ` (${id.replaceAll('-', '').slice(0, 12)})`;
}

const everyMs = 5_000;
const batch = 100;
/** Each may keep a connector busy; the platform has limits of its own. */
const atATime = 8;

export interface SetUps extends Repetition {
  /** One pass over every source that is due. */
  pass(): Promise<void>;
  backlog(): Promise<number>;
}

/** Takes up what was put off, and what a process that died has left. */
export function createSetUps(ctx: PipelinesContext): SetUps {
  async function pass(stopping?: AbortSignal): Promise<void> {
    const due = await sources.listDueSources(ctx.store.db, batch);
    const work = async () => {
      for (let id = due.shift(); id !== undefined && !stopping?.aborted; id = due.shift()) await setUpSource(ctx, id);
    };
    await Promise.all(Array.from({ length: atATime }, work));
  }
  const pauseMs = () => everyMs * (0.75 + ctx.runtime.random() / 2);
  return {
    pass: () => pass(),
    ...repeatedly(ctx, { what: 'setting up sources', pauseMs, work: pass }),
    backlog: () => sources.countDueSources(ctx.store.db),
  };
}
