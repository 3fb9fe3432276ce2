/** The endpoints of jobs: schema, who may call, one call, reply. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { page } from '../http/paging.ts';
import type { JobsContext } from './context.ts';
import * as jobs from './jobs.ts';
import { JobCreate, JobListQuery } from './requests.ts';

const params = Type.Object({ jobId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) });

export function jobRoutes(app: FastifyInstance, ctx: JobsContext, publicUrl: string): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');
  const { now } = ctx.runtime;

  routes.get('/jobs', { ...policy, schema: { querystring: JobListQuery } }, async ({ query }) => {
    const rows = await jobs.listJobs(ctx, query);
    const time = now();
    const shown = rows.map((job) => jobs.presentJob(job, time));
    return page(`${publicUrl}/jobs`, query, shown);
  });

  routes.post('/jobs', { ...policy, schema: { body: JobCreate } }, async ({ body }) =>
    jobs.presentJob(await jobs.createJob(ctx, body), now()),
  );

  routes.get('/jobs/:jobId', { ...policy, schema: { params } }, async ({ params: { jobId } }) =>
    jobs.presentJob(await jobs.getJob(ctx.store.db, jobId), now()),
  );

  routes.delete('/jobs/:jobId', { ...policy, schema: { params } }, async ({ params: { jobId } }) =>
    jobs.presentJob(await jobs.cancelJob(ctx, jobId), now()),
  );
}
