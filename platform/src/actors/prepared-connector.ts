/*
 * How a stored source or destination becomes something the runner can start: its program, its configuration with the
 * secrets in it, and what it may touch on this machine. Nothing that is prepared here is kept.
 */
import { type Configuration, listSecrets } from '@inlay/contract/connector-configuration';
import type { Platform } from '../context.ts';
import type { ConnectorRow } from '../db/open.ts';
import { type Definition, getDefinition } from '../definitions/definitions.ts';
import { connectorProgram } from '../runner/programs.ts';
import type { ConfiguredConnector } from '../runner/runner.ts';
import { openConfiguration } from './sealed-configuration.ts';

export async function prepareConnector(platform: Platform, connector: ConnectorRow): Promise<ConfiguredConnector> {
  const definition = await getDefinition(platform, connector.kind, connector.definition_id);
  return configuredConnector(platform, definition, {
    workspaceId: connector.workspace_id,
    configuration: openConfiguration(platform.sealer, connector),
  });
}

export function configuredConnector(
  platform: Platform,
  definition: Definition,
  { workspaceId, configuration }: { workspaceId: string; configuration: Configuration },
): ConfiguredConnector {
  const launch = definition.launch ?? { type: 'bundled', name: definition.slug };
  const workspaceDir = platform.folders.files(workspaceId);
  return {
    ...connectorProgram(launch, definition.kind, { ...platform.surroundings, workspaceDir }),
    configuration,
    secrets: listSecrets(definition.specification.connectionSpecification, configuration),
  };
}
