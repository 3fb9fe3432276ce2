/**
 * Connectors that the operator adds to this machine: any program that speaks the connector protocol, or a container
 * image of one. A registered connector runs programs as this service's user, so registering is for the command line and is
 * behind no API.
 *
 * Invariants: a registered connector has returned a usable specification for `spec` and cannot be removed while a
 * source or destination uses it. Every change is recorded in its transaction (an outbox) until the log's owner confirms
 * it, so no crash loses it.
 */

import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { ManifestDescription } from '@inlay/protocol/protocol';
import type { Db } from '../db/open.ts';
import type { RegisteredDefinitionRow } from '../db/tables.ts';
import { Problem, resourceNotFound } from '../problems.ts';
import { findProgram, isFolder } from '../processes/find-program.ts';
import { connectorProgram, type Launch } from '../runner/programs.ts';
import { requireUsable } from './configuration.ts';
import type { DefinitionsContext } from './context.ts';
import * as definitions from './definitions.store.ts';
import { type ConnectorKind, type Definition, getDefinition, listDefinitions } from './definitions.ts';
import { forgetManifest, keepManifest } from './manifests.ts';

export interface Registration {
  kind: ConnectorKind;
  name: string;
  launch: Exclude<Launch, { type: 'bundled' | 'manifest' }>;
}

/** Throws a RunFailure when the connector does not answer, a Problem when its answer cannot be used. */
export async function registerDefinition(
  ctx: DefinitionsContext,
  { kind, name, launch: given }: Registration,
): Promise<Definition> {
  if (given.type === 'image' && !/^[a-z0-9][\w./:@-]*$/i.test(given.image)) {
    throw unusable(`${given.image} is not a valid image name.`);
  }
  // It belongs to no workspace yet, and to write down its specification it needs no folder.
  const surroundings = { ...ctx.surroundings, workspaceDir: '' };
  const launch = given.type === 'command' ? findCommand(given) : given;
  const specification = await ctx.runner.readSpecification(connectorProgram(launch, kind, surroundings));
  requireUsable(specification);
  const definitionId = ctx.runtime.newId();
  const row = {
    definition_id: definitionId,
    kind,
    name,
    command: launch.type === 'command' ? JSON.stringify(launch.command) : null,
    image: launch.type === 'image' ? launch.image : null,
    folder: launch.type === 'command' ? (launch.folder ?? null) : null,
    specification: JSON.stringify(specification),
    manifest_hash: null,
    components_file: null,
    icon: null,
    created_at: ctx.runtime.now(),
  };
  await ctx.store.transaction(async (tx) => {
    await definitions.insertRegistered(tx, row);
    await noteChange(ctx, tx, 'created', row);
  });
  return await getDefinition(ctx, { kind, id: definitionId, workspaceId: undefined });
}

export interface CodedManifest {
  name: string;
  icon: string | undefined;
  description: ManifestDescription;
  /** The full path of the file with the code that the manifest names. */
  componentsFile: string;
}

/** A manifest with its own code. The code runs as this service's user, so no API exposes this either. */
export async function registerManifest(
  ctx: DefinitionsContext,
  { name, icon, description, componentsFile }: CodedManifest,
): Promise<Definition> {
  const definitionId = ctx.runtime.newId();
  await ctx.store.transaction(async (tx) => {
    const row = {
      definition_id: definitionId,
      kind: 'source' as const,
      name,
      // Only the engine runs it.
      command: '[]',
      image: null,
      folder: null,
      specification: JSON.stringify(description.specification),
      manifest_hash: await keepManifest(ctx.sealer, tx, description),
      components_file: componentsFile,
      icon: icon ?? null,
      created_at: ctx.runtime.now(),
    };
    await definitions.insertRegistered(tx, row);
    await noteChange(ctx, tx, 'created', row);
  });
  return await getDefinition(ctx, { kind: 'source', id: definitionId, workspaceId: undefined });
}

