/**
 * What would become of the sources or connections of a template, page by page in the order of their creation. Uses the
 * rules by which a rollout applies a version to them (apply-version.ts), so that a plan says what a rollout does. Changes
 * nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Customization } from '@inlay/contract/catalog/source-templates';
import type { TemplatePlanItem } from '@inlay/contract/catalog/template-plans';
import type { Preview, TemplateState } from '../catalog/templates/planned-changes.ts';
import type { ConnectionContent, SourceContent } from '../catalog/templates/versions.ts';
import type { TemplateRef } from '../kernel/template-ref.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import {
  changesOfConnection,
  changesOfSource,
  faultOfSource,
  missingText,
  placementOf,
  readerOf,
  redirectsSecrets,
  secretsStayText,
} from '../pipelines/set-up/apply-version.ts';
import type { DestinationTest } from './destination-test.ts';
import type { Judged } from './plans.store.ts';
import * as plans from './plans.store.ts';

export type Judge = (after: Judged | undefined, limit: number) => Promise<Judged[]>;

const nothingOfStreams = { streams_dropped: [], streams_left: null };

export function sourceJudge(
  ctx: PipelinesContext,
  template: TemplateRef,
  preview: Preview<SourceContent>,
  mayRedirectSecrets: boolean,
): Judge {
  const { definition, after: target } = preview;
  const read = readerOf(ctx, ctx.store.db, template);
  return async (after, limit) => {
    const rows = await plans.listSources(ctx.store.db, template, { after, limit });
    const ids = rows.map(({ id }) => id);
    const connections = await plans.countConnections(ctx.store.db, template.organizationId, ids);
    const judged: Judged[] = [];
    for (const row of rows) {
      const base = (await read(row.applied_template_version)) as TemplateState<SourceContent> | undefined;
      const changes = changesOfSource(base, target);
      const isKept =
        changes.isConfigured &&
        !mayRedirectSecrets &&
        redirectsSecrets(ctx, definition, row, { before: base ?? (await read(1)), after: target.configuration });
      const { isConfigured, isSelected } = isKept ? { isConfigured: false, isSelected: false } : changes;
      const fault = isConfigured ? faultOfSource(ctx, definition, row, target.configuration) : undefined;
      const fields = [...(isConfigured ? ['partial_default_config'] : []), ...(isSelected ? ['customization'] : [])];
      const streams = isSelected
        ? await streamsLost(ctx, template.organizationId, row.id, {
            before: selectionOf(base?.content, definition.suggestedStreams),
            after: selectionOf(target.content, definition.suggestedStreams),
          })
        : nothingOfStreams;
      judged.push({
        id: row.id,
        created_at: row.created_at,
        workspace_id: row.workspace_id,
        source_id: row.id,
        connections: connections.get(row.id) ?? 0,
        template_version: row.template_version,
        seen: row.updated_at,
        ...outcomeOf(fault, fields),
        ...(isKept && { reason: secretsStayText }),
        detail: { fields, ...streams, tables_moved: null },
      });
    }
    return judged;
  };
}

function outcomeOf(fault: ReturnType<typeof faultOfSource>, fields: string[]): Pick<Judged, 'outcome' | 'reason'> {
  if (fault?.type === 'value_error.missing') return { outcome: 'needs_customer', reason: missingText(fault) };
  if (fault) {
    const where = fault.loc.join('.') || 'the configuration';
    return { outcome: 'breaks', reason: `The connector rejects ${where}: ${fault.msg}.` };
  }
  return { outcome: fields.length > 0 ? 'changes' : 'unchanged', reason: null };
}

/** The names of the streams that a template selects; undefined: all that the source has. */
function selectionOf(content: SourceContent | undefined, suggested: readonly string[]): Set<string> | undefined {
  const { stream_selection_mode: mode, stream_whitelist: whitelist } = (content?.customization ??
    {}) as Partial<Customization>;
  if (mode === 'whitelist') return new Set(whitelist);
  return mode === 'suggested' && suggested.length > 0 ? new Set(suggested) : undefined;
}

async function streamsLost(
  ctx: PipelinesContext,
  organizationId: string,
  sourceId: string,
  { before, after }: Record<'before' | 'after', Set<string> | undefined>,
): Promise<Pick<TemplatePlanItem, 'streams_dropped' | 'streams_left'>> {
  if (after === undefined) return nothingOfStreams;
  // If everything was selected, the latest syncs show which streams exist.
  const known = before ?? (await plans.listSyncedStreams(ctx.store.db, organizationId, sourceId));
  return {
    streams_dropped: [...known].filter((name) => !after.has(name)).sort(),
    streams_left: before === undefined ? [...after].sort() : null,
  };
}

export function connectionJudge(
  ctx: PipelinesContext,
  template: TemplateRef,
  target: TemplateState<ConnectionContent>,
  test: DestinationTest,
  moveData: boolean,
): Judge {
  const { content, configuration } = target;
  const read = readerOf(ctx, ctx.store.db, template);
  return async (after, limit) => {
    const rows = await plans.listConnections(ctx.store.db, template, { after, limit });
    const judged: Judged[] = [];
    for (const { slug, workspace_name, destination_version, ...row } of rows) {
      const workspace = { id: row.workspace_id, name: workspace_name };
      const base = (await read(row.template_version)) as TemplateState<ConnectionContent> | undefined;
      const destination = await read(destination_version);
      const { values, isRenamed } = changesOfConnection(row, {
        ...{ workspace, slug, base: base?.content, content, moveData },
      });
      const isConfigured = !isDeepStrictEqual(destination?.configuration, configuration);
      const fields = [
        ...(isConfigured ? ['destination_config'] : []),
        ...(isRenamed ? ['destination_name'] : []),
        ...Object.keys(values).map((field) => (field === 'schema_changes' ? 'non_breaking_changes_preference' : field)),
      ];
      const isBroken = isConfigured && test.fault !== undefined;
      judged.push({
        id: row.id,
        created_at: row.created_at,
        workspace_id: row.workspace_id,
        source_id: row.source_id,
        connections: 1,
        template_version: row.template_version,
        seen: row.version,
        outcome: isBroken ? 'breaks' : fields.length > 0 ? 'changes' : 'unchanged',
        reason: isBroken ? `The destination failed its test: ${test.fault?.msg}` : null,
        detail: { fields, ...nothingOfStreams, tables_moved: newPlacement(row, placementOf(content, workspace, slug)) },
      });
    }
    return judged;
  };
}

type Placement = ReturnType<typeof placementOf>;

function newPlacement({ namespace_format, prefix }: Placement, to: Placement): TemplatePlanItem['tables_moved'] {
  const from = { namespace_format, prefix };
  return isDeepStrictEqual(from, to) ? null : { from, to };
}
