/**
 * The connectors there are: what each is called and which configuration it takes. Some come with the platform
 * (bundled-definitions.ts), others the operator has registered on this machine (registered-definitions.ts).
 *
 * What always holds: the id of a definition never changes and never comes again. Running connectors is left to runner/.
 */
import type { Db } from '../db/open.ts';
import type { RegisteredDefinitionRow } from '../db/tables.ts';
import { resourceNotFound } from '../problems.ts';
import type { ConnectorSpecification } from '../protocol.ts';
import type { Launch } from '../runner/programs.ts';
import { listRegistered } from './definitions.store.ts';

export type ConnectorKind = 'source' | 'destination';

export interface Definition {
  readonly definitionId: string;
  readonly kind: ConnectorKind;
  /** What `configuration.sourceType` or `configuration.destinationType` says; empty for a registered connector. */
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly documentation: string;
  /** An address of an image. */
  readonly icon?: string;
  readonly specification: ConnectorSpecification;
  /** What runs it; without it, the bundled connector whose name is the slug. */
  readonly launch?: Launch;
}

interface KnownDefinitions {
  store: { db: Db };
  bundledDefinitions: readonly Definition[];
}

/**
 * Read from the store each time, since `inlay connector` registers from a process of its own. A caller inside a transaction
 * gives it, because the database has one connection.
 */
export async function listDefinitions(known: KnownDefinitions, db: Db = known.store.db): Promise<Definition[]> {
  return [...known.bundledDefinitions, ...(await listRegistered(db)).map(readRegistered)];
}

export function findDefinition(definitions: readonly Definition[], kind: ConnectorKind, id: string) {
  return definitions.find((definition) => definition.kind === kind && definition.definitionId === id.toLowerCase());
}

export async function getDefinition(
  known: KnownDefinitions,
  kind: ConnectorKind,
  id: string,
  db: Db = known.store.db,
): Promise<Definition> {
  const definition = findDefinition(await listDefinitions(known, db), kind, id);
  if (!definition) throw resourceNotFound(`${kind}_definition`, id);
  return definition;
}

function readRegistered(row: RegisteredDefinitionRow): Definition {
  const { definition_id: definitionId, kind, name, image } = row;
  return {
    definitionId,
    kind,
    slug: '',
    name,
    version: /:([^:/]+)$/.exec(image ?? '')?.[1] ?? 'local',
    documentation: '',
    specification: JSON.parse(row.specification),
    launch: image !== null ? { type: 'image', image } : readCommand(row),
  };
}

function readCommand({ command, folder }: RegisteredDefinitionRow): Launch {
  return { type: 'command', command: JSON.parse(command ?? '[]'), ...(folder !== null && { folder }) };
}
