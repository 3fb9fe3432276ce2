/**
 * The work for one webhook endpoint, from its lease until nothing more is due: reads the events that it wants and those that
 * are to be tried again, sends a few at a time, and writes the answers and how far it has got. delivery.worker.ts decides
 * which endpoints run, and renews their leases; run-state.ts has the states of the work.
 */
import { setMaxListeners } from 'node:events';
import { wakeableSleep } from '../../kernel/background.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { WebhookEndpointRow } from '../../kernel/db/tables.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { isForCustomers } from '../events/catalogue.ts';
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
import { initialState, isEnding, nextState, nextStep, type RunEvent } from './run-state.ts';
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

/** When it was requested, and until when this process may send. By the clock that only goes forward. */
export interface Lease {
  at: number;
  until: number;
}

interface RunContext extends DeliveryOptions {
  leaseId: string;
  budget: Budget;
  trouble: Map<string, Trouble>;
}

/** An answer, and what is to be written about it. */
interface Answer {
  job: Job<LoggedEvent>;
  row: all.Settled;
  attempt: Attempt;
}

export class EndpointRun {
  readonly done: Promise<void>;
  readonly #ctx: RunContext;
  readonly #lane: Lane<LoggedEvent>;
  readonly #cut = new AbortController();
  readonly #pause: ReturnType<typeof wakeableSleep>;
  #state = initialState;
  #row: WebhookEndpointRow;
  #target: ReturnType<typeof targetOf>;
  #lease: Lease;
  /** Answers that are not on disk yet. */
  #answers: Answer[] = [];
  #writtenUntil: number;
  #flushAfter: number;
  #looksForRetriesAt = 0;
  /** The rate of the endpoint allows no request before. */
  #earliestSendAt = 0;

  constructor(ctx: RunContext, leased: WebhookEndpointRow, lease: Lease) {
    this.#ctx = ctx;
    this.#row = leased;
    this.#lease = lease;
    this.#target = targetOf(ctx.sealer, leased, ctx.runtime.now());
    this.#lane = new Lane(leased.read_until, leased.ordered === 1);
    this.#pause = wakeableSleep(ctx.runtime);
    this.#writtenUntil = leased.read_until;
    this.#flushAfter = ctx.runtime.elapsed() + flushEveryMs;
    // Each request on its way listens.
    setMaxListeners(perEndpoint, this.#cut.signal);
    this.done = this.#runToEnd();
  }

  renewed(fresh: WebhookEndpointRow, lease: Lease): void {
    this.#lease = lease;
    const isSame = fresh.updated_at === this.#row.updated_at;
    this.#row = { ...fresh, ordered: this.#row.ordered };
    this.#target = targetOf(this.#ctx.sealer, this.#row, this.#ctx.runtime.now());
    // Whatever has changed, the next run has it from its beginning.
    if (!isSame) this.#on({ type: 'stopped' });
  }

  leasedBefore(elapsed: number): boolean {
    return this.#lease.at < elapsed;
  }

  lost(): void {
    this.#on({ type: 'lease_lost' });
    this.#pause.wake();
  }

  soon(): void {
    this.#on({ type: 'events_logged' });
    this.#pause.wake();
  }

  /** Begins nothing more. */
  stop(): void {
    this.#on({ type: 'stopped' });
    this.#pause.wake();
  }

  /** Gives up what has no answer yet. */
  cut(): void {
    this.#cut.abort();
  }

  #on(event: RunEvent): void {
    this.#state = nextState(this.#state, event);
  }

  async #runToEnd(): Promise<void> {
    const { store, leaseId } = this.#ctx;
    try {
      await this.#drive();
    } finally {
      this.#cut.abort();
      // In strict order there is nothing to do until the event that failed is due again.
      const pauseMs = this.#state.pauseMs || (this.#lane.blockedMs ?? 0);
      await all.releaseEndpoint(store.db, this.#row.id, leaseId, pauseMs);
    }
  }

