/*
 * What it costs to run syncs on workers instead of in the platform's own process: the rate and the CPU time of all
 * processes, with several numbers of workers; what a worker costs while it waits; and how soon a job that is due is
 * claimed. Workers are on this machine and share its cores, so more of them are not faster here: what counts is the CPU
 * time of a sync.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type BenchmarkOptions, onPostgres, untilEnd } from './benchmark.ts';
import { stopperOf } from './child-program.ts';
import { urlOf } from './databases.ts';
import { type Figure, figureOf, type Measured, measureInTurns } from './figures.ts';
import { treeCpuSecondsSoFar } from './process-usage.ts';
import { attemptHeader, bundledDefinitions, connectorNeeded, sampleStreams, workerProtocol } from './product.ts';
import { startService } from './service-process.ts';

const rows = 20_000;
const slots = 4;
const perWorkspace = 10;
const application = { client_id: 'bench', client_secret: 'a secret that is only used in this benchmark' };
const idleMs = 30_000;
const talkers = 100;
const timedJobs = 100;
const betweenJobsMs = 50;

// biome-ignore lint/suspicious/noExplicitAny: answers of the API
type Answer = any;

export const workers = onPostgres('workers', async (database, options) => {
  const { dataDir, environment } = await database.makeEmpty('workers_destination');
  const destination = urlOf({ dataDir, environment });
  if (destination === undefined) throw new Error('The destination has no URL.');
  const works = {
    'in process': () => untilEnd(options, (options) => syncAll(options, destination, 0)),
    '1 worker': () => untilEnd(options, (options) => syncAll(options, destination, 1)),
    '2 workers': () => untilEnd(options, (options) => syncAll(options, destination, 2)),
    '4 workers': () => untilEnd(options, (options) => syncAll(options, destination, 4)),
  };
  const measured = await measureInTurns(works, options);
  const perSync = ({ cpuMs = 0, count = 1 }: Measured) => `${Math.round(cpuMs / count)} ms of CPU time a sync`;
  const figures: Figure[] = Object.entries(measured).map(([name, one]) =>
    figureOf(`${options.connections} syncs of ${rows} rows, ${name}`, ['rate', 'syncs/s'], one, {
      note: perSync(one),
      ...(name !== 'in process' && { than: ['in process', measured['in process']] as [string, Measured] }),
    }),
  );
  return [
    ...figures,
    await untilEnd(options, measureIdle),
    ...(await untilEnd(options, (options) => measureTalk(options, destination))),
  ];
});

interface Platform {
  pid: number;
  url: string;
  call(method: string, path: string, body?: object): Promise<Answer>;
}

async function startPlatform(options: BenchmarkOptions, ownSlots: number): Promise<Platform> {
  const { dataDir } = await options.databases.sqlite.makeEmpty('workers');
  const service = await startService(
    {
      ...{ dataDir, command: 'platform' },
      environment: {
        INLAY_PLATFORM_CLIENT_ID: application.client_id,
        INLAY_PLATFORM_CLIENT_SECRET: application.client_secret,
        INLAY_ALLOW_PRIVATE_NETWORKS: 'true',
        INLAY_MAX_CONCURRENT_SYNCS: String(ownSlots),
        INLAY_MAX_CONCURRENT_SYNCS_PER_WORKSPACE: String(perWorkspace),
        LOG_LEVEL: 'error',
      },
    },
    options,
  );
  const url = `${service.url}/platform/v1`;
  let token: string | undefined;
  async function call(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await fetch(url + path, {
      ...{ method, signal: options.signal },
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return await answer.json();
  }
  token = (await call('POST', '/applications/token', application)).access_token;
  return { pid: service.pid, url, call };
}

async function startWorkers(options: BenchmarkOptions, platform: Platform, count: number): Promise<ChildProcess[]> {
  if (count === 0) return [];
  const enrolment = { name: 'bench', reusable: true, allowPrivateNetworks: true };
  const { token } = await platform.call('POST', '/workers', enrolment);
  const started: ChildProcess[] = [];
  while (started.length < count) {
    const dataDir = join(options.folder, `worker-${started.length}-${Date.now()}`);
    mkdirSync(dataDir, { mode: 0o700 });
    const child = spawn(process.execPath, [options.product, 'worker'], {
      ...{ cwd: dataDir, signal: options.signal, stdio: ['ignore', 'ignore', 'inherit'] },
      env: {
        PATH: process.env.PATH,
        INLAY_DATA_DIR: dataDir,
        INLAY_WORKER_URL: platform.url,
        INLAY_WORKER_TOKEN: token,
        INLAY_WORKER_SLOTS: String(Math.max(1, Math.floor(slots / count))),
        LOG_LEVEL: 'error',
      },
    });
    options.onEnd(stopperOf(child, 'SIGTERM'));
    started.push(child);
  }
  const isOnline = ({ state }: Answer) => state === 'online';
  while ((await platform.call('GET', '/workers')).data.filter(isOnline).length < count) await delay(50);
  return started;
}

async function syncAll(options: BenchmarkOptions, destination: string, count: number): Promise<Measured> {
  const { connections, signal } = options;
  const platform = await startPlatform(options, count === 0 ? slots : 0);
  const started = await startWorkers(options, platform, count);
  const pids = [platform.pid, ...started.map(({ pid }) => pid as number)];
  const ids = await makeConnections(platform, destination, connections);
  const cpuSeconds = () => pids.reduce((sum, pid) => sum + treeCpuSecondsSoFar(pid), 0);
  const cpuBefore = cpuSeconds();
  const startedAt = performance.now();
  const jobs: number[] = [];
  for (const connectionId of ids)
    jobs.push((await platform.call('POST', '/jobs', { connectionId, jobType: 'sync' })).jobId);
  for (const id of jobs) {
    let job = await platform.call('GET', `/jobs/${id}`);
    while (['running', 'pending', 'incomplete'].includes(job.status)) {
      await delay(200, undefined, { signal });
      job = await platform.call('GET', `/jobs/${id}`);
    }
    if (job.status !== 'succeeded') throw new Error(`A sync did not succeed: ${JSON.stringify(job)}`);
  }
  return { tookMs: performance.now() - startedAt, count: connections, cpuMs: (cpuSeconds() - cpuBefore) * 1000 };
}

let made = 0;

async function makeConnections(platform: Platform, destination: string, count: number): Promise<string[]> {
  const { hostname: host, port, pathname, username } = new URL(destination);
  const ids: string[] = [];
  while (ids.length < count) {
    const { workspaceId } = await platform.call('POST', '/workspaces', { name: `workspace ${ids.length}` });
    const source = { sourceType: 'sample-data', count: rows };
    const { sourceId } = await platform.call('POST', '/sources', {
      name: 'source',
      workspaceId,
      configuration: source,
    });
    for (let index = 0; index < perWorkspace && ids.length < count; index++) {
      const { destinationId } = await platform.call('POST', '/destinations', {
        ...{ name: `destination ${index}`, workspaceId },
        configuration: {
          ...{
            destinationType: 'postgres',
            host,
            port: Number(port),
            database: pathname.slice(1),
            username,
          },
          ...{ schema: `s${made++}`, ssl_mode: { mode: 'disable' } },
        },
      });
      const configurations = { streams: [{ name: 'users', syncMode: 'full_refresh_overwrite' }] };
      const connection = { sourceId, destinationId, schedule: { scheduleType: 'manual' }, configurations };
      ids.push((await platform.call('POST', '/connections', connection)).connectionId);
    }
  }
  return ids;
}

/** A worker without work, and what its questions cost the coordinator. */
async function measureIdle(options: BenchmarkOptions): Promise<Figure> {
  const platform = await startPlatform(options, 0);
  const [worker] = await startWorkers(options, platform, 1);
  const pid = worker?.pid as number;
  const before = [treeCpuSecondsSoFar(pid), treeCpuSecondsSoFar(platform.pid)] as const;
  await delay(idleMs, undefined, { signal: options.signal });
  const [own, ofCoordinator] = [treeCpuSecondsSoFar(pid) - before[0], treeCpuSecondsSoFar(platform.pid) - before[1]];
  const perMinute = (seconds: number) => `${Math.round((seconds * 60_000_000) / idleMs)} ms`;
  return figureOf(
    'CPU time of an idle worker in half a minute',
    ['cpu', 's'],
    { tookMs: idleMs, cpuMs: own * 1000 },
    {
      note: `${perMinute(own)} a minute; the coordinator: ${perMinute(ofCoordinator)} a minute`,
    },
  );
}

