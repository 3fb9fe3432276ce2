/**
 * How a stored source or destination becomes something the runner can start: its program, its configuration with the
 * secrets in it, and what it may touch on this machine. Nothing that is prepared here is kept.
 */
import { type Configuration, listSecrets } from '@inlay/contract/catalog/connector-configuration';
import type { ActorRow } from '../db/tables.ts';
import { type Definition, definitionOf, getDefinition } from '../definitions/definitions.ts';
import { readManifest } from '../definitions/manifests.ts';
import { connectorProgram, type Launch } from '../runner/programs.ts';
import type { ConfiguredConnector, JobLog } from '../runner/runner.ts';
import { readCredential } from './actor-credential.ts';
import type { ActorsContext } from './context.ts';
import type { ActorCredential } from './requests.ts';
import { openConfiguration } from './sealed-configuration.ts';
import { withSignIn } from './sign-ins.ts';

interface UseOptions {
  signal?: AbortSignal | undefined;
  log?: JobLog | undefined;
  /** How long to wait for a credential that only one process may use at a time; for ever, if it is not given. */
  patienceMs?: number;
  /** How long an access token should be valid, for a connector that cannot ask for another one. */
  forMs?: number;
}

/** Throws a RunFailure if its credential provides no access. */
export async function useConnector<T>(
  ctx: ActorsContext,
  actor: ActorRow,
  options: UseOptions,
  work: (connector: ConfiguredConnector) => Promise<T>,
): Promise<T> {
  const definition = await getDefinition(ctx.definitions, definitionOf(actor));
  const given = {
    workspaceId: actor.workspace_id,
    folder: ctx.filesFolder(actor.workspace_id),
    configuration: openConfiguration(ctx.sealer, actor),
    credential: readCredential(actor),
    isCustomersOwn: actor.is_customers_own === 1,
  };
  return await useConfigured(ctx, definition, given, options, work);
}

interface Configured {
  workspaceId: string | undefined;
  folder: string;
  configuration: Configuration;
  credential?: ActorCredential | undefined;
  isCustomersOwn?: boolean;
}

/** The same for a configuration that may not be stored yet. */
export async function useConfigured<T>(
  ctx: ActorsContext,
  definition: Definition,
  { workspaceId, folder, configuration, credential, isCustomersOwn = false }: Configured,
  options: UseOptions,
  work: (connector: ConfiguredConnector) => Promise<T>,
): Promise<T> {
  const launch = await launchOf(ctx, definition);
  const surroundings = {
    ...ctx.definitions.surroundings,
    ...(workspaceId !== undefined && { workspaceId }),
    workspaceDir: folder,
  };
  const rowBlocks = definition.specification.inlay_row_blocks;
  const program = { ...connectorProgram(launch, definition.kind, surroundings), rowBlocks };
  const secretsOf = (whole: Configuration) => listSecrets(definition.specification.connectionSpecification, whole);
  const place =
    workspaceId === undefined
      ? undefined
      : await ctx.findElsewhere({ workspaceId, definition, isCustomersOwn, credential });
  const use = (connector: ConfiguredConnector) =>
    work(place ? { ...connector, elsewhere: place(launch, connector) } : connector);
  if (!credential || workspaceId === undefined) {
    return await use({ ...program, configuration, secrets: secretsOf(configuration) });
  }
  const { forMs, ...rest } = options;
  // A connector that can ask for another token takes whatever is there.
  const life = forMs === undefined || program.asksForTokens ? {} : { forMs };
  const given = { workspaceId, credential, configuration, secretsOf, ...rest, ...life };
  return await withSignIn(ctx, given, (signedIn) => use({ ...program, ...signedIn }));
}

export async function launchOf(ctx: ActorsContext, { launch, manifest, slug }: Definition): Promise<Launch> {
  if (!manifest) return launch ?? { type: 'bundled', name: slug };
  if ('text' in manifest) return { type: 'manifest', manifest: manifest.text };
  const { hash, ...code } = manifest;
  return { type: 'manifest', manifest: await readManifest(ctx.sealer, ctx.store.db, hash), ...code };
}
