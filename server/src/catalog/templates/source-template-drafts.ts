/**
 * Drafts of source templates: how a request becomes a template, and what a customer would see. Drafts are validated
 * like created templates and shown by the same function as stored ones.
 */
import { keepMaskedSecrets } from '@inlay/contract/catalog/connector-configuration';
import type { CreateSourceTemplateRequest, OfferedSourceTemplate } from '@inlay/contract/catalog/source-templates';
import type { Operator } from '../../kernel/template-ref.ts';
import type { Definition } from '../definitions/definition.ts';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import { sealConfiguration } from '../definitions/sealed-configuration.ts';
import { complete, customizationFaults } from '../forms/customization.ts';
import { signInOf } from '../forms/sign-in.ts';
import type { TemplatesContext } from './context.ts';
import { oauthFaults } from './sign-in-faults.ts';
import {
  customizationOf,
  defaultsFaults,
  getSourceTemplate,
  openDefaults,
  presentOffered,
  type SourceTemplate,
  sourceRules,
} from './source-templates.ts';
import { sortedTags } from './tags.ts';
import { createTemplate, getNamedDefinition, refuse } from './templates.ts';

export async function createSourceTemplate(
  ctx: TemplatesContext,
  by: Operator,
  request: CreateSourceTemplateRequest,
): Promise<SourceTemplate> {
  return await createTemplate(ctx, sourceRules, by, await draftOf(ctx, by.organizationId, request));
}

/** What a customer would be shown of the template that the request would make. Stores nothing. */
export async function previewDraft(
  ctx: TemplatesContext,
  organizationId: string,
  request: CreateSourceTemplateRequest,
): Promise<OfferedSourceTemplate> {
  const { fields, names } = await draftOf(ctx, organizationId, request);
  const stamps = { version: 0, created_at: 0, updated_at: 0, deleted_at: null };
  const tags = sortedTags(names);
  return await presentOffered(ctx, { ...fields, ...stamps, organization_id: organizationId, tags });
}

async function draftOf(ctx: TemplatesContext, organizationId: string, request: CreateSourceTemplateRequest) {
  const { original_source_template_id: originalId } = request;
  const original = originalId === undefined ? undefined : await getSourceTemplate(ctx, organizationId, originalId);
  const definition = await definitionFor(ctx, organizationId, original, request);
  const stored = original ? openDefaults(ctx, original) : {};
  const given = request.partial_default_config ?? stored;
  const defaults = keepMaskedSecrets(definition.specification.connectionSpecification, given, stored);
  const customization = request.customization ?? (original ? customizationOf(original) : {});
  const oauth = request.oauth === undefined ? original && signInOf(original) : (request.oauth ?? undefined);
  refuse([
    ...defaultsFaults(definition, { given, defaults, stored }),
    ...customizationFaults(definition, customization),
    ...(oauth ? await oauthFaults(ctx, ctx.store.db, organizationId, definition, { oauth, defaults }) : []),
  ]);
  const id = ctx.runtime.newId();
  const fields = {
    id,
    name: request.name ?? original?.name ?? definition.name,
    description: request.description === undefined ? (original?.description ?? null) : request.description,
    category: request.category === undefined ? (original?.category ?? null) : request.category,
    definition_id: definition.id,
    icon: definition.icon,
    own_icon: request.icon === undefined ? (original?.own_icon ?? imageOf(definition)) : request.icon,
    sealed_defaults: sealConfiguration(ctx.sealer, 'source template', id, defaults),
    customization: JSON.stringify(complete(customization)),
    oauth: oauth ? JSON.stringify(oauth) : null,
  };
  return { definition, fields, names: request.tags ?? original?.tags ?? [] };
}

/** An image that the organization gave its connector. Other images of connectors have an address (icons.ts). */
function imageOf({ ownVersion, icon }: Definition): string | null {
  return ownVersion !== undefined && icon?.startsWith('data:') ? icon : null;
}

async function definitionFor(
  ctx: TemplatesContext,
  organizationId: string,
  original: SourceTemplate | undefined,
  { actor_definition_id }: CreateSourceTemplateRequest,
): Promise<Definition> {
  if (original) return await getDefinition(ctx, definitionOf(original));
  const wanted = { organizationId, kind: 'source', id: actor_definition_id } as const;
  return await getNamedDefinition(ctx, wanted, 'actor_definition_id');
}
