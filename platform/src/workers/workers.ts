/**
 * Workers: machines that run attempts for this platform. They reach it, never the other way round.
 *
 * Invariants: what a worker may do (labels, workspaces, trust, private networks) was said by the operator when they
 * enrolled it, and nothing a worker sends changes it. The store has only hashes of tokens. A one-time token makes one
 * machine a worker, once; the same machine may repeat itself, since an answer can be lost. Whether a worker is there is
 * judged by the database's clock.
 */
import { type GuessLimit, networkOf } from '@inlay/schedule/guess-limit';
import type { Static } from 'typebox';
import type { WorkerJoin } from '../attempts/worker-messages.ts';
import type { Db } from '../db/open.ts';
import { isoTime } from '../iso-time.ts';
import { Problem, resourceNotFound } from '../problems.ts';
import type { WorkersContext } from './context.ts';
import { liveForMs, ownerOf } from './live-workers.ts';
import type { WorkerCreate } from './requests.ts';
import { hashOfSecret, isSecretOf, newSecret, readWorkerToken, workerToken } from './worker-tokens.ts';
import * as workers from './workers.store.ts';

const enrolmentMs = 3_600_000;
const keptMs = 86_400_000;
const maxListed = 1_000;

/** The token is shown once. */
export async function enrolWorker(ctx: WorkersContext, request: WorkerCreate) {
  const workerId = ctx.runtime.newId();
  const secret = newSecret();
  const isReusable = request.reusable ?? false;
  const worker = await ctx.store.transaction(async (tx) => {
    await workers.deleteGoneWorkers(tx, keptMs);
    const row = {
      worker_id: workerId,
      enrolment_id: null,
      name: request.name ?? `worker ${workerId.slice(0, 8)}`,
      labels: JSON.stringify(request.labels ?? {}),
      workspace_ids: request.workspaceIds ? JSON.stringify(request.workspaceIds.map((id) => id.toLowerCase())) : null,
      is_trusted: Number(request.trusted ?? false),
      allows_private_networks: Number(request.allowPrivateNetworks ?? false),
      is_reusable: Number(isReusable),
      enrolment_hash: hashOfSecret(secret),
      ...nothingYet,
    };
    return await workers.insertWorker(tx, row, isReusable ? undefined : enrolmentMs);
  });
  const { enrolment_ends_at: endsAt } = worker;
  return {
    worker: present({ ...worker, now: worker.created_at }, []),
    token: workerToken({ kind: 'enrolment', workerId, secret }),
    expiresAt: endsAt === null ? null : isoTime(endsAt),
  };
}

const nothingYet = {
  token_hash: null,
  version: null,
  slots: 0,
  free_slots: 0,
  connectors: '[]',
  is_draining: 0,
  seen_at: null,
  revoked_at: null,
};

/** A machine joins: `secret` is its own, of which the store keeps the hash. */
export async function joinAsWorker(
  ctx: WorkersContext,
  { token, secret, hostname }: Static<typeof WorkerJoin>,
): Promise<{ workerId: string }> {
  const given = readWorkerToken(token);
  if (given?.kind !== 'enrolment') throw new Problem('invalid-api-key', { message: 'This is not an enrolment token.' });
  return await ctx.store.transaction(async (tx) => {
    const enrolment = await workers.findWorker(tx, given.workerId);
    const isKnown = isSecretOf(enrolment?.enrolment_hash, given.secret);
    if (!enrolment || !isKnown) throw new Problem('invalid-api-key', { message: 'Unknown enrolment token.' });
    if (enrolment.revoked_at !== null) throw refused('This enrolment was revoked.');
    const token_hash = hashOfSecret(secret);
    if (enrolment.is_reusable === 1) {
      const joined = await workers.findJoined(tx, enrolment.worker_id, token_hash);
      if (joined) return { workerId: joined.worker_id };
      const { now: _now, created_at: _at, enrolment_ends_at: _ends, ...given } = enrolment;
      const own = { ...nothingYet, token_hash, worker_id: ctx.runtime.newId(), enrolment_id: enrolment.worker_id };
      const name = `${enrolment.name} ${hostname}`.trim();
      const row = { ...given, ...own, name, is_reusable: 0, enrolment_hash: null };
      return { workerId: (await workers.insertWorker(tx, row, undefined)).worker_id };
    }
    if (isSecretOf(enrolment.token_hash, secret)) return { workerId: enrolment.worker_id };
    if (enrolment.token_hash !== null) {
      throw refused('Another machine has used this one-time token. Enrol each worker: inlay workers enrol');
    }
    if ((enrolment.enrolment_ends_at ?? 0) <= enrolment.now) {
      throw refused('This one-time token has expired. Enrol the worker again: inlay workers enrol');
    }
    await workers.updateWorker(tx, enrolment.worker_id, { token_hash });
    return { workerId: enrolment.worker_id };
  });
}

const refused = (message: string) => new Problem('forbidden', { message });

/**
 * Wrong secrets for one worker from one network slow that down, and right ones with them, so that a refusal reveals nothing. Others
 * behind the same address aren't touched, and a text that isn't a token guesses nothing.
 */
