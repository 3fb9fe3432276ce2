/**
 * Spans: the pieces of work that a trace is made of. A tracer gives every piece of work its place in its trace. Whether
 * anything is recorded is the tracer's affair: without OpenTelemetry (telemetry/) nothing is, and a trace passes through
 * unchanged.
 */
import { randomUUID } from 'node:crypto';
import type { TraceContext } from '@inlay/contract/trace-context';

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

export interface Tracer {
  /** Whether spans go anywhere. */
  readonly isRecording: boolean;
  start(span: NewSpan): Span;
  /** Sends what is left. Never fails. */
  close(): Promise<void>;
}

const end = () => {};

/** Records nothing. */
export const silentTracer: Tracer = {
  isRecording: false,
  start: ({ parent }) => ({ trace: parent ?? newTrace(), end }),
  close: async () => {},
};

/** Nobody records it, so its only span needs no random id of its own. */
export function newTrace(): TraceContext {
  const traceId = newTraceId();
  return { traceId, spanId: traceId.slice(16), flags: 0 };
}

// Random UUIDs: Node.js makes many of them at a time, which costs a tenth of asking for random bytes.
export const newTraceId = () => randomUUID().replaceAll('-', '');
export const newSpanId = () => newTraceId().slice(16);
