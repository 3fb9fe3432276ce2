/* Sends many requests to a server and measures its answers. */
import type { BenchmarkOptions } from './benchmark.ts';
import { startProgram } from './child-program.ts';
import type { Measured } from './figures.ts';
import type { LoadAnswer, LoadQuestion } from './load-generator.ts';
import { cpuSecondsSoFar } from './process-usage.ts';

export interface Server {
  port: number;
  pid: number;
  lagP99Ms?(): Promise<number>;
}

export type Load = Measured & { count: number; cpuMs: number };

export interface Generator {
  load(server: Server, requests: string[], durationMs?: number): Promise<Load>;
}

const connections = 32;

export function startGenerator(options: BenchmarkOptions): Generator {
  const program = startProgram<LoadQuestion, LoadAnswer>('load-generator', options);
  return {
    async load(server, requests, durationMs = options.seconds * 1_000) {
      const question = { port: server.port, connections, requests };
      // A first load is not measured: the service compiles and caches things with its first requests only.
      await program.ask({ ...question, durationMs: durationMs / 4 });
      await server.lagP99Ms?.();
      const cpuBefore = cpuSecondsSoFar(server.pid);
      const { generatorCpuMs, ...answer } = await program.ask({ ...question, durationMs });
      const cpuMs = (cpuSecondsSoFar(server.pid) - cpuBefore) * 1000;
      const generatorBusy = generatorCpuMs / answer.tookMs;
      return { ...answer, cpuMs, generatorBusy, lagP99Ms: await server.lagP99Ms?.() };
    },
  };
}

/** The sum of loads on several processes at the same time; for latencies the worst. */
export function sumOf(loads: Load[]): Load {
  const sum = (of: (load: Load) => number) => loads.reduce((total, load) => total + of(load), 0);
  const worst = (of: (load: Load) => number | undefined) => Math.max(...loads.map((load) => of(load) ?? 0));
  return {
    count: sum(({ count }) => count),
    tookMs: worst(({ tookMs }) => tookMs),
    cpuMs: sum(({ cpuMs }) => cpuMs),
    failures: sum(({ failures = 0 }) => failures),
    generatorBusy: sum(({ generatorBusy = 0 }) => generatorBusy),
    p50Ms: worst(({ p50Ms }) => p50Ms),
    p99Ms: worst(({ p99Ms }) => p99Ms),
  };
}
