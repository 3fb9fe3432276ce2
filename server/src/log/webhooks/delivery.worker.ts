/**
 * Sends events to the endpoints that want them. Runs in every replica; a lease on each endpoint lets one of them send.
 *
 * What always holds: each endpoint gets every event that it wants at least once. How far it has got is on disk, and is
 * written after the answers: a process that is killed sends some events again, under the same `webhook-id`, and leaves
 * none out. An event that fails is retried with backoff (retry-schedule.ts); the schedule is on disk as well. Bulkheads: an
 * endpoint that is slow or fails takes nothing from the others, because each has its own few concurrent requests.
 */
import { attentionOf, type Repetition, repeatedly } from '../../kernel/background.ts';
import { byWorker } from '../../kernel/cause.ts';
import * as all from './delivery.worker.store.ts';
import { type Budget, type DeliveryOptions, EndpointRun, type Lease, type Trouble } from './endpoint-run.worker.ts';

/** After a process that died, another takes over this much later. */
const leaseMs = 3_000;
const renewEveryMs = 1_000;
/** A process stops sending this much before its lease ends. */
const marginMs = 500;
/**
 * New events of this process wake it; another replica that gives positions sends them itself. The first retry comes while it
 * still looks often. Something that another replica was sending when it was killed waits for the end of the lease anyway.
 */
const looks = { oftenMs: 250, rarelyMs: 1_000, afterMs: 10_000 };
const stopPatienceMs = 2_000;
const inTotal = 500;

const leaseOf = (at: number): Lease => ({ at, until: at + leaseMs - marginMs });

export interface Deliveries extends Repetition {
  /** There is something to send. */
  soon(): void;
  /** Sends everything that is due now, and resolves when nothing more is. */
  pass(): Promise<void>;
  backlog(): Promise<all.Backlog>;
}

export function createDeliveries(options: DeliveryOptions): Deliveries {
  const { store, runtime, log } = options;
  const leaseId = runtime.newId();
  const ctx = { ...options, journal: options.journal.by(byWorker), leaseId };
  const stopping = new AbortController();
  const running = new Map<string, EndpointRun>();
  const trouble = new Map<string, Trouble>();
  const attention = attentionOf(runtime, looks);
  let renewing: Promise<void> | undefined;
  let total = 0;

  const budget: Budget = {
    mayBegin: (inFlight) => inFlight === 0 || total < inTotal,
    begin: () => {
      total++;
    },
    end: () => {
      total--;
    },
  };

  /** Starts a run for every endpoint with work. Resolves with the active runs. */
  async function look(): Promise<void> {
    const ids = (await all.listWithWork(store.db, 1_000)).filter((id) => !running.has(id));
    for (const id of ids) {
      if (stopping.signal.aborted) return;
      const leasedAt = runtime.elapsed();
      const row = await all.leaseEndpoint(store.db, id, leaseId, leaseMs);
      if (!row || running.has(id)) continue;
      attention.noticed();
      const run = new EndpointRun({ ...ctx, budget, trouble }, row, leaseOf(leasedAt));
      running.set(id, run);
      run.done
        .catch((err) => log.error({ err, webhookEndpointId: id }, 'Webhook endpoint run failed; will retry'))
        .finally(() => {
          running.delete(id);
          attention.noticed();
        });
    }
  }

  async function renew(): Promise<void> {
    const askedAt = runtime.elapsed();
    const rows = running.size === 0 ? [] : await all.renewLeases(store.db, leaseId, leaseMs);
    const held = new Map(rows.map((row) => [row.id, row]));
    for (const [id, run] of running) {
      const row = held.get(id);
      if (row) run.renewed(row, leaseOf(askedAt));
      else if (run.leasedBefore(askedAt)) run.lost();
    }
  }

  async function renewWhileRunning(): Promise<void> {
    while (!stopping.signal.aborted) {
      await runtime.sleep(renewEveryMs, stopping.signal);
      await renew().catch((err) => log.error({ err }, 'Failed to renew webhook endpoint leases'));
    }
  }

  const repetition = repeatedly(
    { log, runtime: { ...runtime, sleep: attention.sleep } },
    { what: 'Webhook dispatch', pauseMs: attention.pauseMs, work: look },
  );

  return {
    start() {
      renewing ??= renewWhileRunning();
      repetition.start();
    },
    soon() {
      for (const run of running.values()) run.soon();
      attention.wake();
    },
    async pass() {
      renewing ??= renewWhileRunning();
      for (;;) {
        await look();
        if (running.size === 0) return;
        await Promise.all([...running.values()].map(({ done }) => done.catch(() => {})));
      }
    },
    backlog: () => all.readBacklog(store.db),
    async stop() {
      stopping.abort();
      await repetition.stop();
      for (const run of running.values()) run.stop();
      const ended = Promise.all([...running.values()].map(({ done }) => done.catch(() => {})));
      const patience = new AbortController();
      await Promise.race([ended, runtime.timeLimit(stopPatienceMs, patience.signal)]);
      patience.abort();
      // What has no answer yet is sent again by the next process.
      for (const run of running.values()) run.cut();
      await ended;
      await renewing;
    },
  };
}
