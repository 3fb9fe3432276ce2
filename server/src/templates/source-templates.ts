/**
 * Source templates: what an operator lets customers set up. A template names a connector and gives a part of its
 * configuration; customers are asked for the rest. This file changes and offers templates; `source-template-drafts.ts`
 * makes them; `pipelines/` owns the sources made from them.
 *
 * What always holds: the defaults fit the connector's specification when they are written, and are sealed at rest; a
 * change leaves existing sources alone unless it is propagated, in the same transaction.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Configuration, keepMaskedSecrets } from '@inlay/contract/connector-configuration';
import type { Fault } from '@inlay/contract/errors';
import type { Apply, ExistingChoice, RollbackRequest } from '@inlay/contract/rollouts';
import type {
  Customization,
  DeletedTemplate,
  OfferedSourceTemplate,
  SourceTemplate as ShownSourceTemplate,
  UpdateSourceTemplateRequest,
} from '@inlay/contract/source-templates';
import type { OfferedOAuth } from '@inlay/contract/template-oauth';
import type { Db } from '../db/open.ts';
import type { SourceTemplateRow } from '../db/tables.ts';
import { movedSecretFaults, partialConfigurationFaults } from '../definitions/configuration-faults.ts';
import type { Definition } from '../definitions/definition.ts';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import { iconAddress } from '../definitions/icons.ts';
import { maskConfiguration, openConfiguration, sealConfiguration } from '../definitions/sealed-configuration.ts';
import { AppError, invalidRequest } from '../errors.ts';
import { isoTime } from '../iso-time.ts';
import type { TemplateFilters } from '../principals.ts';
import type { Operator } from '../template-ref.ts';
import type { TemplatesContext } from './context.ts';
import { complete, customizationFaults } from './customization.ts';
import { isSelected, noFilter, sourceFilterOf, type TagFilter } from './filtering.ts';
import { openPlanned, type Preview } from './planned-changes.ts';
import { askedSpec, isCustomersGrant, presentSignIn, signInOf } from './sign-in.ts';
import { oauthFaults } from './sign-in-faults.ts';
import { type TaggedTemplates, tagTemplate, untagTemplate } from './tagging.ts';
import * as tags from './tags.store.ts';
import { setTags, sortedTags } from './tags.ts';
import * as templates from './templates.store.ts';
import {
  getVersion,
  openVersion,
  recordDeleted,
  recordSourceVersion,
  type SourceContent,
  sourceContent,
} from './versions.ts';

const table = 'source_templates';
const taggings = 'source_template_tags';
const tagged: TaggedTemplates = {
  taggings,
  notFound: 'source_template_not_found',
  lock: (tx, organizationId, id) => templates.lockTemplate(tx, table, organizationId, id),
  async touch(ctx, tx, by, id) {
    const row = await templates.updateTemplate(tx, table, by.organizationId, id, {});
    const names = await tags.tagNamesByTemplate(tx, taggings, by.organizationId, id);
    await recordSourceVersion(ctx, tx, row, { by, tags: names.get(id) ?? [] });
  },
};
type Changes = templates.TemplateChanges<typeof table>;

export interface SourceTemplate extends SourceTemplateRow {
  /** For a source that was made from it: which version of the organization's own definition the source has. */
  definition_version?: number;
  /** Sorted by name. */
  tags: string[];
}

export async function getSourceTemplate(
  ctx: TemplatesContext,
  organizationId: string,
  id: string,
): Promise<SourceTemplate> {
  const row = await templates.findTemplate(ctx.store.db, table, organizationId, id);
  if (!row) throw new AppError('source_template_not_found');
  return await withTags(ctx, row);
}

/** Finds a template even if it is deleted: sources that were made from it still need it. */
export async function findAnySourceTemplate(
  ctx: Pick<TemplatesContext, 'store'>,
  organizationId: string,
  id: string,
): Promise<SourceTemplate | undefined> {
  const row = await templates.findAnyTemplate(ctx.store.db, table, organizationId, id);
  return row && (await withTags(ctx, row));
}

async function withTags(ctx: Pick<TemplatesContext, 'store'>, row: SourceTemplateRow): Promise<SourceTemplate> {
  const names = await tags.tagNamesByTemplate(ctx.store.db, taggings, row.organization_id, row.id);
  return { ...row, tags: names.get(row.id) ?? [] };
}

