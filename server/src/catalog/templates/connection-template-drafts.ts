/**
 * Connection templates before they are stored: what a customer would get from one. A draft is refused for the same reasons as a
 * template that is made or changed; only its destination is not tested, because the answer is wanted while someone types.
 */
import {
  type ConnectionTemplatePreview,
  type CreateConnectionTemplateRequest,
  hourly,
  type PreviewConnectionTemplateRequest,
} from '@inlay/contract/catalog/connection-templates';
import { nothingToChange } from '@inlay/contract/pipelines/connections';
import { acceptedDraft, connectionRules } from './connection-templates.ts';
import type { TemplatesContext } from './context.ts';
import { describeCron } from './cron.ts';
import { defaultNamespace, defaultPrefix } from './placement.ts';
import { previewTemplate } from './planned-changes.ts';
import { customizationOf } from './source-templates.ts';
import { sortedTags } from './tags.ts';
import { listTemplates, missingFaults, refuse } from './templates.ts';
import type { ConnectionContent } from './versions.ts';

const shownSources = 50;

/** Stores nothing. */
export async function previewConnectionDraft(
  ctx: TemplatesContext,
  organizationId: string,
  request: PreviewConnectionTemplateRequest,
): Promise<ConnectionTemplatePreview> {
  const { content, type } = await draftOf(ctx, organizationId, request);
  const { cron_expression: cron, namespace_format, prefix, customer_may_change = nothingToChange } = content;
  const sources = await listTemplates(ctx, 'source', organizationId);
  return {
    destination_name: content.destination_name,
    destination_type: type,
    cron_expression: cron,
    schedule: cron === null ? null : describeCron(cron, ctx.runtime.now()),
    sync_on_create: content.sync_on_create,
    namespace_format: namespace_format ?? defaultNamespace,
    prefix: prefix ?? defaultPrefix,
    customer_may_change,
    tags: content.tags,
    sources: sources.slice(0, shownSources).map((template) => {
      const { stream_selection_mode, stream_whitelist } = customizationOf(template);
      const streams = stream_selection_mode === 'whitelist' ? stream_whitelist : null;
      return { source_template_id: template.id, name: template.name, stream_selection_mode, streams };
    }),
    more_sources: Math.max(0, sources.length - shownSources),
  };
}

async function draftOf(
  ctx: TemplatesContext,
  organizationId: string,
  { original_connection_template_id: originalId, ...request }: PreviewConnectionTemplateRequest,
): Promise<{ content: ConnectionContent; type: string }> {
  if (originalId !== undefined) {
    const ref = { organizationId, kind: 'connection', templateId: originalId } as const;
    const { definition, after } = await previewTemplate(ctx, connectionRules, ref, request);
    return { content: after.content, type: definition.name };
  }
  assertComplete(request);
  const { definition, fields, names } = await acceptedDraft(ctx, organizationId, request);
  const content = connectionRules.contentOf(fields, sortedTags(names));
  // As it was typed, without the form in which it is stored.
  const { cron_expression = hourly } = request;
  return { content: { ...content, cron_expression }, type: definition.name };
}

function assertComplete(
  request: PreviewConnectionTemplateRequest,
): asserts request is PreviewConnectionTemplateRequest & CreateConnectionTemplateRequest {
  refuse(missingFaults(request, ['destination_name', 'destination_definition_id', 'destination_config']));
}
