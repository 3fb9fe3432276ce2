/** What the audit says of a workspace that is new, or that is gone. */
import type { WorkspaceRow } from '../../kernel/db/tables.ts';

export function shownForAudit({ name, status }: Pick<WorkspaceRow, 'name' | 'status'>) {
  return { name, status };
}