export async function listSourceTemplates(
  ctx: TemplatesContext,
  organizationId: string,
  filter: TagFilter = noFilter,
): Promise<SourceTemplate[]> {
  const rows = await templates.listTemplates(ctx.store.db, table, organizationId);
  const names = await tags.tagNamesByTemplate(ctx.store.db, taggings, organizationId);
  return rows
    .map((row) => ({ ...row, tags: names.get(row.id) ?? [] }))
    .filter((template) => isSelected(template.tags, filter));
}

/** The templates that a token with these filters may use. */
export async function listOfferedSourceTemplates(
  ctx: TemplatesContext,
  organizationId: string,
  filters: TemplateFilters | undefined,
  narrowing: TagFilter = noFilter,
): Promise<SourceTemplate[]> {
  const offered = await listSourceTemplates(ctx, organizationId, sourceFilterOf(filters));
  return offered.filter((template) => isSelected(template.tags, narrowing));
}

/** Undefined when the template does not exist, or when a token with these filters may not use it. */
export async function findOfferedSourceTemplate(
  ctx: TemplatesContext,
  organizationId: string,
  id: string,
  filters: TemplateFilters | undefined,
): Promise<SourceTemplate | undefined> {
  const row = await templates.findTemplate(ctx.store.db, table, organizationId, id);
  const template = row && (await withTags(ctx, row));
  return template && isSelected(template.tags, sourceFilterOf(filters)) ? template : undefined;
}

/** The names of those that use a definition. */
export const listTemplatesOfDefinition = templates.listNamesByDefinition;

/** The operator's part of the configuration, with its secrets. */
export function openDefaults(ctx: TemplatesContext, template: SourceTemplateRow): Configuration {
  return openConfiguration(ctx.sealer, 'source template', template.id, template.sealed_defaults);
}

export function customizationOf(template: SourceTemplateRow): Customization {
  return JSON.parse(template.customization);
}

export interface UpdatedSourceTemplate {
  template: SourceTemplate;
  /** If the change goes to existing sources, too. */
  rollout: { id: string; sources: number } | undefined;
}

export async function updateSourceTemplate(
  ctx: TemplatesContext,
  by: Operator,
  id: string,
  given: UpdateSourceTemplateRequest,
): Promise<UpdatedSourceTemplate> {
  const { organizationId } = by;
  const { request, plan } = await openPlanned(ctx, { organizationId, kind: 'source', templateId: id }, given);
  const apply = request.apply ?? (request.propagate ? 'all' : 'new_only');
  // Read before the transaction, because reading definitions may take a while. The definition of a template never
  // changes.
  const definition = await getDefinition(ctx, definitionOf(await getSourceTemplate(ctx, organizationId, id)));
  return await ctx.store.transaction(async (tx) => {
    const row = await templates.lockTemplate(tx, table, organizationId, id);
    if (!row) throw new AppError('source_template_not_found');
    if (plan) await ctx.assertPlanHolds(tx, plan, row.version, apply);
    const changes = changesTo(ctx, row, definition, request);
    await assertSignInFits(ctx, tx, { ...row, ...changes }, definition, request);
    const present = (await tags.tagNamesByTemplate(tx, taggings, organizationId, id)).get(id) ?? [];
    const names = request.tags && sortedTags(request.tags);
    const isRetagged = names !== undefined && !isDeepStrictEqual(names, present);
    if (isRetagged) await setTags(ctx, tx, taggings, { organizationId, templateId: id, names });
    const isChanged = isRetagged || Object.keys(changes).length > 0;
    const updated = isChanged ? await templates.updateTemplate(tx, table, organizationId, id, changes) : row;
    if (isChanged) await recordSourceVersion(ctx, tx, updated, { by, definition, tags: names ?? present });
    return { template: { ...updated, tags: names ?? present }, rollout: await rollOut(ctx, tx, by, updated, apply) };
  });
}

async function rollOut(ctx: TemplatesContext, tx: Db, by: Operator, { id, version }: SourceTemplateRow, apply: Apply) {
  if (apply === 'new_only') return undefined;
  const template = { organizationId: by.organizationId, kind: 'source', templateId: id } as const;
  return await ctx.startRollout(ctx.journal, tx, { template, version, by, apply });
}

/** What the template would be after the change, which is refused for the same reasons. Changes nothing. */
export async function previewSourceTemplate(
  ctx: TemplatesContext,
  organizationId: string,
  id: string,
  request: UpdateSourceTemplateRequest,
): Promise<Preview<SourceContent>> {
  const row = await getSourceTemplate(ctx, organizationId, id);
  const definition = await getDefinition(ctx, definitionOf(row));
  const changes = changesTo(ctx, row, definition, request);
  await assertSignInFits(ctx, ctx.store.db, { ...row, ...changes }, definition, request);
  const names = request.tags ? sortedTags(request.tags) : row.tags;
  const changed = { ...row, ...changes };
  return {
    definition,
    version: row.version,
    before: { content: sourceContent(row, row.tags), configuration: openDefaults(ctx, row) },
    after: { content: sourceContent(changed, names), configuration: openDefaults(ctx, changed) },
    isChanged: Object.keys(changes).length > 0 || !isDeepStrictEqual(names, row.tags),
    test: { isChecked: false },
  };
}

