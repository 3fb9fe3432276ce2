/**
 * The work for one webhook endpoint, from its lease until nothing more is due: reads the events that it wants and those that
 * are to be tried again, sends a few at a time, and writes the answers and how far it has got. delivery.worker.ts decides
 * which endpoints run, and renews their leases.
 */
import { setMaxListeners } from 'node:events';
import type { WebhookEndpointRow } from '../db/tables.ts';
import { isForCustomers } from '../events/catalogue.ts';
import { isoTime } from '../iso-time.ts';
import type { WebhooksContext } from './context.ts';
import type { LoggedEvent } from './deliveries.store.ts';
import { type KeptAttempt, keptAttempt, targetOf } from './deliveries.ts';
import * as all from './delivery.worker.store.ts';
import { tagsByTemplate } from './endpoints.store.ts';
import { entryOf, filterOf } from './endpoints.ts';
import { type Job, Lane } from './lane.ts';
import { matches } from './matching.ts';
import { messageOf } from './payload.ts';
import { pauseAfter } from './retry-schedule.ts';
import { type Attempt, send } from './sending.ts';

const perEndpoint = 20;
const page = 500;
/** How far the events on their way may lie apart. */
const maxWindow = 5_000;
const retriesAtOnce = 200;
const retriesEveryMs = 250;
const flushEveryMs = 50;
const longestFlushPauseMs = 1_000;
const flushAt = 1_000;
const keptAttempts = 12;
/** From so many failures in a row on, an endpoint gets one request at a time, and pauses between them. */
const troubleAt = 10;
const longestPauseMs = 60_000;
const hourMs = 3_600_000;
export const toldAfterMs = 24 * hourMs;
export const disabledAfterMs = 5 * 24 * hourMs;

export type Outcome = 'delivered' | 'retried' | 'failed';

export interface DeliveryOptions extends WebhooksContext {
  /** The data of an event for an endpoint, for operators or for customers. */
  dataOf(event: LoggedEvent, audience: 'operator' | 'customer'): object;
  /** An answer has come, or none: how long it took, and how long ago the event happened. */
  onAttempt?(outcome: Outcome, seconds: number, lagSeconds: number): void;
}

export interface Budget {
  /** Whether an endpoint with so many requests under way may begin another. One is always allowed. */
  mayBegin(inFlight: number): boolean;
  begin(): void;
  end(): void;
}

/** Failures of an endpoint in a row, and how often it was left alone for a while. Forgotten with this process. */
export interface Trouble {
  failures: number;
  pauses: number;
}

/** When it was asked for, and until when this process may send. By the clock that only goes forward. */
export interface Lease {
  at: number;
  until: number;
}

interface RunContext extends DeliveryOptions {
  leaseId: string;
  budget: Budget;
  trouble: Map<string, Trouble>;
}

/** The work for one endpoint, from its lease until nothing more is due. */
export interface EndpointRun {
  done: Promise<void>;
  renewed(row: WebhookEndpointRow, lease: Lease): void;
  leasedBefore(elapsed: number): boolean;
  lost(): void;
  soon(): void;
  /** Begins nothing more. */
  stop(): void;
  /** Gives up what has no answer yet. */
  cut(): void;
}

