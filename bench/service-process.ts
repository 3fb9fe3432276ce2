/* The product as it is deployed: one process, started by its command line, with a token that the benchmarks know. */
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../scripts/disposable.mjs';
import type { BenchmarkOptions } from './benchmark.ts';
import { stopperOf } from './child-program.ts';
import { operatorToken, organizationId } from './dataset.ts';

export interface ServiceProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly readyAfterMs: number;
  /** The lag since the last call. */
  lagP99Ms(): Promise<number>;
  /** Fails unless the answer is a good one. */
  request<Answer>(method: string, path: string, body?: object): Promise<Answer>;
  /** The status of any response. */
  statusOf(method: string, path: string, body?: object): Promise<number>;
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
  { product, profiles, signal, onEnd }: BenchmarkOptions,
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
  const stop = stopperOf(child, 'SIGTERM');
  onEnd(stop);
  const readyUrl = `${url}${command === 'start' ? '/health/ready' : '/platform/v1/'}`;
  while (!(await isReady(readyUrl))) {
    signal.throwIfAborted();
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('The service ended before it was ready.');
    if (performance.now() - startedAt > readyDeadlineMs) {
      throw new Error(`The service was not ready within ${readyDeadlineMs} ms.`);
    }
    await delay(pollEveryMs);
  }
  async function send(method: string, path: string, body?: object) {
    const headers = { authorization: `Bearer ${operatorToken}`, ...(body && { 'content-type': 'application/json' }) };
    const answer = await fetch(url + path, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, ok: answer.ok, text: await answer.text() };
  }
  return {
    url,
    port,
    pid: child.pid as number,
    readyAfterMs: performance.now() - startedAt,
    async lagP99Ms() {
      const { text } = await send('GET', '/metrics');
      const seconds = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1];
      return Math.max(0, Number(seconds) * 1000 - lagTimerMs);
    },
    async request(method, path, body) {
      const { ok, status, text } = await send(method, path, body);
      if (!ok) throw new Error(`${method} ${path} was answered with ${status}: ${text}`);
      return JSON.parse(text);
    },
    statusOf: async (method, path, body) => (await send(method, path, body)).status,
    stop,
  };
}

async function isReady(url: string): Promise<boolean> {
  // Until it listens, the request fails.
  const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
  await answer?.body?.cancel();
  // A platform that runs alone shows nothing without a token. Its refusal proves that it answers.
  return answer?.status === 200 || answer?.status === 401;
}
