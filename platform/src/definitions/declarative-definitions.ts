/**
 * Sources that a workspace has as declarative manifests. A manifest is data and runs in the engine of this platform, so
 * callers of the API may add it.
 *
 * Invariants: only the workspace sees or uses such a source; at least one stream of its manifest is supported; it
 * cannot be deleted while a source uses it; a new version keeps its id.
 */

import type { ManifestDescription } from '@inlay/protocol/protocol';
import type { Db } from '../db/open.ts';
import { Problem, resourceNotFound } from '../problems.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import type { DefinitionsContext } from './context.ts';
import * as declarative from './declarative-definitions.store.ts';
import { describeManifest, refusalOf, UnreadableManifest } from './describe-manifest.ts';
import { findRead, forgetManifest, keepManifest, type ReadManifest, readManifest } from './manifests.ts';

export interface ShownDeclarative {
  id: string;
  name: string;
  manifest: Record<string, unknown>;
  version: number;
}

export async function createDeclarative(
  ctx: DefinitionsContext,
  workspaceId: string,
  { name, manifest: given }: { name: string; manifest: unknown },
): Promise<ShownDeclarative> {
  await getWorkspace(ctx.store.db, workspaceId);
  const description = await readGiven(ctx, workspaceId, given);
  const id = ctx.runtime.newId();
  await ctx.store.transaction(async (tx) => {
    const workspace = await getWorkspace(tx, workspaceId);
    await declarative.insertDeclarative(tx, workspace.workspace_id, {
      definition_id: id,
      name,
      version: 1,
      manifest_hash: await keepManifest(ctx.sealer, tx, description),
      created_at: ctx.runtime.now(),
    });
  });
  return await getDeclarative(ctx, workspaceId, id);
}

/** Running jobs continue with the manifest that they started with. */
export async function replaceManifest(
  ctx: DefinitionsContext,
  workspaceId: string,
  id: string,
  given: unknown,
): Promise<ShownDeclarative> {
  await findRow(ctx.store.db, workspaceId, id);
  const description = await readGiven(ctx, workspaceId, given);
  await ctx.store.transaction(async (tx) => {
    const row = await findRow(tx, workspaceId, id);
    const hash = await keepManifest(ctx.sealer, tx, description);
    // A request that is sent again makes no other version.
    if (hash === row.manifest_hash) return;
    const { workspace_id, definition_id } = row;
    const changes = { version: row.version + 1, manifest_hash: hash };
    await declarative.updateDeclarative(tx, workspace_id, definition_id, changes);
    await forgetManifest(tx, row.manifest_hash);
  });
  return await getDeclarative(ctx, workspaceId, id);
}

export async function listDeclarative(ctx: DefinitionsContext, workspaceId: string): Promise<ShownDeclarative[]> {
  const { workspace_id } = await getWorkspace(ctx.store.db, workspaceId);
  const rows = await declarative.listDeclarative(ctx.store.db, workspace_id);
  return await Promise.all(rows.map((row) => present(ctx, row)));
}

export async function getDeclarative(
  ctx: DefinitionsContext,
  workspaceId: string,
  id: string,
): Promise<ShownDeclarative> {
  return await present(ctx, await findRow(ctx.store.db, workspaceId, id));
}

export async function deleteDeclarative(
  ctx: DefinitionsContext,
  workspaceId: string,
  id: string,
): Promise<ShownDeclarative> {
  const shown = await getDeclarative(ctx, workspaceId, id);
  await ctx.store.transaction(async (tx) => {
    const row = await findRow(tx, workspaceId, id);
    const users = await ctx.listUsers(tx, row.definition_id);
    if (users.length > 0) {
      throw new Problem('state-conflict', { message: `The connector is still used by: ${users.join(', ')}.` });
    }
    await declarative.deleteDeclarative(tx, row.workspace_id, row.definition_id);
    await forgetManifest(tx, row.manifest_hash);
  });
  return shown;
}

/** All of a workspace that is being deleted, whose sources are gone. */
export async function forgetDeclarative(tx: Db, workspaceId: string): Promise<void> {
  for (const row of await declarative.listDeclarative(tx, workspaceId)) {
    await declarative.deleteDeclarative(tx, workspaceId, row.definition_id);
    await forgetManifest(tx, row.manifest_hash);
  }
}

async function findRow(db: Db, workspaceId: string, id: string): Promise<declarative.DeclarativeDefinition> {
  const { workspace_id } = await getWorkspace(db, workspaceId);
  const row = await declarative.findDeclarative(db, workspace_id, id.toLowerCase());
  if (!row) throw resourceNotFound('source_definition', id);
  return row;
}

async function present(ctx: DefinitionsContext, row: declarative.DeclarativeDefinition): Promise<ShownDeclarative> {
  const { definition_id: id, name, version, manifest_hash } = row;
  return { id, name, manifest: JSON.parse(await readManifest(ctx.sealer, ctx.store.db, manifest_hash)), version };
}

/** The manifest as an object, or as a text of YAML or JSON. Tenants take turns. Throws a Problem that says what cannot run. */
export async function readGiven(ctx: DefinitionsContext, tenant: string, given: unknown): Promise<ReadManifest> {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const known = await findRead(ctx.store.db, text);
  if (known) return known;
  let description: ManifestDescription;
  try {
    description = await describeManifest(ctx.surroundings, tenant, text);
  } catch (error) {
    if (!(error instanceof UnreadableManifest)) throw error;
    throw new Problem('unprocessable-entity', { message: error.message }, { cause: error });
  }
  const refusal = refusalOf(description);
  if (refusal !== undefined) throw new Problem('unprocessable-entity', { message: refusal });
  return description;
}
