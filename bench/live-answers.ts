/* How quickly the service goes on answering while something large is going on. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from './service-process.ts';

/** The most that `/health/live` may take, whatever the service has to do. */
export const liveTargetMs = 100;

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

export async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

export async function until(happened: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!(await happened())) await delay(20, undefined, { signal });
}
