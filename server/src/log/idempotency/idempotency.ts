/**
 * Requests with an Idempotency-Key are carried out once. Repeating such a request, at any replica, returns the first
 * response ([reasons](../../../docs/adr/0017-idempotency-keys.md)).
 *
 * What always holds: only the claim in the row works on a request, and a claim is taken over only after its lease has run
 * out on the database's clock. `applied_at` is written in the same transaction as the first change of the request. So
 * after a crash it is known whether anything was changed, and a request that cannot be repeated is not repeated. Answers
 * are sealed, because some hold tokens. This folder leaves to the routes which of their requests can be repeated.
 */
import type { Logger } from 'pino';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { IdempotencyKeyRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import * as keys from './idempotency.store.ts';
import { fingerprintOf, type KeyedRequest, maxKeyLength, readKey, slotOf } from './keys.ts';

export interface IdempotencyContext {
  store: Store;
  sealer: Sealer;
  runtime: Runtime;
  log: Logger;
  /** The outcome of a request with a key, for metrics. */
  count(outcome: IdempotencyOutcome): void;
}

export type IdempotencyOutcome = 'carried_out' | 'replayed' | 'refused';

const keptMs = 24 * 3_600_000;
/** A lease, renewed while the work runs. After a crash, repeated requests get 409 until it expires. */
const leaseMs = 15_000;
const renewEveryMs = 5_000;
/** A longer answer is not kept. No answer to a POST is near it. */
const maxAnswerLength = 1_048_576;

export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What a row holds, sealed. */
interface Kept {
  fingerprint: string;
  answer?: KeptAnswer;
}

export interface NewRequest extends Omit<KeyedRequest, 'key'> {
  organizationId: string;
  /** As it was sent. */
  header: string | string[];
  query: string;
  body: unknown;
  /** Whether the same work may be done again after a crash that lost its answer. */
  isRepeatable: boolean;
}

/** Work on a request that this process has claimed. */
export interface ClaimedRequest {
  /** Must be called in every transaction of the work, before it commits. */
  recordApplied(tx: Db): Promise<void>;
  /** Must be called once, before the response is sent. Never fails. */
  end(answer: KeptAnswer, options: { isFinal: boolean; mayRetry: boolean }): Promise<void>;
}

export type Beginning = { replay: KeptAnswer } | { work: ClaimedRequest };

export async function beginRequest(ctx: IdempotencyContext, request: NewRequest): Promise<Beginning> {
  try {
    const begun = await begin(ctx, request);
    ctx.count('replay' in begun ? 'replayed' : 'carried_out');
    return begun;
  } catch (error) {
    if (error instanceof AppError) ctx.count('refused');
    throw error;
  }
}

async function begin(ctx: IdempotencyContext, request: NewRequest): Promise<Beginning> {
  const { store, sealer, runtime } = ctx;
  const { organizationId } = request;
  const key = readKey(request.header);
  if (key === undefined) throw keyFault('invalid_request', malformed);
  const slot = slotOf({ ...request, key });
  const fingerprint = fingerprintOf(request.query, request.body);

  const id = runtime.newId();
  const mine = { organizationId, id, claim: runtime.newId() };
  const sealed = seal(sealer, id, { fingerprint });
  // Twice: the row that was in the way may have been deleted before it could be read.
  for (let tries = 0; tries < 2; tries++) {
    if (await keys.insertKey(store.db, { ...mine, slot, sealed, leaseMs, keptMs })) {
      return { work: startWork(ctx, mine, fingerprint, request.isRepeatable) };
    }
    const row = await keys.findKey(store.db, organizationId, slot);
    if (!row) continue;
    const kept = open(sealer, row);
    if (kept.fingerprint !== fingerprint) throw keyFault('idempotency_key_reused', reused);
    if (row.answered_at !== null) {
      if (kept.answer) return { replay: kept.answer };
      throw new AppError('idempotency_answer_lost');
    }
    if (row.lease_until > row.now) throw new AppError('idempotency_key_in_use');
    if (row.applied_at !== null && !request.isRepeatable) throw new AppError('idempotency_answer_lost');
    const taken = { organizationId, id: row.id, claim: runtime.newId() };
    if (await keys.takeOver(store.db, { ...taken, claim: row.claim }, taken.claim, leaseMs)) {
      return { work: startWork(ctx, taken, fingerprint, request.isRepeatable) };
    }
    throw new AppError('idempotency_key_in_use');
  }
  throw new AppError('idempotency_key_in_use');
}

function startWork(
  ctx: IdempotencyContext,
  claim: keys.Claim,
  fingerprint: string,
  isRepeatable: boolean,
): ClaimedRequest {
  const { store, sealer, log } = ctx;
  const ended = new AbortController();
  void renewUntil(ctx, claim, ended.signal);
  return {
    recordApplied: (tx) => keys.recordApplied(tx, claim),
    async end(answer, { isFinal, mayRetry }) {
      ended.abort();
      try {
        if (isFinal) {
          const kept = answer.body.length > maxAnswerLength ? { fingerprint } : { fingerprint, answer };
          await keys.recordAnswer(store.db, claim, seal(sealer, claim.id, kept), keptMs);
          return;
        }
        await keys.deleteKey(store.db, claim, { unlessApplied: !(mayRetry || isRepeatable) });
        await keys.endLease(store.db, claim);
      } catch (err) {
        // The work is done and its response has to be sent. A repeated request finds the row as after a crash.
        log.warn({ err }, 'Failed to store idempotent response');
      }
    },
  };
}

async function renewUntil(
  { store, runtime, log }: IdempotencyContext,
  claim: keys.Claim,
  ended: AbortSignal,
): Promise<void> {
  for (;;) {
    await runtime.sleep(renewEveryMs, ended);
    if (ended.aborted) return;
    await keys
      .renewLease(store.db, claim, leaseMs)
      .catch((err) => log.warn({ err }, 'Failed to renew idempotency key lease; will retry'));
  }
}

function seal(sealer: Sealer, id: string, kept: Kept): string {
  return sealer.seal(Buffer.from(JSON.stringify(kept)), contextOf(id));
}

function open(sealer: Sealer, { id, sealed_record }: IdempotencyKeyRow): Kept {
  return JSON.parse(sealer.open(sealed_record, contextOf(id)).toString());
}

/** The same as in db/resealing.ts. */
function contextOf(id: string): string {
  return `idempotency key ${id}`;
}

const malformed = `an Idempotency-Key must have 1 to ${maxKeyLength} visible ASCII characters, such as 8e03978e-40d5-43dd-bc93-6894a57f9324`;
const reused = 'this Idempotency-Key was used for a different request; use a new one';

function keyFault(code: 'invalid_request' | 'idempotency_key_reused', msg: string): AppError {
  return new AppError(code, {
    faults: [{ loc: ['header', 'Idempotency-Key'], msg, type: 'value_error.idempotency_key' }],
  });
}
