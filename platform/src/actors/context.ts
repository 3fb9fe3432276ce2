/** What the rules of this folder need from outside, and what is under way. */

import type { Catalog } from '@inlay/protocol/protocol';
import type { FairQueue } from '@inlay/schedule/fair-queue';
import type { Credentials } from '../credentials.ts';
import type { Db, Store } from '../db/open.ts';
import type { ActorRow } from '../db/tables.ts';
import type { DefinitionsContext } from '../definitions/context.ts';
import type { Definition } from '../definitions/definitions.ts';
import type { Launch } from '../runner/programs.ts';
import type { ConfiguredConnector, Elsewhere, Runner } from '../runner/runner.ts';
import type { Runtime } from '../runtime.ts';
import type { Checks } from './check-queue.ts';
import type { ActorCredential } from './requests.ts';
import type { Sealer } from './sealed-configuration.ts';

export interface ActorsContext {
  store: Store;
  runtime: Runtime;
  sealer: Sealer;
  runner: Runner;
  definitions: DefinitionsContext;
  /** Undefined for a platform that was opened without them. */
  credentials: Credentials | undefined;
  checks: Checks;
  /** The fair queue of workspaces waiting for stream discovery. */
  discoveryTurns: FairQueue;
  /** Discoveries under way, so that requests for the same source share one. */
  discoveries: Map<string, Promise<Catalog>>;
  /** How long a request waits for a source to list its streams. */
  discoveryPatienceMs: number;
  /** Aborted when the platform is closed. */
  closing: AbortSignal;
  /** Where connectors write files for a workspace. The first file creates the folder. */
  filesFolder(workspaceId: string): string;
  /** Undefined if the connectors of the workspace run in this process. */
  findElsewhere(question: {
    workspaceId: string;
    definition: Definition;
    isCustomersOwn: boolean;
    credential: ActorCredential | undefined;
  }): Promise<((launch: Launch, connector: ConfiguredConnector) => Elsewhere) | undefined>;
  /** The connections of a source or destination go with it, in the same transaction and with the same time. */
  recordConnectionsDeleted(tx: Db, actor: ActorRow, deletedAt: number): Promise<void>;
  /** Notifies the scheduler that there may be something to start or to stop. */
  wake(): void;
}
