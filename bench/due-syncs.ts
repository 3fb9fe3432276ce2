/*
 * Many connections that are due at the same moment, each with little to move: what a sync costs besides its records.
 * The ceiling is what cannot be avoided as long as each side of a sync is a separate process: two starts of a bare
 * Node.js for each connection, as many at a time as the platform runs syncs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Benchmark, type BenchmarkOptions, type Measured, measureInTurns, rateOf, tookMs } from './benchmark.ts';
import { childrenCpuSecondsSoFar } from './process-usage.ts';
import { runTimed } from './started-process.ts';

const program = 'due-syncs-process.js';
const syncsAtATime = 4;
const processesOfASync = 2;

export const benchmark: Benchmark = {
  name: 'due-syncs',

  async run(options) {
    const { connections, rounds } = options;
    const works = { ceiling: () => startBareProcesses(options), syncs: () => syncAll(options) };
    const measured = await measureInTurns(works, rounds, tookMs);
    const ceiling = { name: 'two starts of a bare Node.js for each', measured: measured.ceiling };
    const work = `${connections} connections due at once, sample-data of 100 rows → local-files`;
    const figure = rateOf(work, measured.syncs, ceiling, { records: connections, unit: 'syncs/s' });
    const { service, connectors } = measured.syncs.usage;
    const bare = measured.ceiling.usage.bare;
    const perSync = (cpuSeconds = 0) => `${Math.round((cpuSeconds / connections) * 1000)} ms`;
    const note = `CPU time of a sync: ${perSync(connectors?.cpuSeconds)} in connectors, ${perSync(service?.cpuSeconds)} in the service; of two bare starts: ${perSync(bare?.cpuSeconds)}`;
    return [{ ...figure, note }];
  },
};

async function syncAll({ folder, programs, connectors, connections, signal }: BenchmarkOptions): Promise<Measured> {
  const own = join(folder, 'due-syncs');
  mkdirSync(own);
  try {
    const args = [join(programs, program), own, connectors, String(connections)];
    await runTimed(process.execPath, args, { signal });
    return JSON.parse(readFileSync(join(own, 'measured.json'), 'utf8'));
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

async function startBareProcesses({ connections, signal }: BenchmarkOptions): Promise<Measured> {
  // Nearly the same environment as that of connectors.
  const env = { PATH: process.env.PATH };
  let left = connections * processesOfASync;
  const startedAtMs = performance.now();
  const cpuBefore = childrenCpuSecondsSoFar(process.pid);
  const startOneByOne = async () => {
    while (left-- > 0) await once(spawn(process.execPath, ['-e', '0'], { env, stdio: 'ignore', signal }), 'exit');
  };
  await Promise.all(Array.from({ length: syncsAtATime }, startOneByOne));
  const cpuSeconds = childrenCpuSecondsSoFar(process.pid) - cpuBefore;
  return { tookMs: performance.now() - startedAtMs, usage: { bare: { peakMegabytes: 0, growth: 1, cpuSeconds } } };
}
