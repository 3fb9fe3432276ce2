/*
 * The connectors there are: what each is called and which configuration it takes. Some come with the platform, others
 * the operator has registered on this machine. The ids are part of stored data and of callers' code, so they never
 * change. Running connectors is not done here.
 */
import { specification as localFilesSpecification } from '../connectors/local-files/specification.ts';
import { specification as sampleDataSpecification } from '../connectors/sample-data/specification.ts';
import { resourceNotFound } from './problems.ts';
import type { ConnectorSpecification } from './protocol.ts';
import type { Launch } from './runner/programs.ts';
import type { RegisteredDefinitionRow, Store } from './store.ts';

export type ConnectorKind = 'source' | 'destination';

export interface Definition {
  readonly definitionId: string;
  readonly kind: ConnectorKind;
  /** What `configuration.sourceType` or `configuration.destinationType` says; empty for a registered connector. */
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly documentation: string;
  readonly specification: ConnectorSpecification;
  /** What runs it; without it, the bundled connector whose name is the slug. */
  readonly launch?: Launch;
}

const sampleData: Definition = {
  definitionId: '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14',
  kind: 'source',
  slug: 'sample-data',
  name: 'Sample Data',
  version: '0.1.0',
  documentation:
    'Makes up users, products and purchases, so that a pipeline can be tried without an account anywhere. ' +
    'The same seed and count always give the same records.',
  specification: sampleDataSpecification,
};

const localFiles: Definition = {
  definitionId: 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815',
  kind: 'destination',
  slug: 'local-files',
  name: 'Local Files',
  version: '0.1.0',
  documentation:
    "Writes the records of each stream into files below the workspace's own folder, as JSON lines or as CSV. " +
    'A file is there only when it is whole.',
  specification: localFilesSpecification,
};

export const bundledDefinitions: readonly Definition[] = [sampleData, localFiles];

interface Registry {
  store: Store;
  bundledDefinitions: readonly Definition[];
}

/** Read from the store each time, since `inlay connector` registers from a process of its own. */
export async function listDefinitions(registry: Registry): Promise<Definition[]> {
  const rows = await registry.store.selectFrom('registered_definitions').selectAll().orderBy('seq').execute();
  return [...registry.bundledDefinitions, ...rows.map(readRegistered)];
}

export function findDefinition(definitions: readonly Definition[], kind: ConnectorKind, id: string) {
  return definitions.find((known) => known.kind === kind && known.definitionId === id.toLowerCase());
}

export async function getDefinition(registry: Registry, kind: ConnectorKind, id: string): Promise<Definition> {
  const definition = findDefinition(await listDefinitions(registry), kind, id);
  if (!definition) throw resourceNotFound(`${kind}_definition`, id);
  return definition;
}

function readRegistered(row: RegisteredDefinitionRow): Definition {
  const { definition_id: definitionId, kind, name, command, image } = row;
  return {
    definitionId,
    kind,
    slug: '',
    name,
    version: /:([^:/]+)$/.exec(image ?? '')?.[1] ?? 'local',
    documentation: '',
    specification: JSON.parse(row.specification),
    launch: image !== null ? { type: 'image', image } : { type: 'command', command: JSON.parse(command ?? '[]') },
  };
}
