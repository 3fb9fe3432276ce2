/*
 * How connectors get something over HTTP. Always true: every address is judged by addresses.ts, hop by hop; there are at
 * most five redirects, and credentials go to the origin they were given for and nowhere else; a silent server is given
 * up; what passes (a server that is busy, in trouble or limits how often it is asked, a failure of the network) is tried
 * again a few times, no faster than the server asks.
 */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { blaming, ConnectorError, type Emitter, type Surroundings } from '@inlay/protocol/connector';
import { type Dispatcher, request as send } from 'undici';
import { guardedDispatcher } from './guarded-dispatcher.ts';
import { explainNetworkFailure } from './network-failures.ts';

const maxRedirects = 5;
const redirectStatuses = [301, 302, 303, 307, 308];
/** 420 is what some called 429 before there was one. */
const limitStatuses = [420, 429];
/** A server in trouble may use a non-standard status. These three are final. */
const lastingTroubles = [501, 505, 511];
const longestWaitMs = 5 * 60_000;

export interface HttpRequest {
  url: URL;
  /** GET by default. */
  method?: string;
  body?: string | Buffer;
  headers?: Record<string, string>;
  /** Headers that say who asks. Dropped for good when a redirect leaves the origin of `url`. */
  credentials?: Record<string, string>;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Names and values in turn, the names in the letters that the server used. */
  rawHeaders: readonly string[];
  /** Where the response finally came from. */
  url: URL;
  /** Without its content coding. Read to the end, or ended with `discard`. */
  body: Readable;
}

