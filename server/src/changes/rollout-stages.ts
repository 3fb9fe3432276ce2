/** Who has a turn when in a rollout. Pure. */
import type { RolloutStage } from '@inlay/contract/catalog/rollouts';

/**
 * The stage of each workspace, from 1: the first stage that takes it. Who is left comes in one more stage after the last.
 * `tagged` gives the workspaces that a stage with tags means.
 */
export function assignStages(
  stages: readonly RolloutStage[],
  workspaceIds: readonly string[],
  tagged: (stage: number) => ReadonlySet<string>,
): Map<string, number> {
  const assigned = new Map<string, number>();
  for (const [index, stage] of stages.entries()) {
    const number = index + 1;
    const named = new Set(stage.workspace_ids ?? []);
    const meant = stage.tags ? tagged(number) : named;
    const upTo = stage.percent === undefined ? 0 : Math.ceil((workspaceIds.length * stage.percent) / 100);
    for (const id of workspaceIds) {
      if (assigned.has(id)) continue;
      if (meant.has(id) || (stage.percent !== undefined && assigned.size < upTo)) assigned.set(id, number);
    }
  }
  for (const id of workspaceIds) if (!assigned.has(id)) assigned.set(id, stages.length + 1);
  return assigned;
}

/** One failure among the first few is not a share of anything. */
const leastForShare = 20;

/** Whether so many have failed that the rollout is to stop. */
export function isTooMany(
  { failed, done, total }: { failed: number; done: number; total: number },
  stopAtPercent: number,
): boolean {
  const counted = Math.max(failed + done, Math.min(total, leastForShare));
  return failed * 100 > stopAtPercent * counted;
}
