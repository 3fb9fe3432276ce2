/**
 * The available connectors: their names and the configuration they take. Some are bundled (bundled-definitions.ts),
 * others were registered by the operator on this machine (registered-definitions.ts). A workspace can also have its own
 * sources, which are manifests (declarative-definitions.ts).
 *
 * Invariant: the id of a definition never changes and is never reused. runner/ runs connectors.
 */

import type { ConnectorSpecification } from '@inlay/protocol/protocol';
import type { Db } from '../db/open.ts';
import type { ActorRow, RegisteredDefinitionRow } from '../db/tables.ts';
import { resourceNotFound } from '../problems.ts';
import type { Launch } from '../runner/programs.ts';
import { type DeclarativeDefinition, findDeclarative, listDeclarative } from './declarative-definitions.store.ts';
import { findRegistered, listRegistered } from './definitions.store.ts';
import type { ReadManifest } from './manifests.ts';

export type ConnectorKind = 'source' | 'destination';

export interface Definition {
  readonly definitionId: string;
  readonly kind: ConnectorKind;
  /** What `configuration.sourceType` or `configuration.destinationType` says; empty for a registered connector. */
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly documentation: string;
  /** An address of an image. */
  readonly icon?: string;
  readonly specification: ConnectorSpecification;
  /** What runs it; without it, the bundled connector whose name is the slug, or the manifest. */
  readonly launch?: Exclude<Launch, { type: 'manifest' }>;
  /**
   * For declarative connectors: where the manifest is stored (manifests.ts), or the manifest itself; and the file with
   * its code, if any.
   */
  readonly manifest?: { hash: string; componentsFile?: string } | { text: string };
}

interface KnownDefinitions {
  store: { db: Db };
  bundledDefinitions: readonly Definition[];
}

/**
 * Read from the store each time, since `inlay connector` registers from another process. Callers inside a transaction
 * pass it, because the database has a single connection.
 */
export async function listDefinitions(known: KnownDefinitions, workspaceId?: string): Promise<Definition[]> {
  const { db } = known.store;
  const own = workspaceId === undefined ? [] : await listDeclarative(db, workspaceId);
  return [...known.bundledDefinitions, ...(await listRegistered(db)).map(readRegistered), ...own.map(readDeclarative)];
}

export interface WantedDefinition {
  kind: ConnectorKind;
  id: string;
  /** The workspace that asks: it also finds its own definitions. */
  workspaceId: string | undefined;
}

export async function findDefinition(
  known: KnownDefinitions,
  { kind, id: given, workspaceId }: WantedDefinition,
  db: Db = known.store.db,
): Promise<Definition | undefined> {
  const id = given.toLowerCase();
  const bundled = known.bundledDefinitions.find((one) => one.kind === kind && one.definitionId === id);
  if (bundled) return bundled;
  const registered = await findRegistered(db, id);
  if (registered) return registered.kind === kind ? readRegistered(registered) : undefined;
  if (kind !== 'source' || workspaceId === undefined) return undefined;
  const own = await findDeclarative(db, workspaceId.toLowerCase(), id);
  return own && readDeclarative(own);
}

export async function getDefinition(known: KnownDefinitions, wanted: WantedDefinition, db?: Db): Promise<Definition> {
  const definition = await findDefinition(known, wanted, db);
  if (!definition) throw resourceNotFound(`${wanted.kind}_definition`, wanted.id);
  return definition;
}

/** Definition of a stored source or destination. */
export function definitionOf({
  kind,
  definition_id: id,
  workspace_id: workspaceId,
}: Pick<ActorRow, 'kind' | 'definition_id' | 'workspace_id'>): WantedDefinition {
  return { kind, id, workspaceId };
}

function readRegistered(row: RegisteredDefinitionRow): Definition {
  const { definition_id: definitionId, kind, name, image } = row;
  return {
    definitionId,
    kind,
    slug: '',
    name,
    version: /:([^:/]+)$/.exec(image ?? '')?.[1] ?? 'local',
    documentation: '',
    ...(row.icon !== null && { icon: row.icon }),
    specification: JSON.parse(row.specification),
    ...launchOf(row),
  };
}

function launchOf(row: RegisteredDefinitionRow): Pick<Definition, 'launch' | 'manifest'> {
  const { image, manifest_hash: hash, components_file: componentsFile } = row;
  if (hash !== null) return { manifest: { hash, ...(componentsFile !== null && { componentsFile }) } };
  return { launch: image !== null ? { type: 'image', image } : readCommand(row) };
}

/** Specifications by the hash of their manifest: each validator is compiled once. */
const specifications = new Map<string, ConnectorSpecification>();
const maxKept = 500;

/** A manifest that is not kept, for a check. */
export function passingDefinition({ manifest, specification }: ReadManifest): Definition {
  const words = { name: '', version: '', documentation: '', slug: '' };
  return { definitionId: '', kind: 'source', ...words, specification, manifest: { text: manifest } };
}

function readDeclarative(row: DeclarativeDefinition): Definition {
  const { definition_id: definitionId, name, version, manifest_hash: hash } = row;
  const specification: ConnectorSpecification = specifications.get(hash) ?? JSON.parse(row.specification);
  if (specifications.size >= maxKept) specifications.clear();
  specifications.set(hash, specification);
  return {
    definitionId,
    kind: 'source',
    slug: '',
    name,
    version: String(version),
    documentation: '',
    specification,
    manifest: { hash },
  };
}

function readCommand({ command, folder }: RegisteredDefinitionRow): NonNullable<Definition['launch']> {
  return { type: 'command', command: JSON.parse(command ?? '[]'), ...(folder !== null && { folder }) };
}
