/**
 * Rollouts apply a template version to existing sources, destinations and connections. This file starts, shows, pauses
 * and ends them. rollouts.worker.ts runs them, and the set-up worker updates the platform.
 *
 * Invariants: a rollout is recorded with its version and all its workspaces in one transaction. Versions only grow, so
 * a rollout never reverts a later one. A template has at most one open rollout.
 */
import type {
  Apply,
  Rollout,
  RolloutItemList,
  RolloutItemState,
  RolloutPlan,
  RolloutState,
} from '@inlay/contract/catalog/rollouts';
import type { Db } from '../kernel/db/open.ts';
import type { RolloutRow } from '../kernel/db/tables.ts';
import { AppError } from '../kernel/errors.ts';
import { isoTime } from '../kernel/iso-time.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { makerOf, type Operator, type TemplateRef } from '../kernel/template-ref.ts';
import type { Journal } from '../log/events/journal.ts';
import type { Retirement } from '../pipelines/connections/retire.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { listWorkspaces } from './retirement.store.ts';
import { recordRollout } from './rollout-entries.ts';
import { assignStages } from './rollout-stages.ts';
import * as rollouts from './rollouts.store.ts';

const listed = 50;

/** What starting a rollout takes: the caller's transaction has the rest. */
interface Starting {
  runtime: Runtime;
  journal: Journal;
}

export interface StartedRollout {
  id: string;
  /** For a source template: number of sources it changes. */
  sources: number;
}

/** In the transaction of the change. `apply` is not `new_only`. */
export async function startRollout(
  ctx: Starting,
  tx: Db,
  { template, version, by, apply }: { template: TemplateRef; version: number; by: Operator; apply: Apply },
): Promise<StartedRollout> {
  const { organizationId, kind } = template;
  const plan = { ...completePlan(apply), may_move_secrets: by.permission === 'full' };
  const sources = kind === 'source' ? await rollouts.countSourcesBehind(tx, template, version) : 0;
  const workspaceIds = await rollouts.listWorkspacesBehind(tx, template, version);
  const tagged = new Map<number, Set<string>>();
  for (const [index, { tags }] of plan.stages.entries()) {
    if (tags) tagged.set(index + 1, await rollouts.listTaggedWorkspaces(tx, organizationId, tags));
  }
  const stages = assignStages(plan.stages, workspaceIds, (stage) => tagged.get(stage) ?? new Set());
  const id = await begin(ctx, tx, template, { action: 'version', version, plan, stages, by });
  if (stages.size === 0) {
    const to = { from: ['running'], to: 'finished', reason: null } as const;
    const changed = await rollouts.changeState(tx, organizationId, id, to);
    if (changed) await recordRollout(ctx.journal, tx, changed, 'template.rollout_finished');
  }
  return { id, sources };
}

/** In the transaction that deletes the template: pauses or deletes what was made from it. */
export async function startRetirement(
  ctx: Starting,
  tx: Db,
  { template, version, by, how }: { template: TemplateRef; version: number; by: Operator; how: Retirement },
): Promise<{ id: string }> {
  // A workspace where it fails does not help the others by stopping it.
  const plan = { ...completePlan('all'), stop_at_failed_percent: 100 };
  const workspaceIds = await listWorkspaces(tx, template, how);
  const stages = new Map(workspaceIds.map((workspaceId) => [workspaceId, 1]));
  return { id: await begin(ctx, tx, template, { action: how, version, plan, stages, by }) };
}

interface NewRollout extends Pick<RolloutRow, 'action' | 'version'> {
  plan: StoredPlan;
  /** Stage per workspace. */
  stages: ReadonlyMap<string, number>;
  by: Operator;
}

/** Takes over from a rollout of the template that has not ended. Gives the id. */
async function begin(
  { runtime, journal }: Starting,
  tx: Db,
  { organizationId, kind, templateId }: TemplateRef,
  { action, version, plan, stages, by }: NewRollout,
): Promise<string> {
  for (const row of await rollouts.supersede(tx, organizationId, templateId)) {
    await recordRollout(journal, tx, row, 'template.rollout_stopped');
  }
  const id = runtime.newId();
  const row = await rollouts.insertRollout(tx, organizationId, {
    ...{ id, kind, template_id: templateId, action, version, plan: JSON.stringify(plan), made_by: makerOf(by) },
    stage: stages.size === 0 ? 1 : Math.min(...new Set(stages.values())),
  });
  await rollouts.insertItems(tx, organizationId, id, stages);
  await recordRollout(journal, tx, { before: undefined, after: row }, 'template.rollout_started', stages.size);
  return id;
}

