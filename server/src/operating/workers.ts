/**
 * The deployment's workers: machines that run syncs for the bundled platform, which keeps them. This file adds who may
 * manage them, what is recorded, and the names of what they run.
 *
 * Invariants: only the first organization, which runs the deployment, sees workers, and of other organizations only that they
 * use a slot. A token is returned to nobody unless its enrolment is in the audit trail.
 */
import type { EnrolWorkerRequest, Worker, WorkerWithToken } from '@inlay/contract/pipelines/workers';
import { AppError } from '../kernel/errors.ts';
import { PlatformError } from '../kernel/platform/platform-port.ts';
import type { PlatformWorker } from '../kernel/platform/workers-port.ts';
import type { EntryType } from '../log/events/catalogue.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { delayOf } from '../tenancy/workspaces/operations.ts';
import { findRunning } from './workers.store.ts';

export interface WorkersContext extends Pick<PipelinesContext, 'store' | 'platform' | 'journal'> {
  firstOrganizationId: string;
  /** Where workers reach the platform. */
  workerUrl: string;
}

export async function listWorkers(ctx: WorkersContext, organizationId: string): Promise<Worker[]> {
  return await present(ctx, organizationId, await readWorkers(ctx, organizationId));
}

export async function enrolWorker(
  ctx: WorkersContext,
  organizationId: string,
  request: EnrolWorkerRequest,
): Promise<WorkerWithToken> {
  await readWorkers(ctx, organizationId);
  const { name, labels, trusted, reusable } = request;
  const given = { workspaceIds: request.workspace_ids, allowPrivateNetworks: request.allow_private_networks };
  const enrolled = await asked(ctx.platform.enrolWorker({ name, labels, trusted, reusable, ...given }));
  await record(ctx, organizationId, 'worker.enrolled', enrolled.worker, undefined, settingsOf(enrolled.worker));
  const [worker] = await present(ctx, organizationId, [enrolled.worker]);
  return { worker: worker as Worker, token: enrolled.token, url: ctx.workerUrl, expires_at: enrolled.expiresAt };
}

export async function drainWorker(
  ctx: WorkersContext,
  organizationId: string,
  id: string,
  drain: boolean,
): Promise<Worker> {
  await getWorker(ctx, organizationId, id);
  const worker = await asked(ctx.platform.drainWorker(id, drain));
  if (!worker) throw new AppError('worker_not_found');
  const type = drain ? 'worker.drained' : 'worker.resumed';
  await record(ctx, organizationId, type, worker, { draining: !drain }, { draining: drain });
  const [presented] = await present(ctx, organizationId, [worker]);
  return presented as Worker;
}

export async function revokeWorker(ctx: WorkersContext, organizationId: string, id: string): Promise<Worker> {
  const before = await getWorker(ctx, organizationId, id);
  if (!(await asked(ctx.platform.revokeWorker(id)))) throw new AppError('worker_not_found');
  const worker = { ...before, state: 'revoked' as const };
  await record(ctx, organizationId, 'worker.revoked', worker, { state: before.state }, { state: worker.state });
  const [presented] = await present(ctx, organizationId, [worker]);
  return presented as Worker;
}

async function getWorker(ctx: WorkersContext, organizationId: string, id: string): Promise<PlatformWorker> {
  const worker = (await readWorkers(ctx, organizationId)).find((one) => one.id === id.toLowerCase());
  if (!worker || worker.state === 'revoked') throw new AppError('worker_not_found');
  return worker;
}

async function readWorkers(ctx: WorkersContext, organizationId: string): Promise<PlatformWorker[]> {
  if (organizationId !== ctx.firstOrganizationId) throw new AppError('deployment_only');
  const workers = await asked(ctx.platform.listWorkers());
  if (!workers) throw new AppError('workers_unsupported');
  return workers;
}

async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new AppError('platform_does_not_answer', { delay: delayOf(error) }, { cause: error });
  }
}

function settingsOf({ labels, workspaceIds, isTrusted, allowsPrivateNetworks, isReusable }: PlatformWorker) {
  return {
    ...{ labels, workspace_ids: workspaceIds, trusted: isTrusted },
    ...{ allow_private_networks: allowsPrivateNetworks, reusable: isReusable },
  };
}

/** The platform has made the change, whatever happens now. */
async function record(
  { store, journal }: WorkersContext,
  organizationId: string,
  type: EntryType & `worker.${string}`,
  { id, name }: PlatformWorker,
  before: Record<string, unknown> | undefined,
  after: Record<string, unknown>,
): Promise<void> {
  await store.transaction(async (tx) => {
    await journal.record(tx, organizationId, { type, data: { worker: { id, name } }, change: { before, after } });
  });
}

async function present(
  { store }: WorkersContext,
  organizationId: string,
  workers: readonly PlatformWorker[],
): Promise<Worker[]> {
  const jobIds = workers.flatMap(({ running }) => running.map(({ jobId }) => jobId));
  const known = new Map((await findRunning(store.db, organizationId, jobIds)).map((job) => [job.platform_id, job]));
  return workers.map(({ isTrusted, isReusable, allowsPrivateNetworks, ...worker }) => ({
    ...{ id: worker.id, name: worker.name, state: worker.state, labels: worker.labels },
    ...{ workspace_ids: worker.workspaceIds, trusted: isTrusted, allow_private_networks: allowsPrivateNetworks },
    ...{ reusable: isReusable, enrolment_id: worker.enrolmentId, version: worker.version },
    ...{ slots: worker.slots, free_slots: worker.freeSlots },
    running: worker.running.map(({ jobId, startedAt }) => {
      const job = known.get(jobId);
      const { id = null, workspace_id = null, workspace_name = null } = job ?? {};
      return { job_id: id, workspace_id, workspace_name, started_at: startedAt };
    }),
    created_at: worker.createdAt,
    last_seen_at: worker.lastSeenAt,
  }));
}
