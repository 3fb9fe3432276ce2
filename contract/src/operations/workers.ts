/** Operations on the deployment's workers. Only for the organization that runs the deployment. */
import {
  DrainWorkerRequest,
  EnrolWorkerRequest,
  Worker,
  WorkerList,
  WorkerPath,
  WorkerWithToken,
} from '../pipelines/workers.ts';
import type { Operation } from './operation.ts';

const about = { access: 'operator', tag: 'Workers' } as const;
const always = ['deployment_only', 'workers_unsupported', 'platform_does_not_answer'] as const;

export const workers = {
  list: {
    ...about,
    route: 'GET /api/v1/integrations/workers',
    summary: 'List workers',
    description:
      'Returns the machines that run syncs for the bundled platform, newest first, with what they run. Revoked ones are listed for a day.',
    answer: WorkerList,
    errors: always,
  },
  enrol: {
    ...about,
    route: 'POST /api/v1/integrations/workers',
    summary: 'Enrol worker',
    description:
      'Returns a token with which a machine becomes a worker: run `inlay worker` there with `INLAY_WORKER_URL` and `INLAY_WORKER_TOKEN`. The token is returned only once. A worker gets the secrets of every sync that it runs, so enrol only machines that you control.',
    body: EnrolWorkerRequest,
    status: 201,
    isAdministration: true,
    answer: WorkerWithToken,
    errors: always,
  },
  drain: {
    ...about,
    route: 'POST /api/v1/integrations/workers/{worker_id}/drain',
    summary: 'Drain worker',
    description:
      'Gives the worker no more syncs. It hands back those it runs after their last confirmed state, and they continue on another worker. With `drain: false` it takes syncs again.',
    params: WorkerPath,
    body: DrainWorkerRequest,
    isRepeatable: true,
    isAdministration: true,
    answer: Worker,
    errors: [...always, 'worker_not_found'],
  },
  revoke: {
    ...about,
    route: 'DELETE /api/v1/integrations/workers/{worker_id}',
    summary: 'Revoke worker',
    description:
      "Rejects the worker's token from now on, and the tokens of all workers that joined with it if it is a reusable enrolment. Its syncs continue on another worker once their lease has ended, within 30 seconds. Drain it first to lose no work.",
    params: WorkerPath,
    isAdministration: true,
    answer: Worker,
    errors: [...always, 'worker_not_found'],
  },
} as const satisfies Record<string, Operation>;
