/**
 * The metrics of the service. Labels are routes, methods, statuses and kinds of work; never a tenant, a name or an id.
 */
import { healthStates } from '@inlay/contract/pipelines/health';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { countRequests } from './request-numbers.ts';

/** Number of recorded changes that the platform does not have yet, by kind. */
export interface Backlog {
  claims: number;
  operations: Partial<Record<string, number>>;
  sources: number;
}

/** What happens to workspaces, to be counted. No name contains a tenant's. */
export type WorkspaceEvent =
  | 'workspace_created'
  | 'workspace_adopted'
  | 'name_ambiguous'
  | 'orphan_found'
  | 'settle_wait'
  | 'claim_dropped'
  | 'missing_on_platform';

export interface Metrics {
  registry: Registry;
  request(route: string, method: string, status: number, seconds: number): void;
  /** `address`: the client has too many connections. `total`: all clients together have. */
  connectionRefused(reason: 'address' | 'total'): void;
  platformCall(operation: string, outcome: string, seconds: number, isRetry: boolean): void;
  platformBreaker(open: boolean): void;
  /**
   * Something has had its turn. `check_request` and `set_up` wait in this process, the others on the bundled platform.
   */
  valuesChanged(kind: 'nulled' | 'shortened' | 'not_a_number' | 'left_out', count: number): void;
  /** A sync has ended. */
  syncEnded(outcome: 'failed' | 'succeeded' | 'cancelled', seconds: number, rows: number): void;
  queueWait(kind: 'sync' | 'check' | 'discover' | 'check_request' | 'set_up', seconds: number): void;
  workspaceEvent(event: WorkspaceEvent, by?: number): void;
  /** Tokens of a credential were to be refreshed. */
  oauthRefresh(outcome: 'refreshed' | 'failed' | 'refused' | 'ended'): void;
  idempotentRequest(outcome: 'carried_out' | 'replayed' | 'refused'): void;
  clockJumped(direction: 'back' | 'forward'): void;
  /** A webhook was sent: whether it was accepted, how long that took, and how long ago its event happened. */
  webhookSent(outcome: 'delivered' | 'retried' | 'failed', seconds: number, lagSeconds: number): void;
  /** Asked each time the numbers are read. */
  watchWebhooks(read: () => Promise<{ retrying: number; oldestMs: number }>): void;
  /** `read` is called each time the metrics are read. */
  watchBacklog(read: () => Promise<Backlog>): void;
  /** How many entries of the log have no position yet. Asked each time the numbers are read. */
  watchLog(read: () => Promise<number>): void;
  /** Asked each time the numbers are read. */
  watchSyncs(read: () => Promise<SyncState>): void;
  /** Of the bundled platform. Asked each time the numbers are read. */
  watchWorkers(read: () => Promise<WorkerDemand>): void;
}

/** Labels are those of workers, which operators choose. */
interface WorkerDemand {
  oldestPendingMs: number;
  pending: { labels: string; jobs: number }[];
  free: { labels: string; slots: number }[];
}

/** What all connections of the deployment do at the moment. */
interface SyncState {
  waiting: number;
  running: number;
  oldestWaitingMs: number | null;
  byHealth: Partial<Record<string, number>>;
}

/**
 * The numbers of the process itself: made once, however many services are in it, because prom-client has no end for them.
 * Each set keeps a timer that ticks a hundred times a second, an observer of the garbage collector, and its registry.
 */
let numbersOfProcess: Registry | undefined;

function processRegistry(): Registry {
  if (!numbersOfProcess) {
    numbersOfProcess = new Registry();
    collectDefaultMetrics({ register: numbersOfProcess });
  }
  return numbersOfProcess;
}

