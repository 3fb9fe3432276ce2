/**
 * Connectors that an organization adds itself: declarative manifests, which are data. This file owns them and their
 * versions; pipelines/ brings a copy of a definition to the platform for each source (placed-definitions.ts), so that
 * sources may have different versions there.
 *
 * What always holds: a definition is found only together with the organization that it belongs to. Versions are never
 * changed. The newest versions are kept, and older ones while a source has them (own-versions.ts shows them). At least one
 * stream of a version can run. A definition is not deleted while a template uses it.
 */
import { isObject } from '@inlay/contract/connector-configuration';
import type {
  AddSourceDefinitionRequest,
  ConnectorSpecification,
  ManifestAnswer,
  MovedSources,
  ReplaceSourceDefinitionRequest,
} from '@inlay/contract/definitions';
import { BoundedMap } from '../bounded-map.ts';
import type { Db, Store } from '../db/open.ts';
import type { SourceDefinitionRow, SourceDefinitionVersionRow } from '../db/tables.ts';
import { AppError, invalidRequest } from '../errors.ts';
import type { Journal } from '../events/journal.ts';
import { isoTime } from '../iso-time.ts';
import { type ManifestDescription, refusalOf, UnreadableManifest } from '../manifest-reader.ts';
import type { Runtime } from '../runtime.ts';
import type { Sealer } from '../sealing.ts';
import type { VersionMaker } from '../template-ref.ts';
import { usableSpecificationFault } from './configuration-faults.ts';
import type { Definition } from './definition.ts';
import { hasMask, mask, withoutSecrets } from './manifest-secrets.ts';
import * as own from './own-definitions.store.ts';

export interface OwnDefinitionsContext {
  store: Store;
  runtime: Runtime;
  sealer: Sealer;
  /** Every change is written into it, in the transaction of the change. */
  journal: Journal;
  readManifest(text: string): Promise<ManifestDescription>;
  /** The names of the templates that customers can use, or that the organization has put away for later. */
  listTemplatesOf(tx: Db, organizationId: string, definitionId: string): Promise<string[]>;
  /** Brings a new version to the sources whose configuration it accepts, and tells which keep theirs. */
  moveSources(journal: Journal, tx: Db, move: VersionMove): Promise<MovedSources>;
  /** Which versions sources still have. */
  listVersionsInUse(tx: Db, organizationId: string, definitionId: string): Promise<number[]>;
  /** How many sources have each of these versions. */
  countSourcesByVersion(
    db: Db,
    organizationId: string,
    definitionId: string,
    versions: readonly number[],
  ): Promise<Map<number, number>>;
}

/** Who gives a manifest: the organization, and the operator token if there is one. */
export interface Maker {
  organizationId: string;
  maker: VersionMaker;
}

export interface VersionMove {
  organizationId: string;
  definitionId: string;
  version: number;
  specification: ConnectorSpecification;
}

/** What a version says of itself, as it is stored. */
export interface Content extends Omit<ManifestDescription, 'manifest' | 'errors'> {}

type Finder = Pick<OwnDefinitionsContext, 'store'>;

const contents = new BoundedMap<string, Content>(500);

/** Versions never change, so each is read once. */
export async function contentOf(
  db: Db,
  { organization_id, version_id }: Pick<own.VersionedDefinition, 'organization_id' | 'version_id'>,
): Promise<Content> {
  let content = contents.get(version_id);
  if (!content) {
    content = JSON.parse((await own.readVersion(db, organization_id, version_id)).content) as Content;
    contents.set(version_id, content);
  }
  return content;
}

export async function listOwnDefinitions({ store }: Finder, organizationId: string): Promise<Definition[]> {
  const rows = await own.listOwn(store.db, organizationId);
  return await Promise.all(rows.map((row) => asDefinition(store.db, row)));
}

/** The newest version, or a given one, which a source has even if the definition is deleted. */
export async function findOwnDefinition(
  { store }: Finder,
  organizationId: string,
  id: string,
  version?: number,
): Promise<Definition | undefined> {
  const row = version
    ? await own.findOwnVersion(store.db, organizationId, id, version)
    : await own.findOwn(store.db, organizationId, id);
  return row && (await asDefinition(store.db, row));
}

