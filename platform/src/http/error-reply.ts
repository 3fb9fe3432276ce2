/** Answers failures in the platform's own error shapes (problems.ts). */

import { isStorageFailure } from '@inlay/database/storage-failure';
import { storageFaultOf } from '@inlay/database/storage-state';
import { QueueClosed, QueueFull } from '@inlay/schedule/fair-queue';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { OpaqueRefusal, Problem } from '../problems.ts';
import type { Runtime } from '../runtime.ts';

/** By then, the database is free again, or the stopping process has exited. */
const busySeconds = 1;
/** Nobody frees a disk sooner. */
const faultSeconds = 2;

/** The log entry with the same `errorId` has the details that the reply omits. */
export function createErrorReply({ newId }: Runtime) {
  return async (thrown: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) => {
    const isDisconnect = thrown === request.raw.errored;
    const error = isDisconnect ? thrown : asProblem(thrown);
    if (error instanceof Problem) {
      request.log.info({ err: error }, 'platform: Request refused');
      if (error.title === 'invalid-api-key') void reply.header('www-authenticate', 'Bearer');
      if (error.retryAfterSeconds !== undefined) void reply.header('retry-after', error.retryAfterSeconds);
      return reply.code(error.status).send(error.toBody());
    }
    const errorId = newId();
    if (isDisconnect) {
      // Nobody reads the reply, and nothing is wrong here.
      request.log.debug({ errorId }, 'platform: Client disconnected before the request was complete');
      return reply.code(400).send({ errorId });
    }
    const status = refusedStatus(error);
    if (status === undefined) request.log.error({ err: error, errorId }, 'platform: Request failed');
    else request.log.info({ err: error, errorId }, 'platform: Request refused');
    return reply.code(status ?? 500).send({ errorId });
  };
}

/** Failures below the rules that still have a name for callers. */
function asProblem(thrown: FastifyError | Error): FastifyError | Error {
  const fault = storageFaultOf(thrown);
  if (fault) {
    const message = `Storage is unavailable: storage ${fault}.`;
    return new Problem('service-unavailable', { message }, { cause: thrown, retryAfterSeconds: faultSeconds });
  }
  if (isStorageFailure(thrown) || thrown instanceof QueueClosed)
    return new Problem('service-unavailable', null, { cause: thrown, retryAfterSeconds: busySeconds });
  if (!(thrown instanceof QueueFull)) return thrown;
  return new Problem('queue-full', null, { cause: thrown, retryAfterSeconds: thrown.retryAfterSeconds });
}

/** Undefined when the fault is not the caller's. */
function refusedStatus(error: FastifyError | Error): number | undefined {
  if (error instanceof OpaqueRefusal) return error.status;
  if (!('code' in error) || !error.code.startsWith('FST_ERR_CTP_')) return undefined;
  const { statusCode } = error;
  // The framework calls an unreadable body a bad request; in this API it is an unprocessable one.
  return statusCode === 400 ? 422 : statusCode;
}
