/* How quickly the service goes on answering while something large is going on. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Figure } from './benchmark.ts';
import type { ServiceProcess } from './service-process.ts';
import type { BenchmarkSettings } from './settings.ts';

/** Asks again and again until the function is called, which gives the time that the slowest answer took. */
export function watchLive({ url }: ServiceProcess): () => Promise<number> {
  let isOver = false;
  let slowestMs = 0;
  const watching = (async () => {
    while (!isOver) {
      const tookMs = await timed(async () => void (await (await fetch(`${url}/health/live`)).text()));
      slowestMs = Math.max(slowestMs, tookMs);
      await delay(10);
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    return slowestMs;
  };
}

/** The slowest answer of a service that has nothing to do: what the machine itself takes, whatever else it does meanwhile. */
export async function slowestWhenIdle(
  service: ServiceProcess,
  { watchMs, signal }: Pick<BenchmarkSettings, 'watchMs' | 'signal'>,
): Promise<number> {
  const idle = watchLive(service);
  await delay(Math.min(watchMs, 5_000), undefined, { signal });
  return await idle();
}

/** @param work what goes on meanwhile. */
export const liveFigure = (work: string, value: number, idleMs: number): Figure => ({
  work,
  value,
  unit: 'ms',
  reference: { name: 'the slowest of an idle service', value: idleMs },
  ratio: value / idleMs,
  target: { of: 'value', atMost: 100 },
});

export async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

export async function until(happened: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!(await happened())) await delay(20, undefined, { signal });
}
