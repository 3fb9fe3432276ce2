/** Tests a source or destination before it is created or changed: whether its connector works with a configuration. */
import { rm } from 'node:fs/promises';
import type { StreamDescriptor } from '@inlay/protocol/protocol';
import { readGiven } from '../definitions/declarative-definitions.ts';
import { type ConnectorKind, definitionOf, getDefinition, passingDefinition } from '../definitions/definitions.ts';
import { Problem } from '../problems.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import { readCredential } from './actor-credential.ts';
import { acceptConfiguration, acceptCredential, chooseDefinition, getActor } from './actors.ts';
import type { Check } from './check-queue.ts';
import type { ActorsContext } from './context.ts';
import { useConfigured } from './prepared-connector.ts';
import type { CheckRequest } from './requests.ts';
import { openConfiguration } from './sealed-configuration.ts';
import { assertNotDelayed } from './sign-ins.ts';

/** A person is waiting for the outcome, and a sync that uses the same credential may take hours. */
const turnPatienceMs = 20_000;

/** With the id of a stored actor, its definition applies, and masked secrets refer to its stored ones. */
export async function startCheck(
  ctx: ActorsContext,
  kind: ConnectorKind,
  request: CheckRequest,
  storedId: string | undefined,
): Promise<Check> {
  const workspaceId =
    request.workspaceId === undefined
      ? undefined
      : (await getWorkspace(ctx.store.db, request.workspaceId)).workspace_id;
  const stored = storedId === undefined ? undefined : await getActor(ctx.store.db, kind, storedId);
  if (stored && stored.workspace_id !== workspaceId) {
    throw new Problem('bad-request', { message: `The ${kind} belongs to another workspace.` });
  }
  const definition = stored
    ? await getDefinition(ctx.definitions, definitionOf(stored))
    : request.manifest
      ? passingDefinition(await readGiven(ctx.definitions, workspaceId ?? '', request.manifest))
      : await chooseDefinition(ctx, kind, request);
  const known = stored ? openConfiguration(ctx.sealer, stored) : {};
  const told = acceptCredential(ctx, kind, request.credential);
  const credential = (told === undefined && stored ? readCredential(stored) : told) ?? undefined;
  const configuration = acceptConfiguration(definition, request.configuration, known, { credential });
  const run = async (signal: AbortSignal, folder: string) => {
    const given = { workspaceId, configuration, folder, credential };
    return await useConfigured(ctx, definition, given, { signal, patienceMs: turnPatienceMs }, async (connector) => {
      const outcome = await ctx.runner.check(connector, { signal });
      if (outcome.status === 'failed') assertNotDelayed(connector);
      if (!request.listStreams || outcome.status === 'failed') return outcome;
      const { streams } = await ctx.runner.discover(connector, { signal });
      return { ...outcome, streams: streams.map(descriptorOf) };
    });
  };
  if (workspaceId !== undefined) {
    return ctx.checks.start(kind, workspaceId, (signal) => run(signal, ctx.filesFolder(workspaceId)));
  }
  const tenant = `organization ${request.organizationId?.toLowerCase() ?? ''}`;
  return ctx.checks.start(kind, tenant, (signal) => inPassingFolder(ctx, (folder) => run(signal, folder)));
}

function descriptorOf({ name, namespace }: StreamDescriptor): StreamDescriptor {
  return { name, ...(namespace !== undefined && { namespace }) };
}

/** Where workspaces store files, so that the check uses the same disk and permissions. */
async function inPassingFolder<T>(ctx: ActorsContext, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = ctx.filesFolder(`.check-${ctx.runtime.newId()}`);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
