/** One connector as it describes itself, wherever its description comes from. */
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import type { ConnectorKind } from '../../kernel/platform/pipelines-port.ts';

export interface Definition {
  id: string;
  kind: ConnectorKind;
  name: string;
  version: string | null;
  dockerRepository: string | null;
  /** An address of the web, or the image itself as a `data:` address. icons.ts makes the address for answers. */
  icon: string | null;
  documentationUrl: string | null;
  documentation: string | null;
  supportLevel: string | null;
  custom: boolean;
  specification: ConnectorSpecification;
  /** The streams most users want; empty where nobody has chosen any. */
  suggestedStreams: string[];
  /** For an organization's own connector: its version. */
  ownVersion?: number;
}

export function byName(definitions: Definition[]): Definition[] {
  return definitions.toSorted((a, b) => a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1));
}
