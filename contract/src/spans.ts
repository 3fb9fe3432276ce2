/**
 * Spans: the pieces of work that a trace is made of. A tracer gives every piece of work its place in its trace. Whether
 * anything is recorded is the tracer's affair. The service and its platform are written against this one port.
 */
import type { TraceContext } from './text/trace-context.ts';

/** Ids, counts, kinds of work and statuses. Never a name, a configuration, a header, a query or a body. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** What the work passes on to those that it calls. */
  readonly trace: TraceContext;
  /** `failure` is a code or a kind of failure, never a message: a message may quote what nobody else may read. */
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
