/** What counts as a catalog, whoever brings it: a source, or a worker that has asked one. */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { storableText } from '@inlay/contract/text/storable-text';
import type { Catalog, Stream } from '@inlay/protocol/protocol';
import { catalogExcess } from './catalog-limits.ts';
import { type ConnectorProgram, RunFailure } from './runner.ts';

/** Throws a RunFailure. */
export function checkedCatalog(kind: ConnectorProgram['kind'], catalog: Catalog | undefined): Catalog {
  if (!Array.isArray(catalog?.streams) || !catalog.streams.every(isStream)) {
    throw invalidAnswer(kind, 'a stream in its catalog has no name, json_schema or supported_sync_modes');
  }
  const excess = catalogExcess(catalog);
  if (excess !== undefined) {
    const message = `The source has ${excess}, which is the limit. Select fewer in its settings.`;
    throw new RunFailure({ origin: 'source', type: 'config_error', message });
  }
  const odd = catalog.streams.find((stream) => unstorableIn(stream) !== undefined);
  if (odd) throw oddName(odd);
  return catalog;
}

export function invalidAnswer(kind: ConnectorProgram['kind'], what: string): RunFailure {
  const message = `The ${kind} returned an invalid response: ${what}.`;
  return new RunFailure({ origin: kind, type: 'system_error', message });
}

function isStream(stream: unknown): boolean {
  return (
    isObject(stream) &&
    typeof stream.name === 'string' &&
    (stream.namespace === undefined || stream.namespace === null || typeof stream.namespace === 'string') &&
    isObject(stream.json_schema) &&
    Array.isArray(stream.supported_sync_modes)
  );
}

/** Streams are identified by name, so names must be stored unchanged. */
function unstorableIn({ name, namespace }: Stream): string | undefined {
  const names = [namespace ?? '', name];
  if (names.some((text) => text.includes('\0'))) return 'U+0000';
  return names.every((text) => text.isWellFormed()) ? undefined : 'half of a surrogate pair';
}

function oddName(stream: Stream): RunFailure {
  const { name, namespace } = stream;
  const shown = storableText(namespace ? `${namespace}.${name}` : name);
  const message =
    `The name of the stream ${shown} contains a character that cannot be stored (${unstorableIn(stream)}). ` +
    'Rename the stream at the source, or exclude it in the settings.';
  return new RunFailure({ origin: 'source', type: 'config_error', message });
}
