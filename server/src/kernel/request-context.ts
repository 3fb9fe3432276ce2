/**
 * The current request, as async-local context for code that no request is passed to: the log and outgoing calls.
 * Node.js propagates it to everything a handler starts and awaits, including background work. It is only set for
 * requests with a `traceparent` or `Idempotency-Key`, or when spans are collected (docs/adr/0018-trace-context.md). For
 * information only: no rule may depend on it. Tenant and permissions come from the principal, which is passed as an
 * argument.
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
 * Headers that propagate the request to another service. `trace` is the span that makes the call, if it has one of its
 * own.
 */
export function callerHeaders(trace = currentRequest()?.trace): Record<string, string> {
  const request = currentRequest();
  return { ...traceHeaders(trace), ...(request && { 'x-request-id': request.requestId }) };
}