export interface HttpClient {
  /** `read` is called again when the answer breaks off while it reads; what it returns is the result. */
  get<T>(request: HttpRequest, read: (answer: HttpAnswer) => Promise<T>): Promise<T>;
  /** Asks once, with any method. Whether and when to ask again is up to the caller, whatever the status is. */
  send<T>(request: HttpRequest, read: (answer: HttpAnswer) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface HttpClientOptions {
  attempts?: number;
  /** How long the server may be silent, before the answer and within it. */
  silenceMs?: number;
  requestsPerSecond?: number | undefined;
  /** The setting that the address comes from: at fault when the server cannot be reached or is in trouble. */
  addressField?: string;
  onRetry?: (failure: ConnectorError, waitMs: number) => void;
  clock?: Clock;
}

interface Clock {
  now(): number;
  wait(ms: number): Promise<unknown>;
}

/** For the log of a sync. */
export function logRetries(emit: Emitter): Pick<HttpClientOptions, 'onRetry'> {
  return {
    onRetry: ({ message }, waitMs) => emit.log('WARN', `${message} Retrying in ${Math.ceil(waitMs / 1000)} seconds.`),
  };
}

const realClock: Clock = { now: Date.now, wait: (ms) => sleep(ms) };

export function httpClient(surroundings: Surroundings, options: HttpClientOptions = {}): HttpClient {
  const { attempts = 6, silenceMs = 60_000, requestsPerSecond, onRetry, clock = realClock } = options;
  const addressFields = options.addressField === undefined ? [] : [options.addressField];
  const dispatcher = guardedDispatcher(surroundings);
  const pace = pacer(requestsPerSecond, clock);

  async function follow({ url, headers = {}, credentials = {}, ...request }: HttpRequest): Promise<HttpAnswer> {
    let target = url;
    let isTrusted = true;
    let { method = 'GET', body } = request;
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      isTrusted &&= target.origin === url.origin;
      await pace();
      const answer = await send(target, {
        dispatcher,
        method: method as Dispatcher.HttpMethod,
        body: body ?? null,
        responseHeaders: 'raw',
        headers: { 'user-agent': 'Inlay', 'accept-encoding': 'gzip', ...headers, ...(isTrusted ? credentials : {}) },
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
      });
      const rawHeaders = answer.headers as unknown as string[];
      const answerHeaders = headersByName(rawHeaders);
      const { location } = answerHeaders;
      const status = answer.statusCode;
      if (!redirectStatuses.includes(status) || typeof location !== 'string') {
        const answerBody = withoutCoding(answer.body, answerHeaders['content-encoding'], target);
        return { status, headers: answerHeaders, rawHeaders, url: target, body: answerBody };
      }
      discard(answer.body);
      target = redirectTarget(location, target);
      // As every client does: what was sent goes along only where the status says so.
      if (status === 303 || (status <= 302 && method === 'POST')) {
        if (method !== 'HEAD') method = 'GET';
        body = undefined;
      }
    }
    throw new ConnectorError(`${url.origin} redirects more than ${maxRedirects} times. Check the URL.`);
  }

  async function attempt<T>(request: HttpRequest, read: (answer: HttpAnswer) => Promise<T>) {
    const answer = await blaming(addressFields, () => follow(request));
    if (!isPassing(answer)) return { result: await read(answer) };
    discard(answer.body);
    return { refusal: answer };
  }

  return {
    close: () => dispatcher.destroy(),
    async send(request, read) {
      try {
        return await read(await blaming(addressFields, () => follow(request)));
      } catch (error) {
        throw explainNetworkFailure(error, request.url.origin);
      }
    },
    async get(request, read) {
      for (let tried = 1; ; tried++) {
        let failure: ConnectorError;
        let waitMs = backoffMs(tried);
        try {
          const outcome = await attempt(request, read);
          if (outcome.refusal === undefined) return outcome.result;
          const { status, headers, url } = outcome.refusal;
          waitMs = wantedWaitMs(headers, clock) ?? waitMs;
          failure = refusalFailure(url, status, waitMs).about(...addressFields);
        } catch (error) {
          const explained = explainNetworkFailure(error, request.url.origin);
          if (!(explained instanceof ConnectorError)) throw explained;
          failure = error === explained ? explained : explained.about(...addressFields);
        }
        const isWorthIt = failure.failureType === 'transient_error' && waitMs <= longestWaitMs;
        if (tried === attempts || !isWorthIt) throw failure;
        onRetry?.(failure, waitMs);
        await clock.wait(waitMs);
      }
    },
  };
}

/** Names in small letters. A header that comes more than once has a list. */
export function headersByName(rawHeaders: readonly string[]): HttpAnswer['headers'] {
  const headers: HttpAnswer['headers'] = {};
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = String(rawHeaders[index]).toLowerCase();
    const value = String(rawHeaders[index + 1]);
    const before = headers[name];
    headers[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return headers;
}

/** A temporary refusal, with the wait that the server requests. */
export interface PassingRefusal {
  failure: ConnectorError;
  /** Undefined if the server does not say. */
  waitMs: number | undefined;
  /** The server was asked too often. */
  isLimit: boolean;
  /** Whether so long a wait is worth it. */
  isWorthIt: boolean;
}

/** For callers that schedule retries themselves. Undefined for a response that waiting does not change. */
export function passingRefusal(url: URL, status: number, rawHeaders: readonly string[]): PassingRefusal | undefined {
  const headers = headersByName(rawHeaders);
  if (!isPassing({ status, headers })) return undefined;
  const waitMs = wantedWaitMs(headers, realClock);
  return {
    failure: refusalFailure(url, status, waitMs ?? 0),
    waitMs,
    isLimit: isLimit(status),
    isWorthIt: (waitMs ?? 0) <= longestWaitMs,
  };
}

function isPassing({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>): boolean {
  if (status >= 500) return !lastingTroubles.includes(status);
  return limitStatuses.includes(status) || status === 408 || status === 425 || (status === 403 && saysLimit(headers));
}

/** Some servers say with a 403 that they were asked too often, and others that they do not allow it at all. */
function saysLimit(headers: Headers): boolean {
  return (
    headers['retry-after'] !== undefined || first(headers, remainingHeaders) === '0' || limitOf(headers)?.[1] === '0'
  );
}

/** A 403 that passes is one as well. */
function isLimit(status: number): boolean {
  return limitStatuses.includes(status) || status === 403;
}

function refusalFailure({ origin }: URL, status: number, waitMs: number): ConnectorError {
  const wish = waitMs > longestWaitMs ? ` and asks to wait ${Math.ceil(waitMs / 60_000)} minutes` : '';
  const message = isLimit(status)
    ? `${origin} rejected the request because of a rate limit (${status})${wish}. Try again later or reduce the request rate.`
    : `${origin} returned a server error (${status})${wish}. Try again later.`;
  return new ConnectorError(message, { failureType: 'transient_error' });
}

/** Exponential backoff from one second, with jitter so that many syncs do not retry at once. */
function backoffMs(tried: number): number {
  return Math.min(1000 * 2 ** (tried - 1), 30_000) * (0.5 + Math.random() / 2);
}

type Headers = HttpAnswer['headers'];

const remainingHeaders = ['x-ratelimit-remaining', 'x-rate-limit-remaining', 'ratelimit-remaining'];
const resetHeaders = ['x-ratelimit-reset', 'x-rate-limit-reset', 'ratelimit-reset'];

function first(headers: Headers, names: readonly string[]): string | undefined {
  return names.map((name) => headers[name]).find((value) => typeof value === 'string');
}

/** What is left and after how many seconds there is more, from the one header that is to replace the others. */
function limitOf({ ratelimit }: Headers): RegExpExecArray | null {
  return /;\s*r=(\d+)(?:[^,]*;\s*t=(\d+))?/.exec(String(ratelimit ?? ''));
}

function wantedWaitMs(headers: Headers, clock: Clock): number | undefined {
  const isUsedUp = first(headers, remainingHeaders) === '0';
  const wish = headers['retry-after'] ?? (isUsedUp ? first(headers, resetHeaders) : limitOf(headers)?.[2]);
  return typeof wish === 'string' ? timeToWaitMs(wish.trim(), clock) : undefined;
}

/** A number of seconds from now on or since 1970, of milliseconds since 1970, or a date. */
function timeToWaitMs(wish: string, clock: Clock): number | undefined {
  const number = /^\d+(\.\d+)?$/.test(wish) ? Number(wish) : undefined;
  if (number !== undefined && number < 1e9) return number * 1000;
  const time = number === undefined ? Date.parse(wish) : number < 1e11 ? number * 1000 : number;
  return Number.isNaN(time) ? undefined : Math.max(0, time - clock.now());
}

function pacer(requestsPerSecond: number | undefined, clock: Clock): () => Promise<void> {
  if (requestsPerSecond === undefined) return async () => {};
  let next = 0;
  return async () => {
    const now = clock.now();
    const start = Math.max(now, next);
    next = start + 1000 / requestsPerSecond;
    if (start > now) await clock.wait(start - now);
  };
}

function redirectTarget(location: string, from: URL): URL {
  const target = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (target?.protocol !== 'http:' && target?.protocol !== 'https:') {
    throw new ConnectorError(`${from.origin} redirects to a location that is not an http or https URL.`);
  }
  return target;
}

/** Ends an answer of which nobody wants the rest, so that its failure is nobody's concern either. */
export function discard(body: Readable): void {
  body.on('error', () => {}).destroy();
}

function withoutCoding(body: Readable, coding: string | string[] | undefined, { origin }: URL): Readable {
  if (coding === undefined || coding === '' || coding === 'identity') return body;
  if (coding !== 'gzip' && coding !== 'x-gzip') {
    discard(body);
    throw new ConnectorError(`${origin} returned a response with an unsupported compression.`);
  }
  // The reader of the result learns of a failure on the way; nobody else waits for it.
  return pipeline(body, createGunzip(), () => {});
}
