/* The HTTP face of jobs: paths, schemas and access; the rules are in jobs.ts. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { Platform } from '../context.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { page } from '../http/paging.ts';
import { cancelJob, createJob, getJob, JobCreate, JobListQuery, listJobs, showJob } from './jobs.ts';

const params = Type.Object({ jobId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) });

export function jobRoutes(app: FastifyInstance, platform: Platform): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');

  routes.get('/jobs', { ...policy, schema: { querystring: JobListQuery } }, async ({ query }) => {
    const jobs = await listJobs(platform, query);
    const now = platform.now();
    return page(
      platform,
      '/jobs',
      query,
      jobs.map((job) => showJob(job, now)),
    );
  });

  routes.post('/jobs', { ...policy, schema: { body: JobCreate } }, async ({ body }) =>
    showJob(await createJob(platform, body), platform.now()),
  );

  routes.get('/jobs/:jobId', { ...policy, schema: { params } }, async ({ params: { jobId } }) =>
    showJob(await getJob(platform.store, jobId), platform.now()),
  );

  routes.delete('/jobs/:jobId', { ...policy, schema: { params } }, async ({ params: { jobId } }) =>
    showJob(await cancelJob(platform, jobId), platform.now()),
  );
}
