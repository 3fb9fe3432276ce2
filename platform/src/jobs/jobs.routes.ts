/** The endpoints of jobs: schema, who may call, one call, reply. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { page } from '../http/paging.ts';
import type { JobsContext } from './context.ts';
import { readLog } from './job-logs.ts';
import * as jobs from './jobs.ts';
import { JobCreate, JobListQuery, JobLogQuery } from './requests.ts';

const params = Type.Object({ jobId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) });

export function jobRoutes(app: FastifyInstance, ctx: JobsContext, publicUrl: string): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');

  routes.get('/jobs', { ...policy, schema: { querystring: JobListQuery } }, async ({ query }) => {
    const shown = await jobs.presentJobs(ctx, await jobs.listJobs(ctx, query));
    return page(`${publicUrl}/jobs`, query, shown);
  });

  routes.post('/jobs', { ...policy, schema: { body: JobCreate } }, async ({ body, query }) =>
    jobs.presentOne(ctx, await jobs.createJob(ctx, body, query)),
  );

  routes.get('/jobs/:jobId', { ...policy, schema: { params } }, async ({ params: { jobId } }) =>
    jobs.presentOne(ctx, await jobs.getJob(ctx.store.db, jobId)),
  );

  // An addition of this platform.
  routes.get('/jobs/:jobId/log', { ...policy, schema: { params, querystring: JobLogQuery } }, async (request) =>
    readLog(ctx, await jobs.getJob(ctx.store.db, request.params.jobId), request.query),
  );

  routes.delete('/jobs/:jobId', { ...policy, schema: { params } }, async ({ params: { jobId } }) =>
    jobs.presentOne(ctx, await jobs.cancelJob(ctx, jobId)),
  );
}