export function createMetrics(): Metrics {
  const registry = Registry.merge([processRegistry()]);
  const registers = [registry];
  const refusedConnections = new Counter({
    name: 'inlay_http_connections_refused_total',
    help: 'Number of connections refused because one address, or all addresses together, had too many open',
    labelNames: ['reason'],
    registers,
  });
  const platformCalls = new Counter({
    name: 'inlay_platform_calls_total',
    help: 'Number of requests to the platform, by operation and outcome',
    labelNames: ['operation', 'outcome'],
    registers,
  });
  const platformLatency = new Histogram({
    name: 'inlay_platform_call_duration_seconds',
    help: 'Duration of requests to the platform, by operation',
    labelNames: ['operation'],
    buckets: [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const platformRetries = new Counter({
    name: 'inlay_platform_retries_total',
    help: 'Number of retried requests to the platform, by operation (also counted as calls)',
    labelNames: ['operation'],
    registers,
  });
  const platformBreaker = new Gauge({
    name: 'inlay_platform_breaker_open',
    help: '1 while the circuit breaker for the platform is open, otherwise 0',
    registers,
  });
  const queueWaits = new Histogram({
    name: 'inlay_queue_wait_seconds',
    help: 'Time that work waited in the queue, by kind: sync, check and discover on the bundled platform, check_request and set_up in this process',
    labelNames: ['kind'],
    buckets: [0.01, 0.1, 1, 2, 5, 10, 30, 60, 300, 1_800, 7_200],
    registers,
  });
  const changedValues = new Counter({
    name: 'inlay_values_changed_total',
    help: 'Number of values changed on their way to a destination, in successful jobs of the bundled platform, by kind: nulled, shortened, not_a_number, left_out',
    labelNames: ['kind'],
    registers,
  });
  const syncs = new Counter({
    name: 'inlay_syncs_total',
    help: 'Number of ended syncs seen by this process, by outcome: succeeded, failed, cancelled',
    labelNames: ['outcome'],
    registers,
  });
  const syncSeconds = new Histogram({
    name: 'inlay_sync_duration_seconds',
    help: 'Duration of syncs, including retries, by outcome',
    labelNames: ['outcome'],
    buckets: [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400],
    registers,
  });
  const syncRows = new Counter({
    name: 'inlay_sync_rows_total',
    help: 'Number of rows written to destinations, by outcome of the sync',
    labelNames: ['outcome'],
    registers,
  });
  const oauthRefreshes = new Counter({
    name: 'inlay_oauth_refreshes_total',
    help: 'Number of token refreshes, by outcome: refreshed, failed (will be retried), refused (the operator must act), ended (the customer must sign in again)',
    labelNames: ['outcome'],
    registers,
  });
  const idempotentRequests = new Counter({
    name: 'inlay_idempotent_requests_total',
    help: 'Number of requests with an Idempotency-Key, by outcome: carried_out, replayed (from the stored response), refused',
    labelNames: ['outcome'],
    registers,
  });
  const clockJumps = new Counter({
    name: 'inlay_clock_jumps_total',
    help: 'Number of times the clock was set back (counted by one replica) or jumped forward (counted by each replica), by direction: back, forward',
    labelNames: ['direction'],
    registers,
  });
  const webhooks = new Counter({
    name: 'inlay_webhook_attempts_total',
    help: 'Number of webhook delivery attempts, by outcome: delivered, retried (will be sent again), failed (no more retries)',
    labelNames: ['outcome'],
    registers,
  });
  const webhookSeconds = new Histogram({
    name: 'inlay_webhook_attempt_duration_seconds',
    help: 'Duration of webhook delivery attempts, by outcome',
    labelNames: ['outcome'],
    buckets: [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const webhookLag = new Histogram({
    name: 'inlay_webhook_lag_seconds',
    help: 'Time from an event to its successful webhook delivery',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300, 3_600, 86_400],
    registers,
  });
  const events = new Counter({
    name: 'inlay_workspace_events_total',
    help: 'Number of workspace consistency events between Inlay and the platform, by event',
    labelNames: ['event'],
    registers,
  });

  return {
    registry,
    request: countRequests(registry),
    connectionRefused: (reason) => refusedConnections.inc({ reason }),
    platformCall(operation, outcome, seconds, isRetry) {
      platformCalls.inc({ operation, outcome });
      if (isRetry) platformRetries.inc({ operation });
      platformLatency.observe({ operation }, seconds);
    },
    platformBreaker: (open) => platformBreaker.set(open ? 1 : 0),
    queueWait: (kind, seconds) => queueWaits.observe({ kind }, seconds),
    valuesChanged: (kind, count) => changedValues.inc({ kind }, count),
    syncEnded(outcome, seconds, rows) {
      syncs.inc({ outcome });
      syncSeconds.observe({ outcome }, seconds);
      syncRows.inc({ outcome }, rows);
    },
    oauthRefresh: (outcome) => oauthRefreshes.inc({ outcome }),
    idempotentRequest: (outcome) => idempotentRequests.inc({ outcome }),
    clockJumped: (direction) => clockJumps.inc({ direction }),
    webhookSent(outcome, seconds, lagSeconds) {
      webhooks.inc({ outcome });
      webhookSeconds.observe({ outcome }, seconds);
      if (outcome === 'delivered') webhookLag.observe(lagSeconds);
    },
    watchWebhooks(read) {
      let reading: ReturnType<typeof read> | undefined;
      const readOnce = () => {
        reading ??= read().finally(() => {
          reading = undefined;
        });
        return reading;
      };
      new Gauge({
        name: 'inlay_webhooks_retrying',
        help: 'Number of webhook deliveries waiting for a retry',
        registers,
        async collect() {
          this.set((await readOnce()).retrying);
        },
      });
      new Gauge({
        name: 'inlay_webhooks_oldest_waiting_seconds',
        help: 'Age of the oldest event not yet delivered to an enabled webhook endpoint; 0 if there is none',
        registers,
        async collect() {
          this.set((await readOnce()).oldestMs / 1000);
        },
      });
    },
    workspaceEvent: (event, by = 1) => events.inc({ event }, by),
    watchSyncs(read) {
      // All three are requested at once, and read once.
      let reading: Promise<SyncState> | undefined;
      const readOnce = () => {
        reading ??= read().finally(() => {
          reading = undefined;
        });
        return reading;
      };
      new Gauge({
        name: 'inlay_syncs_open',
        help: 'Number of open syncs, by state: waiting, running',
        labelNames: ['state'],
        registers,
        async collect() {
          const { waiting, running } = await readOnce();
          this.set({ state: 'waiting' }, waiting);
          this.set({ state: 'running' }, running);
        },
      });
      new Gauge({
        name: 'inlay_syncs_oldest_waiting_seconds',
        help: 'Waiting time of the oldest queued sync; 0 if there is none',
        registers,
        async collect() {
          this.set(((await readOnce()).oldestWaitingMs ?? 0) / 1000);
        },
      });
      new Gauge({
        name: 'inlay_connections',
        help: 'Number of connections in this deployment, by health: healthy, running, failing, needs_attention, paused, never_synced',
        labelNames: ['health'],
        registers,
        async collect() {
          const { byHealth } = await readOnce();
          for (const health of healthStates) this.set({ health }, byHealth[health] ?? 0);
        },
      });
    },
    watchWorkers(read) {
      let reading: Promise<WorkerDemand> | undefined;
      const readOnce = () => {
        reading ??= read().finally(() => {
          reading = undefined;
        });
        return reading;
      };
      new Gauge({
        name: 'inlay_jobs_oldest_pending_seconds',
        help: 'Time that the oldest due job of the bundled platform has waited for a slot; 0 if none waits',
        registers,
        async collect() {
          this.set((await readOnce()).oldestPendingMs / 1000);
        },
      });
      new Gauge({
        name: 'inlay_jobs_pending',
        help: 'Number of due jobs of the bundled platform that wait for a slot, by the labels that their workspaces require of workers',
        labelNames: ['labels'],
        registers,
        async collect() {
          const { pending } = await readOnce();
          this.reset();
          for (const { labels, jobs } of pending) this.set({ labels }, jobs);
        },
      });
      new Gauge({
        name: 'inlay_workers_free_slots',
        help: 'Number of free slots of connected workers that are not draining, by the labels of the workers',
        labelNames: ['labels'],
        registers,
        async collect() {
          const { free } = await readOnce();
          this.reset();
          for (const { labels, slots } of free) this.set({ labels }, slots);
        },
      });
    },
    watchLog(read) {
      new Gauge({
        name: 'inlay_log_pending_entries',
        help: 'Number of log entries without a position, which readers cannot see yet',
        registers,
        async collect() {
          this.set(await read());
        },
      });
    },
    watchBacklog(read) {
      new Gauge({
        name: 'inlay_reconciler_backlog',
        help: 'Number of changes not yet applied on the platform, by kind',
        labelNames: ['kind'],
        registers,
        async collect() {
          const { claims, operations, sources } = await read();
          this.set({ kind: 'claim' }, claims);
          this.set({ kind: 'source' }, sources);
          for (const kind of ['rename', 'status', 'delete', 'orphan_delete']) this.set({ kind }, operations[kind] ?? 0);
        },
      });
    },
  };
}
