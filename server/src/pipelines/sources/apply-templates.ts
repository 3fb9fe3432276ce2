/**
 * Compares the sources of a workspace with the templates that match it now, as after a change of the customer's plan, and
 * makes the connections that are missing. Connections that no longer match are named. They stay, unless the caller says
 * otherwise: taking data away from a customer is for a person to decide.
 */
import type { AppliedTemplates, ApplyTemplatesRequest } from '@inlay/contract/catalog/apply-templates';
import { isSelected } from '../../catalog/templates/filtering.ts';
import { listTemplates } from '../../catalog/templates/templates.ts';
import type { ConnectionTemplateRow, SourceRow } from '../../kernel/db/tables.ts';
import { takeRoom } from '../../tenancy/quotas/quotas.ts';
import { holdLiveWorkspace } from '../../tenancy/workspaces/live-workspaces.ts';
import { wakeSources } from '../apply-version.store.ts';
import { retireConnections } from '../connections/retire.ts';
import * as connections from '../connections.store.ts';
import type { PipelinesContext } from '../context.ts';
import { setUpSoon } from '../set-up/set-up.ts';
import { templateOf } from '../source-template.ts';
import * as sources from '../sources.store.ts';
import { planConnection } from './sources.ts';

export async function applyTemplates(
  ctx: PipelinesContext,
  organizationId: string,
  workspaceId: string,
  request: ApplyTemplatesRequest,
): Promise<AppliedTemplates> {
  const { plan: isPlan = false } = request;
  const matching = await listTemplates(ctx.templates, 'connection', organizationId, {
    tags: request.selected_connection_template_tags ?? [],
    mode: request.selected_connection_template_tags_mode ?? 'any',
  });
  // Read before the workspace is locked. The source template of a source never changes.
  const unoffered = await listUnoffered(ctx, workspaceId, request);
  const woken = new Set<string>();
  const answer = await ctx.store.transaction(async (tx): Promise<AppliedTemplates> => {
    // Two requests at the same time must not make a connection twice.
    const workspace = await holdLiveWorkspace(tx, organizationId, workspaceId);
    const present = await connections.listConnections(tx, workspaceId);
    const live = await sources.listSources(tx, workspaceId);
    const wanted = live
      .filter(({ source_template_id: id }) => !unoffered.has(id))
      .flatMap((source) => matching.map((template) => ({ source, template })));
    const keyOf = (sourceId: string, templateId: string) => `${sourceId} ${templateId}`;
    const wantedKeys = new Set(wanted.map(({ source, template }) => keyOf(source.id, template.id)));
    const presentKeys = new Set(present.map((row) => keyOf(row.source_id, row.connection_template_id)));
    const missing = wanted.filter(({ source, template }) => !presentKeys.has(keyOf(source.id, template.id)));
    const unmatched = present.filter((row) => !wantedKeys.has(keyOf(row.source_id, row.connection_template_id)));
    if (!isPlan) {
      await takeRoom(
        ctx.journal,
        tx,
        { organizationId, workspaceId, audience: 'operator' },
        { connections: missing.length },
      );
      for (const { source, template } of missing) {
        await planConnection(ctx, tx, workspace, source, template);
        woken.add(source.id);
      }
      if (woken.size > 0) await wakeSources(tx, workspaceId, [...woken]);
      const { no_longer_matching: how = 'keep' } = request;
      if (how !== 'keep') {
        for (const id of await retireConnections(ctx, tx, workspace, unmatched, how)) woken.add(id);
      }
    }
    return {
      plan: isPlan,
      missing: missing.map(({ source, template }) => presentPair(source, template)),
      no_longer_matching: unmatched.map((row) => ({
        connection_id: row.id,
        source_id: row.source_id,
        source_name: row.source_name,
        connection_template_id: row.connection_template_id,
        destination_name: row.destination_name,
      })),
      matching: present.length - unmatched.length,
    };
  });
  for (const id of woken) setUpSoon(ctx, { workspaceId, id });
  return answer;
}

/** The source templates of the workspace's sources that the tags do not select. A deleted template keeps its tags. */
async function listUnoffered(
  ctx: PipelinesContext,
  workspaceId: string,
  { selected_source_template_tags: tags = [], selected_source_template_tags_mode: mode = 'any' }: ApplyTemplatesRequest,
): Promise<Set<string>> {
  if (tags.length === 0) return new Set();
  const rows = await sources.listSources(ctx.store.db, workspaceId);
  const byTemplate = new Map(rows.map((row) => [row.source_template_id, row]));
  const unoffered = new Set<string>();
  for (const [id, row] of byTemplate) {
    if (!isSelected((await templateOf(ctx, row)).tags, { tags, mode })) unoffered.add(id);
  }
  return unoffered;
}

function presentPair(source: SourceRow, template: ConnectionTemplateRow) {
  return {
    source_id: source.id,
    source_name: source.name,
    connection_template_id: template.id,
    destination_name: template.destination_name,
  };
}
