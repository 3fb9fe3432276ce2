/** What crosses the wire when a change of a template goes to what was made from it before. */
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
        description: 'Until this share of all workspaces has had its turn, earlier stages included',
        examples: [10],
      }),
    ),
    tags: Type.Optional(
      Type.Array(Tag, {
        minItems: 1,
        maxItems: 50,
        description: 'Workspaces with a source whose template has one of these tags',
        examples: [['beta']],
      }),
    ),
    workspace_ids: Type.Optional(
      Type.Array(Uuid('A workspace', exampleWorkspaceId), {
        minItems: 1,
        maxItems: 1_000,
        description: 'Workspaces by id',
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
        description: 'Who comes first. Each stage waits for the one before; the rest comes last, as a stage of its own',
        examples: [[{ percent: 10 }]],
      }),
    ),
    pause_between_stages: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether the rollout pauses after each stage, until it is resumed' }),
    ),
    stop_at_failed_percent: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        default: 10,
        description:
          'The rollout stops by itself when more than this share of the workspaces so far has failed; a share is counted of 20 workspaces or more',
      }),
    ),
    at_once: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 200, default: 20, description: 'How many workspaces are changed at a time' }),
    ),
    move_data: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether `namespace_format` and `prefix` of connections change, too: new data then goes to other tables, and what is in the present ones stays there',
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
    'Whom the change reaches: `new_only`, sources and connections made from now on; `all`, those made before as well; or `all` in stages',
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
        'What becomes of what was made from the template: `keep` it as it is, `pause` its connections, or `delete` it, on the platform, too. Data that was written stays',
    }),
  ),
});

export const RolloutCounts = Type.Object(
  {
    total: Type.Integer({ description: 'Workspaces in all', examples: [1000] }),
    waiting: Type.Integer({ description: 'Their turn is still to come', examples: [880] }),
    changing: Type.Integer({ description: 'The platform is being told', examples: [20] }),
    done: Type.Integer({ description: 'Run the version', examples: [98] }),
    failed: Type.Integer({ description: 'The platform did not take the change', examples: [2] }),
    skipped: Type.Integer({
      description: 'Need something from the customer first, failed before already, or are gone',
      examples: [0],
    }),
  },
  { title: 'Rollout counts' },
);
export type RolloutCounts = Static<typeof RolloutCounts>;

const nullable = <T>(type: string, description: string) => Type.Unsafe<T | null>({ type: [type, 'null'], description });

export const Rollout = Type.Object(
  {
    id: Uuid('Identifier of the rollout', exampleId),
    template_id: Uuid('The template', 'd2b6f1a8-7e0c-4c39-9b64-5a8e3f7c1d02'),
    action: Enumeration(rolloutActions, {
      description:
        'What it does: bring a `version`, or, after the template was deleted, `pause` or `delete` what was made from it',
    }),
    version: VersionNumber('The version that everybody gets'),
    state: Enumeration(rolloutStates, { description: '`stopped` is final: start another one to go on' }),
    state_reason: nullable<string>('string', 'Why it is paused or stopped'),
    stage: Type.Integer({ description: 'The stage it is at, from 1', examples: [1] }),
    stages: Type.Array(RolloutStage, { description: 'As they were asked for; the rest comes after them' }),
    pause_between_stages: Type.Boolean({ description: 'As it was asked for' }),
    stop_at_failed_percent: Type.Integer({ description: 'As it was asked for', examples: [10] }),
    at_once: Type.Integer({ description: 'As it was asked for', examples: [20] }),
    move_data: Type.Boolean({ description: 'As it was asked for' }),
    workspaces: RolloutCounts,
    created_at: Timestamp('When it was asked for'),
    ended_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When it finished or stopped',
    }),
  },
  { title: 'Rollout' },
);
export type Rollout = Static<typeof Rollout>;

const next = nullable<string>('string', 'Give it as `cursor` for the next page; null at the end');

export const RolloutList = Type.Object(
  { data: Type.Array(Rollout, { description: 'The last fifty, newest first' }) },
  { title: 'Rollout list' },
);

export const rolloutItemStates = ['waiting', 'changing', 'done', 'failed', 'skipped'] as const;
export type RolloutItemState = (typeof rolloutItemStates)[number];

export const RolloutItem = Type.Object(
  {
    workspace_id: Uuid('The workspace', exampleWorkspaceId),
    stage: Type.Integer({ description: 'From 1', examples: [1] }),
    state: Enumeration(rolloutItemStates, { description: 'How far it is' }),
    reason: nullable<string>('string', 'Why it failed or was skipped'),
  },
  { title: 'Rollout item' },
);
export type RolloutItem = Static<typeof RolloutItem>;

export const RolloutItemList = Type.Object(
  { data: Type.Array(RolloutItem, { description: 'By workspace id' }), next },
  { title: 'Rollout item list' },
);
export type RolloutItemList = Static<typeof RolloutItemList>;

export const ListRolloutItemsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Workspaces on a page' })),
  cursor: Type.Optional(Uuid('`next` of the page before', exampleWorkspaceId)),
  state: Type.Optional(Enumeration(rolloutItemStates, { description: 'Only these' })),
});

export const RolloutId = Uuid('Identifier of the rollout', exampleId);

export const RollbackRequest = Type.Object(
  { version: VersionNumber('The version to go back to'), apply: Type.Optional(Apply) },
  { title: 'Rollback request', examples: [{ version: 1, apply: 'all' }] },
);
export type RollbackRequest = Static<typeof RollbackRequest>;
