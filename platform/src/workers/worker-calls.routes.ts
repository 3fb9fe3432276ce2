/**
 * The endpoints that workers call, with their own tokens: schema, who may call, one call, reply. The token is checked before the
 * body is read.
 */
import { GuessLimit } from '@inlay/schedule/guess-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AttemptRef, StaleAttempt } from '../attempts/desk.ts';
import {
  type AttemptCall,
  attemptCalls,
  type ClaimAnswer,
  checkpointBytes,
  type HeartbeatAnswer,
  WorkerClaim,
  WorkerHeartbeat,
  WorkerJoin,
  WorkerTaskEnd,
} from '../attempts/worker-messages.ts';
import { attemptHeader, workerProtocol } from '../attempts/worker-terms.ts';
import type { WorkerRow } from '../db/tables.ts';
import { access, accessOfWorkers, type SchemaTypes } from '../http/endpoint.ts';
import { Problem } from '../problems.ts';
import { attemptHandlers } from './attempt-calls.ts';
import { openAttempt, sealAttempt } from './attempt-tokens.ts';
import { claimForWorker, handBackAll } from './claims.ts';
import type { WorkersContext } from './context.ts';
import { ownerOf } from './live-workers.ts';
import { endTask, renewTasks } from './tasks.ts';
import * as workers from './workers.store.ts';
import { authenticateWorker, joinAsWorker, withGuessLimit } from './workers.ts';

const bodyLimits: Partial<Record<AttemptCall, number>> = {
  plan: 16_500_000,
  checkpoint: checkpointBytes,
  logs: 8_000_000,
  finish: 64_000_000,
  configuration: 4_000_000,
  anew: 4_000_000,
};

export function workerCallRoutes(app: FastifyInstance, ctx: WorkersContext): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const guesses = new GuessLimit(ctx.runtime.elapsed);
  const limited = <T>({ ip: address }: FastifyRequest, token: string, work: () => Promise<T>) =>
    withGuessLimit(guesses, { address, token }, work);
  const callers = new WeakMap<FastifyRequest, { worker: WorkerRow; ref: AttemptRef | undefined }>();
  const workerOf = (request: FastifyRequest) => (callers.get(request) as { worker: WorkerRow }).worker;

  routes.post('/workers/join', { ...access('public'), schema: { body: WorkerJoin } }, async (request) =>
    limited(request, request.body.token, () => joinAsWorker(ctx, request.body)),
  );

  const policy = {
    ...accessOfWorkers(),
    async onRequest(request: FastifyRequest) {
      const { authorization, [attemptHeader]: attempt } = request.headers;
      const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
      const worker = await limited(request, token, () => authenticateWorker(ctx, token));
      const ref = attempt === undefined ? undefined : openAttempt(ctx.actors.sealer, worker.worker_id, attempt);
      callers.set(request, { worker, ref });
    },
  };

  routes.post('/workers/claim', { ...policy, schema: { body: WorkerClaim } }, async (request, reply) => {
    const worker = workerOf(request);
    const { body } = request;
    const { version, slots, freeSlots, connectors, freeTasks = 0 } = understood(body);
    const told = { version, slots, free_slots: freeSlots, connectors: JSON.stringify(connectors) };
    await workers.recordSeen(ctx.store.db, worker.worker_id, told);
    if (worker.is_draining === 1) return { isDraining: true } satisfies ClaimAnswer;
    const waiting = { freeTasks, gone: goneOf(request, reply) };
    const { assignment, task } = await claimForWorker(ctx, { ...worker, ...told }, waiting);
    // It may have been drained while it waited; a job that it got is handed back with its next heartbeat.
    const answer: ClaimAnswer = { isDraining: false, ...(task && { task }) };
    if (!assignment) return answer;
    const token = sealAttempt(ctx.actors.sealer, worker.worker_id, assignment);
    const allowPrivateNetworks = worker.allows_private_networks === 1;
    return { ...answer, assignment: { ...assignment, token, allowPrivateNetworks } } satisfies ClaimAnswer;
  });

  routes.post('/workers/heartbeat', { ...policy, schema: { body: WorkerHeartbeat } }, async (request) => {
    const worker = workerOf(request);
    const { version, slots, freeSlots, attempts, tasks = [], isFresh } = understood(request.body);
    if (isFresh) await handBackAll(ctx, worker);
    await workers.recordSeen(ctx.store.db, worker.worker_id, { version, slots, free_slots: freeSlots });
    const beats = attempts.map(({ progress, ...ref }) => ({ ref, progress }));
    const renewed = await ctx.attempts.renew(ownerOf(worker), beats);
    const stops = renewed.map(({ stop }) => stop ?? null);
    const isDraining = worker.is_draining === 1;
    return { isDraining, stops, tasks: await renewTasks(ctx, worker, tasks) } satisfies HeartbeatAnswer;
  });

  const taskEnd = { ...policy, schema: { body: WorkerTaskEnd }, bodyLimit: 17_000_000 };
  routes.post('/workers/task/finish', taskEnd, async (request) => {
    await endTask(ctx, workerOf(request), request.body.taskId, request.body.answer);
    return {};
  });

  for (const name of Object.keys(attemptCalls) as AttemptCall[]) addCall(name);

  function addCall<C extends AttemptCall>(name: C): void {
    const limit = bodyLimits[name];
    const options = {
      ...policy,
      schema: { body: attemptCalls[name] },
      ...(limit !== undefined && { bodyLimit: limit }),
    };
    app.post(`/workers/attempt/${name}`, options, async (request, reply) => {
      const { worker, ref } = callers.get(request) ?? {};
      if (!worker || !ref) throw new Problem('forbidden', { message: 'The attempt token is missing.' });
      try {
        const caller = { worker, ref, signal: goneOf(request, reply) };
        return await attemptHandlers[name](ctx, caller, request.body as Parameters<(typeof attemptHandlers)[C]>[2]);
      } catch (error) {
        if (!(error instanceof StaleAttempt)) throw error;
        throw new Problem('state-conflict', { message: error.message }, { cause: error });
      }
    });
  }
}

/** A worker of the version before is understood; any other is told what to do. */
function understood<T extends { protocol: number; version: string }>(body: T): T {
  const { protocol, version } = body;
  if (protocol > workerProtocol) {
    const message = `This worker (version ${version}) is newer than the platform. Upgrade the platform first.`;
    throw new Problem('unprocessable-entity', { message });
  }
  if (protocol < workerProtocol - 1) {
    throw new Problem('unprocessable-entity', { message: `This worker (version ${version}) is too old. Upgrade it.` });
  }
  return body;
}

/** Aborted when the caller has gone before it was answered. */
function goneOf(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const over = () => reply.raw.writableEnded || gone.abort();
  request.raw.socket.once('close', over);
  reply.raw.once('close', () => {
    request.raw.socket.off('close', over);
    over();
  });
  return gone.signal;
}
