/**
 * The tracer of the service, and a no-op one: without OpenTelemetry (otlp-tracer.ts), traces pass through unchanged.
 */
import { randomUUID } from 'node:crypto';
import type { SpanStarter } from '@inlay/contract/spans';
import type { TraceContext } from '@inlay/contract/text/trace-context';

export interface Tracer extends SpanStarter {
  /** Whether spans go anywhere. */
  readonly isRecording: boolean;
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
