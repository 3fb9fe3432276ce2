/**
 * Changes of one connection: its schedule, its streams, its status, its end. What is chosen for a connection lies beside its
 * version of the templates, so a rollout changes everything else of it and keeps the choice.
 *
 * What always holds: a change is on disk before it is acknowledged, and applied to the platform after that (set-up.ts). A
 * connection that is paused stays so when its workspace is activated, and a connection of an inactive workspace never runs. A
 * customer chooses only what the template leaves to customers.
 */

import type { Fault } from '@inlay/contract/errors';
import type {
  ChooseForConnectionRequest,
  Connection,
  ConnectionStreamList,
  UpdateConnectionRequest,
  WantedStream,
} from '@inlay/contract/pipelines/connections';
import { shortestIntervalMs } from '@inlay/schedule/intervals';
import { readQuartz } from '@inlay/schedule/quartz';
import { mayChangeIn } from '../../catalog/forms/customer-choice.ts';
import { findAnyConnectionTemplate } from '../../catalog/templates/connection-templates.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionRow } from '../../kernel/db/tables.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import { holdLiveWorkspace, recordOwnStatus } from '../../tenancy/workspaces/live-workspaces.ts';
import { delayOf } from '../../tenancy/workspaces/operations.ts';
import { wakeSources } from '../apply-version.store.ts';
import * as changes from '../connection-changes.store.ts';
import type { PipelinesContext, Scope } from '../context.ts';
import { recordConnections, recordConnectionUpdated, settingsOfConnection } from '../entries.ts';
import { refreshHealth, refreshSourceHealth } from '../jobs/jobs.ts';
import { readConnectionVersion } from '../set-up/apply-version.ts';
import { setUpSoon, setUpSource } from '../set-up/set-up.ts';
import { getCatalog, ownStreamsIn, presentStreams, type StreamCatalog } from '../set-up/stream-catalogs.ts';
import { faultOfWish, streamFinder, streamKey } from '../set-up/streams.ts';
import { callPlatform, getConnection, getOneConnection } from './connections.ts';

/** How long a request waits until the platform has deleted a connection. */
const patienceMs = 25_000;

export async function updateConnection(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
  request: UpdateConnectionRequest,
): Promise<Connection> {
  return await change(ctx, scope, id, request);
}

/** For customers: within what the template leaves to them. */
export async function chooseForConnection(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
  request: ChooseForConnectionRequest,
): Promise<Connection> {
  const may = mayChangeIn(await getConnection(ctx, scope, id));
  const { cron_expression: cron, streams, follow_template: followed = [] } = request;
  const choosesStreams = streams !== undefined || followed.includes('streams');
  const choosesSchedule = cron !== undefined || followed.includes('cron_expression');
  if ((choosesStreams && !may.streams) || (choosesSchedule && !may.schedule)) throw new AppError('choice_not_offered');
  if (may.schedule && cron != null) refuseTooOften(ctx, cron, may.schedule.shortest_minutes);
  // Only what is named here: a request may carry fields that this endpoint does not know, and operators' do.
  return await change(ctx, scope, id, {
    ...(cron !== undefined && { cron_expression: cron }),
    ...(streams && {
      streams: streams.map(({ name, namespace }) => ({ name, ...(namespace !== undefined && { namespace }) })),
    }),
    follow_template: followed,
  });
}

function refuseTooOften({ runtime }: PipelinesContext, expression: string, shortestMinutes: number): void {
  const intervalMs = shortestIntervalMs(readQuartz(expression), new Date(runtime.now()));
  if (intervalMs === undefined || intervalMs >= shortestMinutes * 60_000) return;
  const msg = `syncs must be at least ${shortestMinutes} minutes apart`;
  throw invalidRequest({ loc: ['body', 'cron_expression'], msg, type: 'value_error' });
}

/** The source is asked for its streams, and its connection takes the source as it is now. */
export async function refreshConnection(ctx: PipelinesContext, scope: Scope, id: string): Promise<Connection> {
  return await recordChange(ctx, scope, id, async (tx, row) => {
    await changes.changeSettings(tx, row.workspace_id, row.id, { streams_anew: 2 });
    return { isChanged: true, changed: ['streams'] };
  });
}

