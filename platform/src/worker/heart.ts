/**
 * The heartbeat of a worker, in a thread of its own, so that nothing that keeps the worker busy lets its leases end.
 *
 * It also keeps the warden (warden.ts), a process beside this one, which ends all connectors when the leases are about to end,
 * even if this process is stopped or hangs. Each deadline counts from when a heartbeat was sent: the coordinator has renewed the
 * leases later than that.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { AttemptRef } from '../attempts/desk.ts';
import { StaleAttempt } from '../attempts/desk.ts';
import type { HeartbeatAnswer, WorkerHeartbeat } from '../attempts/worker-messages.ts';
import { heartbeatEveryMs, workerEndsAfterMs } from '../attempts/worker-terms.ts';
import { systemRuntime } from '../runtime.ts';
import { CoordinatorClient, WorkerRefused } from './coordinator-client.ts';

export interface HeartSettings {
  url: string;
  authorization: string;
  /** The program of the warden and its arguments; without it nobody guards the connectors. */
  warden?: { program: string; args: string[] };
  /** Only tests have it shorter. */
  everyMs?: number;
}

export type ToHeart = { type: 'state'; body: WorkerHeartbeat; beatNow: boolean } | { type: 'alive' } | { type: 'stop' };

export type FromHeart =
  | { type: 'beat'; refs: AttemptRef[]; tasks: string[]; answer: HeartbeatAnswer }
  /** Nothing was heard for so long that the leases count as lost. */
  | { type: 'silent' }
  | { type: 'refused'; message: string }
  /** The warden has gone: nobody would end the connectors in time. */
  | { type: 'unguarded' }
  | { type: 'are you alive' };

const beatTimeoutMs = 5_000;
const againAfterMs = 1_000;
const askEveryMs = 10_000;
/** A main thread that hangs for so long never comes back, and its attempts must not wait for that. */
const hangsAfterMs = 180_000;

/** In the thread, where this file is its program. */
if (parentPort && workerData?.isHeart) void runHeart(parentPort, workerData.settings);

export async function runHeart(
  port: Pick<MessagePort, 'on' | 'postMessage' | 'close'>,
  { url, authorization, warden: wardenProgram, everyMs = heartbeatEveryMs }: HeartSettings,
): Promise<void> {
  const { sleep, elapsed } = systemRuntime;
  const client = new CoordinatorClient({ url, authorization, sleep });
  const warden = wardenProgram && startWarden(wardenProgram, () => tell({ type: 'unguarded' }));
  const stopping = new AbortController();
  let body: WorkerHeartbeat | undefined;
  let waking = new AbortController();
  let aliveMs = elapsed();
  const tell = (message: FromHeart) => port.postMessage(message);

  port.on('message', (message: ToHeart) => {
    if (message.type === 'alive') aliveMs = elapsed();
    else if (message.type === 'state') {
      body = message.body;
      if (message.beatNow) waking.abort();
    } else {
      stopping.abort();
      waking.abort();
    }
  });
  const asking = setInterval(() => {
    if (elapsed() - aliveMs > hangsAfterMs) process.kill(process.pid, 'SIGKILL');
    tell({ type: 'are you alive' });
  }, askEveryMs);

  let heardMs = elapsed();
  let isSilent = false;
  while (!stopping.signal.aborted) {
    waking = new AbortController();
    const sentMs = elapsed();
    const sentAt = process.hrtime.bigint();
    const sent = body;
    let pauseMs = everyMs;
    try {
      if (sent) {
        const signal = stopping.signal;
        const answer = await client.ask('/workers/heartbeat', sent, { timeoutMs: beatTimeoutMs, signal });
        warden?.setDeadline(sentAt + BigInt(workerEndsAfterMs) * 1_000_000n);
        heardMs = sentMs;
        isSilent = false;
        tell({ type: 'beat', refs: sent.attempts, tasks: sent.tasks ?? [], answer: answer as HeartbeatAnswer });
      }
      pauseMs -= elapsed() - sentMs;
    } catch (error) {
      if (error instanceof WorkerRefused) tell({ type: 'refused', message: error.message });
      else if (error instanceof StaleAttempt) throw error;
      pauseMs = againAfterMs * (0.5 + Math.random() / 2);
      if (elapsed() - heardMs > workerEndsAfterMs && !isSilent) {
        isSilent = true;
        tell({ type: 'silent' });
      }
    }
    if (!stopping.signal.aborted) await sleep(Math.max(0, pauseMs), waking.signal);
  }
  clearInterval(asking);
  warden?.stop();
  port.close();
}

function startWarden({ program, args }: { program: string; args: string[] }, onGone: () => void) {
  // In a process group of its own: what stops the group of the worker must not stop it.
  const child: ChildProcess = spawn(program, args, { detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
  let isStopping = false;
  child.on('error', () => isStopping || onGone());
  child.on('exit', () => isStopping || onGone());
  child.stdin?.on('error', () => {});
  return {
    setDeadline: (atNs: bigint) => child.stdin?.write(`${atNs}\n`),
    stop() {
      isStopping = true;
      child.stdin?.end();
    },
  };
}
