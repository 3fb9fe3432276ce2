/**
 * The template of a source: which templates a customer may use, and which template an existing source was made from.
 */

import { definitionOf, findDefinition } from '../catalog/definitions/definitions.ts';
import { openConfiguration } from '../catalog/definitions/sealed-configuration.ts';
import {
  findAnySourceTemplate,
  findOfferedSourceTemplate,
  openDefaults,
  type SourceTemplate,
} from '../catalog/templates/source-templates.ts';
import { getVersion } from '../catalog/templates/versions.ts';
import type { Db } from '../kernel/db/open.ts';
import type { SourceRow } from '../kernel/db/tables.ts';
import { AppError } from '../kernel/errors.ts';
import type { PipelinesContext, Scope } from './context.ts';
import type { ConfigurationParts } from './failure-texts.ts';

/** A template that the token may not use is answered like a template that does not exist. */
export async function getOffered(ctx: PipelinesContext, scope: Scope, id: string): Promise<SourceTemplate> {
  const template = await findOfferedSourceTemplate(ctx.templates, scope.organizationId, id, scope.templateFilters);
  if (!template) throw new AppError('source_template_not_found');
  return template;
}

/** Also finds deleted templates: their sources still depend on them. */
export async function templateOf(ctx: { store: { db: Db } }, row: SourceRow): Promise<SourceTemplate> {
  const template = await findAnySourceTemplate(ctx, row.organization_id, row.source_template_id);
  if (!template) throw new AppError('source_template_not_found');
  return template;
}

/** What of a source's configuration the template has set, and what the customer has given. */
export async function configurationParts(ctx: PipelinesContext, row: SourceRow): Promise<ConfigurationParts> {
  const template = await versionedTemplateOf(ctx, row);
  const definition = await findDefinition(ctx.templates, definitionOf(template));
  return {
    specification: definition?.specification,
    defaults: openDefaults(ctx.templates, template),
    given: openConfiguration(ctx.sealer, 'source', row.id, row.sealed_config),
  };
}

/**
 * The template with the configuration and the streams of the version that the source is to have. A source that the platform
 * does not have yet gets the newest.
 */
export async function versionedTemplateOf(ctx: { store: { db: Db } }, row: SourceRow): Promise<SourceTemplate> {
  const { definition_version } = row;
  const template = { ...(await templateOf(ctx, row)), ...(definition_version > 0 && { definition_version }) };
  // A source of before versions were kept has what the first version says.
  const wanted = row.platform_id === null ? template.version : Math.max(1, row.template_version);
  if (wanted === template.version) return template;
  const ref = { organizationId: row.organization_id, kind: 'source', templateId: template.id } as const;
  const version = await getVersion(ctx.store.db, ref, wanted);
  const { customization, oauth } = JSON.parse(version.content);
  return {
    ...template,
    version: wanted,
    sealed_defaults: version.sealed_configuration,
    customization: JSON.stringify(customization),
    oauth: oauth ? JSON.stringify(oauth) : null,
  };
}
