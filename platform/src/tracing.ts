/**
 * The trace that work of the platform belongs to. A request brings it along; a job keeps it, so that its attempts are
 * part of it whenever they run; connectors get it in their environment. Node.js keeps the trace of a
 * request for everything that the request starts and awaits; an attempt of a job passes its own on. No rule depends on it.
 *
 * Whether anything is recorded is the tracer's affair. The service in front of the platform gives its own.
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

/** Gives each process of a connector its place in the trace of the work that starts it. */
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
