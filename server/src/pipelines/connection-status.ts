/** The status of a connection as it is shown: how far its set-up is, and whether it may run. Pure. */
import type { ConnectionStatus } from '@inlay/contract/pipelines/connections';
import type { ConnectionRow } from '../kernel/db/tables.ts';

interface StatusFacts extends Pick<ConnectionRow, 'is_set_up' | 'platform_state' | 'paused'> {
  isWorkspaceActive: boolean;
  /** The platform would not take it, or its destination. */
  isRefused: boolean;
}

export function statusOf({ isWorkspaceActive, isRefused, ...row }: StatusFacts): ConnectionStatus {
  if (row.is_set_up === 0) return isRefused ? 'failed' : 'pending';
  return isWorkspaceActive && row.platform_state === null && row.paused === 0 ? 'active' : 'inactive';
}
