/**
 * Configurations at rest. They contain secrets, so `configuration` stores the entire configuration sealed, as a JSON
 * string. Unsealed configurations are JSON objects written by older versions; opening the platform seals them
 * (upkeep.ts).
 */
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import type { ActorRow } from '../db/tables.ts';

export interface Sealer {
  /** `context` says what the text is and must be the same when opening: a sealed text cannot be moved elsewhere. */
  seal(text: string, context: string): string;
  open(sealed: string, context: string): string;
  /** Throws when no key can open the text. */
  assertKnown?(sealed: string): void;
  /** Ids of the keys that can open; the first one seals. */
  keyIds?(): string[];
}

/** Part of the stored format, so these names never change. */
const contextOf = (actorId: string) => `connector configuration ${actorId}`;

export function sealConfiguration(sealer: Sealer, actorId: string, configuration: Configuration): string {
  return JSON.stringify(sealer.seal(JSON.stringify(configuration), contextOf(actorId)));
}

export function openConfiguration(
  sealer: Sealer,
  { connector_id, configuration }: Pick<ActorRow, 'connector_id' | 'configuration'>,
): Configuration {
  return JSON.parse(sealer.open(JSON.parse(configuration), contextOf(connector_id)));
}