export function createRun(ctx: RunContext, leased: WebhookEndpointRow, lease: Lease): EndpointRun {
  const { store, runtime, network, budget, trouble } = ctx;
  const { id, organization_id: organizationId } = leased;
  const cut = new AbortController();
  // Each request on its way listens.
  setMaxListeners(perEndpoint, cut.signal);
  const lane = new Lane<LoggedEvent>(leased.read_until, leased.ordered === 1);
  const settled: { job: Job<LoggedEvent>; row: all.Settled; attempt: Attempt }[] = [];
  /** Sent by a process that was killed before everything in front of these was settled. */
  let alreadySettled = new Set<number>();
  let row = leased;
  let target = targetOf(ctx, row, runtime.now());
  let { at: leasedAt, until: validUntil } = lease;
  let isStopping = false;
  let isLost = false;
  let isAtEnd = false;
  let looksForRetriesAt = 0;
  /** Strict order: until the event that holds everything back is sent again. */
  let dueInMs: number | undefined;
  let flushAfter = runtime.elapsed() + flushEveryMs;
  let writtenUntil = leased.read_until;
  let earliestSendAt = 0;
  /** Until then the whole endpoint waits, as its receiver asked. */
  let pauseMs = 0;
  let isWoken = false;
  let endPause = () => {};
  const wake = () => {
    isWoken = true;
    endPause();
  };

  const isOver = () => isStopping || isLost || pauseMs > 0;
  const isLeased = () => !isLost && runtime.elapsed() < validUntil;

  const isInTrouble = () => (trouble.get(id)?.failures ?? 0) >= troubleAt;

  function noteFailure(): void {
    const { failures, pauses } = trouble.get(id) ?? { failures: 0, pauses: 0 };
    const isToPause = failures + 1 >= troubleAt && pauseMs === 0;
    if (isToPause) pauseMs = Math.min(longestPauseMs, 1_000 * 2 ** Math.min(10, pauses));
    trouble.set(id, { failures: failures + 1, pauses: pauses + Number(isToPause) });
  }
  const slots = () => (row.ordered === 1 || isInTrouble() ? 1 : perEndpoint);

  async function readMore(): Promise<void> {
    if (isAtEnd || lane.freshWaiting >= page / 2 || lane.window >= maxWindow) return;
    const events = await all.readEvents(store.db, organizationId, lane.readTo, page);
    isAtEnd = events.length < page;
    if (events.length === 0) return;
    const filter = filterOf(row);
    const tags = filter.tags === null ? undefined : await tagsByTemplate(store.db, organizationId);
    const around = { isForCustomers, tagsOf: (templateId: string) => tags?.get(templateId) ?? [] };
    const wanted = events.filter(
      ({ position, type, workspace_id: workspaceId, data, recorded_at }) =>
        !alreadySettled.has(position) &&
        // An event from before the endpoint was made may get its position later.
        recorded_at >= row.created_at &&
        matches(filter, { type, workspaceId, data: filter.tags === null ? {} : JSON.parse(data) }, around),
    );
    lane.addFresh(wanted, events.at(-1)?.position ?? lane.readTo);
  }

  async function readRetries(): Promise<void> {
    const isOrdered = row.ordered === 1;
    if (isOrdered ? lane.inFlight > 0 || settled.length > 0 : runtime.elapsed() < looksForRetriesAt) return;
    looksForRetriesAt = runtime.elapsed() + retriesEveryMs;
    const waiting = await all.listWaiting(store.db, row, isOrdered, retriesAtOnce);
    dueInMs = undefined;
    lane.isBlocked = false;
    for (const { delivery, event, isDue, inMs } of waiting) {
      if (lane.isRetrying(delivery.position)) continue;
      if (!isDue) {
        lane.isBlocked = true;
        dueInMs = inMs;
      } else if (event) {
        lane.addRetry(event, delivery.attempts, delivery.attempt_list);
      } else {
        // The log has forgotten it: nobody can send it any more.
        const { event_id, position, event_type, attempts, attempt_list } = delivery;
        const given = {
          event_id,
          position,
          event_type,
          attempts,
          attempt_list,
          state: 'failed' as const,
          pauseMs: null,
        };
        await store.transaction((tx) => all.putSettled(tx, row, [given]));
      }
    }
  }

  function attemptsOf(job: Job<LoggedEvent>, attempt: Attempt): string {
    const before: KeptAttempt[] = JSON.parse(job.history);
    return JSON.stringify([...before, keptAttempt(attempt)].slice(-keptAttempts));
  }

  function begin(job: Job<LoggedEvent>): void {
    budget.begin();
    if (row.rate !== null) earliestSendAt = Math.max(runtime.elapsed(), earliestSendAt) + 1_000 / row.rate;
    const audience = row.workspace_id === null ? 'operator' : 'customer';
    const message = messageOf(job.event, (event) => ctx.dataOf(event, audience));
    send(network, runtime, target, message, cut.signal)
      .then((attempt) => settle(job, attempt))
      .catch((err) => {
        if (!cut.signal.aborted) {
          ctx.log.error({ err, webhookEndpointId: id }, 'a webhook could not be sent');
          isLost = true;
        }
      })
      .finally(() => {
        lane.answered();
        budget.end();
        beginAll();
        wake();
      });
  }

  function settle(job: Job<LoggedEvent>, attempt: Attempt): void {
    const { event } = job;
    const attempts = job.attempts + 1;
    const pause =
      attempt.isDelivered || attempt.isAborted
        ? undefined
        : pauseAfter(attempts, runtime.random(), attempt.retryAfterMs);
    const state = attempt.isDelivered ? 'delivered' : pause === undefined ? 'failed' : 'pending';
    const result: all.Settled = {
      event_id: event.id,
      position: event.position,
      event_type: event.type,
      state,
      attempts,
      pauseMs: pause ?? null,
      attempt_list: attemptsOf(job, attempt),
    };
    settled.push({ job, row: result, attempt });
    if (attempt.isDelivered) trouble.delete(id);
    else noteFailure();
    // The position is written with the result. In strict order nothing else may go before that is known.
    if (row.ordered === 1 && state === 'pending') lane.isBlocked = true;
    if (attempt.isBusy && attempt.retryAfterMs) pauseMs = Math.min(attempt.retryAfterMs, hourMs);
    if (attempt.isGone) isStopping = true;
    const outcome = attempt.isDelivered ? 'delivered' : state === 'pending' ? 'retried' : 'failed';
    ctx.onAttempt?.(outcome, attempt.durationMs / 1000, Math.max(0, (attempt.at - event.recorded_at) / 1000));
  }

  /** Writes what has come back, and how far that is. False: another process has the endpoint. */
  async function flush(): Promise<void> {
    const startedAt = runtime.elapsed();
    const batch = settled.splice(0);
    for (const { job } of batch) lane.settle(job);
    const readUntil = lane.readUntil;
    if (batch.length === 0 && readUntil <= writtenUntil) return;
    const isWritten = await store.transaction(async (tx) => {
      const progress = await all.putProgress(tx, id, ctx.leaseId, {
        readUntil,
        wasDelivered: batch.some(({ attempt }) => attempt.isDelivered),
        hasFailed: batch.some(({ attempt }) => !attempt.isDelivered),
      });
      if (!progress) return false;
      // The last result of an event counts, so it must be in one statement only once.
      await all.putSettled(tx, row, [...new Map(batch.map((one) => [one.row.position, one.row])).values()]);
      await judge(tx, progress.before, progress.now, batch);
      return true;
    });
    if (isWritten) writtenUntil = readUntil;
    else isLost = true;
    // Where writing takes long, more is written at once.
    const now = runtime.elapsed();
    flushAfter = now + Math.min(longestFlushPauseMs, Math.max(flushEveryMs, 4 * (now - startedAt)));
  }

  /** What the results say about the endpoint itself. */
  async function judge(
    tx: Parameters<typeof all.putProgress>[0],
    before: WebhookEndpointRow,
    now: number,
    batch: readonly { attempt: Attempt }[],
  ): Promise<void> {
    const last = batch.at(-1)?.attempt;
    const isGone = batch.some(({ attempt }) => attempt.isGone);
    const error = last?.error ?? null;
    const { failing_since: since, failing_told: isTold } = before;
    if (!isGone && batch.some(({ attempt }) => attempt.isDelivered)) {
      if (isTold === 1 && since !== null) {
        const entry = entryOf(before, { failing_since: isoTime(since) });
        await ctx.journal.record(tx, organizationId, { type: 'webhook_endpoint.recovered', ...entry });
      }
      return;
    }
    if (isGone || (since !== null && last && now - since >= disabledAfterMs)) {
      const reason = isGone ? ('gone' as const) : ('failing' as const);
      await all.disable(tx, id, reason);
      const entry = entryOf(before, { reason, error });
      const change = { before: { enabled: true }, after: { enabled: false } };
      await ctx.journal.record(tx, organizationId, { type: 'webhook_endpoint.disabled', ...entry, change });
      isStopping = true;
    } else if (since !== null && last && isTold === 0 && now - since >= toldAfterMs) {
      await all.putFailingTold(tx, id);
      const times = { failing_since: isoTime(since), disabled_from: isoTime(since + disabledAfterMs) };
      const entry = entryOf(before, { ...times, error });
      await ctx.journal.record(tx, organizationId, { type: 'webhook_endpoint.failing', ...entry });
    }
  }

  async function drive(): Promise<void> {
    alreadySettled = new Set(await all.listSettledAfter(store.db, id, leased.read_until));
    for (;;) {
      if (!isOver()) {
        await readRetries();
        await readMore();
        beginAll();
      }
      const isIdle = lane.inFlight === 0;
      const isDueToFlush = settled.length >= flushAt || isIdle || isOver() || runtime.elapsed() >= flushAfter;
      if (isDueToFlush) await flush();
      if (lane.inFlight === 0 && settled.length === 0) {
        if (isOver()) return;
        const hasMore = lane.waiting > 0 && !lane.isBlocked;
        if (!hasMore && (lane.isBlocked || isAtEnd)) {
          if (await isReallyIdle()) return;
          continue;
        }
        if (hasMore) await pauseUntil(earliestSendAt - runtime.elapsed());
        continue;
      }
      await pauseUntil(flushEveryMs);
    }
  }

  /** Whether nothing is due: neither a retry, nor an event that came while the last were sent. */
  async function isReallyIdle(): Promise<boolean> {
    looksForRetriesAt = 0;
    isAtEnd = false;
    await readRetries();
    if (lane.isBlocked) return true;
    await readMore();
    return lane.waiting === 0 && lane.readUntil <= writtenUntil;
  }

  function beginAll(): void {
    while (!isOver() && isLeased() && lane.inFlight < slots() && budget.mayBegin(lane.inFlight)) {
      if (row.rate !== null && runtime.elapsed() < earliestSendAt) return;
      const job = lane.take();
      if (!job) return;
      begin(job);
    }
    if (!isLeased()) isLost = true;
  }

  async function pauseUntil(ms: number): Promise<void> {
    if (ms > 0 && !isWoken) {
      const woken = new AbortController();
      endPause = () => woken.abort();
      await runtime.sleep(ms, woken.signal);
    }
    isWoken = false;
  }

  async function runToEnd(): Promise<void> {
    try {
      await drive();
    } finally {
      cut.abort();
      // In strict order there is nothing to do until the event that failed is due again.
      const blockedMs = lane.isBlocked ? (dueInMs ?? 0) : 0;
      await all.releaseEndpoint(store.db, id, ctx.leaseId, pauseMs || blockedMs);
    }
  }

  return {
    done: runToEnd(),
    renewed(fresh, { at, until }) {
      leasedAt = at;
      validUntil = until;
      const isSame = fresh.updated_at === row.updated_at;
      row = { ...fresh, ordered: row.ordered };
      target = targetOf(ctx, row, runtime.now());
      // Whatever has changed, the next run has it from its beginning.
      if (!isSame) isStopping = true;
    },
    leasedBefore: (elapsed) => leasedAt < elapsed,
    lost() {
      isLost = true;
      wake();
    },
    soon() {
      isAtEnd = false;
      wake();
    },
    stop() {
      isStopping = true;
      wake();
    },
    cut: () => cut.abort(),
  };
}
