/**
 * Gives every request its place in a trace: in the trace that the caller names with `traceparent`, otherwise in a new
 * one. The id of the trace is in every answer and in every line of the log.
 */
import { readTraceContext, type TraceContext } from '@inlay/contract/trace-context';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Span, silentTracer, type Tracer } from '../tracing.ts';
import type { RequestLog } from './request-log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's place in its trace. */
    trace: TraceContext;
  }
}

/** Asked every few seconds by machines: nobody looks at such traces. */
export function isProbe(route: string): boolean {
  return route.startsWith('/health') || route === '/metrics';
}

export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  // The hook below sets it before anybody reads it.
  app.decorateRequest('trace', null as unknown as TraceContext);
  const spans = new WeakMap<FastifyRequest, Span>();

  app.addHook('onRequest', (request, reply, done) => {
    const { headers, method } = request;
    // The pattern, not the path: a path that matched nothing could hold anything, a token for instance.
    const route = request.routeOptions.url ?? 'unmatched';
    const span = (isProbe(route) ? silentTracer : tracer).start({
      name: `${method} ${route}`,
      kind: 'server',
      parent: readTraceContext(headers.traceparent, headers.tracestate),
      attributes: { 'http.request.method': method, 'http.route': route, 'inlay.request_id': request.id },
    });
    request.trace = span.trace;
    spans.set(request, span);
    const { traceId } = span.trace;
    (request.log as RequestLog).add({ traceId });
    reply.header('x-trace-id', traceId);
    done();
  });

  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status } = reply;
    const code = reply.getHeader('x-inlay-error');
    // A request whose path cannot be decoded reaches no hook but this one.
    spans.get(request)?.end({
      ...(status >= 500 ? { failure: typeof code === 'string' ? code : String(status) } : {}),
      attributes: { 'http.response.status_code': status, ...(typeof code === 'string' ? { 'inlay.error': code } : {}) },
    });
    done();
  });
}
