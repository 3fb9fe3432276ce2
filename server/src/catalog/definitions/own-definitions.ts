/**
 * Connectors that an organization adds itself: declarative manifests, which are data. This file owns them and their
 * versions; pipelines/ brings a copy of a definition to the platform for each source (definition-copies.ts), so that
 * sources may have different versions there.
 *
 * What always holds: a definition is found only together with the organization that it belongs to. Versions are never
 * changed. The newest versions are kept, and older ones while a source has them (own-versions.ts shows them). At least one
 * stream of a version can run. A definition is not deleted while a template uses it. A stored secret goes to no address that
 * the version did not have for which it was entered, until someone who may see secrets has confirmed that address.
 * Long because a definition and its versions change together, in one transaction.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import type {
  AddSourceDefinitionRequest,
  ConnectorSpecification,
  ManifestAnswer,
  MovedSources,
  ReplaceSourceDefinitionRequest,
} from '@inlay/contract/catalog/definitions';
import { BoundedMap } from '@inlay/schedule/bounded-map';
import { QueueFull } from '@inlay/schedule/fair-queue';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { SourceDefinitionRow, SourceDefinitionVersionRow } from '../../kernel/db/tables.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { VersionMaker } from '../../kernel/template-ref.ts';
import type { Journal } from '../../log/events/journal.ts';
import type { Definition } from './definition.ts';
import { type ManifestDescription, readManifest, refusalOf, UnreadableManifest } from './manifest-reader.ts';
import { hasMask, mask, withoutSecrets } from './manifest-secrets.ts';
import * as own from './own-definitions.store.ts';

/** For code that reads definitions. */
interface Reading {
  store: Store;
  sealer: Sealer;
}

/** For code that adds definitions. */
interface Adding extends Reading {
  runtime: Runtime;
  /** Every change is written into it, in the transaction of the change. */
  journal: Journal;
}

export interface OwnDefinitionsContext extends Adding {
  uses: DefinitionUses;
}

/** What is made from definitions of the organization's own. pipelines/ implements it (definition-copies.ts). */
export interface DefinitionUses {
  /** The names of the templates that customers can use, or that the organization has put away for later. */
  listTemplates(tx: Db, organizationId: string, definitionId: string): Promise<string[]>;
  /** Which versions sources still have. */
  listVersions(tx: Db, organizationId: string, definitionId: string): Promise<number[]>;
  /** How many sources have each of these versions. */
  countSources(
    db: Db,
    organizationId: string,
    definitionId: string,
    versions: readonly number[],
  ): Promise<Map<number, number>>;
  /** Applies a new version to the sources whose configuration it accepts, and says which keep theirs. */
  applyVersion(ctx: { sealer: Sealer; journal: Journal }, tx: Db, version: VersionToApply): Promise<MovedSources>;
}

/** Who gives a manifest: the organization, and the operator token if there is one. */
export interface Maker {
  organizationId: string;
  maker: VersionMaker;
}

export interface VersionToApply {
  organizationId: string;
  definitionId: string;
  version: number;
  specification: ConnectorSpecification;
  /** By the version that a source has: the addresses to which secrets would go that did not go there before. */
  newAddresses?: ReadonlyMap<number, readonly string[]>;
  /** Someone has confirmed that the version may have the secrets of all sources. */
  isConfirmed?: true;
}

/** What a version says of itself, as it is stored. */
export interface Content extends Omit<ManifestDescription, 'manifest' | 'errors' | 'addresses'> {
  /** Missing in versions that were stored before addresses were compared. */
  addresses?: string[];
}

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

/** Where a version may send secrets. A version that does not say so is read again. */
async function addressesOf(ctx: Reading, version: own.VersionedDefinition): Promise<string[]> {
  const content = await contentOf(ctx.store.db, version);
  if (content.addresses) return content.addresses;
  const { addresses } = await readManifest(version.organization_id, await textOf(ctx, ctx.store.db, version));
  contents.set(version.version_id, { ...content, addresses });
  return addresses;
}

