/** What the rules of this folder need from outside. */
import type { Db, Store } from '../db/open.ts';
import type { ProgramSurroundings } from '../runner/programs.ts';
import type { Runner } from '../runner/runner.ts';
import type { Runtime } from '../runtime.ts';
import type { Definition } from './definitions.ts';

export interface DefinitionsContext {
  store: Store;
  runtime: Runtime;
  runner: Runner;
  /** Seals manifests. */
  sealer: { seal(text: string, context: string): string; open(sealed: string, context: string): string };
  /** The connectors that come with the platform; definitions.ts lists those that were registered as well. */
  bundledDefinitions: readonly Definition[];
  surroundings: Omit<ProgramSurroundings, 'workspaceId' | 'workspaceDir'>;
  /** The names of the sources and destinations, of all workspaces, that are made from a definition. */
  listUsers(tx: Db, definitionId: string): Promise<string[]>;
}