function completePlan(apply: Apply): Required<RolloutPlan> {
  const given = typeof apply === 'string' ? {} : apply;
  return {
    stages: given.stages ?? [],
    pause_between_stages: given.pause_between_stages ?? false,
    stop_at_failed_percent: given.stop_at_failed_percent ?? 10,
    at_once: given.at_once ?? 20,
    move_data: given.move_data ?? false,
  };
}

interface StoredPlan extends Required<RolloutPlan> {
  /** Whether customers' secrets may go to new addresses. Missing in rollouts of earlier versions. */
  may_move_secrets?: boolean;
}

export function planOf(row: RolloutRow): StoredPlan {
  return JSON.parse(row.plan);
}

export async function listRollouts(ctx: PipelinesContext, template: TemplateRef): Promise<Rollout[]> {
  const rows = await rollouts.listRollouts(ctx.store.db, template, listed);
  return await Promise.all(rows.map((row) => present(ctx, row)));
}

export async function getRollout(ctx: PipelinesContext, template: TemplateRef, id: string): Promise<Rollout> {
  return await present(ctx, await find(ctx, template, id));
}

async function find(ctx: PipelinesContext, template: TemplateRef, id: string): Promise<RolloutRow> {
  const row = await rollouts.findRollout(ctx.store.db, template, id);
  if (!row) throw new AppError('rollout_not_found');
  return row;
}

export async function listRolloutItems(
  ctx: PipelinesContext,
  template: TemplateRef,
  id: string,
  { limit, cursor, state }: { limit: number; cursor: string | undefined; state: RolloutItemState | undefined },
): Promise<RolloutItemList> {
  await find(ctx, template, id);
  const page = { state, after: cursor, limit: limit + 1 };
  const rows = await rollouts.listItems(ctx.store.db, template.organizationId, id, page);
  const data = rows.slice(0, limit).map(({ workspace_id, stage, state, reason }) => ({
    workspace_id,
    stage,
    state,
    reason,
  }));
  return { data, next: rows.length > limit ? (data.at(-1)?.workspace_id ?? null) : null };
}

export type RolloutCommand = 'pause' | 'resume' | 'stop';

const commands = {
  pause: { to: 'paused', reason: 'Paused by an operator.', type: 'template.rollout_paused' },
  resume: { to: 'running', reason: null, type: 'template.rollout_resumed' },
  stop: { to: 'stopped', reason: 'Stopped by an operator.', type: 'template.rollout_stopped' },
} as const satisfies Record<RolloutCommand, { to: RolloutState; reason: string | null; type: string }>;

/** What is being changed at the moment is finished all the same. */
export async function commandRollout(
  ctx: PipelinesContext,
  template: TemplateRef,
  id: string,
  command: RolloutCommand,
): Promise<Rollout> {
  await find(ctx, template, id);
  const { to, reason, type } = commands[command];
  const row = await ctx.store.transaction(async (tx) => {
    const from = (['running', 'paused'] as const).filter((state) => state !== to);
    const changed = await rollouts.changeState(tx, template.organizationId, id, { from, to, reason });
    if (changed) await recordRollout(ctx.journal, tx, changed, type);
    if (changed || to === 'stopped') return changed?.after;
    // A rollout that is paused already stays so, now because an operator wants it.
    return (await rollouts.changeState(tx, template.organizationId, id, { from: [to], to, reason }))?.after;
  });
  if (!row) throw new AppError('rollout_ended');
  return await present(ctx, row);
}

async function present({ store }: PipelinesContext, row: RolloutRow): Promise<Rollout> {
  const counts = await rollouts.countItems(store.db, row.organization_id, row.id);
  const { may_move_secrets: _, ...plan } = planOf(row);
  const sum = (...states: RolloutItemState[]) =>
    counts.filter(({ state }) => states.includes(state)).reduce((total, { count }) => total + count, 0);
  return {
    id: row.id,
    template_id: row.template_id,
    action: row.action,
    version: row.version,
    state: row.state,
    state_reason: row.state_reason,
    stage: row.stage,
    ...plan,
    workspaces: {
      total: sum('waiting', 'changing', 'done', 'failed', 'skipped'),
      waiting: sum('waiting'),
      changing: sum('changing'),
      done: sum('done'),
      failed: sum('failed'),
      skipped: sum('skipped'),
    },
    created_at: isoTime(row.created_at),
    ended_at: row.ended_at === null ? null : isoTime(row.ended_at),
  };
}
