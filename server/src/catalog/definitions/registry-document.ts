/**
 * Reads the JSON document of a connector registry. Entries that are withdrawn, or that do not say how their connector
 * is configured, are left out; a document that is no registry at all is refused as a whole.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import { formats } from '@inlay/contract/text/formats';
import type { ConnectorKind } from '../../kernel/platform/pipelines-port.ts';
import { byName, type Definition } from './definition.ts';

export function readRegistry(text: string): Definition[] {
  const document: unknown = JSON.parse(text);
  if (!isObject(document) || !Array.isArray(document.sources) || !Array.isArray(document.destinations)) {
    throw new Error('the document is not a connector registry: it has no lists of sources and destinations');
  }
  return byName([
    ...document.sources.flatMap((entry) => readEntry('source', entry)),
    ...document.destinations.flatMap((entry) => readEntry('destination', entry)),
  ]);
}

function readEntry(kind: ConnectorKind, entry: unknown): Definition[] {
  if (!isObject(entry) || entry.tombstone === true || !isObject(entry.spec)) return [];
  const id = entry[`${kind}DefinitionId`];
  const { connectionSpecification } = entry.spec;
  if (typeof id !== 'string' || formats.uuid?.fault(id) !== undefined || !isObject(connectionSpecification)) return [];
  const suggested = isObject(entry.suggestedStreams) ? entry.suggestedStreams.streams : undefined;
  return [
    {
      id: id.toLowerCase(),
      kind,
      name: typeof entry.name === 'string' ? entry.name : id,
      version: textOrNull(entry.dockerImageTag),
      dockerRepository: textOrNull(entry.dockerRepository),
      icon: webAddressOrNull(entry.iconUrl),
      documentationUrl: webAddressOrNull(entry.documentationUrl),
      documentation: null,
      supportLevel: textOrNull(entry.supportLevel),
      custom: entry.custom === true,
      specification: readSpecification(connectionSpecification, entry.spec),
      suggestedStreams: Array.isArray(suggested) ? suggested.filter((name) => typeof name === 'string') : [],
    },
  ];
}

function readSpecification(
  connectionSpecification: Record<string, unknown>,
  spec: Record<string, unknown>,
): ConnectorSpecification {
  const { documentationUrl, advanced_auth, supported_destination_sync_modes: modes } = spec;
  return {
    ...(typeof documentationUrl === 'string' ? { documentationUrl } : {}),
    connectionSpecification,
    ...(isObject(advanced_auth) ? { advanced_auth } : {}),
    ...(Array.isArray(modes)
      ? { supported_destination_sync_modes: modes.filter((mode) => typeof mode === 'string') }
      : {}),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The address is shown in pages, so only http and https are accepted. */
function webAddressOrNull(value: unknown): string | null {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value) ? value : null;
}
