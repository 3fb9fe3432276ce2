/** What happens to sources and connections when something happens to their workspace. */
import { endSignIns } from '../credentials/sign-in/flows.ts';
import type { Store } from '../kernel/db/open.ts';
import type { Runtime } from '../kernel/runtime.ts';
import type { Sealer } from '../kernel/sealing.ts';
import type { WorkspaceContents } from '../tenancy/workspaces/workspace-contents.ts';
import { listPausedIds } from './connection-changes.store.ts';
import { forgetInactive, wakeFirstSyncs } from './connections.store.ts';
import { recordConnections, recordSourcesDeleted } from './entries.ts';
import { refreshHealth } from './jobs/jobs.ts';
import { listSyncing } from './jobs.store.ts';
import { recordWorkspaceDeleted } from './remote.store.ts';
import { followQuotas } from './slowed-schedules.ts';

export function createWorkspaceContents({
  store,
  runtime,
  sealer,
}: {
  store: Store;
  runtime: Runtime;
  sealer: Sealer;
}): WorkspaceContents {
  return {
    async recordDeleted(journal, tx, { id: workspaceId, organization_id: organizationId }, deletedAt) {
      const deleted = await recordWorkspaceDeleted(tx, workspaceId, deletedAt);
      const place = { organizationId, workspaceId };
      await recordConnections(journal, tx, place, 'connection.deleted', deleted.connectionIds);
      await recordSourcesDeleted({ journal, sealer }, tx, deleted.sources);
      await endSignIns({ journal, sealer, runtime }, tx, place);
    },
    async followStatus(journal, tx, workspaceId) {
      // What was seen of its connections before says nothing any more.
      await forgetInactive(tx, workspaceId);
      await wakeFirstSyncs(tx, workspaceId);
      await refreshHealth({ store, journal }, tx, [workspaceId]);
    },
    followQuotas: (tx, workspaceId, quotas) => followQuotas(runtime, tx, workspaceId, quotas),
    listKeptDisabled: async (workspaceId) => new Set(await listPausedIds(store.db, workspaceId)),
    listSyncing: async (workspaceId, before) => new Set(await listSyncing(store.db, workspaceId, before)),
  };
}
