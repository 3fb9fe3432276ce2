/*
 * Whether several processes on one PostgreSQL answer more requests than one process: as many processes as cores, each
 * with its own clients. The database and the clients run on this machine too, so the rate can double only if there are
 * free cores. The CPU time of a request shows whether the processes slow each other down.
 */
import { availableParallelism } from 'node:os';
import { type Benchmark, type Figure, measureInTurns } from './benchmark.ts';
import { costOfLoad, type Generator, type Load, startGenerator } from './load.ts';
import { type Kind, kinds, requestsOf } from './requests.ts';
import type { ServiceProcess } from './service-process.ts';

const measured: Kind[] = ['scopedToken', 'list'];

interface Replica {
  service: ServiceProcess;
  generator: Generator;
}

export const benchmark: Benchmark = {
  name: 'replicas',

  async run(options) {
    const database = await options.databases.postgres();
    if (!database) return [];
    const replicas: Replica[] = [];
    try {
      for (let number = 0; number < Math.max(2, availableParallelism()); number++) {
        replicas.push({ service: await database.startOn(options.workspaces), generator: startGenerator(options) });
      }
      const turns: Record<string, () => Promise<Load>> = {};
      for (const kind of measured) {
        const requests = await requestsOf(kind, options.workspaces, (replicas[0] as Replica).service);
        const load = async (some: Replica[]) =>
          sumOf(await Promise.all(some.map(({ generator, service }) => generator.load(service, requests))));
        turns[`${kind}, one`] = () => load(replicas.slice(0, 1));
        turns[`${kind}, all`] = () => load(replicas);
      }
      const loads = await measureInTurns(turns, options.rounds, costOfLoad);
      return measured.map((kind) =>
        figureOf(kind, replicas.length, loads[`${kind}, all`] as Load, loads[`${kind}, one`] as Load),
      );
    } finally {
      for (const { generator, service } of replicas) {
        await generator.stop();
        await service.stop();
      }
    }
  },
};

function figureOf(kind: Kind, count: number, all: Load, one: Load): Figure {
  return {
    work: `PostgreSQL: ${kinds[kind]}, ${count} processes`,
    value: all.perSecond,
    unit: 'requests/s',
    reference: { name: 'one process', value: one.perSecond },
    ratio: all.perSecond / one.perSecond,
    cpuRatio: one.cpuMsPerRequest / all.cpuMsPerRequest,
    records: all.requests,
    tookMs: all.tookMs,
    latency: { p50Ms: all.p50Ms, p99Ms: all.p99Ms },
    cpuMsPerRequest: all.cpuMsPerRequest,
    generatorBusy: all.generatorBusy,
    failures: all.failures,
  };
}

/** The sum of loads on several processes at the same time; for latencies the worst. */
function sumOf(loads: Load[]): Load {
  const sum = (of: (load: Load) => number) => loads.reduce((total, load) => total + of(load), 0);
  const worst = (of: (load: Load) => number) => Math.max(...loads.map(of));
  const requests = sum((load) => load.requests);
  return {
    requests,
    failures: sum((load) => load.failures),
    perSecond: sum((load) => load.perSecond),
    cpuSeconds: sum((load) => load.cpuSeconds),
    generatorBusy: sum((load) => load.generatorBusy),
    cpuMsPerRequest: sum((load) => load.cpuMsPerRequest * load.requests) / requests,
    tookMs: worst((load) => load.tookMs),
    p50Ms: worst((load) => load.p50Ms),
    p99Ms: worst((load) => load.p99Ms),
    lagP99Ms: undefined,
  };
}
