/**
 * Definitions: the connectors that can be used, and how each describes itself. They come from the platform or from a
 * registry (open.ts decides) and are the same for every organization; besides, an organization may have sources of its own
 * (own-definitions.ts). configuration-faults.ts checks a configuration against its definition.
 */
import type { Store } from '../../kernel/db/open.ts';
import { AppError } from '../../kernel/errors.ts';
import type { ConnectorKind } from '../../kernel/platform/pipelines-port.ts';
import { byName, type Definition } from './definition.ts';
import { findOwnDefinition, listOwnDefinitions } from './own-definitions.ts';

export interface Definitions {
  /** Sorted by name. Throws `definitions_unavailable`. */
  list(kind: ConnectorKind): Promise<Definition[]>;
}

interface Finding {
  definitions: Definitions;
  store: Store;
}

export interface DefinitionsContext extends Finding {
  /** Addresses in answers begin with this. */
  publicUrl: string;
}

export async function listDefinitions(
  ctx: Finding,
  organizationId: string,
  kind: ConnectorKind,
  nameContains = '',
): Promise<Definition[]> {
  const wanted = nameContains.toLowerCase();
  const own = kind === 'source' ? await listOwnDefinitions(ctx, organizationId) : [];
  const all = [...(await ctx.definitions.list(kind)), ...own];
  const found = all.filter(({ name }) => name.toLowerCase().includes(wanted));
  return own.length > 0 ? byName(found) : found;
}

export interface WantedDefinition {
  organizationId: string;
  kind: ConnectorKind;
  id: string;
  /** For an organization's own connector: the version that a source uses. Defaults to the latest. */
  version?: number | undefined;
}

export async function findDefinition(
  ctx: Finding,
  { organizationId, kind, id, version }: WantedDefinition,
): Promise<Definition | undefined> {
  const own = kind === 'source' ? await findOwnDefinition(ctx, organizationId, id, version) : undefined;
  return own ?? (await ctx.definitions.list(kind)).find((definition) => definition.id === id);
}

export async function getDefinition(ctx: Finding, wanted: WantedDefinition): Promise<Definition> {
  const definition = await findDefinition(ctx, wanted);
  if (!definition) throw new AppError(`${wanted.kind}_definition_not_found`);
  return definition;
}

/** The definition of a source template, or of a source that was made from it. */
export function definitionOf(template: {
  organization_id: string;
  definition_id: string;
  definition_version?: number;
}): WantedDefinition {
  const { organization_id: organizationId, definition_id: id, definition_version: version } = template;
  return { organizationId, kind: 'source', id, version };
}
