/* Sends many requests to a server and measures its answers. */
import { join } from 'node:path';
import type { BenchmarkOptions, Figure } from './benchmark.ts';
import { startProgram } from './child-program.ts';
import type { LoadAnswer, LoadQuestion } from './load-generator.ts';
import { cpuSecondsSoFar } from './process-usage.ts';

export interface Server {
  port: number;
  pid: number;
  lagP99Ms?(): Promise<number>;
}

export interface Load extends LoadAnswer {
  perSecond: number;
  /** CPU time of the server. */
  cpuMsPerRequest: number;
  generatorBusy: number;
  lagP99Ms: number | undefined;
}

export interface Generator {
  load(server: Server, requests: string[], durationMs?: number): Promise<Load>;
  stop(): Promise<void>;
}

const connections = 32;

export function startGenerator({ programs, signal, loadMs }: BenchmarkOptions): Generator {
  const program = startProgram<LoadQuestion, LoadAnswer>(join(programs, 'load-generator.js'), signal);
  return {
    async load(server, requests, durationMs = loadMs) {
      const question = { port: server.port, connections, requests };
      // A first load is not measured: the service compiles and caches things with its first requests only.
      await program.ask({ ...question, durationMs: durationMs / 4 });
      await server.lagP99Ms?.();
      const cpuBefore = cpuSecondsSoFar(server.pid);
      const answer = await program.ask({ ...question, durationMs });
      const cpuSeconds = cpuSecondsSoFar(server.pid) - cpuBefore;
      return {
        ...answer,
        perSecond: (answer.requests / answer.tookMs) * 1000,
        cpuMsPerRequest: (cpuSeconds * 1000) / answer.requests,
        generatorBusy: (answer.cpuSeconds * 1000) / answer.tookMs,
        lagP99Ms: await server.lagP99Ms?.(),
      };
    },
    stop: () => program.stop(),
  };
}

export const costOfLoad = ({ perSecond }: Load): number => -perSecond;

export function besidesOf(load: Load): Partial<Figure> {
  const { p50Ms, p99Ms, failures, requests, tookMs, cpuMsPerRequest, generatorBusy, lagP99Ms } = load;
  return {
    records: requests,
    tookMs,
    latency: { p50Ms, p99Ms },
    cpuMsPerRequest,
    generatorBusy,
    failures,
    ...(lagP99Ms === undefined ? {} : { lagP99Ms }),
  };
}

/** How many requests a second our service answers, compared with its ceiling. */
export function requestRate(
  work: string,
  ours: Load,
  ceiling: { name: string; load: Load },
  atLeast: number | undefined,
): Figure {
  return {
    work,
    value: ours.perSecond,
    unit: 'requests/s',
    reference: { name: ceiling.name, value: ceiling.load.perSecond },
    ratio: ours.perSecond / ceiling.load.perSecond,
    cpuRatio: ceiling.load.cpuMsPerRequest / ours.cpuMsPerRequest,
    ...(atLeast === undefined ? {} : { target: { of: 'ratio', atLeast } }),
    ...besidesOf(ours),
  };
}

/** How long an answer takes, compared with another answer. */
export function latencyRatio(
  work: string,
  ours: Load,
  reference: { name: string; load: Load },
  { of, atMost }: { of: 'p50Ms' | 'p99Ms'; atMost: number | undefined },
): Figure {
  return {
    work,
    value: ours[of],
    unit: 'ms',
    reference: { name: reference.name, value: reference.load[of] },
    ratio: ours[of] / reference.load[of],
    cpuRatio: ours.cpuMsPerRequest / reference.load.cpuMsPerRequest,
    ...(atMost === undefined ? {} : { target: { of: 'ratio', atMost } }),
    ...besidesOf(ours),
  };
}
