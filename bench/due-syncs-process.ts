/*
 * The bundled platform with many connections that are due at the same moment: makes them, runs them, and records how
 * long that took and how much CPU time it needed. It is a separate process, so that the CPU time of its children is
 * known.
 *
 *   due-syncs-process.js <folder> <program of the connectors> <connections>
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Fastify from 'fastify';
import { platformApi } from '../platform/src/api.ts';
import { openPlatform } from '../platform/src/open-platform.ts';
import type { Measured } from './benchmark.ts';
import { childrenCpuSecondsSoFar, cpuSecondsSoFar } from './process-usage.ts';

const [folder = '', connectorsProgram = '', connections = ''] = process.argv.slice(2);
const rows = 100;
/** All connections of one workspace read the same source, so that making them takes less time. */
const perWorkspace = 10;

const credentials = { clientId: 'bench', clientSecret: 'a secret that is only used here' };
const platform = await openPlatform({
  file: join(folder, 'platform.db'),
  dataDir: folder,
  ...credentials,
  sealer: { seal: (text) => text, open: (text) => text },
  publicUrl: 'http://platform.test',
  connectorsProgram,
});
const app = Fastify();
await app.register(platformApi(platform));
const { token } = await platform.tokens.issue(credentials.clientId, credentials.clientSecret);

async function call(method: 'GET' | 'POST', url: string, body?: object) {
  const reply = await app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { payload: body }),
  });
  if (reply.statusCode !== 200) throw new Error(`${method} ${url}: ${reply.statusCode} ${reply.body}`);
  return reply.json();
}

const wanted = Number(connections);
const ids: string[] = [];
while (ids.length < wanted) {
  const { workspaceId } = await call('POST', '/workspaces', { name: `workspace ${ids.length}` });
  const source = { sourceType: 'sample-data', count: rows };
  const { sourceId } = await call('POST', '/sources', { name: 'source', workspaceId, configuration: source });
  for (let made = 0; made < perWorkspace && ids.length < wanted; made++) {
    const configuration = { destinationType: 'local-files', path: `out-${made}` };
    const destination = { name: `destination ${made}`, workspaceId, configuration };
    const { destinationId } = await call('POST', '/destinations', destination);
    ids.push((await call('POST', '/connections', { sourceId, destinationId })).connectionId);
  }
}
const jobIds: number[] = [];
for (const connectionId of ids) jobIds.push((await call('POST', '/jobs', { connectionId, jobType: 'sync' })).jobId);

const before = {
  atMs: performance.now(),
  service: cpuSecondsSoFar(process.pid),
  connectors: childrenCpuSecondsSoFar(process.pid),
};
platform.start();
for (const jobId of jobIds) {
  let job = await call('GET', `/jobs/${jobId}`);
  while (job.status === 'running' || job.status === 'pending') {
    await delay(20);
    job = await call('GET', `/jobs/${jobId}`);
  }
  if (job.status !== 'succeeded') throw new Error(`A sync has not succeeded: ${JSON.stringify(job)}`);
}
const usage = (cpuSeconds: number) => ({ peakMegabytes: 0, growth: 1, cpuSeconds });
const measured: Measured = {
  tookMs: performance.now() - before.atMs,
  usage: {
    service: usage(cpuSecondsSoFar(process.pid) - before.service),
    connectors: usage(childrenCpuSecondsSoFar(process.pid) - before.connectors),
  },
};
writeFileSync(join(folder, 'measured.json'), JSON.stringify(measured));
await app.close();
await platform.close();
