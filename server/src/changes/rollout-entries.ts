/** The entries of the log about rollouts. */
import type { Db } from '../kernel/db/open.ts';
import type { RolloutRow } from '../kernel/db/tables.ts';
import type { Entry } from '../log/events/catalogue.ts';
import type { Journal } from '../log/events/journal.ts';
import { findTemplateName } from './rollouts.store.ts';

type RolloutEntry = Extract<Entry, { type: `template.rollout_${string}` }>['type'];

export async function recordRollout(
  journal: Journal,
  tx: Db,
  { before, after: row }: { before: RolloutRow | undefined; after: RolloutRow },
  type: RolloutEntry,
  workspaces = 0,
): Promise<void> {
  const { organization_id: organizationId, kind, template_id: id, action, version, state_reason: reason } = row;
  const template = { kind, id, name: await findTemplateName(tx, { organizationId, kind, templateId: id }) };
  const about = { template, rollout: { id: row.id, action, version } };
  const change = { before: before && settingsOfRollout(before), after: settingsOfRollout(row) };
  const entry: Entry =
    type === 'template.rollout_started'
      ? { type, data: { ...about, workspaces }, change }
      : type === 'template.rollout_stopped' || type === 'template.rollout_paused'
        ? { type, data: { ...about, reason }, change }
        : { type, data: about, change };
  await journal.record(tx, organizationId, entry);
}

const settingsOfRollout = ({ action, version, plan, stage, state, state_reason }: RolloutRow) => ({
  action,
  version,
  plan: JSON.parse(plan),
  stage,
  state,
  state_reason,
});