/** The addresses to which secrets would go that were entered for another version. */
export async function newAddressesOf(
  ctx: Reading,
  organizationId: string,
  id: string,
  { from, to }: { from: number; to: number },
): Promise<string[]> {
  const [before, after] = await Promise.all(
    [from, to].map((number) => own.findOwnVersion(ctx.store.db, organizationId, id, number)),
  );
  if (!before || !after) throw new AppError('source_definition_version_not_found');
  return additional(before, await addressesOf(ctx, before), await addressesOf(ctx, after));
}

function additional(
  { confirmed_addresses: confirmed }: Pick<SourceDefinitionRow, 'confirmed_addresses'>,
  before: readonly string[],
  after: readonly string[],
): string[] {
  const known = new Set([...before, ...confirmedIn(confirmed)]);
  return after.filter((address) => !known.has(address));
}

const confirmedIn = (text: string | null): string[] => (text === null ? [] : JSON.parse(text));

export async function listOwnDefinitions({ store }: { store: Store }, organizationId: string): Promise<Definition[]> {
  const rows = await own.listOwn(store.db, organizationId);
  return await Promise.all(rows.map((row) => asDefinition(store.db, row)));
}

/** The newest version, or a given one, which a source has even if the definition is deleted. */
export async function findOwnDefinition(
  { store }: { store: Store },
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

/** What a version asks for; undefined for a version that is not kept. */
export async function findSpecification(
  db: Db,
  organizationId: string,
  id: string,
  version: number,
): Promise<ConnectorSpecification | undefined> {
  const row = await own.findOwnVersion(db, organizationId, id, version);
  return row && (await contentOf(db, row)).specification;
}

/** The manifest itself, for the platform. */
export async function openManifest(
  ctx: Reading,
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
  { store, sealer }: Reading,
  version: Pick<own.VersionedDefinition, 'organization_id' | 'version_id'>,
): Promise<Record<string, unknown>> {
  return JSON.parse(await textOf({ sealer }, store.db, version));
}

/** The manifest of a version as it is stored: JSON, with the secrets that someone has written into it. */
async function textOf(
  { sealer }: { sealer: Sealer },
  db: Db,
  { organization_id, version_id }: Pick<own.VersionedDefinition, 'organization_id' | 'version_id'>,
): Promise<string> {
  const { sealed_manifest: sealed } = await own.readVersion(db, organization_id, version_id);
  return sealer.open(sealed, contextOf(version_id)).toString('utf8');
}

/** What is to be known of the newest version; undefined for a definition that is not the organization's own. */
export async function findManifest(
  ctx: Reading,
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

export interface AddedDefinition {
  definition: Definition;
  manifest: ManifestAnswer;
}

export async function addDefinition(
  ctx: Adding,
  by: Maker,
  { manifest, ...settings }: AddSourceDefinitionRequest,
): Promise<AddedDefinition> {
  return await addDescribedDefinition(ctx, by, await read(by.organizationId, manifest), settings);
}

/** The manifest has been read already. */
export async function addDescribedDefinition(
  ctx: Adding,
  { organizationId, maker }: Maker,
  description: ManifestDescription,
  { name: given, icon = null }: Omit<AddSourceDefinitionRequest, 'manifest'>,
): Promise<AddedDefinition> {
  assertUsable(description);
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
  return await putManifest(ctx, by, id, await read(by.organizationId, manifest), { name, icon });
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
  // What is supported is determined again: the service may know more of the language than it did then.
  const description = { ...(await read(by.organizationId, manifest, versionField)), manifest };
  return await putManifest(ctx, by, id, description, { copyOf: number });
}

/**
 * Applies the newest version to sources that stayed on an older one because it sends their secrets to new addresses, and
 * remembers these addresses for later versions. `number`: the newest version, which the caller has seen.
 */
export async function confirmAddresses(
  ctx: OwnDefinitionsContext,
  { organizationId }: Pick<Maker, 'organizationId'>,
  id: string,
  number: number,
): Promise<ReplacedDefinition> {
  const newest = await own.findOwn(ctx.store.db, organizationId, id);
  if (!newest) throw new AppError('source_definition_not_found');
  if (newest.number !== number) throw new AppError('source_definition_version_not_found');
  const addresses = await addressesOf(ctx, newest);
  const { specification } = await contentOf(ctx.store.db, newest);
  const sources = await ctx.store.transaction(async (tx) => {
    const row = await own.lockOwn(tx, organizationId, id);
    if (!row) throw new AppError('source_definition_not_found');
    if (row.version !== number) throw new AppError('source_definition_version_not_found');
    const before = confirmedIn(row.confirmed_addresses);
    const after = [...new Set([...before, ...addresses])].sort();
    const applied = { organizationId, definitionId: id, version: number, specification, isConfirmed: true } as const;
    const sources = await ctx.uses.applyVersion(ctx, tx, applied);
    if (after.length > before.length) {
      await own.changeOwn(tx, organizationId, id, { confirmed_addresses: JSON.stringify(after) });
      await ctx.journal.record(tx, organizationId, {
        type: 'definition.updated',
        data: { definition: { id, kind: 'source', name: row.name }, changed: ['confirmed_addresses'] },
        change: { before: { confirmed_addresses: before }, after: { confirmed_addresses: after } },
      });
    }
    return sources;
  });
  return { ...(await getAdded(ctx, organizationId, id)), sources };
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
  assertUsable(description, copyOf === undefined ? manifestField : versionField);
  const addressesBefore = await addressesInUse(ctx, organizationId, id);
  const sources = await ctx.store.transaction(async (tx) => {
    const row = await own.lockOwn(tx, organizationId, id);
    if (!row) throw new AppError('source_definition_not_found');
    const newAddresses = new Map(
      [...addressesBefore].map(([number, addresses]) => [number, additional(row, addresses, description.addresses)]),
    );
    const changes = {
      ...(name !== undefined && name !== row.name && { name }),
      ...(icon !== undefined && icon !== row.icon && { icon }),
      ...((await isNew(ctx, tx, row, description)) && { version: row.version + 1 }),
    };
    const changed = Object.keys(changes).map((column) => (column === 'version' ? 'manifest' : column));
    if (changed.length === 0) return await applyNewest(ctx, tx, row, description, newAddresses);
    const manifestBefore = await storedManifest(ctx, tx, row);
    const updated = (await own.changeOwn(tx, organizationId, id, changes)) ?? row;
    if (changes.version !== undefined) {
      const version = { definition_id: id, number: changes.version, copy_of: copyOf ?? null, ...maker };
      await insertVersion(ctx, tx, organizationId, version, description);
    }
    const sources = await applyNewest(ctx, tx, updated, description, newAddresses);
    await own.deleteVersions(tx, organizationId, id, {
      upTo: updated.version - versionsKept,
      except: await ctx.uses.listVersions(tx, organizationId, id),
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
    return sources;
  });
  return { ...(await getAdded(ctx, organizationId, id)), sources };
}

/** Addresses of every version that a source uses, and of the latest, which a new source may use at any moment. */
async function addressesInUse(ctx: OwnDefinitionsContext, organizationId: string, id: string) {
  const { db } = ctx.store;
  const newest = await own.findOwn(db, organizationId, id);
  const numbers = new Set([
    ...(newest ? [newest.number] : []),
    ...(await ctx.uses.listVersions(db, organizationId, id)),
  ]);
  const found = new Map<number, string[]>();
  for (const number of numbers) {
    const version = await own.findOwnVersion(db, organizationId, id, number);
    if (version) found.set(number, await addressesOf(ctx, version));
  }
  return found;
}

/** Also for a manifest that has not changed: sources that did not accept it may do so by now. */
async function applyNewest(
  ctx: OwnDefinitionsContext,
  tx: Db,
  row: SourceDefinitionRow,
  { specification }: ManifestDescription,
  newAddresses: NonNullable<VersionToApply['newAddresses']>,
) {
  const { organization_id: organizationId, id: definitionId, version } = row;
  return await ctx.uses.applyVersion(ctx, tx, { organizationId, definitionId, version, specification, newAddresses });
}

async function isNew(ctx: OwnDefinitionsContext, tx: Db, row: SourceDefinitionRow, { manifest }: ManifestDescription) {
  return (await storedManifest(ctx, tx, row)) !== manifest;
}

/** The newest; undefined where none is stored. */
async function storedManifest(ctx: { sealer: Sealer }, tx: Db, row: SourceDefinitionRow) {
  const present = await own.findOwnVersion(tx, row.organization_id, row.id, row.version);
  return present && (await textOf(ctx, tx, present));
}

/** For the audit. A manifest is long and may hold secrets, so it is a fingerprint. */
function settingsOf(
  { sealer }: { sealer: Sealer },
  { id, name, icon, version }: Pick<SourceDefinitionRow, 'id' | 'name' | 'icon' | 'version'>,
  manifest: string | undefined,
) {
  const fingerprint = manifest === undefined ? null : `fingerprint:${sealer.fingerprint(manifest, id)}`;
  return { name, icon, version, manifest: fingerprint };
}

export async function deleteDefinition(
  ctx: OwnDefinitionsContext,
  organizationId: string,
  id: string,
): Promise<{ id: string; deleted_at: string }> {
  return await ctx.store.transaction(async (tx) => {
    if (!(await own.lockOwn(tx, organizationId, id))) throw new AppError('source_definition_not_found');
    const templates = await ctx.uses.listTemplates(tx, organizationId, id);
    if (templates.length > 0) throw new AppError('definition_in_use', { templates });
    const row = await own.deleteOwn(tx, organizationId, id);
    const manifest = row && (await storedManifest(ctx, tx, row));
    if (!row) throw new AppError('source_definition_not_found');
    await own.deleteVersions(tx, organizationId, id, {
      upTo: row.version - 1,
      except: await ctx.uses.listVersions(tx, organizationId, id),
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

async function getAdded(ctx: { store: Store }, organizationId: string, id: string): Promise<AddedDefinition> {
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

/** The fields of requests that name a manifest. */
const manifestField = ['body', 'manifest'];
const versionField = ['body', 'version'];

const refused = (msg: string, loc: string[]) => invalidRequest({ loc, msg, type: 'value_error.manifest' });

async function read(
  organizationId: string,
  given: AddSourceDefinitionRequest['manifest'],
  at = manifestField,
): Promise<ManifestDescription> {
  try {
    return await readManifest(organizationId, typeof given === 'string' ? given : JSON.stringify(given));
  } catch (error) {
    if (error instanceof UnreadableManifest) throw refused(error.message, at);
    if (!(error instanceof QueueFull)) throw error;
    throw new AppError('queue_full', { retryAfterSeconds: error.retryAfterSeconds }, { cause: error });
  }
}

function assertUsable(description: ManifestDescription, at = manifestField): void {
  const refusal = refusalOf(description);
  if (refusal !== undefined) throw refused(refusal, at);
  if (hasMask(description.manifest)) throw refused(`Enter the secret that is masked as ${mask}.`, at);
}

/** As the specification calls itself, mostly in the form "Books Spec". */
function nameIn({ specification: { connectionSpecification } }: ManifestDescription): string {
  const { title } = isObject(connectionSpecification) ? connectionSpecification : {};
  const name =
    typeof title === 'string' ? title.replace(/\s+(Source\s+)?(Connector\s+)?Spec(ification)?$/i, '').trim() : '';
  if (name !== '' && name.length <= maxNameLength) return name;
  const msg = "the manifest's specification has no title, so a name is required";
  throw invalidRequest({ loc: ['body', 'name'], msg, type: 'value_error.missing' });
}

const maxNameLength = 255;
