/** Schemas for plans, which show what a template change would do before it is made. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import type { Apply } from './rollouts.ts';
import { TemplateChange, VersionNumber } from './template-versions.ts';

const exampleId = '8d2a6c1e-3f54-4b7a-9c80-1e5d7f9b2a46';
const nullable = <T>(type: string, description: string) => Type.Unsafe<T | null>({ type: [type, 'null'], description });

export const PlanId = Uuid('Identifier of the plan.', exampleId);

/** A field of PATCH requests. */
export const AppliedPlanId = Uuid(
  'Makes exactly the planned change. Only `apply`, `propagate` and `skip_check` may be sent along.',
  exampleId,
);

export const planOutcomes = ['changes', 'unchanged', 'needs_customer', 'breaks'] as const;
export type PlanOutcome = (typeof planOutcomes)[number];

export const PlanCounts = Type.Object(
  {
    workspaces: Type.Integer({ description: 'Number of affected workspaces.', examples: [988] }),
    sources: Type.Integer({ description: 'Number of affected sources.', examples: [1200] }),
    connections: Type.Integer({ description: 'Number of affected connections.', examples: [2400] }),
  },
  { title: 'Plan counts' },
);
export type PlanCounts = Static<typeof PlanCounts>;

export const PlanOutcomeCounts = Type.Object(
  {
    changes: Type.Integer({ description: 'Will be updated.', examples: [2380] }),
    unchanged: Type.Integer({ description: 'Stay the same.', examples: [0] }),
    needs_customer: Type.Integer({
      description: 'Stay unchanged until the customer enters something, such as a new required field.',
      examples: [15],
    }),
    breaks: Type.Integer({
      description:
        'Would break, because the connector or the destination rejects the result. Sources stay unchanged until the customer fixes what no longer fits.',
      examples: [5],
    }),
  },
  { title: 'Plan outcome counts' },
);
export type PlanOutcomeCounts = Static<typeof PlanOutcomeCounts>;

export const PlannedData = Type.Object(
  {
    streams_dropped: Type.Integer({
      description: 'Sources with streams that would no longer sync. Data already written is kept.',
      examples: [0],
    }),
    tables_moved: Type.Integer({
      description:
        'Connections that would write to other tables or files. They do so only with `move_data`. Existing data stays where it is.',
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
        'Result of testing the destination. `not_checked` if the change has no `destination_config`, if `skip_check` was set, or if the platform cannot test destinations.',
    }),
    message: nullable<string>('string', 'Why the test failed.'),
    field: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'The request field to check.',
    }),
  },
  { title: 'Planned destination' },
);
export type PlannedDestination = Static<typeof PlannedDestination>;

export const TemplatePlan = Type.Object(
  {
    plan_id: PlanId,
    template_id: Uuid('The template.', 'd2b6f1a8-7e0c-4c39-9b64-5a8e3f7c1d02'),
    base_version: VersionNumber('Template version that the plan is based on.'),
    changes: Type.Array(TemplateChange, {
      description: 'What the change does to the template. Secrets appear as fingerprints.',
    }),
    touches: PlanCounts,
    outcomes: PlanOutcomeCounts,
    data: PlannedData,
    destination: PlannedDestination,
    apply: Type.Unsafe<Apply>({ description: 'Value from the request.', examples: ['all'] }),
    created_at: Timestamp('When the plan was created.'),
    expires_at: Timestamp('When the plan expires.'),
  },
  {
    title: 'Template plan',
    description:
      'A plan. `outcomes` and items count sources for a source template, and connections for a connection template.',
  },
);
export type TemplatePlan = Static<typeof TemplatePlan>;

const place = {
  namespace_format: Type.String({ description: 'Where tables or files are written.', examples: ['workspace_acme'] }),
  prefix: Type.String({ description: 'Prefix of table or file names.', examples: ['shop_'] }),
};
export const PlannedPlace = Type.Object(place, { title: 'Planned place' });
export const PlannedMove = Type.Object({ from: PlannedPlace, to: PlannedPlace }, { title: 'Planned move' });
export type PlannedMove = Static<typeof PlannedMove>;

export const TemplatePlanItem = Type.Object(
  {
    workspace_id: Uuid('The workspace.', 'a3a5f4d2-5b0f-4c6d-9b0e-7f1c2d3e4f50'),
    workspace_name: Type.String({ description: 'Name of the workspace.', examples: ['acme-inc'] }),
    source_id: Uuid('The source.', 'b6e1c0d4-2f3a-4d5b-8c6e-7f8091a2b3c4'),
    connection_id: nullable<string>('string', 'The connection. Null in plans of source templates.'),
    version: Type.Integer({ description: 'Current version. 0 if unknown.', examples: [1] }),
    outcome: Enumeration(planOutcomes, { description: 'What happens to the source or connection.' }),
    reason: nullable<string>('string', 'What the customer has to enter, or why it breaks.'),
    fields: Type.Array(Type.String(), {
      description: 'Changes that would be applied.',
      examples: [['destination_config', 'cron_expression']],
    }),
    streams_dropped: Type.Array(Type.String(), {
      description: 'Streams that are known to sync now and would stop.',
    }),
    streams_left: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'If set, only these streams remain. All other streams of the source stop.',
    }),
    tables_moved: Type.Unsafe<PlannedMove | null>({
      anyOf: [PlannedMove, { type: 'null' }],
      description: 'Where new data would go with `move_data`, compared to now.',
    }),
  },
  { title: 'Template plan item' },
);
export type TemplatePlanItem = Static<typeof TemplatePlanItem>;

export const TemplatePlanItemList = Type.Object(
  {
    data: Type.Array(TemplatePlanItem, { description: 'Items, sorted by source or connection ID.' }),
    next: nullable<string>('string', 'Pass as `cursor` to get the next page. Null on the last page.'),
  },
  { title: 'Template plan item list' },
);
export type TemplatePlanItemList = Static<typeof TemplatePlanItemList>;

export const ListPlanItemsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Number of items per page.' }),
  ),
  cursor: Type.Optional(Uuid('The `next` value of the previous page.', 'b6e1c0d4-2f3a-4d5b-8c6e-7f8091a2b3c4')),
  outcome: Type.Optional(Enumeration(planOutcomes, { description: 'Returns only items with this outcome.' })),
});
