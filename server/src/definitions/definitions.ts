/**
 * Definitions: the connectors that can be used, and how each describes itself. They come from the platform or from a
 * registry (open.ts decides) and are the same for every organization. configuration-faults.ts checks a configuration
 * against its definition.
 */
import type { ConnectorSpecification } from '@inlay/contract/definitions';
import { AppError } from '../errors.ts';
import type { ConnectorKind } from '../platform/pipelines-port.ts';

export interface Definition {
  id: string;
  kind: ConnectorKind;
  name: string;
  version: string | null;
  dockerRepository: string | null;
  /** An address of the web, or the image itself as a `data:` address. icons.ts makes the address for answers. */
  icon: string | null;
  documentationUrl: string | null;
  documentation: string | null;
  supportLevel: string | null;
  custom: boolean;
  specification: ConnectorSpecification;
  /** The streams most users want; empty where nobody has chosen any. */
  suggestedStreams: string[];
}

export interface Definitions {
  /** Sorted by name. Throws `definitions_unavailable`. */
  list(kind: ConnectorKind): Promise<Definition[]>;
}

export interface DefinitionsContext {
  definitions: Definitions;
  /** Addresses in answers begin with this. */
  publicUrl: string;
}

export async function listDefinitions(
  ctx: DefinitionsContext,
  kind: ConnectorKind,
  nameContains = '',
): Promise<Definition[]> {
  const wanted = nameContains.toLowerCase();
  return (await ctx.definitions.list(kind)).filter(({ name }) => name.toLowerCase().includes(wanted));
}

export async function findDefinition(
  ctx: DefinitionsContext,
  kind: ConnectorKind,
  id: string,
): Promise<Definition | undefined> {
  return (await ctx.definitions.list(kind)).find((definition) => definition.id === id);
}

export async function getDefinition(ctx: DefinitionsContext, kind: ConnectorKind, id: string): Promise<Definition> {
  const definition = await findDefinition(ctx, kind, id);
  if (!definition) throw new AppError(`${kind}_definition_not_found`);
  return definition;
}

export function byName(definitions: Definition[]): Definition[] {
  return definitions.toSorted((a, b) => a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1));
}
