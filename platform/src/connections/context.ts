/** What the rules of this folder need from outside. */
import type { ActorsContext } from '../actors/context.ts';
import type { Db, Store } from '../db/open.ts';
import type { ConnectionRow } from '../db/tables.ts';
import type { Runtime } from '../runtime.ts';

export interface ConnectionsContext {
  store: Store;
  runtime: Runtime;
  actors: ActorsContext;
  /** The jobs of these connections that have not ended end now, in the same transaction. */
  cancelOpenJobs(tx: Db, workspaceId: string, connectionIds: readonly string[], now: number): Promise<void>;
  /** The newest job of each connection that has any, by connection, as the API shows it. */
  presentLastJobs(connections: readonly ConnectionRow[]): Promise<ReadonlyMap<string, object>>;
  /** Notifies the scheduler that there may be something to start or to stop. */
  wake(): void;
}
