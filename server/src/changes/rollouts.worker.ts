/**
 * Carries out rollouts, of all organizations: gives workspaces the new version, a few at a time, stage after stage, and
 * looks how those that have it do. Runs in every replica; a lease per rollout keeps them apart.
 *
 * What always holds: a workspace gets the version and its item says so in one transaction, in which the rollout still runs;
 * so a process that dies leaves nothing half-way, and nothing is changed after a rollout was paused or stopped.
 */

import type { Definition } from '../catalog/definitions/definition.ts';
import { definitionOf, getDefinition } from '../catalog/definitions/definitions.ts';
import { findAnySourceTemplate } from '../catalog/templates/source-templates.ts';
import { type Repetition, repeatedly } from '../kernel/background.ts';
import type { RolloutItemRow, RolloutRow } from '../kernel/db/tables.ts';
import { AppError } from '../kernel/errors.ts';
import type { TemplateRef } from '../kernel/template-ref.ts';
import { retireInWorkspace } from '../pipelines/connections/retire.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { type ApplyOutcome, applyToConnections, applyToSources } from '../pipelines/set-up/apply-version.ts';
import { setUpSoon } from '../pipelines/set-up/set-up.ts';
import { changeUnused } from '../pipelines/set-up/unused-destinations.ts';
import { holdLiveWorkspace } from '../tenancy/workspaces/live-workspaces.ts';
import { addLeftOver, judgeRetirement } from './retirement.ts';
import { recordRollout } from './rollout-entries.ts';
import { isTooMany } from './rollout-stages.ts';
import * as rollouts from './rollouts.store.ts';
import { planOf } from './rollouts.ts';
import { listOpenRollouts } from './rollouts.worker.store.ts';

const everyMs = 1_000;
const leaseMs = 30_000;
const batch = 20;

export interface Rollouts extends Repetition {
  /** One pass over every open rollout. */
  pass(): Promise<void>;
}

export function createRollouts(ctx: PipelinesContext): Rollouts {
  async function pass(stopping?: AbortSignal): Promise<void> {
    for (const { organization_id: organizationId, id } of await listOpenRollouts(ctx.store.db, batch)) {
      if (stopping?.aborted) return;
      try {
        await advance(ctx, organizationId, id);
      } catch (err) {
        // One rollout must not hold up the others.
        ctx.log.error({ err, rolloutId: id }, 'Rollout failed; will retry');
      }
    }
  }
  const pauseMs = () => everyMs * (0.75 + ctx.runtime.random() / 2);
  return { pass: () => pass(), ...repeatedly(ctx, { what: 'Rollout pass', pauseMs, work: pass }) };
}

async function advance(ctx: PipelinesContext, organizationId: string, id: string): Promise<void> {
  const { db } = ctx.store;
  const leaseId = ctx.runtime.newId();
  const rollout = await rollouts.leaseRollout(db, organizationId, id, leaseId, leaseMs);
  if (!rollout) return;
  try {
    await judge(ctx, rollout);
    if (rollout.state === 'running') await goOn(ctx, rollout, leaseId);
  } finally {
    await rollouts.releaseRollout(db, organizationId, id, leaseId);
  }
}

const templateOf = (row: RolloutRow): TemplateRef => ({
  organizationId: row.organization_id,
  kind: row.kind,
  templateId: row.template_id,
});

/** How the workspaces do that have been changed. */
async function judge(ctx: PipelinesContext, rollout: RolloutRow): Promise<void> {
  const { db } = ctx.store;
  for (let after: string | undefined; ; ) {
    const page = { state: 'changing', after, limit: 200 } as const;
    const items = await rollouts.listItems(db, rollout.organization_id, rollout.id, page);
    const verdictOn = await judgeOf(ctx, rollout, items);
    for (const item of items) {
      const verdict = verdictOn(item);
      if (verdict) await rollouts.changeItem(db, rollout.organization_id, item, verdict);
    }
    after = items.at(-1)?.workspace_id;
    if (items.length < 200) return;
  }
}

type ItemVerdict = Pick<RolloutItemRow, 'state' | 'reason'> | undefined;

async function judgeOf(
  ctx: PipelinesContext,
  rollout: RolloutRow,
  items: RolloutItemRow[],
): Promise<(item: RolloutItemRow) => ItemVerdict> {
  const ids = items.map(({ workspace_id }) => workspace_id);
  const template = templateOf(rollout);
  if (rollout.action !== 'version') {
    const verdicts = await judgeRetirement(ctx, template, rollout.action, ids);
    return ({ workspace_id }) => {
      const verdict = verdicts.get(workspace_id);
      return verdict && { reason: null, ...verdict };
    };
  }
  const left = template.kind === 'connection' ? await changeUnused(ctx, template, ids) : undefined;
  const standings = await rollouts.standingsOf(ctx.store.db, template, rollout.version, ids);
  const byWorkspace = new Map(standings.map((standing) => [standing.workspace_id, standing]));
  return (item) =>
    left?.has(item.workspace_id) ? undefined : verdictOn(rollout, item, byWorkspace.get(item.workspace_id));
}

function verdictOn({ kind }: RolloutRow, item: RolloutItemRow, standing: rollouts.Standing | undefined): ItemVerdict {
  if (!standing) return { state: 'skipped', reason: 'The workspace no longer has anything made from the template.' };
  const { pending, behind, failure } = standing;
  if (pending === 1) return undefined;
  const hasFailed = kind === 'source' ? failure !== null : behind === 1;
  if (hasFailed) {
    const reason = failure ?? 'The platform rejected the change.';
    return item.failed_before === 1
      ? { state: 'skipped', reason: `Already failing before the rollout: ${reason}` }
      : { state: 'failed', reason };
  }
  if (behind === 1) return { state: 'skipped', reason: 'The customer has to enter something first.' };
  return { state: 'done', reason: null };
}

