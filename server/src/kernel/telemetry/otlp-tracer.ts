/**
 * Sends spans to a collector of OpenTelemetry, as JSON over HTTP (OTLP 1.x). Loaded only where an endpoint is set; why it
 * is written by hand: docs/adr/0019-opentelemetry-by-hand.md.
 *
 * What always holds: no request waits for the collector; the memory for spans is bounded; spans that do not get through
 * are dropped, and the log says how many.
 */
import type { NewSpan, SpanAttributes } from '@inlay/contract/spans';
import { isSampled, sampledFlag, type TraceContext } from '@inlay/contract/text/trace-context';
import type { Logger } from 'pino';
import type { Runtime } from '../runtime.ts';
import { version } from '../version.ts';
import { createSampler, type SamplerSettings } from './sampler.ts';
import { newSpanId, newTraceId, type Tracer } from './tracing.ts';

export interface TelemetrySettings {
  /** The base address of the collector. */
  endpoint: string;
  timeoutMs: number;
  resource: Record<string, string>;
  sampler: SamplerSettings;
}

interface TracerOptions {
  settings: TelemetrySettings;
  /** Often credentials. */
  headers: Record<string, string>;
  runtime: Runtime;
  log: Logger;
}

interface EndedSpan {
  span: NewSpan;
  trace: TraceContext;
  startedAtMs: number;
  durationMs: number;
  failure: string | undefined;
  attributes: SpanAttributes;
}

const maxWaiting = 4_096;
const batchSize = 512;
const sendEveryMs = 2_000;
const maxTries = 4;
const shutdownPatienceMs = 3_000;

export function createOtlpTracer({ settings, headers, runtime, log }: TracerOptions): Tracer {
  const url = `${settings.endpoint.replace(/\/+$/, '')}/v1/traces`;
  const isWanted = createSampler(settings.sampler);
  const resource = { attributes: encodeAttributes({ ...settings.resource, 'telemetry.sdk.name': 'inlay' }) };
  const waiting: EndedSpan[] = [];
  const closing = new AbortController();
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  function add(ended: EndedSpan): void {
    if (waiting.length >= maxWaiting) {
      dropped++;
      return;
    }
    waiting.push(ended);
    if (waiting.length >= batchSize) sendSoon(0);
    else if (timer === undefined) sendSoon(sendEveryMs);
  }

  function sendSoon(inMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      sending = sending.then(sendAll);
    }, inMs);
    timer.unref();
  }

  /** One batch after the other. Never fails. */
  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchSize);
      const problem = await sendBatch(batch);
      if (problem !== undefined) {
        dropped += batch.length;
        log.warn({ dropped, problem }, 'Failed to export spans to OTEL_EXPORTER_OTLP_ENDPOINT');
        dropped = 0;
      }
    }
    if (dropped > 0) {
      log.warn({ dropped }, 'Spans dropped: the collector cannot keep up');
      dropped = 0;
    }
  }

  /** Gives the reason when it was not accepted. */
  async function sendBatch(batch: EndedSpan[]): Promise<string | undefined> {
    const scope = { name: 'inlay', version };
    const body = JSON.stringify({
      resourceSpans: [{ resource, scopeSpans: [{ scope, spans: batch.map(encodeSpan) }] }],
    });
    for (let tries = 1; ; tries++) {
      const { problem, mayRetry, retryAfterMs } = await post(body);
      if (problem === undefined || !mayRetry || tries >= maxTries || closing.signal.aborted) return problem;
      const backoffMs = 500 * 2 ** tries * (0.5 + runtime.random() / 2);
      await runtime.sleep(Math.min(30_000, Math.max(backoffMs, retryAfterMs)), closing.signal);
    }
  }

  async function post(body: string): Promise<{ problem?: string; mayRetry: boolean; retryAfterMs: number }> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'user-agent': `inlay/${version}` },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(settings.timeoutMs),
      });
      await response.body?.cancel();
      if (response.ok) return { mayRetry: false, retryAfterMs: 0 };
      const retryAfterMs = (Number(response.headers.get('retry-after')) || 0) * 1_000;
      return {
        problem: `the collector answered ${response.status}`,
        mayRetry: [429, 502, 503, 504].includes(response.status),
        retryAfterMs,
      };
    } catch (error) {
      const { cause, name } = error as Error & { cause?: { code?: string } };
      return { problem: `no answer: ${cause?.code ?? name}`, mayRetry: true, retryAfterMs: 0 };
    }
  }

  return {
    isRecording: true,
    start(span) {
      const { parent } = span;
      const traceId = parent?.traceId ?? newTraceId();
      const isRecorded = isWanted(traceId, parent && isSampled(parent));
      const flags = ((parent?.flags ?? 0) & ~sampledFlag) | (isRecorded ? sampledFlag : 0);
      const trace = {
        traceId,
        spanId: newSpanId(),
        flags,
        ...(parent?.tracestate === undefined ? {} : { tracestate: parent.tracestate }),
      };
      if (!isRecorded) return { trace, end: () => {} };
      const startedAtMs = runtime.now();
      const startedElapsed = runtime.elapsed();
      let hasEnded = false;
      return {
        trace,
        end({ failure, attributes = {} } = {}) {
          if (hasEnded) return;
          hasEnded = true;
          const durationMs = runtime.elapsed() - startedElapsed;
          add({ span, trace, startedAtMs, durationMs, failure, attributes });
        },
      };
    },
    async close() {
      clearTimeout(timer);
      const patience = new AbortController();
      sending = sending.then(sendAll);
      await Promise.race([sending, runtime.timeLimit(shutdownPatienceMs, patience.signal)]);
      patience.abort();
      closing.abort();
      await sending;
    },
  };
}

const kinds = { internal: 1, server: 2, client: 3 } as const;

function encodeSpan({ span, trace, startedAtMs, durationMs, failure, attributes }: EndedSpan) {
  const { name, kind, parent } = span;
  return {
    traceId: trace.traceId,
    spanId: trace.spanId,
    ...(parent ? { parentSpanId: parent.spanId } : {}),
    ...(trace.tracestate === undefined ? {} : { traceState: trace.tracestate }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(startedAtMs),
    endTimeUnixNano: nanoseconds(startedAtMs + durationMs),
    attributes: encodeAttributes({
      ...span.attributes,
      ...attributes,
      ...(failure === undefined ? {} : { 'error.type': failure }),
    }),
    status: failure === undefined ? {} : { code: 2, message: failure },
  };
}

/** As text: the number is too large for a number of JSON. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}

function encodeAttributes(attributes: SpanAttributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: encodeValue(value) }));
}

function encodeValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
