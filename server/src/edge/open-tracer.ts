/** The tracer of this process: of OpenTelemetry where a collector is set, otherwise one that records nothing. */
import type { Logger } from 'pino';
import type { Config, Secrets } from '../kernel/config/config.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { silentTracer, type Tracer } from '../kernel/telemetry/tracing.ts';

export async function openTracer(
  { telemetry }: Pick<Config, 'telemetry'>,
  { telemetryHeaders }: Pick<Secrets, 'telemetryHeaders'>,
  { runtime, log }: { runtime: Runtime; log: Logger },
): Promise<Tracer> {
  if (!telemetry) return silentTracer;
  // Loaded here and not at the start, because most deployments never need it.
  const { createOtlpTracer } = await import('../kernel/telemetry/otlp-tracer.ts');
  return createOtlpTracer({ settings: telemetry, headers: telemetryHeaders, runtime, log });
}
