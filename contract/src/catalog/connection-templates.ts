/** Schemas for connection templates and their schedules. */
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
  description: 'Name of the destination created in every workspace that has a source.',
  examples: ['Warehouse'],
};
const destinationName = Type.String({ format: 'name', minLength: 1, maxLength: 255, ...named });
const destinationConfig = Type.Unsafe<Configuration>({
  type: 'object',
  additionalProperties: true,
  description:
    'Complete configuration of the destination. Secrets are stored encrypted and returned masked. Sending a mask back keeps the stored secret, unless an address that the secret is sent to changes.',
  examples: [{ path: 'exports' }],
});
const preference = {
  description:
    'What to do when the columns of a source change: `ignore` the change, `disable` the connection, add new columns (`propagate_columns`), or add new columns and streams (`propagate_fully`).',
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
    description: `${description} May contain \`{workspace_id}\`, \`{workspace_name}\` and \`{source_slug}\`.`,
  });
const skipCheck = Type.Boolean({
  default: false,
  description:
    'Save without testing the destination. By default the destination is tested first and a failed test returns 422. Hosted platforms cannot test destinations.',
});
const placement = {
  namespace_format: PlaceholderText('Where tables or files are written in the destination. Null uses the default.'),
  prefix: PlaceholderText('Prefix of table or file names. Null uses the default.'),
};

export const CreateConnectionTemplateRequest = Type.Object(
  {
    destination_name: destinationName,
    destination_definition_id: Uuid('Definition of the destination.', exampleDefinitionId),
    destination_config: destinationConfig,
    cron_expression: Type.Optional(
      CronExpression('Quartz cron expression in UTC. Defaults to hourly. Null means manual syncs only.', {
        default: hourly,
      }),
    ),
    non_breaking_changes_preference: Type.Optional(
      Enumeration(schemaChangePreferences, { ...preference, default: 'ignore' }),
    ),
    sync_on_create: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether new connections sync immediately.' }),
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
    cron_expression: Type.Optional(CronExpression('Quartz cron expression in UTC. Null means manual syncs only.')),
    non_breaking_changes_preference: Type.Optional(Enumeration(schemaChangePreferences, preference)),
    sync_on_create: Type.Optional(Type.Boolean({ description: 'Whether new connections sync immediately.' })),
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
    id: Uuid('Identifier of the template.', exampleId),
    organization_id: Uuid('Organization that owns the template.', '7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20'),
    destination_name: Type.String(named),
    destination_definition_id: Uuid('Definition of the destination.', exampleDefinitionId),
    destination_config: destinationConfig,
    icon: Type.Unsafe<string | null>({ type: ['string', 'null'], description: "URL of the destination's icon." }),
    cron_expression: CronExpression('Quartz cron expression in UTC. Null means manual syncs only.'),
    non_breaking_changes_preference: Enumeration(schemaChangePreferences, preference),
    sync_on_create: Type.Boolean({ description: 'Whether new connections sync immediately.' }),
    ...placement,
    customer_may_change: CustomerMayChange,
    tags: Type.Array(Type.String(), { description: 'Tags of the template, sorted by name.', examples: [['demo']] }),
    checked: Type.Boolean({ description: 'Whether this configuration passed a test of the destination.' }),
    checked_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the destination passed the test. Null if it has not.',
      examples: ['2026-01-31T09:30:42.000Z'],
    }),
    created_at: Timestamp('When the template was created.'),
    updated_at: Timestamp('When the template was last changed. Increases with every change.'),
    version: VersionNumber('Latest version, which new connections get.'),
  },
  { title: 'Connection template' },
);
export type ConnectionTemplate = Static<typeof ConnectionTemplate>;

export const UpdatedConnectionTemplate = Type.Object(
  {
    ...ConnectionTemplate.properties,
    rollout_id: Type.Optional(Uuid('The rollout started by `apply`.', '4c1f0d7e-52c3-4c8e-9a55-0f2b7c6d8e91')),
  },
  { title: 'Updated connection template' },
);
export type UpdatedConnectionTemplate = Static<typeof UpdatedConnectionTemplate>;

export const ConnectionTemplateList = Type.Object(
  { data: Type.Array(ConnectionTemplate, { description: 'Connection templates, oldest first.' }) },
  { title: 'Connection template list' },
);
export type ConnectionTemplateList = Static<typeof ConnectionTemplateList>;

export const ConnectionTemplatePath = Type.Object({
  connection_template_id: Uuid('Identifier of the template.', exampleId),
});
export type ConnectionTemplatePath = Static<typeof ConnectionTemplatePath>;

export const PreviewConnectionTemplateRequest = Type.Object(
  {
    ...Type.Partial(CreateConnectionTemplateRequest).properties,
    original_connection_template_id: Type.Optional(
      Uuid(
        'Identifier of the template being changed. Fields you omit keep their stored values, and masks keep the stored secrets.',
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
      description: 'A Quartz cron expression, valid or not.',
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
      description: 'The schedule in plain words. Null if the expression is invalid.',
      examples: ['Every hour (UTC)'],
    }),
    is_valid: Type.Boolean({
      description: 'Whether the expression is valid for a connection template.',
      examples: [true],
    }),
    next_runs: Type.Array(Timestamp('Start of a run.'), {
      description: 'The next five runs, or fewer if the schedule ends earlier.',
    }),
    error: Type.Optional(Type.String({ description: 'Why the expression is invalid. Null if it is valid.' })),
  },
  { title: 'Cron description' },
);
export type CronDescription = Static<typeof CronDescription>;

export const PreviewedSource = Type.Object(
  {
    source_template_id: Uuid('The source template.', '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11'),
    name: Type.String({ description: 'Name of the source template, as customers see it.', examples: ['Shop'] }),
    stream_selection_mode: Enumeration(streamSelectionModes, {
      description: 'Which streams are synced: those `suggested` by the connector, `all`, or a `whitelist`.',
    }),
    streams: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'The whitelisted streams. Null if the streams depend on the source.',
      examples: [['orders']],
    }),
  },
  { title: 'Previewed source' },
);

export const ConnectionTemplatePreview = Type.Object(
  {
    destination_name: Type.String(named),
    destination_type: Type.String({ description: 'Name of the connector.', examples: ['Local Files'] }),
    cron_expression: CronExpression('Quartz cron expression in UTC. Null means manual syncs only.'),
    schedule: Type.Union([CronDescription, Type.Null()], {
      description: 'The schedule in plain words, with its next runs.',
    }),
    sync_on_create: Type.Boolean({ description: 'Whether new connections sync immediately.' }),
    namespace_format: Type.String({
      description: 'Where tables or files are written, with the default filled in.',
      examples: ['workspace_{workspace_id}'],
    }),
    prefix: Type.String({
      description: 'Prefix of table or file names, with the default filled in.',
      examples: ['{source_slug}_'],
    }),
    customer_may_change: CustomerMayChange,
    tags: Type.Array(Type.String(), {
      description:
        'Tags of the template, sorted by name. Only tokens whose connection tags select the template create this connection.',
      examples: [['demo']],
    }),
    sources: Type.Array(PreviewedSource, {
      description: 'The first 50 source templates that can feed this destination.',
    }),
    more_sources: Type.Integer({ minimum: 0, description: 'Number of further source templates.', examples: [0] }),
  },
  { title: 'Connection template preview' },
);
export type ConnectionTemplatePreview = Static<typeof ConnectionTemplatePreview>;
