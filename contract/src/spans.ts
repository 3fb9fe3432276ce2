/**
 * Spans, the units of work of a trace. This port assigns each unit its place in the trace. Whether spans are recorded
 * is up to the tracer.
 */
import type { TraceContext } from './text/trace-context.ts';

/** Ids, counts, kinds of work and statuses. Never a name, a configuration, a header, a query or a body. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** Trace context to propagate to downstream calls. */
  readonly trace: TraceContext;
  /** `failure` is a code or kind of failure, never a message, because a message may contain private data. */
  end(result?: { failure?: string; attributes?: SpanAttributes }): void;
}

export interface NewSpan {
  name: string;
  /** `server`: answers a request. `client`: waits for another service. `internal`: neither. */
  kind: 'server' | 'client' | 'internal';
  /** Without a parent the span begins a trace. */
  parent?: TraceContext | undefined;
  attributes?: SpanAttributes;
}

export interface SpanStarter {
  start(span: NewSpan): Span;
}
