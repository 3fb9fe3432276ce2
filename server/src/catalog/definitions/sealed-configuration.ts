/**
 * Stored configurations: JSON, sealed as a whole and bound to their owner, so that none can be copied to another row.
 */
import { type Configuration, type JsonSchema, maskSecrets } from '@inlay/contract/catalog/connector-configuration';
import type { Sealer } from '../../kernel/sealing.ts';
import type { Definition } from './definition.ts';

export type Configured = 'source template' | 'connection template' | 'template plan' | 'source';

export function sealConfiguration(sealer: Sealer, kind: Configured, id: string, value: Configuration): string {
  return sealer.seal(Buffer.from(JSON.stringify(value)), `${kind} ${id}`);
}

export function openConfiguration(sealer: Sealer, kind: Configured, id: string, sealed: string): Configuration {
  return JSON.parse(sealer.open(sealed, `${kind} ${id}`).toString('utf8'));
}

/**
 * The configuration as it may be shown. Without the connector's definition nobody knows what is secret, so all is
 * masked.
 */
export function maskConfiguration(definition: Definition | undefined, configuration: Configuration): Configuration {
  return maskSecrets(definition?.specification.connectionSpecification ?? allSecret(configuration), configuration);
}

export function allSecret(configuration: Configuration): JsonSchema {
  const properties = Object.keys(configuration).map((name) => [name, { airbyte_secret: true }]);
  return { properties: Object.fromEntries(properties) };
}
