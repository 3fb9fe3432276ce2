/**
 * Questions for connectors (check, discover) of workspaces whose connectors run on workers. A task lives as long as its caller waits:
 * the caller says so every second, and the worker is told with its next heartbeat when nobody does any more. Any coordinator can
 * give the task out and take its answer.
 *
 * Request and answer are sealed at rest, since both can contain secrets. What the worker has answered is checked like the answer of
 * a connector.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { redactor } from '@inlay/contract/text/redaction';
import { storableText } from '@inlay/contract/text/storable-text';
import type { ActorsContext } from '../actors/context.ts';
import type { GivenConnector, GivenTask, TaskAnswer } from '../attempts/worker-messages.ts';
import type { WorkerRow } from '../db/tables.ts';
import { readCatalog } from '../runner/catalog-text.ts';
import { checkedCatalog } from '../runner/checked-catalog.ts';
import type { Launch } from '../runner/programs.ts';
import { type ConfiguredConnector, type Elsewhere, RunFailure } from '../runner/runner.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import type { WorkersContext } from './context.ts';
import { givenConnector, givenLaunch } from './given-connector.ts';
import { liveForMs, readDefinitions } from './live-workers.ts';
import { type PlacedActor, whyNotOnWorker } from './placement.ts';
import * as tasks from './tasks.store.ts';
import * as workers from './workers.store.ts';

type Placing = Pick<WorkersContext, 'store' | 'runtime' | 'actors' | 'waiters'>;

const lookEveryMs = 250;
const callerMs = 10_000;
/** As long as a lease: a worker renews it with its heartbeats. */
export const workerMs = 30_000;
/** A worker that is starting, or starting again, is there by then. */
const unclaimedMs = 15_000;
const maxOffered = 100;
const contextOf = (taskId: string) => `task of a worker ${taskId}`;

interface Request {
  actor: PlacedActor;
  task: Omit<GivenTask, 'taskId' | 'workspaceId' | 'allowPrivateNetworks'>;
}

/** `hasOwnSlots`: whether this process runs connectors that needn't run on a worker. */
export async function findElsewhere(
  ctx: Placing,
  { workspaceId, definition, isCustomersOwn, credential }: Parameters<ActorsContext['findElsewhere']>[0],
  hasOwnSlots: boolean,
): ReturnType<ActorsContext['findElsewhere']> {
  const workspace = await getWorkspace(ctx.store.db, workspaceId);
  if (workspace.worker_labels === null && hasOwnSlots) return undefined;
  const actor: PlacedActor = {
    ...{ kind: definition.kind, definition_id: definition.definitionId },
    credential: credential ? JSON.stringify(credential) : null,
    is_customers_own: Number(isCustomersOwn),
  };
  const whyNowhere = () => whyNoWorker(ctx, workspace, actor);
  if (workspace.worker_labels === null && (await whyNowhere()) !== undefined) return undefined;
  return (launch, connector): Elsewhere => {
    const ask = (command: 'check' | 'discover', signal: AbortSignal | undefined) =>
      askWorker(ctx, { workspaceId, launch, name: definition.name, connector, command, actor, whyNowhere, signal });
    const { redact } = redactor(connector.secrets);
    const clean = (text: string) => storableText(redact(text));
    return {
      async check(signal) {
        const answer = await ask('check', signal);
        if (!('check' in answer)) throw failed(answer, clean);
        if (answer.check === 'failed') {
          return { status: 'failed', message: clean(answer.message), ...(answer.fields && { fields: answer.fields }) };
        }
        const warnings = answer.warnings?.map((warning) => ({ ...warning, message: clean(warning.message) }));
        return { status: 'succeeded', ...(warnings && { warnings }) };
      },
      async discover(signal) {
        const answer = await ask('discover', signal);
        if (!('catalog' in answer)) throw failed(answer, clean);
        return checkedCatalog('source', await unpackCatalog(answer.catalog));
      },
    };
  };
}

const maxCatalogText = 16_000_000;

/** Throws for what isn't one. */
export async function unpackCatalog(packed: string) {
  const text = await promisify(gunzip)(Buffer.from(packed, 'base64'), { maxOutputLength: maxCatalogText });
  return await readCatalog(text.toString('utf8'));
}

function failed(answer: TaskAnswer, clean: (text: string) => string): RunFailure {
  if (!('failure' in answer)) return new RunFailure(unexpected);
  const { message, internalMessage, ...failure } = answer.failure;
  return new RunFailure({ ...failure, message: clean(message) });
}