async function asDefinition(db: Db, row: own.VersionedDefinition): Promise<Definition> {
  const { specification } = await contentOf(db, row);
  return {
    id: row.id,
    kind: 'source',
    name: row.name,
    version: String(row.number),
    dockerRepository: null,
    icon: row.icon,
    documentationUrl: specification.documentationUrl ?? null,
    documentation: null,
    supportLevel: null,
    custom: true,
    specification,
    suggestedStreams: [],
    ownVersion: row.number,
  };
}

/** The manifest itself, for the platform. */
export async function openManifest(
  ctx: Pick<OwnDefinitionsContext, 'store' | 'sealer'>,
  organizationId: string,
  id: string,
  version: number,
): Promise<Record<string, unknown>> {
  const row = await own.findOwnVersion(ctx.store.db, organizationId, id, version);
  if (!row) throw new AppError('source_definition_not_found');
  return await manifestOf(ctx, row);
}

/** The manifest of a version that is at hand. */
export async function manifestOf(
  { store, sealer }: Pick<OwnDefinitionsContext, 'store' | 'sealer'>,
  version: Pick<own.VersionedDefinition, 'organization_id' | 'version_id'>,
): Promise<Record<string, unknown>> {
  return JSON.parse(await textOf({ sealer }, store.db, version));
}

/** The manifest of a version as it is stored: JSON, with the secrets that somebody has written into it. */
async function textOf(
  { sealer }: Pick<OwnDefinitionsContext, 'sealer'>,
  db: Db,
  { organization_id, version_id }: Pick<own.VersionedDefinition, 'organization_id' | 'version_id'>,
): Promise<string> {
  const { sealed_manifest: sealed } = await own.readVersion(db, organization_id, version_id);
  return sealer.open(sealed, contextOf(version_id)).toString('utf8');
}

/** What is to be known of the newest version; undefined for a definition that is not the organization's own. */
export async function findManifest(
  ctx: Pick<OwnDefinitionsContext, 'store' | 'sealer'>,
  organizationId: string,
  id: string,
): Promise<ManifestAnswer | undefined> {
  const row = await own.findOwn(ctx.store.db, organizationId, id);
  if (!row) return undefined;
  const manifest = await manifestOf(ctx, row);
  return { ...(await presentManifest(ctx.store.db, row)), content: withoutSecrets(manifest) };
}

