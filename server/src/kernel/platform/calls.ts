/**
 * One call to the platform, with all that keeps calls safe: access token, time-outs, retries, breaker, budget, cap.
 * What always holds: a create is sent at most once; redirects are not followed; each foreign failure is translated
 * once.
 */
import type { Span } from '@inlay/contract/spans';
import { Slots } from '@inlay/protocol/slots';
import { callerHeaders, currentRequest } from '../request-context.ts';
import type { Runtime } from '../runtime.ts';
import { silentTracer, type Tracer } from '../telemetry/tracing.ts';
import { AccessToken, type ClientCredentials } from './access-token.ts';
import { failureOf } from './foreign-errors.ts';
import { Breaker, RetryBudget } from './overload.ts';
import type { Written } from './pipelines-port.ts';
import { PlatformError, type PlatformFailure } from './platform-port.ts';
import { type PlatformAnswer, type PlatformRequest, type Transport, TransportError } from './transport.ts';

export interface CallOptions {
  transport: Transport;
  credentials: ClientCredentials;
  runtime: Runtime;
  tracer?: Tracer;
  /** Gives up calls that change nothing and wait for a connector. */
  endingQuestions?: AbortSignal;
  /** Called for every try of every call, for metrics and the log. */
  onCall?: (call: {
    operation: string;
    outcome: PlatformFailure | 'ok';
    durationMs: number;
    isRetry: boolean;
    error?: unknown;
  }) => void;
  /** Called when the platform is no longer asked because it keeps failing, and when it is asked again. */
  onBreaker?: (open: boolean) => void;
}

/**
 * How a request may be treated when it fails. `read` and `write` are idempotent by id; `create` is not. A `probe` asks
 * whether the platform knows a request at all: it is sent once, and no answer counts as a failure. The slow kinds make
 * the platform run a connector, which takes seconds to minutes.
 */
type Nature = 'read' | 'write' | 'create' | 'probe' | 'slow_create' | 'slow_write' | 'slow_probe';

export type Request = Pick<PlatformRequest, 'method' | 'path' | 'api'> & { body?: object };

export type Call = (operation: string, nature: Nature, request: Request) => Promise<PlatformAnswer & Written>;

const slowMs = 300_000;
const natures: Record<Nature, { timeoutMs: number; maxTries: number; isSlow?: true }> = {
  read: { timeoutMs: 5_000, maxTries: 4 },
  write: { timeoutMs: 8_000, maxTries: 4 },
  create: { timeoutMs: 8_000, maxTries: 1 },
  probe: { timeoutMs: 5_000, maxTries: 1 },
  slow_create: { timeoutMs: slowMs, maxTries: 1, isSlow: true },
  slow_write: { timeoutMs: slowMs, maxTries: 1, isSlow: true },
  slow_probe: { timeoutMs: slowMs, maxTries: 1, isSlow: true },
};
export const createTimeoutMs = natures.create.timeoutMs;
export const slowCreateTimeoutMs = natures.slow_create.timeoutMs;
const maxCallsInFlight = 16;
/** Slow calls have their own limit, so that a request for a token never waits for a connector. */
export const maxSlowCallsInFlight = 8;
const maxWaitMs = 2_000;

