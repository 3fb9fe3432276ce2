/*
 * All that the benchmarks take from the product, so that they know its folders in one place only. The programs whose
 * memory is measured (sync-process.ts, declarative-reader.ts) import what they run themselves.
 */

export { specification as destinationPostgres } from '@inlay/connectors/destination-postgres/specification';
export { sampleStreams } from '@inlay/connectors/sample-data/made-up-records';
export { specification as sampleData } from '@inlay/connectors/sample-data/specification';
export { connector as sourcePostgres } from '@inlay/connectors/source-postgres/source-postgres';
export { DateTime } from '@inlay/manifests/dates/date-time';
export { InterpolatedString } from '@inlay/manifests/template/interpolation';
export type { ConfiguredStream, Stream } from '@inlay/protocol/protocol';
export type { JobLog, JobLogQuery } from '../contract/src/pipelines/operating.ts';
export { platformApi } from '../platform/src/api.ts';
export { attemptHeader, workerProtocol } from '../platform/src/attempts/worker-terms.ts';
export { openStore as openPlatformStore } from '../platform/src/db/open.ts';
export { bundledDefinitions } from '../platform/src/definitions/bundled-definitions.ts';
export type { JobsContext } from '../platform/src/jobs/context.ts';
export { fileLogs } from '../platform/src/jobs/file-logs.ts';
export { readLog as readPlatformLog } from '../platform/src/jobs/job-logs.ts';
export { openPlatform } from '../platform/src/open-platform.ts';
export { connectorProgram } from '../platform/src/runner/programs.ts';
export { connectorNeeded } from '../platform/src/workers/placement.ts';
export { byWorker } from '../server/src/kernel/cause.ts';
export { encodePlace, encodePosition } from '../server/src/kernel/db/list-cursor.ts';
export { migrate, readSchemaHistory } from '../server/src/kernel/db/migrations.ts';
export { type Db, openPostgres, openSqlite, type Store } from '../server/src/kernel/db/open.ts';
export type { Tables } from '../server/src/kernel/db/tables.ts';
export { type GuardedRequest, openGuardedClient } from '../server/src/kernel/network/guarded-client.ts';
export { pageSize as platformPageSize, readPages } from '../server/src/kernel/platform/paging.ts';
export { systemRuntime } from '../server/src/kernel/runtime.ts';
export { createSealer } from '../server/src/kernel/sealing.ts';
export { type AuditContext, readTrail } from '../server/src/log/audit/trail.ts';
export { createArrivals } from '../server/src/log/events/arrivals.ts';
export { dataOf, type EventsContext, type Reader, readPage } from '../server/src/log/events/events.ts';
export { createJournal } from '../server/src/log/events/journal.ts';
export { findBounds } from '../server/src/log/events/log.store.ts';
export { createSequencer } from '../server/src/log/events/sequencer.worker.ts';
export type { WebhooksContext } from '../server/src/log/webhooks/context.ts';
export { listDeliveries } from '../server/src/log/webhooks/deliveries.ts';
export { createDeliveries } from '../server/src/log/webhooks/delivery.worker.ts';
export { createEndpoint, deleteEndpoint } from '../server/src/log/webhooks/endpoints.ts';
export { readOverview } from '../server/src/operating/overview.ts';
export { listAllWorkspaces } from '../server/src/operating/workspace-list.ts';
export type { PipelinesContext } from '../server/src/pipelines/context.ts';
export { firstErrorIn, type LogLine, pack, readJobLog } from '../server/src/pipelines/jobs/job-logs.ts';
export {
  getJobDetail,
  getWorkspaceHealth,
  listAllConnections,
  listAllJobs,
  listAllSources,
} from '../server/src/pipelines/sources/lists.ts';
export { insertSource } from '../server/src/pipelines/sources.store.ts';
export { ensureFirstOrganization } from '../server/src/tenancy/organizations/organizations.ts';
export { putLimits } from '../server/src/tenancy/quotas/quotas.store.ts';
export { takeRoom } from '../server/src/tenancy/quotas/quotas.ts';
export { findWorkspaceByName } from '../server/src/tenancy/workspaces/claims.store.ts';
export { encodeCursor } from '../server/src/tenancy/workspaces/cursor.ts';
export { holdLiveWorkspace } from '../server/src/tenancy/workspaces/live-workspaces.ts';
export { countByStatus, findShown, listWorkspaces } from '../server/src/tenancy/workspaces/workspaces.store.ts';
export { seedPipelines } from '../server/test/support/seed-pipelines.ts';
