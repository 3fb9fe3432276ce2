/**
 * The port to what is in a workspace. Sources and connections belong to a layer above and follow what happens to their
 * workspace in the same transaction. Implemented by pipelines/workspace-contents.ts.
 */
import type { Quotas } from '@inlay/contract/tenancy/quotas';
import type { Db } from '../../kernel/db/open.ts';
import type { WorkspaceRow } from '../../kernel/db/tables.ts';
import type { Journal } from '../../log/events/journal.ts';

export interface WorkspaceContents {
  /** Records that everything in the workspace is deleted. The platform has deleted it already. */
  recordDeleted(journal: Journal, tx: Db, workspace: WorkspaceRow, deletedAt: number): Promise<void>;
  /** The workspace has changed its status. */
  followStatus(journal: Journal, tx: Db, workspaceId: string): Promise<void>;
  /** The quotas of the workspace have changed. */
  followQuotas(tx: Db, workspaceId: string, quotas: Quotas): Promise<void>;
  /** The ids on the platform of connections that stay disabled when the workspace is activated. */
  listKeptDisabled(workspaceId: string): Promise<ReadonlySet<string>>;
  /** The ids on the platform of connections that run a sync that began before this time. */
  listSyncing(workspaceId: string, before: number): Promise<ReadonlySet<string>>;
}
