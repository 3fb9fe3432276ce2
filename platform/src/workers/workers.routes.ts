/** The endpoints by which operators manage workers: schema, who may call, one call, reply. An addition of this platform. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { Uuid } from '../fields.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import type { WorkersContext } from './context.ts';
import { WorkerCreate, WorkerDrain } from './requests.ts';
import * as workers from './workers.ts';

const params = Type.Object({ workerId: Uuid });

export function workerRoutes(app: FastifyInstance, ctx: WorkersContext): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');

  routes.post('/workers', { ...policy, schema: { body: WorkerCreate } }, async ({ body }, reply) => {
    const enrolled = await workers.enrolWorker(ctx, body);
    return reply.header('cache-control', 'no-store').send(enrolled);
  });

  routes.get('/workers', policy, async () => ({ data: await workers.listWorkers(ctx) }));

  routes.post(
    '/workers/:workerId/drain',
    {
      ...policy,
      schema: { params, body: WorkerDrain },
      preValidation: async (request) => {
        request.body ??= {};
      },
    },
    async ({ params: { workerId }, body }) => workers.drainWorker(ctx, workerId, body.drain ?? true),
  );

  routes.delete('/workers/:workerId', { ...policy, schema: { params } }, async ({ params: { workerId } }, reply) => {
    await workers.revokeWorker(ctx, workerId);
    return reply.code(204).send();
  });
}
