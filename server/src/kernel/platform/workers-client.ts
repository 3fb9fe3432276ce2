/** The workers of the bundled platform: an addition to the hosted platform's public API. */
import type { Runtime } from '../runtime.ts';
import { type Call, readable } from './calls.ts';
import { failureOf } from './foreign-errors.ts';
import { type Item, idOf } from './pipelines-answers.ts';
import { PlatformError } from './platform-port.ts';
import type { PlatformWorker, WorkersPort } from './workers-port.ts';

export function createWorkersClient(call: Call, runtime: Pick<Runtime, 'now'>): WorkersPort {
  return {
    async listWorkers() {
      const answer = await call('list_workers', 'probe', { method: 'GET', path: '/workers' });
      // Some platforms answer an unknown request as a forbidden one.
      if ([403, 404, 405].includes(answer.status)) return undefined;
      const failure = failureOf(answer, 'unavailable', runtime.now());
      if (failure) throw failure;
      const { data } = readable(answer) as { data?: unknown };
      if (!Array.isArray(data)) throw new PlatformError('unavailable', 'the platform returned no list of workers');
      return data.map(readWorker);
    },
    async enrolWorker(worker) {
      const request = { method: 'POST', path: '/workers', body: worker } as const;
      const answer = readable(await call('enrol_worker', 'create', request), 'unknown') as Item;
      const { expiresAt } = answer;
      const worded = { token: idOf(answer, 'token'), expiresAt: typeof expiresAt === 'string' ? expiresAt : null };
      return { worker: readWorker(answer.worker as Item), ...worded };
    },
    async drainWorker(id, drain) {
      const request = { method: 'POST', path: `/workers/${id}/drain`, body: { drain } } as const;
      return await ifThere(async () => readWorker(readable(await call('drain_worker', 'write', request)) as Item));
    },
    async revokeWorker(id) {
      const request = { method: 'DELETE', path: `/workers/${id}` } as const;
      return (await ifThere(async () => await call('revoke_worker', 'write', request))) !== undefined;
    },
  };
}

async function ifThere<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PlatformError && error.failure === 'not_found') return undefined;
    throw error;
  }
}

/** Of our own platform, which may be another version. */
function readWorker(item: Item): PlatformWorker {
  const { workerId, trusted, allowPrivateNetworks, reusable, ...same } = item;
  return {
    ...(same as unknown as PlatformWorker),
    id: String(workerId),
    isTrusted: trusted === true,
    allowsPrivateNetworks: allowPrivateNetworks === true,
    isReusable: reusable === true,
    running: (item.running as Item[]).map(({ jobId, workspaceId, startedAt }) => ({
      jobId: String(jobId),
      workspaceId: String(workspaceId),
      startedAt: String(startedAt),
    })),
  };
}
