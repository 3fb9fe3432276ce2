/**
 * How a stored source or destination becomes something the runner can start: its program, its configuration with the
 * secrets in it, and what it may touch on this machine. Nothing that is prepared here is kept.
 */
import { type Configuration, listSecrets } from '@inlay/contract/connector-configuration';
import type { ActorRow } from '../db/tables.ts';
import { type Definition, definitionOf, getDefinition } from '../definitions/definitions.ts';
import { readManifest } from '../definitions/manifests.ts';
import { connectorProgram, type Launch } from '../runner/programs.ts';
import type { ConfiguredConnector } from '../runner/runner.ts';
import type { ActorsContext } from './context.ts';
import { openConfiguration } from './sealed-configuration.ts';

export async function prepareConnector(ctx: ActorsContext, actor: ActorRow): Promise<ConfiguredConnector> {
  const definition = await getDefinition(ctx.definitions, definitionOf(actor));
  return await configuredConnector(ctx, definition, {
    workspaceId: actor.workspace_id,
    folder: ctx.filesFolder(actor.workspace_id),
    configuration: openConfiguration(ctx.sealer, actor),
  });
}

export async function configuredConnector(
  ctx: ActorsContext,
  definition: Definition,
  {
    workspaceId,
    folder,
    configuration,
  }: { workspaceId: string | undefined; folder: string; configuration: Configuration },
): Promise<ConfiguredConnector> {
  const launch = await launchOf(ctx, definition);
  const surroundings = {
    ...ctx.definitions.surroundings,
    ...(workspaceId !== undefined && { workspaceId }),
    workspaceDir: folder,
  };
  return {
    ...connectorProgram(launch, definition.kind, surroundings),
    configuration,
    secrets: listSecrets(definition.specification.connectionSpecification, configuration),
  };
}

async function launchOf(ctx: ActorsContext, { launch, manifest, slug }: Definition): Promise<Launch> {
  if (!manifest) return launch ?? { type: 'bundled', name: slug };
  if ('text' in manifest) return { type: 'manifest', manifest: manifest.text };
  const { hash, ...code } = manifest;
  return { type: 'manifest', manifest: await readManifest(ctx.sealer, ctx.store.db, hash), ...code };
}
