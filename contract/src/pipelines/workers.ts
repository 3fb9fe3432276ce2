/** Schemas for workers: machines that run syncs for the bundled platform. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';

const exampleId = '0d1f3b57-6f0c-4a3e-9a52-7c1b2e8d4f60';
const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';
const exampleJobId = '1f0e5b7a-6c43-4d19-9b0e-3a52c8d7f416';

const word = '^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$';
const labelsExample = { region: 'eu-central', network: 'dmz' };
const orNull = <T>(schema: object, description: string, example: T) =>
  Type.Unsafe<T | null>({ ...schema, description, examples: [example] });

export const EnrolWorkerRequest = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        format: 'name',
        minLength: 1,
        maxLength: 100,
        description: 'Name of the worker. Defaults to the beginning of its ID.',
        examples: ['warehouse-eu-1'],
      }),
    ),
    labels: Type.Optional(
      Type.Record(Type.String({ pattern: word }), Type.String({ pattern: word }), {
        maxProperties: 20,
        description: 'Labels that workspaces can require. They cannot be changed later.',
        examples: [labelsExample],
      }),
    ),
    workspace_ids: Type.Optional(
      Type.Array(Uuid('ID of a workspace.', exampleWorkspaceId), {
        minItems: 1,
        maxItems: 1_000,
        description:
          "The only workspaces whose syncs the worker runs. Defaults to all. Such a worker counts as part of a customer's network and gets none of your secrets, unless it is `trusted`.",
      }),
    ),
    trusted: Type.Optional(
      Type.Boolean({ description: 'Whether a worker with `workspace_ids` may get your secrets. Defaults to false.' }),
    ),
    allow_private_networks: Type.Optional(
      Type.Boolean({
        description: "Whether its connectors may reach the worker's private networks. Defaults to false.",
      }),
    ),
    reusable: Type.Optional(
      Type.Boolean({
        description:
          'Whether any number of machines may join with the token until it is revoked, for example replicas that an autoscaler starts. Otherwise the token works once, within an hour. Defaults to false.',
      }),
    ),
  },
  { title: 'Worker enrolment', examples: [{ name: 'warehouse-eu-1', labels: labelsExample }] },
);
export type EnrolWorkerRequest = Static<typeof EnrolWorkerRequest>;

export const workerStates = ['waiting', 'online', 'draining', 'offline', 'revoked'] as const;
export type WorkerState = (typeof workerStates)[number];

const RunningSync = Type.Object(
  {
    job_id: orNull(
      { type: ['string', 'null'] },
      'ID of the job. Null if the job belongs to another organization or is not recorded yet.',
      exampleJobId,
    ),
    workspace_id: orNull(
      { type: ['string', 'null'], format: 'uuid' },
      'Workspace of the job. Null for a workspace of another organization.',
      exampleWorkspaceId,
    ),
    workspace_name: orNull({ type: ['string', 'null'] }, 'Name of the workspace.', 'acme-inc'),
    started_at: Timestamp('When the worker started it.'),
  },
  { title: 'Sync on a worker' },
);

export const Worker = Type.Object(
  {
    id: Uuid('Identifier of the worker.', exampleId),
    name: Type.String({ description: 'Name of the worker.', examples: ['warehouse-eu-1'] }),
    state: Enumeration(workerStates, {
      description:
        'What the worker is doing. `waiting`: no machine has joined with the token yet; a reusable enrolment stays `waiting`. `online`: takes syncs. `draining`: finishes or hands back what it runs, and takes nothing new. `offline`: not heard of for 30 seconds; its syncs continue elsewhere. `revoked`: its token no longer works.',
    }),
    labels: Type.Record(Type.String(), Type.String(), {
      description: 'Labels of the worker.',
      examples: [labelsExample],
    }),
    workspace_ids: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string', format: 'uuid' },
      description: 'The only workspaces whose syncs the worker runs. Null means all.',
    }),
    trusted: Type.Boolean({ description: 'Whether a worker with `workspace_ids` may get your secrets.' }),
    allow_private_networks: Type.Boolean({
      description: "Whether connectors may reach the worker's private networks.",
    }),
    reusable: Type.Boolean({ description: 'Whether any number of machines may join with the token.' }),
    enrolment_id: orNull(
      { type: ['string', 'null'], format: 'uuid' },
      'The reusable enrolment with which the worker joined, if any. Revoking that one revokes this worker.',
      exampleId,
    ),
    version: orNull(
      { type: ['string', 'null'] },
      'Version of Inlay on the worker. Null before it has joined.',
      '1.4.0',
    ),
    slots: Type.Integer({ minimum: 0, description: 'How many syncs it runs at a time.', examples: [4] }),
    free_slots: Type.Integer({ minimum: 0, description: 'How many more it can take now.', examples: [3] }),
    running: Type.Array(RunningSync, { description: 'The syncs that it runs now.' }),
    created_at: Timestamp('When it was enrolled.'),
    last_seen_at: orNull(
      { type: ['string', 'null'], format: 'date-time' },
      'When the worker last contacted the platform. Null before it has joined.',
      '2026-01-31T09:30:00Z',
    ),
  },
  { title: 'Worker' },
);
export type Worker = Static<typeof Worker>;

export const WorkerList = Type.Object({ data: Type.Array(Worker) }, { title: 'Worker list' });
export type WorkerList = Static<typeof WorkerList>;

export const WorkerWithToken = Type.Object(
  {
    worker: Worker,
    token: Type.String({
      description: 'Set `INLAY_WORKER_TOKEN` on the machine to this token. Returned only once.',
      examples: ['inlay_enrolment_…'],
    }),
    url: Type.String({
      description:
        'Set `INLAY_WORKER_URL` on the machine to this address of the platform. The machine has to reach it over HTTPS.',
      examples: ['https://inlay.example.com/platform/v1'],
    }),
    expires_at: orNull(
      { type: ['string', 'null'], format: 'date-time' },
      'Until when the token can be used. Null for a reusable one, which works until it is revoked.',
      '2026-01-31T10:30:00Z',
    ),
  },
  { title: 'Worker with token' },
);
export type WorkerWithToken = Static<typeof WorkerWithToken>;

export const WorkerPath = Type.Object({ worker_id: Uuid('ID of the worker.', exampleId) });

export const DrainWorkerRequest = Type.Object(
  {
    drain: Type.Optional(
      Type.Boolean({ description: 'False lets a drained worker take syncs again. Defaults to true.' }),
    ),
  },
  { title: 'Drain worker request', examples: [{ drain: true }] },
);
