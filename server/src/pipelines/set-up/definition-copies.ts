/**
 * Copies of an organization's own definitions on the platform. Such a definition belongs to one workspace there, and
 * all sources made from it get a new manifest together. So each source has its own copy of the definition: some sources
 * can then use a new version while others keep theirs.
 */
import { type Configuration, listSecrets } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification, MovedSources } from '@inlay/contract/catalog/definitions';
import { configurationFaults } from '../../catalog/definitions/configuration-faults.ts';
import { definitionOf, getDefinition } from '../../catalog/definitions/definitions.ts';
import {
  type DefinitionUses,
  findSpecification,
  openManifest,
  type VersionToApply,
} from '../../catalog/definitions/own-definitions.ts';
import { openConfiguration } from '../../catalog/definitions/sealed-configuration.ts';
import { listTemplatesOfDefinition, openDefaults } from '../../catalog/templates/source-templates.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { SourceRow } from '../../kernel/db/tables.ts';
import { slowCreateTimeoutMs } from '../../kernel/platform/calls.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { Journal } from '../../log/events/journal.ts';
import { mergeWithDefaults } from '../configuration.ts';
import type { PipelinesContext } from '../context.ts';
import * as copies from '../definition-copies.store.ts';
import { aboutSource } from '../entries.ts';
import { refusing, Waiting } from '../interruptions.ts';
import { markOf, nameOnPlatform } from '../marks.ts';
import { versionedTemplateOf } from '../source-template.ts';
import { assertSettled, readSettleWindow } from './assert-settled.ts';
import { createOnce } from './create-once.ts';

/** The id on the platform of the definition that the source is to be made from, in the source's version. */
export async function copyDefinition(ctx: PipelinesContext, source: SourceRow): Promise<string> {
  const { organization_id: organizationId, workspace_id: workspaceId, definition_version: version } = source;
  const row = await copies.ensureCopy(ctx.store.db, source);
  if (row.platform_id !== null && row.applied_version === version) return row.platform_id;
  const definition = await getDefinition(ctx.templates, definitionOf(source));
  const manifest = await openManifest(ctx, organizationId, definition.id, version);
  let isNew = false;
  const platformId = await refusing('definition', () =>
    createOnce(ctx, 'definition_copies', row, {
      find: () => ctx.platform.findManifest(workspaceId, markOf(source.id)),
      prepare: async () => ({ workspaceId, name: nameOnPlatform(definition.name, source.id), manifest }),
      async create(wanted) {
        const id = await ctx.platform.createManifest(wanted);
        isNew = true;
        return id;
      },
      timeoutMs: slowCreateTimeoutMs,
    }),
  );
  // A definition that was found, not made just now, may have another version.
  if (!isNew) {
    const ref = { table: 'definition_copies', workspaceId, id: source.id } as const;
    await refusing('definition', () =>
      assertSettled(ctx, ref, () => ctx.platform.replaceManifest(workspaceId, platformId, manifest), {
        timeoutMs: slowCreateTimeoutMs,
        content: String(version),
      }),
    );
  }
  await copies.recordCopy(ctx.store.db, workspaceId, source.id, version);
  return platformId;
}

/** After the source itself is gone from the platform. */
export async function removeCopy(ctx: PipelinesContext, { workspace_id, id }: SourceRow): Promise<void> {
  const { waitMs } = await readSettleWindow(ctx, { table: 'definition_copies', workspaceId: workspace_id, id });
  const row = await copies.findCopy(ctx.store.db, workspace_id, id);
  if (!row) return;
  const platformId = row.platform_id ?? (await ctx.platform.findManifest(workspace_id, markOf(id)));
  if (platformId !== undefined) await ctx.platform.deleteManifest(workspace_id, platformId);
  else if (waitMs > 0) throw new Waiting('waiting for an unconfirmed request to settle', Math.min(waitMs, 2_000));
  await copies.deleteCopy(ctx.store.db, workspace_id, id);
}

export const definitionUses: DefinitionUses = {
  listTemplates: listTemplatesOfDefinition,
  listVersions: copies.listVersionsInUse,
  countSources: copies.countSourcesByVersion,
  applyVersion,
};

const batch = 500;

/**
 * Applies a new version of a definition to the sources whose configuration its specification accepts. In the transaction of
 * the new version; the worker applies it to the platform.
 */
