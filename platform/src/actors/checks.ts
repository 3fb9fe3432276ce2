/* Checking a source or destination before it is made or changed: whether its connector can work with a configuration. */
import Type, { type Static } from 'typebox';
import type { Platform } from '../context.ts';
import { type ConnectorKind, getDefinition } from '../definitions/definitions.ts';
import { Uuid } from '../http/paging.ts';
import { Problem } from '../problems.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import { acceptConfiguration, chooseDefinition, getConnector } from './actors.ts';
import type { Check } from './check-queue.ts';
import { configuredConnector } from './prepared-connector.ts';
import { openConfiguration } from './sealed-configuration.ts';

export const checkRequest = {
  workspaceId: Uuid,
  definitionId: Type.Optional(Uuid),
  configuration: Type.Record(Type.String(), Type.Unknown()),
};
type CheckRequest = Static<ReturnType<typeof Type.Object<typeof checkRequest>>>;

/** With the id of a stored one, its definition counts, and masked secrets of the configuration mean the stored ones. */
export async function startCheck(
  platform: Platform,
  kind: ConnectorKind,
  request: CheckRequest,
  storedId: string | undefined,
): Promise<Check> {
  const { workspace_id: workspaceId } = await getWorkspace(platform.store, request.workspaceId);
  const stored = storedId === undefined ? undefined : await getConnector(platform.store, kind, storedId);
  if (stored && stored.workspace_id !== workspaceId) {
    throw new Problem('bad-request', { message: `The ${kind} is in another workspace.` });
  }
  const definition = stored
    ? await getDefinition(platform, kind, stored.definition_id)
    : await chooseDefinition(platform, kind, request);
  const known = stored ? openConfiguration(platform.sealer, stored) : {};
  const configuration = acceptConfiguration(definition, request.configuration, known);
  const connector = configuredConnector(platform, definition, { workspaceId, configuration });
  return platform.checks.start(kind, (signal) => platform.runner.check(connector, { signal }));
}