async function change(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
  request: UpdateConnectionRequest,
): Promise<Connection> {
  const { status, cron_expression: cron, streams: given, follow_template: followed = [] } = request;
  const twice = followed.filter((field) => request[field] !== undefined);
  if (twice.length > 0) {
    const msg = `either set ${twice.join(' and ')} or follow the template, not both`;
    throw invalidRequest({ loc: ['body', 'follow_template'], msg, type: 'value_error' });
  }
  const own = given && (await acceptStreams(ctx, scope, id, given));
  const scheduleNow = followed.includes('cron_expression') ? await presentSchedule(ctx, scope, id) : null;
  return await recordChange(ctx, scope, id, async (tx, row) => {
    const settings = {
      ...(cron !== undefined && { cron_expression: cron === null ? null : readQuartz(cron), own_schedule: 1 }),
      ...(own && { own_streams: JSON.stringify(own) }),
      ...(followed.includes('cron_expression') && {
        cron_expression: await templatesSchedule(tx, row, scheduleNow),
        own_schedule: 0,
      }),
      ...(followed.includes('streams') && { own_streams: null }),
    };
    const differing = Object.entries(settings).filter(([name, value]) => row[name as keyof typeof settings] !== value);
    const isChanged = differing.length > 0;
    if (isChanged) {
      const isChosenAnew = differing.some(([name]) => name === 'own_streams');
      await changes.changeSettings(tx, row.workspace_id, id, {
        ...Object.fromEntries(differing),
        // Streams still waiting to be read from the start keep waiting.
        ...(isChosenAnew && { streams_anew: Math.max(1, row.streams_anew) }),
      });
    }
    const fields = differing.map(([column]) => fieldOf[column] ?? column);
    if (status === undefined) return { isChanged, changed: [...new Set(fields)] };
    // Sent even if nothing changes here: someone may have changed it on the platform.
    const isPaused = status === 'inactive';
    await changes.changeStatus(tx, row.workspace_id, id, isPaused);
    const isOther = (row.paused === 1) !== isPaused;
    return { isChanged: true, isPaused, changed: [...new Set([...fields, ...(isOther ? ['status'] : [])])] };
  });
}

/** The names of columns in the API. Who chose a schedule belongs to the schedule. */
const fieldOf: Record<string, string> = { own_schedule: 'cron_expression', own_streams: 'streams' };

interface Change {
  isChanged: boolean;
  /** What is other than before, in the words of the API. */
  changed: string[];
  /** Where its status changes. */
  isPaused?: boolean;
}

async function recordChange(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
  work: (tx: Db, row: ConnectionRow) => Promise<Change>,
): Promise<Connection> {
  const { organizationId, workspaceId } = scope;
  const known = await getConnection(ctx, scope, id);
  if (known.platform_state === 'gone') throw new AppError('platform_lost_connection');
  const isChanged = await ctx.store.transaction(async (tx) => {
    const workspace = await holdLiveWorkspace(tx, organizationId, workspaceId);
    const row = await changes.lockConnection(tx, workspaceId, id);
    if (!row) throw new AppError('connection_not_found');
    const { isChanged, isPaused, changed } = await work(tx, row);
    const after = (await changes.lockConnection(tx, workspaceId, id)) ?? row;
    await recordConnectionUpdated(ctx.journal, tx, { organizationId, workspaceId }, id, changed, {
      before: settingsOfConnection(row),
      after: settingsOfConnection(after),
    });
    if (isPaused !== undefined && row.platform_id !== null) {
      await recordOwnStatus(tx, workspace, { platformId: row.platform_id, isPaused });
    }
    if (!isChanged) return false;
    await wakeSources(tx, workspaceId, [row.source_id]);
    await refreshHealth(ctx, tx, [workspaceId], { ids: [id] });
    return true;
  });
  if (isChanged) setUpSoon(ctx, { workspaceId, id: known.source_id });
  return await getOneConnection(ctx, scope, id);
}

async function presentSchedule(ctx: PipelinesContext, scope: Scope, id: string): Promise<string | null> {
  const { connection_template_id: templateId, cron_expression } = await getConnection(ctx, scope, id);
  const template = await findAnyConnectionTemplate(ctx.templates, scope.organizationId, templateId);
  return template ? template.cron_expression : cron_expression;
}

/** What the connection's version of its template says; of a connection from before versions, what the template says now. */
async function templatesSchedule(tx: Db, row: ConnectionRow, scheduleNow: string | null): Promise<string | null> {
  const { organization_id: organizationId, connection_template_id: templateId, template_version } = row;
  if (template_version === 0) return scheduleNow;
  const ref = { organizationId, kind: 'connection', templateId } as const;
  return (await readConnectionVersion(tx, ref, template_version)).content.cron_expression;
}