  async #drive(): Promise<void> {
    const { store, runtime } = this.#ctx;
    const lane = this.#lane;
    // Sent by a process that was killed before everything in front of these was settled.
    const alreadySettled = new Set(await all.listSettledAfter(store.db, this.#row.id, this.#writtenUntil));
    for (;;) {
      if (!isEnding(this.#state)) {
        await this.#readRetries();
        await this.#readMore(alreadySettled);
        this.#beginAll();
      }
      const isOver = lane.inFlight === 0 || isEnding(this.#state);
      if (isOver || this.#answers.length >= flushAt || runtime.elapsed() >= this.#flushAfter) await this.#flush();
      switch (nextStep(this.#state, { ...lane.load, unwritten: this.#answers.length })) {
        case 'await_answers':
          await this.#pause.sleep(flushEveryMs);
          break;
        case 'await_turn':
          await this.#pause.sleep(this.#earliestSendAt - runtime.elapsed());
          break;
        case 'look_again':
          if (await this.#isReallyIdle(alreadySettled)) return;
          break;
        case 'end':
          return;
      }
    }
  }

  /** Whether nothing is due: neither a retry, nor an event that came while the last were sent. */
  async #isReallyIdle(alreadySettled: ReadonlySet<number>): Promise<boolean> {
    this.#looksForRetriesAt = 0;
    this.#on({ type: 'events_logged' });
    await this.#readRetries();
    if (this.#lane.blockedMs !== undefined) return true;
    await this.#readMore(alreadySettled);
    return this.#lane.waiting === 0 && this.#lane.readUntil <= this.#writtenUntil;
  }

  async #readMore(alreadySettled: ReadonlySet<number>): Promise<void> {
    const { store } = this.#ctx;
    const { organization_id: organizationId, created_at } = this.#row;
    const lane = this.#lane;
    if (this.#state.name === 'caught_up' || lane.freshWaiting >= page / 2 || lane.window >= maxWindow) return;
    const events = await all.readEvents(store.db, organizationId, lane.readTo, page);
    this.#on({ type: events.length < page ? 'log_read_to_end' : 'events_logged' });
    if (events.length === 0) return;
    const filter = filterOf(this.#row);
    const tags = filter.tags === null ? undefined : await tagsByTemplate(store.db, organizationId);
    const around = { isForCustomers, tagsOf: (templateId: string) => tags?.get(templateId) ?? [] };
    const wanted = events.filter(
      ({ position, type, workspace_id: workspaceId, data, recorded_at }) =>
        !alreadySettled.has(position) &&
        // An event from before the endpoint was made may get its position later.
        recorded_at >= created_at &&
        matches(filter, { type, workspaceId, data: filter.tags === null ? {} : JSON.parse(data) }, around),
    );
    lane.addFresh(wanted, events.at(-1)?.position ?? lane.readTo);
  }

  async #readRetries(): Promise<void> {
    const { store, runtime } = this.#ctx;
    const lane = this.#lane;
    const isOrdered = this.#row.ordered === 1;
    const isTooEarly = isOrdered
      ? lane.inFlight > 0 || this.#answers.length > 0
      : runtime.elapsed() < this.#looksForRetriesAt;
    if (isTooEarly) return;
    this.#looksForRetriesAt = runtime.elapsed() + retriesEveryMs;
    const waiting = await all.listWaiting(store.db, this.#row, isOrdered, retriesAtOnce);
    lane.blockedMs = undefined;
    for (const { delivery, event, isDue, inMs } of waiting) {
      if (lane.isRetrying(delivery.position)) continue;
      if (!isDue) {
        lane.blockedMs = inMs;
      } else if (event) {
        lane.addRetry(event, delivery.attempts, delivery.attempt_list);
      } else {
        // The log has forgotten it: nobody can send it any more.
        const { event_id, position, event_type, attempts, attempt_list } = delivery;
        const kept = { event_id, position, event_type, attempts, attempt_list };
        const failed = { ...kept, state: 'failed' as const, pauseMs: null };
        await store.transaction((tx) => all.putSettled(tx, this.#row, [failed]));
      }
    }
  }

  #beginAll(): void {
    const { runtime, budget } = this.#ctx;
    const lane = this.#lane;
    const isLeased = () => this.#state.name !== 'lost' && runtime.elapsed() < this.#lease.until;
    while (!isEnding(this.#state) && isLeased() && lane.inFlight < this.#slots && budget.mayBegin(lane.inFlight)) {
      if (this.#row.rate !== null && runtime.elapsed() < this.#earliestSendAt) return;
      const job = lane.take();
      if (!job) return;
      this.#begin(job);
    }
    if (!isLeased()) this.#on({ type: 'lease_lost' });
  }

  get #slots(): number {
    const failures = this.#ctx.trouble.get(this.#row.id)?.failures ?? 0;
    return this.#row.ordered === 1 || failures >= troubleAt ? 1 : perEndpoint;
  }

  #begin(job: Job<LoggedEvent>): void {
    const { runtime, network, budget, dataOf, log } = this.#ctx;
    const { id, rate, workspace_id } = this.#row;
    budget.begin();
    if (rate !== null) this.#earliestSendAt = Math.max(runtime.elapsed(), this.#earliestSendAt) + 1_000 / rate;
    const audience = workspace_id === null ? 'operator' : 'customer';
    const message = messageOf(job.event, (event) => dataOf(event, audience));
    send(network, runtime, this.#target, message, this.#cut.signal)
      .then((attempt) => this.#settle(job, attempt))
      .catch((err) => {
        if (!this.#cut.signal.aborted) {
          log.error({ err, webhookEndpointId: id }, 'Webhook delivery failed');
          this.#on({ type: 'lease_lost' });
        }
      })
      .finally(() => {
        this.#lane.answered();
        budget.end();
        this.#beginAll();
        this.#pause.wake();
      });
  }

  #settle(job: Job<LoggedEvent>, attempt: Attempt): void {
    const { runtime, trouble, onAttempt } = this.#ctx;
    const { event } = job;
    const attempts = job.attempts + 1;
    const pause =
      attempt.isDelivered || attempt.isAborted
        ? undefined
        : pauseAfter(attempts, runtime.random(), attempt.retryAfterMs);
    const state = attempt.isDelivered ? 'delivered' : pause === undefined ? 'failed' : 'pending';
    const row: all.Settled = {
      event_id: event.id,
      position: event.position,
      event_type: event.type,
      state,
      attempts,
      pauseMs: pause ?? null,
      attempt_list: attemptsOf(job, attempt),
    };
    this.#answers.push({ job, row, attempt });
    if (attempt.isDelivered) trouble.delete(this.#row.id);
    else this.#noteFailure();
    // The position is written with the result. In strict order nothing else may go before that is known.
    if (this.#row.ordered === 1 && state === 'pending') this.#lane.blockedMs = 0;
    if (attempt.isBusy && attempt.retryAfterMs) {
      this.#on({ type: 'paused', pauseMs: Math.min(attempt.retryAfterMs, hourMs) });
    }
    if (attempt.isGone) this.#on({ type: 'stopped' });
    const outcome = attempt.isDelivered ? 'delivered' : state === 'pending' ? 'retried' : 'failed';
    onAttempt?.(outcome, attempt.durationMs / 1000, Math.max(0, (attempt.at - event.recorded_at) / 1000));
  }

  #noteFailure(): void {
    const { trouble } = this.#ctx;
    const { failures, pauses } = trouble.get(this.#row.id) ?? { failures: 0, pauses: 0 };
    const isToPause = failures + 1 >= troubleAt && this.#state.pauseMs === 0;
    if (isToPause) {
      this.#on({ type: 'paused', pauseMs: Math.min(longestPauseMs, 1_000 * 2 ** Math.min(10, pauses)) });
    }
    trouble.set(this.#row.id, { failures: failures + 1, pauses: pauses + Number(isToPause) });
  }

  /** Writes what has come back, and how far that is. The lease is lost if another process has the endpoint. */
  async #flush(): Promise<void> {
    const { store, runtime, leaseId } = this.#ctx;
    const startedAt = runtime.elapsed();
    const batch = this.#answers.splice(0);
    for (const { job } of batch) this.#lane.settle(job);
    const { readUntil } = this.#lane;
    if (batch.length === 0 && readUntil <= this.#writtenUntil) return;
    const isWritten = await store.transaction(async (tx) => {
      const progress = await all.putProgress(tx, this.#row.id, leaseId, {
        readUntil,
        wasDelivered: batch.some(({ attempt }) => attempt.isDelivered),
        hasFailed: batch.some(({ attempt }) => !attempt.isDelivered),
      });
      if (!progress) return false;
      // The last result of an event counts, so it must be in one statement only once.
      await all.putSettled(tx, this.#row, [...new Map(batch.map((one) => [one.row.position, one.row])).values()]);
      const isDisabled = await judge(this.#ctx, tx, progress, batch);
      if (isDisabled) this.#on({ type: 'stopped' });
      return true;
    });
    if (isWritten) this.#writtenUntil = readUntil;
    else this.#on({ type: 'lease_lost' });
    // Where writing takes long, more is written at once.
    const now = runtime.elapsed();
    this.#flushAfter = now + Math.min(longestFlushPauseMs, Math.max(flushEveryMs, 4 * (now - startedAt)));
  }
}

function attemptsOf(job: Job<LoggedEvent>, attempt: Attempt): string {
  const before: KeptAttempt[] = JSON.parse(job.history);
  return JSON.stringify([...before, keptAttempt(attempt)].slice(-keptAttempts));
}

/** Records what the answers say about the endpoint itself. Gives whether they have disabled it. */
async function judge(
  { journal }: DeliveryOptions,
  tx: Db,
  { before, now }: { before: WebhookEndpointRow; now: number },
  batch: readonly { attempt: Attempt }[],
): Promise<boolean> {
  const { id, organization_id: organizationId, failing_since: since, failing_told: isTold } = before;
  const last = batch.at(-1)?.attempt;
  const isGone = batch.some(({ attempt }) => attempt.isGone);
  const error = last?.error ?? null;
  if (!isGone && batch.some(({ attempt }) => attempt.isDelivered)) {
    if (isTold === 1 && since !== null) {
      const entry = entryOf(before, { failing_since: isoTime(since) });
      await journal.record(tx, organizationId, { type: 'webhook_endpoint.recovered', ...entry });
    }
    return false;
  }
  if (isGone || (since !== null && last && now - since >= disabledAfterMs)) {
    const reason = isGone ? ('gone' as const) : ('failing' as const);
    await all.disable(tx, id, reason);
    const entry = entryOf(before, { reason, error });
    const change = { before: { enabled: true }, after: { enabled: false } };
    await journal.record(tx, organizationId, { type: 'webhook_endpoint.disabled', ...entry, change });
    return true;
  }
  if (since !== null && last && isTold === 0 && now - since >= toldAfterMs) {
    await all.putFailingTold(tx, id);
    const times = { failing_since: isoTime(since), disabled_from: isoTime(since + disabledAfterMs) };
    const entry = entryOf(before, { ...times, error });
    await journal.record(tx, organizationId, { type: 'webhook_endpoint.failing', ...entry });
  }
  return false;
}
