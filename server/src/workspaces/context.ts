/** What the rules of this folder need from outside. */
import type { Quotas } from '@inlay/contract/quotas';
import type { Logger } from 'pino';
import type { Db, Store } from '../db/open.ts';
import type { WorkspaceRow } from '../db/tables.ts';
import type { Journal } from '../events/journal.ts';
import type { PlatformPort } from '../platform/platform-port.ts';
import type { Runtime } from '../runtime.ts';
import type { JoinableWork } from './joinable-work.ts';

/** Events that metrics.ts counts. None contains a tenant's name. */
export type WorkspaceEvent =
  | 'workspace_created'
  | 'workspace_adopted'
  | 'name_ambiguous'
  | 'orphan_found'
  | 'settle_wait'
  | 'claim_dropped'
  | 'missing_on_platform';

export interface WorkspacesContext {
  store: Store;
  platform: PlatformPort;
  runtime: Runtime;
  log: Logger;
  /** Every change is written into it, in the transaction of the change. */
  journal: Journal;
  /** How long the platform may take to apply a request after its answer was lost. */
  settleMs: number;
  /** The platform's id for one of our organizations. */
  platformOrganizationId(organizationId: string): Promise<string>;
  count(event: WorkspaceEvent, by?: number): void;
  joinable: JoinableWork;
  /** Records that everything in the workspace is deleted, in the same transaction and with the same time. */
  recordContentsDeleted(journal: Journal, tx: Db, workspace: WorkspaceRow, deletedAt: number): Promise<void>;
  /** What is in a workspace follows its new status, in the same transaction. */
  statusChanged(journal: Journal, tx: Db, workspaceId: string): Promise<void>;
  /** Which connections, by their ids on the platform, stay disabled when the workspace is activated: each by its own choice. */
  listKeptDisabled(workspaceId: string): Promise<ReadonlySet<string>>;
  /** Which connections, by their ids on the platform, run a sync that began before this time. */
  listSyncing(workspaceId: string, before: number): Promise<ReadonlySet<string>>;
  /** What is in a workspace follows its new quotas, in the same transaction. */
  quotasChanged(tx: Db, workspaceId: string, quotas: Quotas): Promise<void>;
  /** Called when tokens of a workspace have stopped working. */
  tokensEnded(): void;
}
