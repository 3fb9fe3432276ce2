/**
 * The trace that platform work belongs to. Requests bring one; a job stores its trace so that later attempts join it;
 * connectors get it in their environment. Node.js keeps a request's trace for everything that the request starts and
 * awaits; job attempts pass theirs explicitly. No rule depends on traces.
 *
 * The tracer decides whether anything is recorded. The service in front of the platform passes its own.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { SpanStarter } from '@inlay/contract/spans';
import { readTraceContext, type TraceContext, traceparentOf } from '@inlay/contract/text/trace-context';
import type { ProcessWatch } from './runner/runner.ts';
import type { Runtime } from './runtime.ts';

const storage = new AsyncLocalStorage<TraceContext>();

export function withTrace<T>(trace: TraceContext, work: () => T): T {
  return storage.run(trace, work);
}

/** The `traceparent` that a new job keeps: that of the request that asks for it, or a new one. */
export function traceparentOfJob(runtime: Pick<Runtime, 'newId'>): string {
  return traceparentOf(storage.getStore() ?? newTrace(runtime));
}

export function readTraceparent(text: string | null, runtime: Pick<Runtime, 'newId'>): TraceContext {
  return readTraceContext(text ?? undefined) ?? newTrace(runtime);
}

function newTrace({ newId }: Pick<Runtime, 'newId'>): TraceContext {
  return { traceId: newId().replaceAll('-', ''), spanId: newId().replaceAll('-', '').slice(16), flags: 0 };
}

/** Records nothing, and lets traces pass. */
export function passingTracer(runtime: Pick<Runtime, 'newId'>): SpanStarter {
  return { start: ({ parent }) => ({ trace: parent ?? newTrace(runtime), end: () => {} }) };
}

/** Gives each connector process its place in the trace of the work that starts it. */
export function watchProcesses(tracer: SpanStarter): ProcessWatch {
  return ({ kind, command, trace }) => {
    const parent = trace ?? storage.getStore();
    // Nobody asked: the platform reads the specification of a connector at its start, for example.
    if (!parent) return undefined;
    const span = tracer.start({
      name: `connector ${command}`,
      kind: 'internal',
      parent,
      attributes: { 'inlay.connector.kind': kind, 'inlay.connector.command': command },
    });
    return {
      traceparent: traceparentOf(span.trace),
      end: ({ code, signal }) => {
        const failure = signal ?? (code === 0 || code === null ? undefined : `exit ${code}`);
        span.end(failure === undefined ? {} : { failure });
      },
    };
  };
}