/** As they are stored: each with its namespace, in the order of the source. */
async function acceptStreams(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
  given: readonly WantedStream[],
): Promise<WantedStream[]> {
  const connection = await getConnection(ctx, scope, id);
  const catalog = await callPlatform(() => getCatalog(ctx, connection));
  const isCustomer = scope.audience === 'customer';
  const offered = new Set(presentStreams(catalog, isCustomer).map(streamKey));
  const find = streamFinder(catalog.streams.filter((stream) => offered.has(streamKey(stream))));
  const before = new Map(ownStreamsIn(connection)?.map((stream) => [streamKey(stream), stream]));
  const accepted = new Map<string, WantedStream>();
  const faults: Fault[] = [];
  given.forEach((wanted, index) => {
    const stream = find(wanted);
    const fault = stream ? faultOfWish(stream, wanted, catalog.wishes.customization) : unknownStream(isCustomer);
    const isTwice = stream && accepted.has(streamKey(stream));
    if (fault)
      faults.push({ loc: ['body', 'streams', String(index), fault.field], msg: fault.msg, type: 'value_error' });
    else if (isTwice) {
      faults.push({
        loc: ['body', 'streams', String(index), 'name'],
        msg: 'this stream is listed twice',
        type: 'value_error',
      });
    }
    if (!stream) return;
    const { name, namespace } = stream;
    const named = { name, ...(namespace !== undefined && { namespace }) };
    // How a stream is synced is for operators to choose, and stays when a customer chooses among streams.
    accepted.set(streamKey(stream), { ...(isCustomer ? before.get(streamKey(stream)) : wanted), ...named });
  });
  if (faults.length > 0) throw invalidRequest(...faults);
  return inOrder(catalog, accepted);
}

function unknownStream(isCustomer: boolean) {
  const hint = isCustomer ? '' : '; refresh the connection to discover new streams';
  return { field: 'name', msg: `the source has no such stream${hint}` };
}

/** Equal choices are equal texts, whatever the order in which they were given. */
function inOrder({ streams }: StreamCatalog, accepted: ReadonlyMap<string, WantedStream>): WantedStream[] {
  return streams.flatMap((stream) => accepted.get(streamKey(stream)) ?? []);
}

export async function listStreams(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<ConnectionStreamList> {
  const connection = await getConnection(ctx, scope, id);
  const catalog = await callPlatform(() => getCatalog(ctx, connection));
  const shown = presentStreams(catalog, scope.audience === 'customer');
  return { data: shown.slice(offset, offset + limit), total: shown.length, read_at: isoTime(catalog.readAt) };
}

/** Records the deletion, then deletes on the platform: now, or later if the platform is unavailable. */
export async function deleteConnection(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
): Promise<{ id: string; deleted_at: string }> {
  const { organizationId, workspaceId } = scope;
  const { source_id: sourceId } = await getConnection(ctx, scope, id);
  const deletedAt = await ctx.store.transaction(async (tx) => {
    const workspace = await holdLiveWorkspace(tx, organizationId, workspaceId);
    const row = await changes.deleteConnection(tx, workspaceId, id);
    if (!row) throw new AppError('connection_not_found');
    await recordConnections(ctx.journal, tx, { organizationId, workspaceId }, 'connection.deleted', [id]);
    if (row.platform_id !== null) {
      await recordOwnStatus(tx, workspace, { platformId: row.platform_id, isPaused: true });
    }
    await wakeSources(tx, workspaceId, [sourceId]);
    await refreshHealth(ctx, tx, [workspaceId], { sourceId });
    // It may have been the last of its source.
    await refreshSourceHealth(ctx.journal, tx, workspaceId, sourceId);
    return row.deleted_at as number;
  });
  const deadline = ctx.runtime.elapsed() + patienceMs;
  for (;;) {
    const cause = await setUpSource(ctx, { workspaceId, id: sourceId });
    const row = await changes.findRemoval(ctx.store.db, workspaceId, id);
    if (row?.removal_due !== 1) return { id, deleted_at: isoTime(deletedAt) };
    // Without a cause another worker is at work on the source, and will notice the deletion.
    if (cause || ctx.runtime.elapsed() >= deadline) {
      const delay = delayOf(cause instanceof PlatformError ? cause : undefined);
      throw new AppError('connection_deletion_recorded', { delay }, { cause });
    }
    await ctx.runtime.sleep(100 + ctx.runtime.random() * 200);
  }
}
