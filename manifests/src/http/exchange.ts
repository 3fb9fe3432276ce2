/*
 * Sends one request with retries: by the rules of the error handler, with its waits, within the call budget. Three
 * kinds of waits have separate retry counters, as in the reference runtime: the manifest's own, those of a rate limit,
 * and all others. The manifest's own waits get an extra second, for fractions that the API does not report.
 */
import { ConnectorError } from '@inlay/protocol/connector';
import type { Run } from '../run/run.ts';
import { Answer } from './answer.ts';
import { PaginationReset, RunFailure, SmallerPageNeeded, TokenReplaced } from './failures.ts';
import type { PreparedRequest, Values } from './request.ts';
import type { ErrorHandler, Outcome, Resolution } from './resolution.ts';
import type { SendOptions } from './transport.ts';

interface Signer {
  sign?(request: PreparedRequest): Promise<Values>;
  observe?(request: PreparedRequest, answer: Answer): void;
  canGoOn?(request: PreparedRequest): boolean;
}

/** Before an attempt that has other credentials than the last. */
const secondsWithOtherCredentials = 0.1;

export interface Retrying {
  streamName: string;
  handler: ErrorHandler;
  /** Fresh credentials for the headers of another attempt. */
  credentials?: () => Promise<Values>;
  /** Signs each attempt, and hears of its answer. */
  signer?: Signer | undefined;
  /** Gets a new token although the old one should still be valid. */
  refreshToken?: (() => Promise<void>) | undefined;
  /** Statuses with which the API reports that there is no such page: not failures, whatever the error handler says. */
  endStatuses?: readonly number[] | undefined;
  /** The access token of a sign-in, if the request has one. */
  token?: TokenInUse | undefined;
}

export interface TokenInUse {
  accepted(): void;
  /** Whether there is a fresh one now. */
  refused(): Promise<boolean>;
}

const retried = ['RETRY', 'RATE_LIMITED', 'REFRESH_TOKEN_THEN_RETRY'];

/** Throws a RunFailure, TokenReplaced for the requester, or a PaginationReset or SmallerPageNeeded for the retriever. */
export async function exchange(
  run: Run,
  request: PreparedRequest,
  { streamName, handler, credentials, signer, refreshToken, endStatuses, token }: Retrying,
  options: SendOptions = {},
): Promise<Answer> {
  const tries = new Tries(run.clock.seconds());
  for (let attempt = 1; ; attempt++) {
    const renewed = attempt === 1 || !credentials ? request : withHeaders(request, await credentials());
    const asked = signer?.sign ? withHeaders(renewed, await signer.sign(renewed)) : renewed;
    const outcome = await sendOnce(run, asked, options);
    if (outcome instanceof Answer) signer?.observe?.(asked, outcome);
    if (outcome instanceof Answer && token) await watchToken(run, token, outcome);
    if (outcome instanceof Answer && endStatuses?.includes(outcome.status)) return outcome;
    const resolution = handler.interpret(outcome);
    const { action } = resolution;
    if (action === 'RESET_PAGINATION') throw new PaginationReset();
    if (action === 'REDUCE_PAGE_SIZE') throw new SmallerPageNeeded(resolution.message ?? '');
    if (action === 'RATE_LIMITED') run.rateLimited({ name: streamName });
    if (action === 'REFRESH_TOKEN_THEN_RETRY') await renew(run, refreshToken);
    if (!retried.includes(action)) return settle(run, request, outcome, resolution);
    const allowed = tries.next(handler, waitOf(handler, outcome, attempt), action, run.clock.seconds());
    if (allowed === undefined) throw exhausted(request, resolution, outcome);
    const seconds = signer?.canGoOn?.(asked) ? secondsWithOtherCredentials : allowed;
    const what = resolution.message ?? `${request.url.origin} returned an unexpected response.`;
    run.log('WARN', `${streamName}: ${what} Retrying in ${Math.ceil(seconds)} seconds.`);
    await run.wait(seconds, 'retry');
  }
}

