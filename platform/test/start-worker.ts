/* A worker in the test's own process, of a platform that listens on this machine and runs nothing itself. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { bundledDefinitions } from '../src/definitions/bundled-definitions.ts';
import { silentLog } from '../src/log.ts';
import { defaultLimits } from '../src/processes/limits.ts';
import { systemRuntime } from '../src/runtime.ts';
import { type RunningWorker, startWorker, type WorkerOptions } from '../src/worker/worker.ts';
import { connectorNeeded } from '../src/workers/placement.ts';
import { temporaryFolder } from './connectors.ts';
import { connectorsProgram, type RunningPlatform, type StartOptions } from './start-platform.ts';
import { programOf, type SteeredPlatform, startSteered } from './steered.ts';

export interface PlatformOfWorkers extends SteeredPlatform {
  /** The base of the API. */
  url: string;
}

export async function startForWorkers(options: StartOptions = {}): Promise<PlatformOfWorkers> {
  const steered = await startSteered({ maxConcurrentSyncs: 0, ...options });
  return { ...steered, url: await listen(steered) };
}

export async function listen({ app }: Pick<RunningPlatform, 'app'>): Promise<string> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  // Nobody waits for connections that are only kept open.
  onTestFinished(() => app.server.closeAllConnections());
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/platform/v1`;
}

export const steeredCommands = {
  'Steered source': programOf('steered-source'),
  'Steered destination': programOf('steered-destination'),
};

export async function enrol({ call }: Pick<RunningPlatform, 'call'>, request: object = {}) {
  return (await call('POST', '/workers', request)).body as { worker: { workerId: string }; token: string };
}

export async function startTestWorker(
  platform: PlatformOfWorkers,
  { enrolment = {}, ...options }: Partial<WorkerOptions> & { enrolment?: object } = {},
): Promise<RunningWorker & { workerId: string; dataDir: string }> {
  const { worker, token } = await enrol(platform, enrolment);
  const dataDir = options.dataDir ?? temporaryFolder();
  const started = await startWorker({
    url: platform.url,
    token,
    dataDir,
    version: '1.0.0',
    slots: 2,
    connectorsProgram,
    bundledConnectors: bundledDefinitions.flatMap((definition) => connectorNeeded(definition) ?? []),
    commands: steeredCommands,
    images: [],
    limits: defaultLimits,
    runtime: systemRuntime,
    log: silentLog,
    heartbeatEveryMs: 200,
    ...options,
  });
  onTestFinished(() => started.stop().catch(() => {}));
  return { ...started, workerId: worker.workerId, dataDir };
}

/** A cable between a worker and its coordinator that can be pulled: connections stay open, and nothing comes through. */
export async function startProxy(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isPulled = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('data', (chunk) => isPulled || to.write(chunk));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname}`,
    pull() {
      isPulled = true;
    },
    /** What was on its way is lost. */
    plugIn() {
      isPulled = false;
      for (const socket of sockets) socket.destroy();
    },
  };
}
