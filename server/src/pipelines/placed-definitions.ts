/**
 * Definitions of the organization's own on the platform. A platform has such a definition in one workspace, and all sources
 * that are made from it there get a new manifest together. So each source has a copy of the definition for itself: some
 * sources may then go on with a new version while others stay on theirs.
 */
import type { Configuration } from '@inlay/contract/connector-configuration';
import type { MovedSources } from '@inlay/contract/definitions';
import type { Db } from '../db/open.ts';
import type { SourceRow } from '../db/tables.ts';
import { configurationFaults } from '../definitions/configuration-faults.ts';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import { openManifest, type VersionMove } from '../definitions/own-definitions.ts';
import { openConfiguration } from '../definitions/sealed-configuration.ts';
import type { Journal } from '../events/journal.ts';
import { slowCreateTimeoutMs } from '../platform/calls.ts';
import { openDefaults } from '../templates/source-templates.ts';
import { assertSettled } from './assert-settled.ts';
import { mergeWithDefaults } from './configuration.ts';
import type { PipelinesContext } from './context.ts';
import { createOnce } from './create-once.ts';
import { aboutSource } from './entries.ts';
import { refusing, Waiting } from './interruptions.ts';
import { markOf, nameOnPlatform } from './marks.ts';
import * as placed from './placed-definitions.store.ts';
import { versionedTemplateOf } from './source-template.ts';

/** The id on the platform of the definition that the source is to be made from, in the source's version. */
export async function placeDefinition(ctx: PipelinesContext, source: SourceRow): Promise<string> {
  const { organization_id: organizationId, workspace_id: workspaceId, definition_version: version } = source;
  const row = await placed.ensurePlaced(ctx.store.db, source);
  if (row.platform_id !== null && row.applied_version === version) return row.platform_id;
  const definition = await getDefinition(ctx.templates, definitionOf(source));
  const manifest = await openManifest(ctx, organizationId, definition.id, version);
  let isNew = false;
  const platformId = await refusing('definition', () =>
    createOnce(ctx, 'placed_definitions', row, {
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
    const ref = { table: 'placed_definitions', workspaceId, id: source.id } as const;
    await refusing('definition', () =>
      assertSettled(
        ctx,
        ref,
        () => ctx.platform.replaceManifest(workspaceId, platformId, manifest),
        slowCreateTimeoutMs,
      ),
    );
  }
  await placed.recordPlaced(ctx.store.db, workspaceId, source.id, version);
  return platformId;
}

/** After the source itself is gone from the platform. */
export async function removeDefinition(ctx: PipelinesContext, { workspace_id, id }: SourceRow): Promise<void> {
  const lookedAt = await ctx.store.now();
  const row = await placed.findPlaced(ctx.store.db, workspace_id, id);
  if (!row) return;
  const platformId = row.platform_id ?? (await ctx.platform.findManifest(workspace_id, markOf(id)));
  if (platformId !== undefined) await ctx.platform.deleteManifest(workspace_id, platformId);
  else if (row.no_post_before > lookedAt) throw new Waiting('waiting for an unconfirmed request to settle', 2_000);
  await placed.deletePlaced(ctx.store.db, workspace_id, id);
}

export const listVersionsInUse = placed.listVersionsInUse;
export const countSourcesByVersion = placed.countSourcesByVersion;

const batch = 500;

/**
 * Brings a new version of a definition to the sources whose configuration its specification accepts. In the transaction of
 * the new version; the worker tells the platform.
 */
export async function moveToVersion(
  ctx: PipelinesContext,
  journal: Journal,
  tx: Db,
  move: VersionMove,
): Promise<MovedSources> {
  const { organizationId, definitionId, version, specification } = move;
  const outcome: MovedSources = { moved: 0, staying: [] };
  const defaultsOf = readerOfDefaults(ctx, tx);
  for (let after: string | undefined; ; ) {
    const rows = await placed.lockSourcesOf(tx, organizationId, definitionId, { after, limit: batch });
    const movable: SourceRow[] = [];
    for (const row of rows.filter((one) => one.definition_version !== version)) {
      const given = openConfiguration(ctx.sealer, 'source', row.id, row.sealed_config);
      const [fault] = configurationFaults(specification, mergeWithDefaults(given, await defaultsOf(row)), []);
      if (!fault) movable.push(row);
      else {
        const { id, name, workspace_id, definition_version } = row;
        const reason = `${fault.loc.join('.') || 'configuration'}: ${fault.msg}`;
        outcome.staying.push({ id, name, workspace_id, version: definition_version, reason });
      }
    }
    await placed.setDefinitionVersion(
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

/** What the template gives each source. Most sources have the same version of the same template, which is read once. */
function readerOfDefaults(ctx: PipelinesContext, tx: Db) {
  const { templates, store } = ctx;
  const inside = { ...ctx, store: { ...store, db: tx }, templates: { ...templates, store: { ...store, db: tx } } };
  const known = new Map<string, Configuration>();
  return async (row: SourceRow): Promise<Configuration> => {
    const key = `${row.source_template_id} ${row.platform_id === null ? 'newest' : row.template_version}`;
    const defaults = known.get(key) ?? openDefaults(templates, await versionedTemplateOf(inside, row));
    known.set(key, defaults);
    return defaults;
  };
}
