/**
 * Gives every request its place in a trace: in the trace that the caller names with `traceparent`, otherwise in a new
 * one. The id of the trace is in every answer and in the log.
 */
import type { Span } from '@inlay/contract/spans';
import { readTraceContext, type TraceContext } from '@inlay/contract/text/trace-context';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { newTrace, type Tracer } from '../telemetry/tracing.ts';
import type { RequestLog } from './request-log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's place in its trace. */
    trace: TraceContext;
    /** Whether someone follows the trace: its caller, or a collector of spans. */
    isFollowed: boolean;
  }
}

/** Asked every few seconds by machines: nobody looks at such traces. */
export function isProbe(route: string): boolean {
  return route.startsWith('/health') || route === '/metrics';
}

/** The function that it returns is called as soon as the route of a request is known. */
export function traceRequests(
  app: FastifyInstance,
  tracer: Tracer,
): (request: FastifyRequest, reply: FastifyReply) => void {
  // Set below, before anybody reads it.
  app.decorateRequest('trace', null as unknown as TraceContext);
  app.decorateRequest('isFollowed', false);
  const spans = new WeakMap<FastifyRequest, Span>();

  function startSpan(request: FastifyRequest, parent: TraceContext | undefined): TraceContext {
    const { method, route } = request;
    const span = tracer.start({
      name: `${method} ${route}`,
      kind: 'server',
      parent,
      attributes: { 'http.request.method': method, 'http.route': route, 'inlay.request_id': request.id },
    });
    spans.set(request, span);
    return span.trace;
  }

  function trace(request: FastifyRequest, reply: FastifyReply): void {
    const { traceparent, tracestate } = request.headers;
    const caller = traceparent === undefined ? undefined : readTraceContext(traceparent, tracestate);
    const isRecorded = tracer.isRecording && !isProbe(request.route);
    request.isFollowed = isRecorded || caller !== undefined;
    request.trace = isRecorded ? startSpan(request, caller) : (caller ?? newTrace());
    const { traceId } = request.trace;
    (request.log as RequestLog).add('traceId', traceId);
    reply.header('x-trace-id', traceId);
  }

  if (!tracer.isRecording) return trace;
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status } = reply;
    const code = reply.getHeader('x-inlay-error');
    spans.get(request)?.end({
      ...(status >= 500 ? { failure: typeof code === 'string' ? code : String(status) } : {}),
      attributes: { 'http.response.status_code': status, ...(typeof code === 'string' ? { 'inlay.error': code } : {}) },
    });
    done();
  });
  return trace;
}