const unexpected = {
  message: 'The worker answered another question than it was asked.',
  origin: 'platform',
  type: 'system_error',
} as const;

interface Asked {
  workspaceId: string;
  launch: Launch;
  /** Of the connector. */
  name: string;
  connector: ConfiguredConnector;
  command: 'check' | 'discover';
  actor: PlacedActor;
  whyNowhere(): Promise<string | undefined>;
  signal: AbortSignal | undefined;
}

async function askWorker(ctx: Placing, asked: Asked): Promise<TaskAnswer> {
  const { store, runtime, actors, waiters } = ctx;
  const { workspaceId, connector, command, actor, signal } = asked;
  const taskId = runtime.newId();
  const { launch, texts } = await givenLaunch(asked.launch, asked.name);
  const given: GivenConnector = { launch, ...givenConnector(ctx, connector) };
  const request: Request = { actor, task: { kind: connector.kind, command, connector: given, texts } };
  const sealed = actors.sealer.seal(JSON.stringify(request), contextOf(taskId));
  await tasks.insertTask(store.db, workspaceId, { taskId, request: sealed, callerMs });
  waiters.wake();
  const startedMs = runtime.elapsed();
  try {
    for (;;) {
      signal?.throwIfAborted();
      const state = await tasks.readAnswer(store.db, workspaceId, taskId, callerMs);
      if (!state) throw new Error(`the task ${taskId} is gone`);
      if (state.answer !== null) return JSON.parse(actors.sealer.open(state.answer, contextOf(taskId)));
      if (state.worker_id === null && runtime.elapsed() - startedMs > unclaimedMs) {
        const message = (await asked.whyNowhere()) ?? 'All workers are busy. Try again later.';
        throw new RunFailure({ origin: 'platform', type: 'transient_error', message });
      }
      await runtime.sleep(lookEveryMs, signal);
    }
  } finally {
    await tasks.deleteTask(store.db, workspaceId, taskId);
  }
}

async function whyNoWorker(
  { store, actors }: Placing,
  workspace: Parameters<typeof whyNotOnWorker>[1]['workspace'],
  actor: PlacedActor,
): Promise<string | undefined> {
  const find = await readDefinitions(actors, store.db);
  const reasons = new Set<string>();
  for (const worker of await workers.listLive(store.db, liveForMs)) {
    const reason = whyNotOnWorker(worker, { workspace, actors: [actor] }, find);
    if (reason === undefined) return undefined;
    reasons.add(reason);
  }
  return [...reasons][0] ?? 'No worker is connected.';
}

export async function isAnyTaskOpen({ store }: Pick<WorkersContext, 'store'>): Promise<boolean> {
  return (await tasks.listOpenTasks(store.db, 1)).length > 0;
}

/** The oldest task that the worker can do. */
export async function takeTask(ctx: WorkersContext, worker: WorkerRow): Promise<GivenTask | undefined> {
  const { store, actors } = ctx;
  if (!(await isAnyTaskOpen(ctx))) return undefined;
  return await store.transaction(async (tx) => {
    const find = await readDefinitions(actors, tx);
    for (const { task_id: taskId, workspace_id: workspaceId, request } of await tasks.listOpenTasks(tx, maxOffered)) {
      const { actor, task }: Request = JSON.parse(actors.sealer.open(request, contextOf(taskId)));
      const workspace = await getWorkspace(tx, workspaceId);
      if (whyNotOnWorker(worker, { workspace, actors: [actor] }, find) !== undefined) continue;
      await tasks.claimTask(tx, taskId, worker.worker_id, workerMs);
      return { ...task, taskId, workspaceId, allowPrivateNetworks: worker.allows_private_networks === 1 };
    }
    return undefined;
  });
}

export async function endTask(
  ctx: WorkersContext,
  worker: WorkerRow,
  taskId: string,
  answer: TaskAnswer,
): Promise<void> {
  const sealed = ctx.actors.sealer.seal(JSON.stringify(answer), contextOf(taskId));
  await tasks.putAnswer(ctx.store.db, worker.worker_id, taskId, sealed);
}

export const renewTasks = async ({ store }: WorkersContext, worker: WorkerRow, taskIds: readonly string[]) =>
  taskIds.length === 0 ? [] : await tasks.renewTasks(store.db, worker.worker_id, taskIds, workerMs);
