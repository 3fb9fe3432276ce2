/*
 * Many connections that are due at the same moment, each with little to move: what a sync costs besides its records, in
 * the bundled platform. The ceiling is what cannot be avoided as long as each side of a sync is a separate process: two
 * starts of a bare Node.js for each connection, as many at a time as the platform runs syncs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import Fastify from 'fastify';
import { type Benchmark, type BenchmarkOptions, untilEnd } from './benchmark.ts';
import { figureOf, type Measured, measureInTurns, timed } from './figures.ts';
import { childrenCpuSecondsSoFar, cpuSecondsSoFar } from './process-usage.ts';
import { openPlatform, platformApi } from './product.ts';

const rows = 100;
const syncsAtATime = 4;
const processesOfASync = 2;
/** All connections of one workspace read the same source, so that making them takes less time. */
const perWorkspace = 10;

export const dueSyncs: Benchmark = {
  name: 'due-syncs',

  async run(options) {
    const { connections } = options;
    const works = { bare: () => startBareProcesses(options), syncs: () => untilEnd(options, syncAll) };
    const { bare, syncs } = await measureInTurns<keyof typeof works, Cost>(works, options);
    const perSync = (ms: number) => `${Math.round(ms / connections)} ms`;
    const note = `CPU time of a sync: ${perSync(syncs.childrenMs)} in connectors, ${perSync(syncs.ownMs)} in the service; of two bare starts: ${perSync(bare.childrenMs)}`;
    const work = `${connections} connections due at once, sample-data of ${rows} rows → local-files`;
    const than: [string, Measured] = ['two starts of a bare Node.js for each', bare];
    return [figureOf(work, ['rate', 'syncs/s'], syncs, { than, note })];
  },
};

interface Cost extends Measured {
  ownMs: number;
  childrenMs: number;
}

/** With the CPU time of this process and of its children that have ended. */
async function measureCost(work: () => Promise<void>, { connections }: BenchmarkOptions): Promise<Cost> {
  const ownBefore = cpuSecondsSoFar(process.pid);
  const childrenBefore = childrenCpuSecondsSoFar(process.pid);
  const measured = await timed(work, connections);
  const ownMs = (cpuSecondsSoFar(process.pid) - ownBefore) * 1000;
  const childrenMs = (childrenCpuSecondsSoFar(process.pid) - childrenBefore) * 1000;
  return { ...measured, cpuMs: ownMs + childrenMs, ownMs, childrenMs };
}

async function syncAll(options: BenchmarkOptions): Promise<Cost> {
  const { connections, connectors, signal, onEnd } = options;
  const { dataDir } = await options.databases.sqlite.makeEmpty('due-syncs');
  const credentials = { clientId: 'bench', clientSecret: 'a secret that is only used here' };
  const platform = await openPlatform({
    file: `${dataDir}/platform.db`,
    dataDir,
    ...credentials,
    sealer: { seal: (text) => text, open: (text) => text },
    publicUrl: 'http://platform.test',
    connectorsProgram: connectors,
  });
  onEnd(() => platform.close());
  const app = Fastify();
  onEnd(() => app.close());
  await app.register(platformApi(platform));
  const { token } = await platform.tokens.issue(credentials.clientId, credentials.clientSecret);
  async function call(method: 'GET' | 'POST', url: string, body?: object) {
    const headers = { authorization: `Bearer ${token}` };
    const reply = await app.inject({ method, url, headers, ...(body && { payload: body }) });
    if (reply.statusCode !== 200) throw new Error(`${method} ${url}: ${reply.statusCode} ${reply.body}`);
    return reply.json();
  }

  const jobs: number[] = [];
  while (jobs.length < connections) {
    const { workspaceId } = await call('POST', '/workspaces', { name: `workspace ${jobs.length}` });
    const source = { sourceType: 'sample-data', count: rows };
    const { sourceId } = await call('POST', '/sources', { name: 'source', workspaceId, configuration: source });
    for (let made = 0; made < perWorkspace && jobs.length < connections; made++) {
      const configuration = { destinationType: 'local-files', path: `out-${made}` };
      const destination = { name: `destination ${made}`, workspaceId, configuration };
      const { destinationId } = await call('POST', '/destinations', destination);
      const { connectionId } = await call('POST', '/connections', { sourceId, destinationId });
      jobs.push((await call('POST', '/jobs', { connectionId, jobType: 'sync' })).jobId);
    }
  }
  return await measureCost(async () => {
    platform.start();
    for (const id of jobs) {
      let job = await call('GET', `/jobs/${id}`);
      while (job.status === 'running' || job.status === 'pending') {
        await delay(20, undefined, { signal });
        job = await call('GET', `/jobs/${id}`);
      }
      if (job.status !== 'succeeded') throw new Error(`A sync did not succeed: ${JSON.stringify(job)}`);
    }
  }, options);
}

function startBareProcesses(options: BenchmarkOptions): Promise<Cost> {
  // Nearly the same environment as that of connectors.
  const [env, signal] = [{ PATH: process.env.PATH }, options.signal];
  let left = options.connections * processesOfASync;
  const startOneByOne = async () => {
    while (left-- > 0) await once(spawn(process.execPath, ['-e', '0'], { env, stdio: 'ignore', signal }), 'exit');
  };
  return measureCost(
    async () => void (await Promise.all(Array.from({ length: syncsAtATime }, startOneByOne))),
    options,
  );
}
