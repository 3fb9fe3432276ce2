/* The product as it is deployed: one process, started by its command line, with a token that the benchmarks know. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../scripts/disposable.mjs';
import { operatorToken, organizationId } from './dataset.ts';
import type { BenchmarkSettings } from './settings.ts';

export interface ServiceProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly readyAfterMs: number;
  /** The lag since the last call. */
  lagP99Ms(): Promise<number>;
  request(method: string, path: string, body?: object): Promise<unknown>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  dataDir: string;
  command?: 'start' | 'platform';
  environment?: Record<string, string>;
}

const readyDeadlineMs = 60_000;
const pollEveryMs = 5;
/** The period of the timer that prom-client measures with. The period is part of its figures. */
const lagTimerMs = 10;

export async function startService(
  { dataDir, command = 'start', environment = {} }: ServiceOptions,
  { product, profiles, signal }: BenchmarkSettings,
): Promise<ServiceProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const profiling = profiles === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profiles];
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...profiling, product, command], {
    cwd: dataDir,
    signal,
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: String(port),
      INLAY_DATA_DIR: dataDir,
      INLAY_ORGANIZATION_ID: organizationId,
      INLAY_OPERATOR_TOKEN: operatorToken,
      // Rate limits are on, as by default, and never reached.
      INLAY_RATE_LIMIT_PER_MINUTE: '10000000',
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  child.on('error', () => {});
  try {
    await untilReady(`${url}${command === 'start' ? '/health/ready' : '/platform/v1/'}`, child, signal);
  } catch (error) {
    await endOf(child);
    throw error;
  }
  const readyAfterMs = performance.now() - startedAt;
  return {
    url,
    port,
    pid: child.pid as number,
    readyAfterMs,
    async lagP99Ms() {
      const text = await (await fetch(`${url}/metrics`)).text();
      const seconds = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1];
      return Math.max(0, Number(seconds) * 1000 - lagTimerMs);
    },
    async request(method, path, body) {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${operatorToken}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal,
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
      return JSON.parse(text);
    },
    stop: () => endOf(child),
  };
}

async function untilReady(url: string, child: ChildProcess, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + readyDeadlineMs;
  while (!(await isReady(url))) {
    signal.throwIfAborted();
    if (hasEnded(child)) throw new Error('The service ended before it was ready.');
    if (performance.now() > deadline) throw new Error(`The service was not ready within ${readyDeadlineMs} ms.`);
    await delay(pollEveryMs);
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await answer.body?.cancel();
    // A platform that runs alone shows nothing without a token. Its refusal proves that it answers.
    return answer.status === 200 || answer.status === 401;
  } catch {
    return false; // It does not listen yet.
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function endOf(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const lastResort = setTimeout(() => child.kill('SIGKILL'), 30_000);
  await exited;
  clearTimeout(lastResort);
}
