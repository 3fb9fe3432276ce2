/** What the rules of this folder need from outside. */
import type { Db, Store } from '../db/open.ts';
import type { Runtime } from '../runtime.ts';

export interface WorkspacesContext {
  store: Store;
  runtime: Runtime;
  /** The organization of a workspace whose creator names none. */
  defaultOrganizationId: string;
  /** What is in a workspace goes with it, in the same transaction and with the same time. */
  recordContentsDeleted(tx: Db, workspaceId: string, deletedAt: number): Promise<void>;
  /** Notifies the scheduler that there may be something to start or to stop. */
  wake(): void;
}