async function applyVersion(
  { sealer, journal }: { sealer: Sealer; journal: Journal },
  tx: Db,
  applied: VersionToApply,
): Promise<MovedSources> {
  const { organizationId, definitionId, version, specification, newAddresses } = applied;
  const outcome: MovedSources = { moved: 0, staying: [] };
  const defaultsOf = readerOfDefaults(sealer, tx);
  const specificationOf = readerOfSpecifications(tx, organizationId, definitionId);
  /** Why the new version would disclose secrets of a source; undefined if it would not. */
  const disclosureOf = async (row: SourceRow, configuration: Configuration): Promise<string | undefined> => {
    const before = await specificationOf(row.definition_version);
    const secrets = before ? listSecrets(before.connectionSpecification, configuration) : [];
    if (applied.isConfirmed || (secrets.length === 0 && row.credential_id === null)) return undefined;
    const kept = new Set(listSecrets(specification.connectionSpecification, configuration));
    if (secrets.some((secret) => !kept.has(secret)))
      return `The new version reveals values that are secret in this one. ${advice}`;
    const addresses = newAddresses?.get(row.definition_version);
    if (addresses?.length === 0) return undefined;
    return `The new version sends secrets to new addresses${addresses ? ` (${inWords(addresses)})` : ''}. ${advice}`;
  };
  for (let after: string | undefined; ; ) {
    const rows = await copies.lockSourcesOf(tx, organizationId, definitionId, { after, limit: batch });
    const movable: SourceRow[] = [];
    for (const row of rows.filter((one) => one.definition_version !== version)) {
      const given = openConfiguration(sealer, 'source', row.id, row.sealed_config);
      const configuration = mergeWithDefaults(given, await defaultsOf(row));
      const [fault] = configurationFaults(specification, configuration, []);
      const reason = fault
        ? `${fault.loc.join('.') || 'configuration'}: ${fault.msg}`
        : await disclosureOf(row, configuration);
      if (reason === undefined) movable.push(row);
      else {
        const { id, name, workspace_id, definition_version } = row;
        const staying = { id, name, workspace_id, version: definition_version, reason };
        outcome.staying.push({ ...staying, needs_confirmation: fault === undefined });
      }
    }
    await copies.setDefinitionVersion(
      tx,
      organizationId,
      movable.map(({ id }) => id),
      version,
    );
    for (const row of movable) {
      await journal.record(tx, organizationId, {
        type: 'source.updated',
        workspaceId: row.workspace_id,
        data: { source: aboutSource(row), changed: ['definition_version'] },
        change: { before: { definition_version: row.definition_version }, after: { definition_version: version } },
      });
    }
    outcome.moved += movable.length;
    if (rows.length < batch) return outcome;
    after = rows
      .map(({ id }) => id)
      .sort()
      .at(-1);
  }
}

const advice = 'Confirm the version with the role full, or ask the customer to enter the secrets again.';
const maxNamed = 5;

/** Digests stand for parts of the manifest that make addresses, such as the pages of a stream. */
function inWords(addresses: readonly string[]): string {
  const named = addresses.slice(0, maxNamed).map((address) => address.replace(/^(\w+)#[0-9a-f]{32}$/, '$1'));
  const rest = addresses.length - named.length;
  return [...new Set(named), ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}

/** What the versions of a definition ask for, each read once. */
function readerOfSpecifications(tx: Db, organizationId: string, definitionId: string) {
  const known = new Map<number, ConnectorSpecification | undefined>();
  return async (version: number): Promise<ConnectorSpecification | undefined> => {
    if (!known.has(version)) known.set(version, await findSpecification(tx, organizationId, definitionId, version));
    return known.get(version);
  };
}

/** What the template gives each source. Most sources have the same version of the same template, which is read once. */
function readerOfDefaults(sealer: Sealer, tx: Db) {
  const known = new Map<string, Configuration>();
  return async (row: SourceRow): Promise<Configuration> => {
    const key = `${row.source_template_id} ${row.platform_id === null ? 'newest' : row.template_version}`;
    const defaults = known.get(key) ?? openDefaults({ sealer }, await versionedTemplateOf({ store: { db: tx } }, row));
    known.set(key, defaults);
    return defaults;
  };
}