/** Makes a new version that repeats an earlier one: numbers only grow, and what happened stays on record. */
export async function rollBackSourceTemplate(
  ctx: TemplatesContext,
  by: Operator,
  id: string,
  { version: number, apply = 'all' }: RollbackRequest,
): Promise<UpdatedSourceTemplate> {
  const { organizationId } = by;
  const definition = await getDefinition(ctx, definitionOf(await getSourceTemplate(ctx, organizationId, id)));
  return await ctx.store.transaction(async (tx) => {
    const row = await templates.lockTemplate(tx, table, organizationId, id);
    if (!row) throw new AppError('source_template_not_found');
    const version = await getVersion(tx, { organizationId, kind: 'source', templateId: id }, number);
    const content: SourceContent = JSON.parse(version.content);
    const defaults = openVersion(ctx, version);
    refuse(partialConfigurationFaults(definition.specification, defaults, ['body', 'version']));
    // The client of an old version may be deleted.
    const { oauth } = content;
    if (oauth) refuse(await oauthFaults(ctx, tx, organizationId, definition, { oauth, defaults }));
    if (number === row.version) {
      return { template: { ...row, tags: content.tags }, rollout: await rollOut(ctx, tx, by, row, apply) };
    }
    const changes = {
      name: content.name,
      description: content.description,
      category: content.category ?? null,
      own_icon: content.icon,
      customization: JSON.stringify(content.customization),
      oauth: content.oauth ? JSON.stringify(content.oauth) : null,
      sealed_defaults: version.sealed_configuration,
    };
    const names = await setTags(ctx, tx, taggings, { organizationId, templateId: id, names: content.tags });
    const updated = await templates.updateTemplate(tx, table, organizationId, id, changes);
    await recordSourceVersion(ctx, tx, updated, { by, definition, tags: names, copyOf: number });
    return { template: { ...updated, tags: names }, rollout: await rollOut(ctx, tx, by, updated, apply) };
  });
}

/** The values that really differ from the present state. Throws when a value may not be changed so. */
function changesTo(
  ctx: TemplatesContext,
  row: SourceTemplateRow,
  definition: Definition,
  request: UpdateSourceTemplateRequest,
): Changes {
  const changes: Changes = {};
  const faults: Fault[] = [];
  const { name, description, category, icon } = request;
  if (name !== undefined && name !== row.name) changes.name = name;
  if (description !== undefined && description !== row.description) changes.description = description;
  if (category !== undefined && category !== row.category) changes.category = category;
  if (icon !== undefined && icon !== row.own_icon) changes.own_icon = icon;
  if (request.partial_default_config) {
    const { connectionSpecification } = definition.specification;
    const stored = openDefaults(ctx, row);
    const given = request.partial_default_config;
    const defaults = keepMaskedSecrets(connectionSpecification, given, stored);
    faults.push(...defaultsFaults(definition, { given, defaults, stored }));
    if (!isDeepStrictEqual(defaults, stored)) {
      changes.sealed_defaults = sealConfiguration(ctx.sealer, 'source template', row.id, defaults);
    }
  }
  if (request.customization) {
    faults.push(...customizationFaults(definition, request.customization));
    const customization = complete(request.customization);
    if (!isDeepStrictEqual(customization, customizationOf(row))) changes.customization = JSON.stringify(customization);
  }
  const { oauth } = request;
  if (oauth !== undefined && !isDeepStrictEqual(oauth, signInOf(row) ?? null)) {
    changes.oauth = oauth && JSON.stringify(oauth);
  }
  refuse(faults);
  return changes;
}

export async function deleteSourceTemplate(
  ctx: TemplatesContext,
  by: Operator,
  id: string,
  existing: ExistingChoice = 'keep',
): Promise<DeletedTemplate> {
  const { organizationId } = by;
  return await ctx.store.transaction(async (tx) => {
    const row = await templates.deleteTemplate(tx, table, organizationId, id);
    if (!row) throw new AppError('source_template_not_found');
    await recordDeleted(ctx, tx, { organizationId, kind: 'source', templateId: id }, row);
    const deleted = { id, deleted_at: isoTime(row.deleted_at ?? 0) };
    if (existing === 'keep') return deleted;
    const template = { organizationId, kind: 'source', templateId: id } as const;
    const rollout = await ctx.startRetirement(ctx.journal, tx, { template, version: row.version, by, how: existing });
    return { ...deleted, rollout_id: rollout.id };
  });
}

