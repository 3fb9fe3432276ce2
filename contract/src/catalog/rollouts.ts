/** Schemas for rolling out a template change to existing sources and connections. */
import { type Static, Type } from 'typebox';
import { Enumeration, Tag, Timestamp, Uuid } from '../fields.ts';
import { VersionNumber } from './template-versions.ts';

const exampleId = '4c1f0d7e-52c3-4c8e-9a55-0f2b7c6d8e91';
const exampleWorkspaceId = 'a3a5f4d2-5b0f-4c6d-9b0e-7f1c2d3e4f50';

export const RolloutStage = Type.Object(
  {
    percent: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: 'Cumulative share of all workspaces to reach by the end of this stage, in percent.',
        examples: [10],
      }),
    ),
    tags: Type.Optional(
      Type.Array(Tag, {
        minItems: 1,
        maxItems: 50,
        description: 'Workspaces with a source whose template has one of these tags.',
        examples: [['beta']],
      }),
    ),
    workspace_ids: Type.Optional(
      Type.Array(Uuid('A workspace.', exampleWorkspaceId), {
        minItems: 1,
        maxItems: 1_000,
        description: 'Workspaces by ID.',
      }),
    ),
  },
  { title: 'Rollout stage', minProperties: 1, maxProperties: 1, examples: [{ percent: 10 }] },
);
export type RolloutStage = Static<typeof RolloutStage>;

export const RolloutPlan = Type.Object(
  {
    stages: Type.Optional(
      Type.Array(RolloutStage, {
        default: [],
        maxItems: 20,
        description:
          'Stages in order. Each stage waits for the previous one. All remaining workspaces form a final stage.',
        examples: [[{ percent: 10 }]],
      }),
    ),
    pause_between_stages: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether the rollout pauses after each stage until you resume it.' }),
    ),
    stop_at_failed_percent: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        default: 10,
        description:
          'Stops the rollout when more than this share of the workspaces processed so far has failed. Evaluated once 20 workspaces have been processed.',
      }),
    ),
    at_once: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        default: 20,
        description: 'Number of workspaces changed at the same time.',
      }),
    ),
    move_data: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether changes of `namespace_format` and `prefix` apply to existing connections. If true, new data goes to different tables and existing data stays where it is.',
      }),
    ),
  },
  { title: 'Rollout plan' },
);
export type RolloutPlan = Static<typeof RolloutPlan>;

export type Apply = 'new_only' | 'all' | RolloutPlan;
export const Apply = Type.Unsafe<Apply>({
  anyOf: [{ type: 'string', enum: ['new_only', 'all'] }, RolloutPlan],
  description:
    'What the change applies to: `new_only` for new sources and connections, `all` to include existing ones, or an object to roll out to all in stages.',
  examples: ['all'],
});

export const rolloutStates = ['running', 'paused', 'stopped', 'finished'] as const;
export type RolloutState = (typeof rolloutStates)[number];

export const rolloutActions = ['version', 'pause', 'delete'] as const;
export type RolloutAction = (typeof rolloutActions)[number];

export const existingChoices = ['keep', 'pause', 'delete'] as const;
export type ExistingChoice = (typeof existingChoices)[number];
export const DeleteTemplateQuery = Type.Object({
  existing: Type.Optional(
    Enumeration(existingChoices, {
      default: 'keep',
      description:
        'What to do with sources and connections made from the template: `keep` them, `pause` the connections, or `delete` them here and on the platform. Data already written is kept.',
    }),
  ),
});