/**
 * Many workers that only talk and run no connector: how soon one of them has a job that is due, and what an attempt costs the
 * coordinator.
 */
async function measureTalk(options: BenchmarkOptions, destination: string): Promise<Figure[]> {
  const { connections, signal } = options;
  const platform = await startPlatform(options, 0);
  const enrolment = await platform.call('POST', '/workers', { name: 'talk', reusable: true });
  const ids = await makeConnections(platform, destination, connections);
  const due = new Map<number, number>();
  const waitedMs: number[] = [];
  let finished = 0;
  const over = new AbortController();
  options.onEnd(async () => over.abort());
  const onClaim = (jobId: number) => waitedMs.push(performance.now() - (due.get(jobId) ?? performance.now()));
  const onFinish = () => finished++;
  const talking = Array.from({ length: talkers }, () =>
    talk(platform.url, enrolment.token, over.signal, { onClaim, onFinish }),
  );
  const until = async (count: number) => {
    while (finished < count) await Promise.race([delay(20, undefined, { signal }), Promise.all(talking)]);
  };
  const start = async (connectionId: string) => {
    const startedAt = performance.now();
    const { jobId } = await platform.call('POST', '/jobs', { connectionId, jobType: 'sync' });
    due.set(jobId, startedAt);
  };
  for (const id of ids.slice(0, timedJobs)) {
    await start(id);
    await delay(betweenJobsMs, undefined, { signal });
  }
  const timed = Math.min(timedJobs, ids.length);
  await until(timed);
  const sorted = waitedMs.slice(0, timed).sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  const cpuBefore = treeCpuSecondsSoFar(platform.pid);
  const startedAt = performance.now();
  for (const id of ids) await start(id);
  await until(timed + ids.length);
  const cpuMs = (treeCpuSecondsSoFar(platform.pid) - cpuBefore) * 1000;
  const tookMs = performance.now() - startedAt;
  over.abort();
  await Promise.allSettled(talking);
  return [
    figureOf(`claim of a due job, ${talkers} waiting workers, median`, ['median', 'ms'], { tookMs, p50Ms: at(0.5) }),
    figureOf(`claim of a due job, ${talkers} waiting workers, p99`, ['p99', 'ms'], { tookMs, p99Ms: at(0.99) }),
    figureOf('CPU time of the coordinator for 1,000 attempts', ['cpu', 's'], {
      ...{ tookMs, cpuMs: (cpuMs * 1_000) / ids.length },
    }),
  ];
}