async function presentManifest(db: Db, row: own.VersionedDefinition): Promise<ManifestAnswer> {
  return {
    version: row.number,
    ...whatRuns(await contentOf(db, row)),
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

export function whatRuns({ version, streams, warnings }: Content) {
  return {
    language_version: version,
    streams: streams.map(({ name, isDynamic, errors }) => ({
      name,
      is_dynamic: isDynamic,
      is_left_out: errors.length > 0,
      problems: errors,
    })),
    warnings,
  } satisfies Partial<ManifestAnswer>;
}

type Adding = Pick<OwnDefinitionsContext, 'store' | 'runtime' | 'sealer' | 'journal' | 'readManifest'>;
type Deleting = Pick<OwnDefinitionsContext, 'store' | 'sealer' | 'journal' | 'listTemplatesOf' | 'listVersionsInUse'>;

export interface AddedDefinition {
  definition: Definition;
  manifest: ManifestAnswer;
}

export async function addDefinition(
  ctx: Adding,
  { organizationId, maker }: Maker,
  { manifest, name: given, icon = null }: AddSourceDefinitionRequest,
): Promise<AddedDefinition> {
  const description = await describe(ctx, manifest);
  const name = given ?? nameIn(description);
  const id = ctx.runtime.newId();
  await ctx.store.transaction(async (tx) => {
    await own.insertOwn(tx, organizationId, { id, name, icon });
    const first = { definition_id: id, number: 1, copy_of: null, ...maker };
    await insertVersion(ctx, tx, organizationId, first, description);
    await ctx.journal.record(tx, organizationId, {
      type: 'definition.created',
      data: { definition: { id, kind: 'source', name } },
      change: { before: undefined, after: settingsOf(ctx, { id, name, icon, version: 1 }, description.manifest) },
    });
  });
  return await getAdded(ctx, organizationId, id);
}

export interface ReplacedDefinition extends AddedDefinition {
  sources: MovedSources;
}

export async function replaceDefinition(
  ctx: OwnDefinitionsContext,
  by: Maker,
  id: string,
  { manifest, name, icon }: ReplaceSourceDefinitionRequest,
): Promise<ReplacedDefinition> {
  if (!(await own.findOwn(ctx.store.db, by.organizationId, id))) throw new AppError('source_definition_not_found');
  return await putManifest(ctx, by, id, await describe(ctx, manifest), { name, icon });
}

/**
 * Makes a new version that repeats an earlier one, under the same rules as a new manifest. Nobody has to write the secrets
 * in the manifest again: they are taken as they are stored.
 */
export async function rollBackDefinition(
  ctx: OwnDefinitionsContext,
  by: Maker,
  id: string,
  number: number,
): Promise<ReplacedDefinition> {
  const { db } = ctx.store;
  if (!(await own.findOwn(db, by.organizationId, id))) throw new AppError('source_definition_not_found');
  const version = await own.findOwnVersion(db, by.organizationId, id, number);
  if (!version) throw new AppError('source_definition_version_not_found');
  const manifest = await textOf(ctx, db, version);
  // What runs is found out anew: the service may know more of the language than it did then.
  const description = { ...(await describe(ctx, manifest, ['body', 'version'])), manifest };
  return await putManifest(ctx, by, id, description, { copyOf: number });
}

/** So many versions are kept even if no source has them, for the way back. */
const versionsKept = 20;
/** Many versions may be without a source at once; the rest goes with the next change. */
const deletedAtOnce = 100;

/** A manifest that is the same as before makes no new version. */
async function putManifest(
  ctx: OwnDefinitionsContext,
  { organizationId, maker }: Maker,
  id: string,
  description: ManifestDescription,
  { name, icon, copyOf }: { name?: string | undefined; icon?: string | null | undefined; copyOf?: number },
): Promise<ReplacedDefinition> {
  const sources = await ctx.store.transaction(async (tx) => {
    const row = await own.lockOwn(tx, organizationId, id);
    if (!row) throw new AppError('source_definition_not_found');
    const changes = {
      ...(name !== undefined && name !== row.name && { name }),
      ...(icon !== undefined && icon !== row.icon && { icon }),
      ...((await isNew(ctx, tx, row, description)) && { version: row.version + 1 }),
    };
    const changed = Object.keys(changes).map((column) => (column === 'version' ? 'manifest' : column));
    if (changed.length === 0) return await move(ctx, tx, row, description);
    const manifestBefore = await storedManifest(ctx, tx, row);
    const updated = (await own.changeOwn(tx, organizationId, id, changes)) ?? row;
    if (changes.version !== undefined) {
      const version = { definition_id: id, number: changes.version, copy_of: copyOf ?? null, ...maker };
      await insertVersion(ctx, tx, organizationId, version, description);
    }
    const moved = await move(ctx, tx, updated, description);
    await own.deleteVersions(tx, organizationId, id, {
      upTo: updated.version - versionsKept,
      except: await ctx.listVersionsInUse(tx, organizationId, id),
      limit: deletedAtOnce,
    });
    const after = settingsOf(ctx, updated, description.manifest);
    await ctx.journal.record(tx, organizationId, {
      type: 'definition.updated',
      data: { definition: { id, kind: 'source', name: updated.name }, changed },
      change: {
        before: settingsOf(ctx, row, manifestBefore),
        after: copyOf === undefined ? after : { ...after, copy_of: copyOf },
      },
    });
    return moved;
  });
  return { ...(await getAdded(ctx, organizationId, id)), sources };
}

/** Also for a manifest that has not changed: sources that did not accept it may do so by now. */
async function move(
  ctx: OwnDefinitionsContext,
  tx: Db,
  row: SourceDefinitionRow,
  { specification }: ManifestDescription,
) {
  const { organization_id: organizationId, id: definitionId, version } = row;
  return await ctx.moveSources(ctx.journal, tx, { organizationId, definitionId, version, specification });
}

async function isNew(ctx: OwnDefinitionsContext, tx: Db, row: SourceDefinitionRow, { manifest }: ManifestDescription) {
  return (await storedManifest(ctx, tx, row)) !== manifest;
}

/** The newest; undefined where none is stored. */
async function storedManifest(ctx: Pick<OwnDefinitionsContext, 'sealer'>, tx: Db, row: SourceDefinitionRow) {
  const present = await own.findOwnVersion(tx, row.organization_id, row.id, row.version);
  return present && (await textOf(ctx, tx, present));
}

/** For the audit. A manifest is long and may hold secrets, so it is a fingerprint. */
function settingsOf(
  { sealer }: Pick<OwnDefinitionsContext, 'sealer'>,
  { id, name, icon, version }: Pick<SourceDefinitionRow, 'id' | 'name' | 'icon' | 'version'>,
  manifest: string | undefined,
) {
  const fingerprint = manifest === undefined ? null : `fingerprint:${sealer.fingerprint(manifest, id)}`;
  return { name, icon, version, manifest: fingerprint };
}

export async function deleteDefinition(
  ctx: Deleting,
  organizationId: string,
  id: string,
): Promise<{ id: string; deleted_at: string }> {
  return await ctx.store.transaction(async (tx) => {
    if (!(await own.lockOwn(tx, organizationId, id))) throw new AppError('source_definition_not_found');
    const templates = await ctx.listTemplatesOf(tx, organizationId, id);
    if (templates.length > 0) throw new AppError('definition_in_use', { templates });
    const row = await own.deleteOwn(tx, organizationId, id);
    const manifest = row && (await storedManifest(ctx, tx, row));
    if (!row) throw new AppError('source_definition_not_found');
    await own.deleteVersions(tx, organizationId, id, {
      upTo: row.version - 1,
      except: await ctx.listVersionsInUse(tx, organizationId, id),
      limit: deletedAtOnce,
    });
    await ctx.journal.record(tx, organizationId, {
      type: 'definition.deleted',
      data: { definition: { id, kind: 'source', name: row.name } },
      change: { before: settingsOf(ctx, row, manifest), after: undefined },
    });
    return { id, deleted_at: isoTime(row.deleted_at ?? 0) };
  });
}

/**
 * Keeps the definition from being deleted or changed until the end of the transaction, and returns the number of its newest
 * version; 0 for a connector that is not the organization's own.
 */
export async function holdDefinition(tx: Db, organizationId: string, definition: Definition): Promise<number> {
  if (definition.ownVersion === undefined) return 0;
  const row = await own.lockOwn(tx, organizationId, definition.id);
  if (!row) throw new AppError('source_definition_not_found');
  return row.version;
}

async function getAdded(ctx: Finder, organizationId: string, id: string): Promise<AddedDefinition> {
  const row = await own.findOwn(ctx.store.db, organizationId, id);
  if (!row) throw new AppError('source_definition_not_found');
  return { definition: await asDefinition(ctx.store.db, row), manifest: await presentManifest(ctx.store.db, row) };
}

const contextOf = (versionId: string) => `manifest ${versionId}`;

async function insertVersion(
  ctx: Adding,
  tx: Db,
  organizationId: string,
  version: Pick<SourceDefinitionVersionRow, 'definition_id' | 'number' | 'copy_of'> & VersionMaker,
  { manifest, errors: _none, ...content }: ManifestDescription,
): Promise<void> {
  const id = ctx.runtime.newId();
  await own.insertVersion(tx, organizationId, {
    id,
    ...version,
    sealed_manifest: ctx.sealer.seal(Buffer.from(manifest), contextOf(id)),
    content: JSON.stringify(content satisfies Content),
  });
}

/** `at`: the field of the request that names the manifest. */
async function describe(
  ctx: Adding,
  given: AddSourceDefinitionRequest['manifest'],
  at = ['body', 'manifest'],
): Promise<ManifestDescription> {
  const refused = (msg: string) => invalidRequest({ loc: at, msg, type: 'value_error.manifest' });
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  let description: ManifestDescription;
  try {
    description = await ctx.readManifest(text);
  } catch (error) {
    if (error instanceof UnreadableManifest) throw refused(error.message);
    throw error;
  }
  const refusal = refusalOf(description);
  if (refusal !== undefined) throw refused(refusal);
  if (hasMask(JSON.parse(description.manifest))) throw refused(`Write the secret that is masked as ${mask}.`);
  const fault = usableSpecificationFault(description.specification);
  if (fault !== undefined) throw refused(`spec.connection_specification is no valid JSON Schema: ${fault}`);
  return description;
}

/** As the specification calls itself, mostly in the form "Books Spec". */
function nameIn({ specification: { connectionSpecification } }: ManifestDescription): string {
  const { title } = isObject(connectionSpecification) ? connectionSpecification : {};
  const name =
    typeof title === 'string' ? title.replace(/\s+(Source\s+)?(Connector\s+)?Spec(ification)?$/i, '').trim() : '';
  if (name !== '' && name.length <= maxNameLength) return name;
  const msg = 'the manifest has no title in its specification, so a name is needed';
  throw invalidRequest({ loc: ['body', 'name'], msg, type: 'value_error.missing' });
}

const maxNameLength = 255;
