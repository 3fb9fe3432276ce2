/** The endpoints by which operators manage workers. A token is shown in exactly one answer: when it is created. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../kernel/http/endpoint.ts';
import { causedBy } from '../log/events/journal.ts';
import * as workers from './workers.ts';

export function workerRoutes(app: FastifyInstance, ctx: workers.WorkersContext): void {
  serve(app, operations.workers, {
    list: async ({ principal: { organizationId } }) => ({ data: await workers.listWorkers(ctx, organizationId) }),

    enrol: ({ principal: { organizationId }, body, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      return workers.enrolWorker(causedBy(ctx, cause), organizationId, body);
    },

    drain: ({ principal: { organizationId }, params, body: { drain = true }, cause }) =>
      workers.drainWorker(causedBy(ctx, cause), organizationId, params.worker_id, drain),

    revoke: ({ principal: { organizationId }, params, cause }) =>
      workers.revokeWorker(causedBy(ctx, cause), organizationId, params.worker_id),
  });
}