export async function withGuessLimit<T>(
  guesses: GuessLimit,
  { address, token }: { address: string; token: string },
  work: () => Promise<T>,
): Promise<T> {
  const named = readWorkerToken(token)?.workerId;
  const caller = `${named} ${networkOf(address)}`;
  const retryAfterSeconds = named === undefined ? undefined : guesses.waitSeconds(caller);
  if (retryAfterSeconds !== undefined) {
    const message = `Too many failed attempts. Try again in ${retryAfterSeconds} s.`;
    throw new Problem('too-many-requests', { message }, { retryAfterSeconds });
  }
  try {
    return await work();
  } catch (error) {
    if (named !== undefined && error instanceof Problem && error.title === 'invalid-api-key')
      guesses.recordWrong(caller);
    throw error;
  }
}

/** The worker that a request comes from. Throws for a token that is wrong, and for a worker that was revoked. */
export async function authenticateWorker({ store }: WorkersContext, token: string) {
  const given = readWorkerToken(token);
  const worker = given?.kind === 'worker' ? await workers.findWorker(store.db, given.workerId) : undefined;
  if (!given || !worker || !isSecretOf(worker.token_hash, given.secret)) {
    throw new Problem('invalid-api-key', { message: 'Unknown worker. Enrol it again: inlay workers enrol' });
  }
  if (worker.revoked_at !== null) throw refused('This worker was revoked.');
  return worker;
}

export async function listWorkers({ store }: Pick<WorkersContext, 'store'>) {
  const running = await workers.listRunning(store.db);
  return (await workers.listWorkers(store.db, maxListed)).map((row) => present(row, running));
}

/** It finishes nothing that it runs, but hands it back after its last confirmed state. */
export async function drainWorker({ store }: WorkersContext, workerId: string, isDraining: boolean) {
  const id = workerId.toLowerCase();
  return await store.transaction(async (tx) => {
    const worker = await getLive(tx, id);
    await workers.updateWorker(tx, id, { is_draining: Number(isDraining) });
    return present({ ...worker, is_draining: Number(isDraining) }, await workers.listRunning(tx));
  });
}

/** From now on its calls are refused; what it runs ends with its lease, and continues elsewhere. */
export async function revokeWorker({ store }: WorkersContext, workerId: string): Promise<void> {
  const id = workerId.toLowerCase();
  await store.transaction(async (tx) => {
    await getLive(tx, id);
    await workers.revokeWorkers(tx, id);
  });
}

async function getLive(tx: Db, id: string): Promise<workers.TimedWorker> {
  const worker = await workers.findWorker(tx, id);
  if (!worker || worker.revoked_at !== null) throw resourceNotFound('worker', id);
  return worker;
}

/** What waits for a slot, and how many slots are free on workers, by labels (`region=eu`; empty for none): for those who scale workers. */
export async function readDemand({ store }: WorkersContext) {
  const due = await workers.countDue(store.db);
  const free = new Map<string, number>();
  for (const { labels, free_slots } of await workers.listLive(store.db, liveForMs)) {
    const words = labelWords(JSON.parse(labels));
    free.set(words, (free.get(words) ?? 0) + free_slots);
  }
  return {
    oldestPendingMs: Math.max(0, ...due.map(({ oldestMs }) => oldestMs)),
    pending: due.map(({ labels, jobs }) => ({ labels: labelWords(labels ? JSON.parse(labels) : {}), jobs })),
    free: [...free].map(([labels, slots]) => ({ labels, slots })),
  };
}

const labelWords = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map((pair) => pair.join('='))
    .sort()
    .join(',');

type WorkerState = 'waiting' | 'online' | 'draining' | 'offline' | 'revoked';

function stateOf(worker: workers.TimedWorker): WorkerState {
  if (worker.revoked_at !== null) return 'revoked';
  if (worker.seen_at === null) return 'waiting';
  if (worker.now - worker.seen_at > liveForMs) return 'offline';
  return worker.is_draining === 1 ? 'draining' : 'online';
}

function present(row: workers.TimedWorker, running: readonly workers.RunningAttempt[]) {
  const { seen_at: seenAt } = row;
  const own = running.filter(({ owner }) => owner === ownerOf(row));
  return {
    workerId: row.worker_id,
    name: row.name,
    labels: JSON.parse(row.labels) as Record<string, string>,
    workspaceIds: row.workspace_ids === null ? null : (JSON.parse(row.workspace_ids) as string[]),
    trusted: row.is_trusted === 1,
    allowPrivateNetworks: row.allows_private_networks === 1,
    reusable: row.is_reusable === 1,
    enrolmentId: row.enrolment_id,
    version: row.version,
    slots: row.slots,
    freeSlots: row.free_slots,
    connectors: JSON.parse(row.connectors) as string[],
    state: stateOf(row),
    createdAt: isoTime(row.created_at),
    lastSeenAt: seenAt === null ? null : isoTime(seenAt),
    running: own.map(({ job_id: jobId, connection_id: connectionId, workspace_id: workspaceId, started_at }) => ({
      ...{ jobId, connectionId, workspaceId },
      startedAt: isoTime(started_at),
    })),
  };
}

export type Worker = ReturnType<typeof present>;
