/** Checking a source or destination before it is made or changed: whether its connector can work with a configuration. */
import { type ConnectorKind, getDefinition } from '../definitions/definitions.ts';
import { Problem } from '../problems.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import { acceptConfiguration, chooseDefinition, getActor } from './actors.ts';
import type { Check } from './check-queue.ts';
import type { ActorsContext } from './context.ts';
import { configuredConnector } from './prepared-connector.ts';
import type { CheckRequest } from './requests.ts';
import { openConfiguration } from './sealed-configuration.ts';

/** With the id of a stored one, its definition counts, and masked secrets of the configuration mean the stored ones. */
export async function startCheck(
  ctx: ActorsContext,
  kind: ConnectorKind,
  request: CheckRequest,
  storedId: string | undefined,
): Promise<Check> {
  const { workspace_id: workspaceId } = await getWorkspace(ctx.store.db, request.workspaceId);
  const stored = storedId === undefined ? undefined : await getActor(ctx.store.db, kind, storedId);
  if (stored && stored.workspace_id !== workspaceId) {
    throw new Problem('bad-request', { message: `The ${kind} is in another workspace.` });
  }
  const definition = stored
    ? await getDefinition(ctx.definitions, kind, stored.definition_id)
    : await chooseDefinition(ctx, kind, request);
  const known = stored ? openConfiguration(ctx.sealer, stored) : {};
  const configuration = acceptConfiguration(definition, request.configuration, known);
  const connector = configuredConnector(ctx, definition, { workspaceId, configuration });
  return ctx.checks.start(kind, workspaceId, (signal) => ctx.runner.check(connector, { signal }));
}