export function createCalls({
  transport,
  credentials,
  runtime,
  tracer = silentTracer,
  endingQuestions,
  onCall,
  onBreaker,
}: CallOptions): Call {
  const accessToken = new AccessToken(transport, credentials, runtime);
  const breaker = new Breaker({ now: runtime.elapsed, ...(onBreaker ? { onChange: onBreaker } : {}) });
  const slots = new Slots(maxCallsInFlight);
  const slowSlots = new Slots(maxSlowCallsInFlight);
  const retryBudget = new RetryBudget({ now: runtime.elapsed });

  async function call(operation: string, nature: Nature, request: Request): Promise<PlatformAnswer & Written> {
    const { maxTries, isSlow } = natures[nature];
    let settled = true;
    retryBudget.earn();
    for (let attempt = 1; ; attempt++) {
      const startedAt = runtime.elapsed();
      const isRetry = attempt > 1;
      const span = startSpan(operation, request, attempt);
      try {
        const answer = await (isSlow ? slowSlots : slots).run(() => attemptOnce(nature, request, span));
        span?.end({ attributes: { 'http.response.status_code': answer.status } });
        onCall?.({ operation, outcome: 'ok', durationMs: runtime.elapsed() - startedAt, isRetry });
        return { ...answer, settled };
      } catch (thrown) {
        if (!(thrown instanceof PlatformError)) {
          span?.end({ failure: 'unexpected' });
          throw thrown;
        }
        span?.end({ failure: thrown.failure });
        settled &&= thrown.settled;
        const error = settled === thrown.settled ? thrown : thrown.unsettled();
        onCall?.({ operation, outcome: error.failure, durationMs: runtime.elapsed() - startedAt, isRetry, error });
        const waitMs = (error.retryAfterSeconds ?? 0) * 1000;
        // Keep this short: the caller returns Retry-After or retries later.
        if (attempt >= maxTries || !isWorthRetrying(error) || breaker.isOpen || waitMs > maxWaitMs) throw error;
        if (!retryBudget.spend()) throw error;
        // Full jitter: replicas that failed together do not come back together.
        const backoffMs = runtime.random() * Math.min(5_000, 200 * 2 ** (attempt - 1));
        await runtime.sleep(Math.max(backoffMs, waitMs));
      }
    }
  }

  function startSpan(operation: string, { method }: Request, attempt: number): Span | undefined {
    // Otherwise, the request's trace is propagated unchanged, if it has one.
    if (!tracer.isRecording) return undefined;
    return tracer.start({
      name: `platform ${operation}`,
      kind: 'client',
      parent: currentRequest()?.trace,
      attributes: { 'http.request.method': method, 'inlay.operation': operation, 'inlay.attempt': attempt },
    });
  }

  async function attemptOnce(nature: Nature, request: Request, span?: Span): Promise<PlatformAnswer> {
    if (!breaker.admits()) {
      const retryAfterSeconds = breaker.retryAfterSeconds;
      throw new PlatformError('unavailable', 'the circuit breaker is open', { retryAfterSeconds });
    }
    let answer: PlatformAnswer;
    try {
      answer = await exchange(nature, request, span);
    } catch (error) {
      breaker.record(error instanceof PlatformError && error.failure === 'unauthorised');
      throw error;
    }
    if (nature === 'probe' || nature === 'slow_probe') {
      breaker.record(true);
      return answer;
    }
    breaker.record(answer.status < 500);
    const failure = failureOf(answer, ifOutcomeIsOpen(nature), runtime.now());
    if (failure) throw failure;
    return answer;
  }

  async function exchange(nature: Nature, request: Request, span?: Span): Promise<PlatformAnswer> {
    try {
      const token = await accessToken.get();
      const answer = await send(nature, request, token, span);
      if (answer.status !== 401) return answer;
      // Certainly not applied: worth one more try with a fresh token, even for a create.
      accessToken.drop(token);
      return await send(nature, request, await accessToken.get(), span);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      const failure = error.sent ? ifOutcomeIsOpen(nature) : 'unavailable';
      throw new PlatformError(failure, error.message, { cause: error, timedOut: error.timedOut });
    }
  }

  function send(nature: Nature, { body, ...where }: Request, token: string, span?: Span): Promise<PlatformAnswer> {
    return transport.send({
      ...where,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'user-agent': 'inlay',
        ...callerHeaders(span?.trace),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      timeoutMs: natures[nature].timeoutMs,
      ...(endingQuestions && nature === 'slow_probe' ? { signal: endingQuestions } : {}),
      ...(isCreate(nature) ? { freshConnection: true } : {}),
    });
  }

  return call;
}

/** A request that changes nothing has no outcome to be unsure of. */
function ifOutcomeIsOpen(nature: Nature): 'unavailable' | 'unknown' {
  return isCreate(nature) || nature === 'write' || nature === 'slow_write' ? 'unknown' : 'unavailable';
}

function isCreate(nature: Nature): boolean {
  return nature === 'create' || nature === 'slow_create';
}

function isWorthRetrying({ failure }: PlatformError): boolean {
  return failure === 'unavailable' || failure === 'throttled' || failure === 'unknown';
}

/** A success with an unreadable body is inconclusive: for a create, the outcome is unknown. */
export function readable({ text }: PlatformAnswer, otherwise: PlatformFailure = 'unavailable'): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch (cause) {
    throw new PlatformError(otherwise, 'the platform sent an unreadable response', { cause });
  }
  throw new PlatformError(otherwise, 'the platform sent an unreadable response');
}