export async function listRegisteredDefinitions(ctx: DefinitionsContext): Promise<Definition[]> {
  const bundled = new Set(ctx.bundledDefinitions.map(({ definitionId }) => definitionId));
  return (await listDefinitions(ctx)).filter(({ definitionId }) => !bundled.has(definitionId));
}

export async function removeDefinition(ctx: DefinitionsContext, definitionId: string): Promise<void> {
  const id = definitionId.toLowerCase();
  await ctx.store.transaction(async (tx) => {
    const users = await ctx.listUsers(tx, id);
    if (users.length > 0) {
      throw new Problem('state-conflict', { message: `The connector is still used by: ${users.join(', ')}.` });
    }
    const removed = await definitions.deleteRegistered(tx, id);
    if (!removed) throw resourceNotFound('definition', definitionId);
    if (removed.manifest_hash !== null) await forgetManifest(tx, removed.manifest_hash);
    await noteChange(ctx, tx, 'deleted', removed);
  });
}

/** Changes of registered connectors, for the owner of a log. */
export interface DefinitionChange {
  id: string;
  action: 'created' | 'deleted';
  definition: NotedDefinition;
}

interface NotedDefinition {
  id: string;
  kind: ConnectorKind;
  name: string;
  image: string | null;
  /** Arguments may be secret. */
  command: string[] | null;
  /** For declarative connectors. */
  manifest_hash: string | null;
  components_file: string | null;
}

type NotedRow = Pick<
  RegisteredDefinitionRow,
  'definition_id' | 'kind' | 'name' | 'image' | 'command' | 'manifest_hash' | 'components_file'
>;

async function noteChange(
  { runtime }: DefinitionsContext,
  tx: Db,
  action: DefinitionChange['action'],
  row: NotedRow,
): Promise<void> {
  const { definition_id: id, kind, name, image, manifest_hash, components_file } = row;
  const command = row.command === null || manifest_hash !== null ? null : JSON.parse(row.command);
  const definition: NotedDefinition = { id, kind, name, image, command, manifest_hash, components_file };
  await definitions.insertChange(tx, { change_id: runtime.newId(), action, definition: JSON.stringify(definition) });
}

/** Oldest first. Each comes again until `forgetChange` is called for it. */
export async function listChanges({ store }: DefinitionsContext): Promise<DefinitionChange[]> {
  const rows = await definitions.listChanges(store.db);
  return rows.map(({ change_id: id, action, definition }) => ({ id, action, definition: JSON.parse(definition) }));
}

export async function forgetChange({ store }: DefinitionsContext, id: string): Promise<void> {
  await definitions.deleteChange(store.db, id);
}

type CommandLaunch = Extract<Launch, { type: 'command' }>;

/** The program by its full path, unless it is found in PATH: the service does not run in the folder of the caller. */
function findCommand({ command: [program, ...args], folder, ...launch }: CommandLaunch): CommandLaunch {
  if (folder !== undefined && !(isAbsolute(folder) && isFolder(folder))) {
    throw unusable(`${folder} is not the absolute path of a folder.`);
  }
  const isRelative = program.includes('/') && !isAbsolute(program);
  if (isRelative && folder === undefined)
    throw unusable(`${program} is not an absolute path. Use the program's absolute path.`);
  const found = isRelative ? resolve(folder ?? '', program) : program;
  if (findProgram(found, process.env.PATH) === undefined) {
    const place = found.includes('/') ? `at ${found}` : `named ${found} in PATH`;
    const mayMean = folder !== undefined && !found.includes('/') && existsSync(resolve(folder, found));
    const advice = mayMean
      ? `To use the file in ${folder}, write ./${found}.`
      : 'Check the path and that this user can execute the file.';
    throw unusable(`No executable program ${place}. ${advice}`);
  }
  return { ...launch, command: [found, ...args], ...(folder !== undefined && { folder }) };
}

function unusable(message: string): Problem {
  return new Problem('unprocessable-entity', { message });
}