const catalog = gzipSync(JSON.stringify({ streams: sampleStreams })).toString('base64');
const catalogHash = createHash('sha256')
  .update(JSON.stringify({ streams: sampleStreams }))
  .digest('hex');
const lastState = { type: 'STREAM', stream: { stream_descriptor: { name: 'users' }, stream_state: { id: rows } } };
const outcome = { status: 'succeeded', records: rows, bytes: rows, streams: [], moreStreams: 0, changedValues: {} };

async function talk(
  url: string,
  token: string,
  signal: AbortSignal,
  { onClaim, onFinish }: { onClaim(jobId: number): void; onFinish(): void },
): Promise<void> {
  let authorization = '';
  async function ask(path: string, body: object, attempt = ''): Promise<Answer> {
    const answer = await fetch(`${url}/workers/${path}`, {
      ...{ method: 'POST', signal, body: JSON.stringify(body) },
      headers: {
        'content-type': 'application/json',
        ...(authorization && { authorization }),
        ...(attempt && { [attemptHeader]: attempt }),
      },
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return await answer.json();
  }
  const secret = randomBytes(32).toString('base64url');
  const { workerId } = await ask('join', { token, secret, hostname: 'talk' });
  authorization = `Bearer inlay_worker_${workerId}.${secret}`;
  const machine = { protocol: workerProtocol, version: '1.0.0', slots: 1, freeSlots: 1 };
  const connectors = bundledDefinitions.flatMap((definition) => connectorNeeded(definition) ?? []);
  await ask('heartbeat', { ...machine, attempts: [] });
  while (!signal.aborted) {
    const { assignment } = await ask('claim', { ...machine, connectors });
    if (!assignment) continue;
    onClaim(assignment.jobId);
    const call = (name: string, body: object) => ask(`attempt/${name}`, body, assignment.token);
    const planned = await call('plan', { hash: catalogHash });
    if (planned.needsCatalog) await call('plan', { hash: catalogHash, catalog });
    await call('checkpoint', { number: 1, entries: [{ state: JSON.stringify(lastState) }] });
    await call('finish', { status: 'ended', outcome, tokenEnded: false });
    onFinish();
  }
}
