/** Where the tokens of a credential go: the addresses in the configurations of the sources that use it. */
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import { definitionOf, findDefinition } from '../catalog/definitions/definitions.ts';
import { signInOf } from '../catalog/forms/sign-in.ts';
import { openAddresses } from '../catalog/templates/sign-in-faults.ts';
import { findAnySourceTemplate, openDefaults, type SourceTemplate } from '../catalog/templates/source-templates.ts';
import { mergeWithDefaults } from './configuration.ts';
import type { PipelinesContext, Scope } from './context.ts';
import { configurationParts, versionedTemplateOf } from './source-template.ts';
import { listSourcesWith } from './sources.store.ts';

interface CredentialOf extends Pick<Scope, 'organizationId' | 'workspaceId'> {
  credentialId: string;
}

/** A source that uses the credential, as its connector gets it; undefined: none does yet. */
export async function configurationWith(
  ctx: PipelinesContext,
  { workspaceId, credentialId }: CredentialOf,
): Promise<Configuration | undefined> {
  const [row] = await listSourcesWith(ctx.store.db, workspaceId, credentialId);
  if (!row) return undefined;
  const { given, defaults } = await configurationParts(ctx, row);
  return mergeWithDefaults(given, defaults);
}

/** The version of the connector of that source; 0 for a connector that is not the organization's own. */
export async function versionWith(
  ctx: PipelinesContext,
  { workspaceId, credentialId }: CredentialOf,
): Promise<number | undefined> {
  const [row] = await listSourcesWith(ctx.store.db, workspaceId, credentialId);
  return row?.definition_version;
}

/** The addresses that customers enter although their connectors get something of the operator's. */
export async function openAddressesWith(
  ctx: PipelinesContext,
  { organizationId, workspaceId, credentialId, templateId }: CredentialOf & { templateId: string },
): Promise<string[]> {
  const rows = await listSourcesWith(ctx.store.db, workspaceId, credentialId);
  // Sources may have stayed on older versions of the template. A check without a source has the newest.
  const newest = await findAnySourceTemplate(ctx.templates, organizationId, templateId);
  const templates = [
    ...(newest ? [newest] : []),
    ...(await Promise.all(rows.map((row) => versionedTemplateOf(ctx, row)))),
  ];
  const open = await Promise.all(templates.map((template) => openAddressesOf(ctx, template)));
  return [...new Set(open.flat())];
}

async function openAddressesOf({ templates }: PipelinesContext, template: SourceTemplate): Promise<string[]> {
  const oauth = signInOf(template);
  const definition = oauth && (await findDefinition(templates, definitionOf(template)));
  if (!oauth || !definition) return [];
  return openAddresses(templates, definition.specification, { oauth, defaults: openDefaults(templates, template) });
}