export const RolloutCounts = Type.Object(
  {
    total: Type.Integer({ description: 'All workspaces of the rollout.', examples: [1000] }),
    waiting: Type.Integer({ description: 'Workspaces that have not started yet.', examples: [880] }),
    changing: Type.Integer({ description: 'Workspaces being changed on the platform.', examples: [20] }),
    done: Type.Integer({ description: 'Workspaces on the new version.', examples: [98] }),
    failed: Type.Integer({ description: 'Workspaces where the platform rejected the change.', examples: [2] }),
    skipped: Type.Integer({
      description: 'Workspaces that need input from the customer first, were already failing, or no longer exist.',
      examples: [0],
    }),
  },
  { title: 'Rollout counts' },
);
export type RolloutCounts = Static<typeof RolloutCounts>;

const nullable = <T>(type: string, description: string) => Type.Unsafe<T | null>({ type: [type, 'null'], description });

export const Rollout = Type.Object(
  {
    id: Uuid('Identifier of the rollout.', exampleId),
    template_id: Uuid('The template.', 'd2b6f1a8-7e0c-4c39-9b64-5a8e3f7c1d02'),
    action: Enumeration(rolloutActions, {
      description:
        'What the rollout does: bring a `version` to existing sources and connections, or `pause` or `delete` them after the template was deleted.',
    }),
    version: VersionNumber('Version that the rollout applies.'),
    state: Enumeration(rolloutStates, {
      description: 'State of the rollout. `stopped` is final. Start a new rollout to continue.',
    }),
    state_reason: nullable<string>('string', 'Why the rollout is paused or stopped.'),
    stage: Type.Integer({ description: 'Current stage, counted from 1.', examples: [1] }),
    stages: Type.Array(RolloutStage, { description: 'Stages as requested. The remaining workspaces come after them.' }),
    pause_between_stages: Type.Boolean({ description: 'Value from the request.' }),
    stop_at_failed_percent: Type.Integer({ description: 'Value from the request.', examples: [10] }),
    at_once: Type.Integer({ description: 'Value from the request.', examples: [20] }),
    move_data: Type.Boolean({ description: 'Value from the request.' }),
    workspaces: RolloutCounts,
    created_at: Timestamp('When the rollout was created.'),
    ended_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the rollout finished or stopped.',
    }),
  },
  { title: 'Rollout' },
);
export type Rollout = Static<typeof Rollout>;

const next = nullable<string>('string', 'Pass as `cursor` to get the next page. Null on the last page.');

export const RolloutList = Type.Object(
  { data: Type.Array(Rollout, { description: 'The latest 50 rollouts, newest first.' }) },
  { title: 'Rollout list' },
);

export const rolloutItemStates = ['waiting', 'changing', 'done', 'failed', 'skipped'] as const;
export type RolloutItemState = (typeof rolloutItemStates)[number];

export const RolloutItem = Type.Object(
  {
    workspace_id: Uuid('The workspace.', exampleWorkspaceId),
    stage: Type.Integer({ description: 'Stage of the workspace, counted from 1.', examples: [1] }),
    state: Enumeration(rolloutItemStates, { description: 'Progress of the workspace.' }),
    reason: nullable<string>('string', 'Why the workspace failed or was skipped.'),
  },
  { title: 'Rollout item' },
);
export type RolloutItem = Static<typeof RolloutItem>;

export const RolloutItemList = Type.Object(
  { data: Type.Array(RolloutItem, { description: 'Workspaces, sorted by ID.' }), next },
  { title: 'Rollout item list' },
);
export type RolloutItemList = Static<typeof RolloutItemList>;

export const ListRolloutItemsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Number of workspaces per page.' }),
  ),
  cursor: Type.Optional(Uuid('The `next` value of the previous page.', exampleWorkspaceId)),
  state: Type.Optional(Enumeration(rolloutItemStates, { description: 'Returns only workspaces in this state.' })),
});

export const RolloutId = Uuid('Identifier of the rollout.', exampleId);

export const RollbackRequest = Type.Object(
  { version: VersionNumber('The version to go back to.'), apply: Type.Optional(Apply) },
  { title: 'Rollback request', examples: [{ version: 1, apply: 'all' }] },
);
export type RollbackRequest = Static<typeof RollbackRequest>;
