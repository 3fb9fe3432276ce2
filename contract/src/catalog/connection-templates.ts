/** What crosses the wire for connection templates and their schedules. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import { CustomerMayChange, CustomerMayChangeRequest } from '../pipelines/connections.ts';
import type { Configuration } from './connector-configuration.ts';
import { Apply } from './rollouts.ts';
import { streamSelectionModes } from './source-templates.ts';
import { AppliedPlanId } from './template-plans.ts';
import { TemplateTags } from './template-tags.ts';
import { VersionNumber } from './template-versions.ts';

const exampleId = 'd2b6f1a8-7e0c-4c39-9b64-5a8e3f7c1d02';
const exampleDefinitionId = 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815';

export const schemaChangePreferences = ['ignore', 'disable', 'propagate_columns', 'propagate_fully'] as const;
export type SchemaChangePreference = (typeof schemaChangePreferences)[number];

export const hourly = '0 0 * * * ?';

const named = {
  description: 'Name of the destination that every workspace with a source gets',
  examples: ['Warehouse'],
};
const destinationName = Type.String({ format: 'name', minLength: 1, maxLength: 255, ...named });
const destinationConfig = Type.Unsafe<Configuration>({
  type: 'object',
  additionalProperties: true,
  description:
    'Configuration of the destination, complete. Secrets are stored encrypted and shown masked; a mask sent back keeps the secret, unless an address beside it changes',
  examples: [{ path: 'exports' }],
});
const preference = {
  description:
    'When the columns of a source change: `ignore` them, `disable` the connection, or take over new columns (`propagate_columns`) or new streams as well (`propagate_fully`)',
};
const CronExpression = (description: string, options: object = {}) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'quartz',
    maxLength: 200,
    description,
    examples: [hourly],
    ...options,
  });
const PlaceholderText = (description: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'placeholder-text',
    maxLength: 255,
    description: `${description}. May contain \`{workspace_id}\`, \`{workspace_name}\` and \`{source_slug}\``,
  });
const skipCheck = Type.Boolean({
  default: false,
  description:
    'True: the destination is not tested before it is saved. Otherwise it is, and what does not work is refused with 422. Hosted platforms have no checks of destinations',
});
const placement = {
  namespace_format: PlaceholderText('Where the tables or files go in the destination; null: the default'),
  prefix: PlaceholderText('What their names begin with; null: the default'),
};

export const CreateConnectionTemplateRequest = Type.Object(
  {
    destination_name: destinationName,
    destination_definition_id: Uuid('Definition of the destination', exampleDefinitionId),
    destination_config: destinationConfig,
    cron_expression: Type.Optional(
      CronExpression('Quartz expression, in UTC; every hour by default; null: syncs run only when asked for', {
        default: hourly,
      }),
    ),
    non_breaking_changes_preference: Type.Optional(
      Enumeration(schemaChangePreferences, { ...preference, default: 'ignore' }),
    ),
    sync_on_create: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether a new connection is synced at once' }),
    ),
    namespace_format: Type.Optional(placement.namespace_format),
    prefix: Type.Optional(placement.prefix),
    customer_may_change: Type.Optional(CustomerMayChangeRequest),
    tags: Type.Optional(TemplateTags),
    skip_check: Type.Optional(skipCheck),
  },
  {
    title: 'Create connection template request',
    examples: [
      {
        destination_name: 'Warehouse',
        destination_definition_id: exampleDefinitionId,
        destination_config: { path: 'exports' },
        cron_expression: hourly,
      },
    ],
  },
);
export type CreateConnectionTemplateRequest = Static<typeof CreateConnectionTemplateRequest>;

export const UpdateConnectionTemplateRequest = Type.Object(
  {
    destination_name: Type.Optional(destinationName),
    destination_config: Type.Optional(destinationConfig),
    cron_expression: Type.Optional(CronExpression('Quartz expression, in UTC; null: only when asked for')),
    non_breaking_changes_preference: Type.Optional(Enumeration(schemaChangePreferences, preference)),
    sync_on_create: Type.Optional(Type.Boolean({ description: 'Whether a new connection is synced at once' })),
    namespace_format: Type.Optional(placement.namespace_format),
    prefix: Type.Optional(placement.prefix),
    customer_may_change: Type.Optional(CustomerMayChangeRequest),
    tags: Type.Optional(TemplateTags),
    skip_check: Type.Optional(skipCheck),
    apply: Type.Optional(Apply),
    plan_id: Type.Optional(AppliedPlanId),
  },
  { title: 'Update connection template request', examples: [{ cron_expression: '0 30 2 * * ?' }] },
);
export type UpdateConnectionTemplateRequest = Static<typeof UpdateConnectionTemplateRequest>;

export const ConnectionTemplate = Type.Object(
  {
    id: Uuid('Identifier of the template', exampleId),
    organization_id: Uuid('Owning organization', '7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20'),
    destination_name: Type.String(named),
    destination_definition_id: Uuid('Definition of the destination', exampleDefinitionId),
    destination_config: destinationConfig,
    icon: Type.Unsafe<string | null>({ type: ['string', 'null'], description: "Address of the destination's icon" }),
    cron_expression: CronExpression('Quartz expression, in UTC; null: only when asked for'),
    non_breaking_changes_preference: Enumeration(schemaChangePreferences, preference),
    sync_on_create: Type.Boolean({ description: 'Whether a new connection is synced at once' }),
    ...placement,
    customer_may_change: CustomerMayChange,
    tags: Type.Array(Type.String(), { description: 'By name', examples: [['demo']] }),
    checked: Type.Boolean({ description: 'Whether the destination was tested with this configuration, and worked' }),
    checked_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When it was; null if it was not',
      examples: ['2026-01-31T09:30:42.000Z'],
    }),
    created_at: Timestamp('When the template was created'),
    updated_at: Timestamp('Grows with every change of the template'),
    version: VersionNumber('The newest version, which new connections get'),
  },
  { title: 'Connection template' },
);
export type ConnectionTemplate = Static<typeof ConnectionTemplate>;

export const UpdatedConnectionTemplate = Type.Object(
  {
    ...ConnectionTemplate.properties,
    rollout_id: Type.Optional(Uuid('With `apply`: the rollout', '4c1f0d7e-52c3-4c8e-9a55-0f2b7c6d8e91')),
  },
  { title: 'Updated connection template' },
);
export type UpdatedConnectionTemplate = Static<typeof UpdatedConnectionTemplate>;

export const ConnectionTemplateList = Type.Object(
  { data: Type.Array(ConnectionTemplate, { description: 'Oldest first' }) },
  { title: 'Connection template list' },
);
export type ConnectionTemplateList = Static<typeof ConnectionTemplateList>;

export const ConnectionTemplatePath = Type.Object({
  connection_template_id: Uuid('Identifier of the template', exampleId),
});
export type ConnectionTemplatePath = Static<typeof ConnectionTemplatePath>;

export const PreviewConnectionTemplateRequest = Type.Object(
  {
    ...Type.Partial(CreateConnectionTemplateRequest).properties,
    original_connection_template_id: Type.Optional(
      Uuid(
        'For a change of a template: its id. What is left out is then as it has it, and masks keep its secrets',
        exampleId,
      ),
    ),
  },
  {
    title: 'Preview connection template request',
    examples: [
      {
        destination_name: 'Warehouse',
        destination_definition_id: exampleDefinitionId,
        destination_config: { path: 'exports' },
        cron_expression: hourly,
      },
    ],
  },
);
export type PreviewConnectionTemplateRequest = Static<typeof PreviewConnectionTemplateRequest>;

export const DescribeCronRequest = Type.Object(
  {
    cron_expression: Type.String({
      maxLength: 200,
      description: 'A Quartz expression, valid or not',
      examples: [hourly],
    }),
  },
  { title: 'Describe cron request' },
);
export type DescribeCronRequest = Static<typeof DescribeCronRequest>;

export const CronDescription = Type.Object(
  {
    description: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'In plain words; null when it is not valid',
      examples: ['Every hour (UTC)'],
    }),
    is_valid: Type.Boolean({ description: 'Whether a connection template accepts it', examples: [true] }),
    next_runs: Type.Array(Timestamp('A run'), {
      description: 'The next five runs; fewer when the expression ends before',
    }),
    error: Type.Optional(Type.String({ description: 'What is wrong with it, if it is not valid' })),
  },
  { title: 'Cron description' },
);
export type CronDescription = Static<typeof CronDescription>;

export const PreviewedSource = Type.Object(
  {
    source_template_id: Uuid('The source template', '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11'),
    name: Type.String({ description: 'Its name, as customers read it', examples: ['Shop'] }),
    stream_selection_mode: Enumeration(streamSelectionModes, {
      description: 'Which streams are synced: `suggested` by the connector, `all`, or those of a `whitelist`',
    }),
    streams: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'The streams of the list; null where the source itself decides',
      examples: [['orders']],
    }),
  },
  { title: 'Previewed source' },
);

export const ConnectionTemplatePreview = Type.Object(
  {
    destination_name: Type.String(named),
    destination_type: Type.String({ description: 'Name of the connector', examples: ['Local Files'] }),
    cron_expression: CronExpression('Quartz expression, in UTC; null: only when asked for'),
    schedule: Type.Union([CronDescription, Type.Null()], { description: 'The same in words, with the next runs' }),
    sync_on_create: Type.Boolean({ description: 'Whether a new connection is synced at once' }),
    namespace_format: Type.String({
      description: 'Where the tables or files go, the default filled in',
      examples: ['workspace_{workspace_id}'],
    }),
    prefix: Type.String({
      description: 'What their names begin with, the default filled in',
      examples: ['{source_slug}_'],
    }),
    customer_may_change: CustomerMayChange,
    tags: Type.Array(Type.String(), {
      description: 'By name. A token whose connection tags do not select them leads to no such connection',
      examples: [['demo']],
    }),
    sources: Type.Array(PreviewedSource, {
      description: 'The source templates from which a customer may connect a source; the first fifty',
    }),
    more_sources: Type.Integer({ minimum: 0, description: 'How many others there are', examples: [0] }),
  },
  { title: 'Connection template preview' },
);
export type ConnectionTemplatePreview = Static<typeof ConnectionTemplatePreview>;
