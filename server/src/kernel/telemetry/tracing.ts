/**
 * The tracer of the service, and a no-op one: without OpenTelemetry (otlp-tracer.ts), traces pass through unchanged.
 */
import type { SpanStarter } from '@inlay/contract/spans';
import type { TraceContext } from '@inlay/contract/text/trace-context';
import { randomText } from '../random-bytes.ts';

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

export const newTraceId = () => randomText(16, 'hex');
export const newSpanId = () => randomText(8, 'hex');
