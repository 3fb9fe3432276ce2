/*
 * What the rules of the platform work with, put together by platform.ts. The rules get it as their first argument and
 * hold nothing between calls: what must last is in the store, and what is under way is in here.
 */
import type { Checks } from './actors/check-queue.ts';
import type { Sealer } from './actors/sealed-configuration.ts';
import type { Tokens } from './applications/applications.ts';
import type { Store } from './db/open.ts';
import type { Definition } from './definitions/definitions.ts';
import type { Catalog } from './protocol.ts';
import type { ProgramSurroundings } from './runner/programs.ts';
import type { Runner } from './runner/runner.ts';

export interface Platform {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly sealer: Sealer;
  readonly runner: Runner;
  readonly checks: Checks;
  /** Discoveries under way, so that requests for the same source share one. */
  readonly discoveries: Map<string, Promise<Catalog>>;
  /** The connectors that come with the platform; definitions.ts lists those that were registered as well. */
  readonly bundledDefinitions: readonly Definition[];
  readonly folders: Folders;
  readonly surroundings: Omit<ProgramSurroundings, 'workspaceDir'>;
  readonly maxConcurrentSyncs: number;
  /** How long a request waits for a source to list its streams. */
  readonly discoveryPatienceMs: number;
  /** Aborted when the platform is closed. */
  readonly closing: AbortSignal;
  readonly publicUrl: string;
  readonly defaultOrganizationId: string;
  readonly log: Log;
  now(): number;
  newId(): string;
  /** Tells the scheduler that there may be something to start or to stop. */
  wake(): void;
}

/** Where files go. They are made when the first file is. */
export interface Folders {
  /** Files that connectors write for a workspace. */
  files(workspaceId: string): string;
  /** Logs of a connection's jobs; see job-logs.ts. */
  logs(connectionId: string): string;
}

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