/** A token that expired early is not a failure of the API, whatever the error handler says. */
async function watchToken({ log }: Run, token: TokenInUse, answer: Answer): Promise<void> {
  if (answer.isGood) token.accepted();
  if (answer.status !== 401 || !(await token.refused())) return;
  log('INFO', 'The API rejected the access token. Retrying with a new one.');
  throw new TokenReplaced();
}

async function sendOnce(run: Run, request: PreparedRequest, options: SendOptions): Promise<Outcome> {
  await run.budget.take(request);
  try {
    const answer = await run.transport.send(request, options);
    run.budget.update(request, answer);
    return answer;
  } catch (error) {
    if (error instanceof ConnectorError) return error;
    throw error;
  }
}

function settle(run: Run, request: PreparedRequest, outcome: Outcome, resolution: Resolution): Answer {
  if (resolution.action === 'FAIL') throw failureOf(request, resolution, outcome);
  if (outcome instanceof ConnectorError) {
    const { message, failureType, fields } = outcome;
    throw new RunFailure(message, failureType, { cause: outcome, fields });
  }
  if (resolution.action === 'IGNORE') {
    run.log('INFO', resolution.message || `Ignoring the response ${outcome.status} from ${request.url.origin}.`);
  }
  return outcome;
}

/** A failed refresh is not fatal: the next attempt may work with the current token. */
async function renew(run: Run, refreshToken: (() => Promise<void>) | undefined): Promise<void> {
  try {
    await refreshToken?.();
  } catch (error) {
    run.log('WARN', `Failed to get a new token: ${(error as Error).message}`);
  }
}

function waitOf({ waits }: ErrorHandler, outcome: Outcome, attempt: number): number | undefined {
  for (const strategy of waits) {
    const seconds = strategy.seconds(outcome, attempt);
    if (seconds) return seconds;
  }
  return undefined;
}

class Tries {
  readonly #begun: number;
  #own = 0;
  #limit = 0;
  #other = 0;

  constructor(begun: number) {
    this.#begun = begun;
  }

  /** The seconds to wait before the next attempt; undefined if there is to be none. */
  next(handler: ErrorHandler, own: number | undefined, action: string, now: number): number | undefined {
    const { maxSeconds } = handler;
    const maxTries = Math.max(0, handler.maxRetries) + 1;
    const isLate = now - this.#begun >= maxSeconds;
    if (own !== undefined) {
      this.#own++;
      return this.#own >= maxTries || isLate ? undefined : own + 1;
    }
    this.#own = 0;
    if (action === 'RATE_LIMITED') {
      this.#limit++;
      return this.#limit >= maxTries ? undefined : 2 ** (this.#limit - 1);
    }
    this.#limit = 0;
    this.#other++;
    return this.#other >= maxTries || isLate ? undefined : 2 ** (this.#other - 1);
  }
}

function withHeaders(request: PreparedRequest, headers: Values): PreparedRequest {
  const kept = Object.entries(request.headers).filter(
    ([name]) => !Object.keys(headers).some((other) => other.toLowerCase() === name.toLowerCase()),
  );
  const added = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { ...request, headers: Object.fromEntries([...kept, ...added]) };
}

function failureOf(
  { method, url }: PreparedRequest,
  { message, failureType, fields }: Resolution,
  outcome: Outcome,
): RunFailure {
  const what = outcome instanceof ConnectorError ? outcome.message : `The API returned ${outcome.status}.`;
  return new RunFailure(message || what, failureType ?? 'system_error', {
    fields,
    cause: new Error(`${method} ${url.origin}${url.pathname}: ${what}`),
  });
}

function exhausted(
  { url }: PreparedRequest,
  { message, failureType, fields, isWholeMessage = false }: Resolution,
  outcome: Outcome,
): RunFailure {
  const what = message || (outcome instanceof ConnectorError ? outcome.message : `The API returned ${outcome.status}.`);
  return new RunFailure(
    isWholeMessage ? what : `All attempts to reach ${url.origin} failed. Last error: ${what}`,
    failureType ?? 'system_error',
    { fields },
  );
}
