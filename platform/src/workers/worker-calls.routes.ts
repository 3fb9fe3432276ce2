/** The endpoints that workers call: schema, who may call, one call, reply. */
import { GuessLimit } from '@inlay/schedule/guess-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import type { WorkersContext } from './context.ts';
import { WorkerJoin } from './requests.ts';
import { joinAsWorker, withGuessLimit } from './workers.ts';

export function workerCallRoutes(app: FastifyInstance, ctx: WorkersContext): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const guesses = new GuessLimit(ctx.runtime.elapsed);
  const limited = <T>({ ip }: FastifyRequest, work: () => Promise<T>) => withGuessLimit(guesses, ip, work);

  routes.post('/workers/join', { ...access('public'), schema: { body: WorkerJoin } }, async (request) =>
    limited(request, () => joinAsWorker(ctx, request.body)),
  );
}