async function goOn(ctx: PipelinesContext, rollout: RolloutRow, leaseId: string): Promise<void> {
  const { organization_id: organizationId, id } = rollout;
  const plan = planOf(rollout);
  const end = async (to: 'paused' | 'stopped' | 'finished', reason: string | null) => {
    const row = await ctx.store.transaction(async (tx) => {
      const changed = await rollouts.changeState(tx, organizationId, id, { from: ['running'], to, reason });
      if (changed) await recordRollout(ctx.journal, tx, changed, `template.rollout_${to}`);
      return changed?.after;
    });
    if (!row) return;
    const about = { rolloutId: id, templateId: row.template_id, version: row.version };
    if (to === 'stopped') ctx.log.warn(about, 'Rollout stopped: too many workspaces failed');
    else ctx.log.info(about, `Rollout is ${to}`);
  };

  const counts = await rollouts.countItems(ctx.store.db, organizationId, id);
  const sum = (matches: (count: rollouts.StateCount) => boolean) =>
    counts.filter(matches).reduce((total, { count }) => total + count, 0);
  const failed = sum(({ state }) => state === 'failed');
  const done = sum(({ state }) => state === 'done');
  if (isTooMany({ failed, done, total: sum(() => true) }, plan.stop_at_failed_percent)) {
    return await end('stopped', `Too many workspaces failed: ${failed}, with ${done} done.`);
  }
  const open = counts.filter(({ state }) => state === 'waiting' || state === 'changing');
  if (open.length === 0) {
    if (rollout.action !== 'version' && (await addLeftOver(ctx, rollout, rollout.action)) > 0) return;
    return await end('finished', null);
  }
  const stage = Math.min(...open.map((count) => count.stage));
  const changing = sum(({ state }) => state === 'changing');
  if (stage > rollout.stage) {
    const state = plan.pause_between_stages ? 'paused' : 'running';
    const state_reason = plan.pause_between_stages ? `Stage ${stage} starts when you resume the rollout.` : null;
    const begun = await ctx.store.transaction(async (tx) => {
      const row = await rollouts.beginStage(tx, organizationId, id, { stage, state, state_reason });
      if (row?.after.state === 'paused') await recordRollout(ctx.journal, tx, row, 'template.rollout_paused');
      return row?.after;
    });
    if (begun?.state !== 'running') return;
  }
  const waiting = await rollouts.listItems(ctx.store.db, organizationId, id, {
    state: 'waiting',
    stage,
    limit: Math.max(0, plan.at_once - changing),
  });
  if (waiting.length === 0) return;
  const definition = await sourceDefinition(ctx, rollout);
  for (const item of waiting) if (!(await changeWorkspace(ctx, rollout, leaseId, item, definition))) return;
}

async function sourceDefinition(ctx: PipelinesContext, rollout: RolloutRow): Promise<Definition | undefined> {
  if (rollout.kind !== 'source' || rollout.action !== 'version') return undefined;
  const template = await findAnySourceTemplate(ctx.templates, rollout.organization_id, rollout.template_id);
  // Before a transaction: reading definitions may take a while.
  return template && (await getDefinition(ctx.templates, definitionOf(template)));
}

/** False when the rollout no longer runs, or is in other hands. */
async function changeWorkspace(
  ctx: PipelinesContext,
  rollout: RolloutRow,
  leaseId: string,
  item: RolloutItemRow,
  definition: Definition | undefined,
): Promise<boolean> {
  const { organization_id: organizationId, id } = rollout;
  const { move_data: moveData, may_move_secrets: mayRedirectSecrets = false } = planOf(rollout);
  const wanted = { template: templateOf(rollout), version: rollout.version, moveData, mayRedirectSecrets };
  const outcome = await ctx.store.transaction(async (tx): Promise<ApplyOutcome | undefined> => {
    const held = await rollouts.leaseRollout(tx, organizationId, id, leaseId, leaseMs);
    if (held?.state !== 'running') return undefined;
    const outcome = await ifLive(async () => {
      const workspace = await holdLiveWorkspace(tx, organizationId, item.workspace_id);
      if (rollout.action !== 'version') {
        return await retireInWorkspace(ctx, tx, workspace, templateOf(rollout), rollout.action);
      }
      return definition
        ? await applyToSources(ctx, tx, workspace, wanted, definition)
        : await applyToConnections(ctx, tx, workspace, wanted);
    });
    const failedBefore = outcome.state === 'changing' && outcome.failedBefore;
    const reason = outcome.state === 'skipped' ? outcome.reason : null;
    await rollouts.changeItem(tx, organizationId, item, {
      state: outcome.state,
      reason,
      failed_before: failedBefore ? 1 : 0,
    });
    return outcome;
  });
  if (!outcome) return false;
  if (outcome.state === 'changing') {
    for (const sourceId of outcome.sources) setUpSoon(ctx, { workspaceId: item.workspace_id, id: sourceId });
  }
  return true;
}

/** A workspace that is gone, or going, needs no change. */
async function ifLive(work: () => Promise<ApplyOutcome>): Promise<ApplyOutcome> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code !== 'workspace_not_found' && error.code !== 'workspace_being_deleted') throw error;
    return { state: 'skipped', reason: 'The workspace was deleted.' };
  }
}
