/**
 * Which request is being worked on, for code that no request is passed to: the log, and calls to other services. Node.js
 * keeps it for everything that the handler of a request starts and awaits, work in the background included. It is kept
 * only for requests that somebody follows: with a `traceparent` or an `Idempotency-Key`, or with a collector of spans
 * (docs/adr/0018-trace-context.md). It only tells: no rule may depend on it. The tenant and the permissions of a request
 * come from its principal, which is passed on as an argument.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type TraceContext, traceHeaders } from '@inlay/contract/text/trace-context';
import type { Db } from './db/open.ts';

export interface RequestContext {
  readonly requestId: string;
  readonly trace: TraceContext;
  /** What each transaction of the request writes as well; see idempotency/. */
  readonly beforeCommit?: ((tx: Db) => Promise<void>) | undefined;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Undefined for a request that nobody follows, and in work that no request has begun: workers, the command line. */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore();
}

export function withRequest<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

/**
 * The headers that tell another service which request a call belongs to. `trace` is the part of the trace that makes the
 * call, where it has a part of its own.
 */
export function callerHeaders(trace = currentRequest()?.trace): Record<string, string> {
  const request = currentRequest();
  return { ...traceHeaders(trace), ...(request && { 'x-request-id': request.requestId }) };
}
