/** What crosses the wire when a change of a template is planned: what it would do, before it does anything. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import type { Apply } from './rollouts.ts';
import { TemplateChange, VersionNumber } from './template-versions.ts';

const exampleId = '8d2a6c1e-3f54-4b7a-9c80-1e5d7f9b2a46';
const nullable = <T>(type: string, description: string) => Type.Unsafe<T | null>({ type: [type, 'null'], description });

export const PlanId = Uuid('Identifier of the plan', exampleId);

/** A field of PATCH requests. */
export const AppliedPlanId = Uuid(
  'Makes exactly the change that was planned, and nothing else: only `apply`, `propagate` and `skip_check` may stand beside it',
  exampleId,
);

export const planOutcomes = ['changes', 'unchanged', 'needs_customer', 'breaks'] as const;
export type PlanOutcome = (typeof planOutcomes)[number];

export const PlanCounts = Type.Object(
  {
    workspaces: Type.Integer({ description: 'Workspaces with something that the change touches', examples: [988] }),
    sources: Type.Integer({ description: 'Sources that it touches', examples: [1200] }),
    connections: Type.Integer({ description: 'Connections that it touches', examples: [2400] }),
  },
  { title: 'Plan counts' },
);
export type PlanCounts = Static<typeof PlanCounts>;

export const PlanOutcomeCounts = Type.Object(
  {
    changes: Type.Integer({ description: 'Take the change over', examples: [2380] }),
    unchanged: Type.Integer({ description: 'Have nothing to take over', examples: [0] }),
    needs_customer: Type.Integer({
      description: 'Go on as they are until the customer gives something: a new required field',
      examples: [15],
    }),
    breaks: Type.Integer({
      description:
        'Would no longer work: the connector does not accept the result, or the destination does not. Sources go on as they are until the customer changes what no longer fits',
      examples: [5],
    }),
  },
  { title: 'Plan outcome counts' },
);
export type PlanOutcomeCounts = Static<typeof PlanOutcomeCounts>;

export const PlannedData = Type.Object(
  {
    streams_dropped: Type.Integer({
      description: 'Sources of which streams are no longer synced; what they wrote so far stays',
      examples: [0],
    }),
    tables_moved: Type.Integer({
      description:
        'Connections that would write to other tables or files. They do so only with `move_data`; what is in the present ones stays there',
      examples: [0],
    }),
  },
  { title: 'Planned data' },
);
export type PlannedData = Static<typeof PlannedData>;

const destinationVerdicts = ['works', 'fails', 'not_checked'] as const;

export const PlannedDestination = Type.Object(
  {
    verdict: Enumeration(destinationVerdicts, {
      description:
        'What the test of the destination gave. `not_checked`: the change has no `destination_config`, `skip_check` was given, or the platform has no such test',
    }),
    message: nullable<string>('string', 'Why it does not work'),
    field: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'The field of the request to look at',
    }),
  },
  { title: 'Planned destination' },
);
export type PlannedDestination = Static<typeof PlannedDestination>;

export const TemplatePlan = Type.Object(
  {
    plan_id: PlanId,
    template_id: Uuid('The template', 'd2b6f1a8-7e0c-4c39-9b64-5a8e3f7c1d02'),
    base_version: VersionNumber('The version of the template that the plan is for'),
    changes: Type.Array(TemplateChange, {
      description: 'What the change does to the template. Secrets are shown as fingerprints',
    }),
    touches: PlanCounts,
    outcomes: PlanOutcomeCounts,
    data: PlannedData,
    destination: PlannedDestination,
    apply: Type.Unsafe<Apply>({ description: 'As it was asked for', examples: ['all'] }),
    created_at: Timestamp('When it was made'),
    expires_at: Timestamp('Until when it can be applied'),
  },
  {
    title: 'Template plan',
    description:
      '`outcomes` and the items count sources of a source template, and connections of a connection template',
  },
);
export type TemplatePlan = Static<typeof TemplatePlan>;

const place = {
  namespace_format: Type.String({ description: 'Where the tables or files are', examples: ['workspace_acme'] }),
  prefix: Type.String({ description: 'What their names begin with', examples: ['shop_'] }),
};
export const PlannedPlace = Type.Object(place, { title: 'Planned place' });
export const PlannedMove = Type.Object({ from: PlannedPlace, to: PlannedPlace }, { title: 'Planned move' });
export type PlannedMove = Static<typeof PlannedMove>;

export const TemplatePlanItem = Type.Object(
  {
    workspace_id: Uuid('The workspace', 'a3a5f4d2-5b0f-4c6d-9b0e-7f1c2d3e4f50'),
    workspace_name: Type.String({ description: 'Its name', examples: ['acme-inc'] }),
    source_id: Uuid('The source', 'b6e1c0d4-2f3a-4d5b-8c6e-7f8091a2b3c4'),
    connection_id: nullable<string>('string', 'The connection; null in a plan of a source template'),
    version: Type.Integer({ description: 'The version it has now; 0 if that is not known', examples: [1] }),
    outcome: Enumeration(planOutcomes, { description: 'What becomes of it' }),
    reason: nullable<string>('string', 'What the customer has to give, or why it breaks'),
    fields: Type.Array(Type.String(), {
      description: 'What it takes over',
      examples: [['destination_config', 'cron_expression']],
    }),
    streams_dropped: Type.Array(Type.String(), {
      description: 'Streams that are known to be synced now and will not be any more',
    }),
    streams_left: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'When not null: only these are left, and whatever else the source has is dropped as well',
    }),
    tables_moved: Type.Unsafe<PlannedMove | null>({
      anyOf: [PlannedMove, { type: 'null' }],
      description: 'From where to where new data goes with `move_data`',
    }),
  },
  { title: 'Template plan item' },
);
export type TemplatePlanItem = Static<typeof TemplatePlanItem>;

export const TemplatePlanItemList = Type.Object(
  {
    data: Type.Array(TemplatePlanItem, { description: 'By id of the source or connection' }),
    next: nullable<string>('string', 'Give it as `cursor` for the next page; null at the end'),
  },
  { title: 'Template plan item list' },
);
export type TemplatePlanItemList = Static<typeof TemplatePlanItemList>;

export const ListPlanItemsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items on a page' })),
  cursor: Type.Optional(Uuid('`next` of the page before', 'b6e1c0d4-2f3a-4d5b-8c6e-7f8091a2b3c4')),
  outcome: Type.Optional(Enumeration(planOutcomes, { description: 'Only these' })),
});
