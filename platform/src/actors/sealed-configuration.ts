/**
 * Configurations at rest. They hold secrets, so a row's `configuration` is the whole configuration sealed, written as a
 * JSON string. A configuration that is not sealed is a JSON object; such rows come from versions that did not seal, and
 * become sealed when the platform is opened (upkeep.ts).
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

/** Part of what is on disk, so the words stay. */
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
