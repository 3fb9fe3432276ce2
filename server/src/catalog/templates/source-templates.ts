/**
 * Source templates: what an operator lets customers set up. A template names a connector and gives a part of its
 * configuration; customers enter the rest. This file has the rules of this kind of template, and offers them to
 * customers; `source-template-drafts.ts` makes them; `pipelines/` owns the sources made from them.
 *
 * What always holds: the defaults fit the connector's specification when they are written, and are sealed at rest.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Configuration, keepMaskedSecrets } from '@inlay/contract/catalog/connector-configuration';
import type { Customization, OfferedSourceTemplate } from '@inlay/contract/catalog/source-templates';
import type { OfferedOAuth } from '@inlay/contract/catalog/template-oauth';
import type { Fault } from '@inlay/contract/errors';
import type { Db } from '../../kernel/db/open.ts';
import type { SourceTemplateRow } from '../../kernel/db/tables.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { TemplateFilters } from '../../kernel/principals.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { partialConfigurationFaults, redirectedSecretFaults } from '../definitions/configuration-faults.ts';
import type { Definition } from '../definitions/definition.ts';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import { iconAddress } from '../definitions/icons.ts';
import { maskConfiguration, openConfiguration, sealConfiguration } from '../definitions/sealed-configuration.ts';
import { complete, customizationFaults } from '../forms/customization.ts';
import { askedSpec, isCustomersGrant, presentSignIn, signInOf } from '../forms/sign-in.ts';
import type { TemplatesContext } from './context.ts';
import { isSelected, noFilter, sourceFilterOf, type TagFilter } from './filtering.ts';
import { oauthFaults } from './sign-in-faults.ts';
import { listNamesByDefinition } from './templates.store.ts';
import {
  type Change,
  findAnyTemplate,
  getTemplate,
  listTemplates,
  refuse,
  type TemplateChanges,
  type TemplateRules,
} from './templates.ts';

export interface SourceTemplate extends SourceTemplateRow {
  /** For a source that was made from it: which version of the organization's own definition the source has. */
  definition_version?: number;
  /** Sorted by name. */
  tags: string[];
}

const refOf = (organizationId: string, templateId: string) => ({ organizationId, kind: 'source' as const, templateId });

export async function getSourceTemplate(
  ctx: { store: { db: Db } },
  organizationId: string,
  id: string,
): Promise<SourceTemplate> {
  return await getTemplate(ctx, refOf(organizationId, id));
}

/** Finds a template even if it is deleted: sources that were made from it still need it. */
export async function findAnySourceTemplate(
  ctx: { store: { db: Db } },
  organizationId: string,
  id: string,
): Promise<SourceTemplate | undefined> {
  return await findAnyTemplate(ctx, refOf(organizationId, id));
}

/** The templates that a token with these filters may use. */
export async function listOfferedSourceTemplates(
  ctx: TemplatesContext,
  organizationId: string,
  filters: TemplateFilters | undefined,
  narrowing: TagFilter = noFilter,
): Promise<SourceTemplate[]> {
  const offered = await listTemplates(ctx, 'source', organizationId, sourceFilterOf(filters));
  return offered.filter((template) => isSelected(template.tags, narrowing));
}

/** Undefined when the template does not exist, or when a token with these filters may not use it. */
export async function findOfferedSourceTemplate(
  ctx: Pick<TemplatesContext, 'store'>,
  organizationId: string,
  id: string,
  filters: TemplateFilters | undefined,
): Promise<SourceTemplate | undefined> {
  const template = await findAnySourceTemplate(ctx, organizationId, id);
  return template?.deleted_at === null && isSelected(template.tags, sourceFilterOf(filters)) ? template : undefined;
}

/** The names of those that use a definition. */
export const listTemplatesOfDefinition = listNamesByDefinition;

/** The operator's part of the configuration, with its secrets. */
export function openDefaults({ sealer }: { sealer: Sealer }, template: SourceTemplateRow): Configuration {
  return openConfiguration(sealer, 'source template', template.id, template.sealed_defaults);
}

export function customizationOf(template: SourceTemplateRow): Customization {
  return JSON.parse(template.customization);
}

export const sourceRules: TemplateRules<'source'> = {
  kind: 'source',
  nameOf: ({ name }) => name,
  sealedIn: ({ sealed_defaults }) => sealed_defaults,
  contentOf({ name, description, category, own_icon: icon, customization, oauth }, tags) {
    return {
      name,
      description,
      ...(category !== null && { category }),
      icon,
      customization: JSON.parse(customization),
      ...(oauth !== null && { oauth: JSON.parse(oauth) }),
      tags,
    };
  },
  async changesTo(ctx, db, row, change) {
    const { definition, request } = change;
    const changes = changesTo(ctx, row, change);
    const changed = { ...row, ...changes };
    const oauth = signInOf(changed);
    if (oauth && (request.oauth !== undefined || request.partial_default_config !== undefined)) {
      const defaults = openDefaults(ctx, changed);
      refuse(await oauthFaults(ctx, db, row.organization_id, definition, { oauth, defaults }));
    }
    return changes;
  },
  async restore(ctx, tx, { organizationId, definition, content, configuration: defaults, sealed }) {
    refuse(partialConfigurationFaults(definition.specification, defaults, ['body', 'version']));
    const { oauth } = content;
    // The client of an old version may be deleted.
    if (oauth) refuse(await oauthFaults(ctx, tx, organizationId, definition, { oauth, defaults }));
    return {
      name: content.name,
      description: content.description,
      category: content.category ?? null,
      own_icon: content.icon,
      customization: JSON.stringify(content.customization),
      oauth: oauth ? JSON.stringify(oauth) : null,
      sealed_defaults: sealed,
    };
  },
  async present(ctx, template) {
    const definition = await getDefinition(ctx, definitionOf(template));
    const defaults = openDefaults(ctx, template);
    return {
      ...presentSummary(ctx, template),
      user_config_spec: askedSpec(definition, template, defaults),
      partial_default_config: maskConfiguration(definition, defaults),
    };
  },
};

function changesTo(
  ctx: TemplatesContext,
  row: SourceTemplateRow,
  { definition, request }: Change<'source'>,
): TemplateChanges<'source'> {
  const changes: TemplateChanges<'source'> = {};
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

export function defaultsFaults(
  { specification }: Definition,
  { given, defaults, stored }: Record<'given' | 'defaults' | 'stored', Configuration>,
): Fault[] {
  const at = ['body', 'partial_default_config'];
  return [
    ...redirectedSecretFaults(specification, { given, accepted: defaults, before: stored, after: defaults }, at),
    ...partialConfigurationFaults(specification, defaults, at),
  ];
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

/** What the customer has to enter, and how the customer signs in. */
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
    oauth &&
    isCustomersGrant(oauth) &&
    (await ctx.signInClients.find(ctx.store.db, template.organization_id, oauth.oauth_client_id));
  if (!client) return null;
  return {
    ...presentSignIn(definition.specification, oauth, client),
    user_config_spec: oauth.may_paste ? askedSpec(definition, template, openDefaults(ctx, template), true) : null,
  };
}