export async function tagSourceTemplate(
  ctx: TemplatesContext,
  by: Operator,
  id: string,
  tagName: string,
): Promise<SourceTemplate> {
  await tagTemplate(ctx, tagged, { by, templateId: id, tagName });
  return await getSourceTemplate(ctx, by.organizationId, id);
}

export async function untagSourceTemplate(
  ctx: TemplatesContext,
  by: Operator,
  id: string,
  tagName: string,
): Promise<{ deletedAt: number }> {
  return await untagTemplate(ctx, tagged, { by, templateId: id, tagName });
}

export function defaultsFaults(
  { specification }: Definition,
  { given, defaults, stored }: Record<'given' | 'defaults' | 'stored', Configuration>,
): Fault[] {
  const at = ['body', 'partial_default_config'];
  return [
    ...movedSecretFaults(specification, { given, accepted: defaults, before: stored, after: defaults }, at),
    ...partialConfigurationFaults(specification, defaults, at),
  ];
}

export function refuse(faults: Fault[]): void {
  if (faults.length > 0) throw invalidRequest(...faults);
}

export function presentSummary(ctx: TemplatesContext, template: SourceTemplate) {
  return {
    ...presentOffer(ctx, template),
    source_definition_id: template.definition_id,
    customization: customizationOf(template),
    oauth: signInOf(template) ?? null,
    created_at: isoTime(template.created_at),
    updated_at: isoTime(template.updated_at),
    version: template.version,
  };
}

export function presentOffer(ctx: TemplatesContext, template: SourceTemplate) {
  const { description, category } = template;
  return { ...presentBrief(ctx, template), description, category };
}

/** The short form of a template, as it is shown inside a source. */
export function presentBrief(ctx: TemplatesContext, template: SourceTemplate) {
  const { id, name, definition_id, icon, own_icon, tags: names } = template;
  return { id, name, icon: own_icon ?? iconAddress(ctx, definition_id, icon), tags: names };
}

export async function presentSourceTemplate(
  ctx: TemplatesContext,
  template: SourceTemplate,
): Promise<ShownSourceTemplate> {
  const definition = await getDefinition(ctx, definitionOf(template));
  const defaults = openDefaults(ctx, template);
  return {
    ...presentSummary(ctx, template),
    user_config_spec: askedSpec(definition, template, defaults),
    partial_default_config: maskConfiguration(definition, defaults),
  };
}

export async function presentUpdated(ctx: TemplatesContext, { template, rollout }: UpdatedSourceTemplate) {
  const shown = await presentSourceTemplate(ctx, template);
  return rollout ? { ...shown, propagated_sources: rollout.sources, rollout_id: rollout.id } : shown;
}

/** What the customer is asked for, and how the customer signs in. */
export async function presentOffered(ctx: TemplatesContext, template: SourceTemplate): Promise<OfferedSourceTemplate> {
  const definition = await getDefinition(ctx, definitionOf(template));
  return {
    ...presentOffer(ctx, template),
    user_config_spec: askedSpec(definition, template, openDefaults(ctx, template)),
    oauth: await presentOfferedSignIn(ctx, definition, template),
  };
}

/** How the customer signs in; null: the customer does not. */
export async function presentOfferedSignIn(
  ctx: TemplatesContext,
  definition: Definition,
  template: SourceTemplate,
): Promise<OfferedOAuth | null> {
  const oauth = signInOf(template);
  const client =
    oauth && isCustomersGrant(oauth) && (await ctx.findOAuthClient(ctx.store.db, template.organization_id, oauth));
  if (!client) return null;
  return {
    ...presentSignIn(definition.specification, oauth, client),
    user_config_spec: oauth.may_paste ? askedSpec(definition, template, openDefaults(ctx, template), true) : null,
  };
}

async function assertSignInFits(
  ctx: TemplatesContext,
  db: Db,
  row: SourceTemplateRow,
  definition: Definition,
  request: UpdateSourceTemplateRequest,
): Promise<void> {
  const oauth = signInOf(row);
  if (!oauth || (request.oauth === undefined && request.partial_default_config === undefined)) return;
  refuse(await oauthFaults(ctx, db, row.organization_id, definition, { oauth, defaults: openDefaults(ctx, row) }));
}
