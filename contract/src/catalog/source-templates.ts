/** What crosses the wire for source templates, for operators and for customers with a scoped token. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import type { Configuration } from './connector-configuration.ts';
import { ConnectorSpecification } from './definitions.ts';
import { Apply } from './rollouts.ts';
import { OfferedOAuth, TemplateOAuth } from './template-oauth.ts';
import { AppliedPlanId } from './template-plans.ts';
import { TemplateTags } from './template-tags.ts';
import { VersionNumber } from './template-versions.ts';

const exampleId = '9a4e7c30-1c55-4b8f-a1d7-0c6f2b8e4d21';
const exampleDefinitionId = '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14';

const exampleRolloutId = '4c1f0d7e-52c3-4c8e-9a55-0f2b7c6d8e91';

export const streamSelectionModes = ['suggested', 'all', 'whitelist'] as const;
export type StreamSelectionMode = (typeof streamSelectionModes)[number];

const FieldPath = Type.Array(Type.String(), { description: 'A field, or the path to a nested field' });

const StreamCustomization = Type.Object(
  {
    primary_key_fields: Type.Optional(
      Type.Array(FieldPath, { description: 'Fields that identify a record', examples: [[['id']]] }),
    ),
    cursor_field: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The field by which newer records are found',
        examples: [['updated_at']],
      }),
    ),
  },
  { title: 'Stream customization' },
);

export const FieldCustomization = Type.Object(
  {
    path: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      minItems: 1,
      maxItems: 10,
      description: "A field of the connector's configuration, or the path to a nested field",
      examples: [['start_date']],
    }),
    hidden: Type.Optional(
      Type.Boolean({
        description:
          'Customers are not asked for the field and cannot set it. A field that the connector requires cannot be hidden',
      }),
    ),
    default: Type.Optional(
      Type.Unsafe<unknown>({
        description: "What the customer's form starts with. Customers see it, so it is never a secret",
        examples: ['2026-01-01'],
      }),
    ),
  },
  { title: 'Field customization' },
);
export type FieldCustomization = Static<typeof FieldCustomization>;

export const Customization = Type.Object(
  {
    stream_selection_mode: Type.Optional(
      Enumeration(streamSelectionModes, {
        default: 'suggested',
        description:
          '`suggested`: the streams the connector recommends, or all if it recommends none; `all`; `whitelist`: those of `stream_whitelist`',
      }),
    ),
    stream_whitelist: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        default: [],
        maxItems: 1_000,
        description: 'Exact names of the streams to sync; not empty in `whitelist` mode',
        examples: [['users']],
      }),
    ),
    stream_customizations: Type.Optional(
      Type.Record(Type.String(), StreamCustomization, {
        default: {},
        description: "Settings by the name of a stream, instead of the connector's own",
        examples: [{ users: { cursor_field: ['updated_at'] } }],
      }),
    ),
    field_customizations: Type.Optional(
      Type.Array(FieldCustomization, {
        maxItems: 200,
        description: 'Fields that are left out of the form of customers, or that start with a value there',
        examples: [[{ path: ['records_per_second'], hidden: true }]],
      }),
    ),
  },
  {
    title: 'Customization',
    description: 'Which streams of the source are synced, and how; and single fields of the form of customers',
  },
);
type GivenCustomization = Static<typeof Customization>;
/** The customization with its defaults filled in. */
export type Customization = Required<Omit<GivenCustomization, 'field_customizations'>> &
  Pick<GivenCustomization, 'field_customizations'>;

const templateName = {
  format: 'name',
  minLength: 1,
  maxLength: 255,
  examples: ['Sample data'],
};
const Description = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'short-text',
  minLength: 1,
  maxLength: 255,
  description: 'One line for customers, below the name: how this template differs from others of the same connector',
  examples: ['The shop in Berlin'],
});
const Category = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'short-text',
  minLength: 1,
  maxLength: 60,
  description: 'The widget shows the templates of one category together, under this heading',
  examples: ['Marketing'],
});
const OwnIcon = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'icon-address',
  description:
    "Instead of the connector's icon: an image as a `data:` address (PNG, JPEG, GIF or WebP, at most 16 kB), or an https address. The widget loads the latter only from the origin that embeds it, or from Inlay's own",
  examples: ['https://app.example.com/icons/berlin.png'],
});
const DefaultConfig = Type.Unsafe<Configuration>({
  type: 'object',
  additionalProperties: true,
  description:
    "The part of the connector's configuration that the operator provides. Nothing, if it is not given. Customers are asked for the rest and never see this. Secrets are stored encrypted and shown masked; a mask sent back keeps the secret, unless an address beside it changes",
  examples: [{ seed: 7 }],
});

const SignIn = Type.Union([TemplateOAuth, Type.Null()], { description: 'Null: customers do not sign in' });

export const CreateSourceTemplateRequest = Type.Object(
  {
    actor_definition_id: Type.Optional(Uuid('Definition of the connector; not for a clone', exampleDefinitionId)),
    partial_default_config: Type.Optional(DefaultConfig),
    original_source_template_id: Type.Optional(
      Uuid('A template to clone. Other fields of the request replace those of the original', exampleId),
    ),
    name: Type.Optional(
      Type.String({ ...templateName, description: "The connector's, or the original's, by default" }),
    ),
    description: Type.Optional(Description),
    category: Type.Optional(Category),
    icon: Type.Optional(OwnIcon),
    customization: Type.Optional(Customization),
    oauth: Type.Optional(SignIn),
    tags: Type.Optional(TemplateTags),
  },
  {
    title: 'Create source template request',
    if: { required: ['original_source_template_id'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {},
    else: { required: ['actor_definition_id'] },
    examples: [
      {
        actor_definition_id: exampleDefinitionId,
        partial_default_config: { seed: 7 },
        name: 'Sample data',
        tags: ['demo'],
      },
    ],
  },
);
export type CreateSourceTemplateRequest = Static<typeof CreateSourceTemplateRequest>;

export const UpdateSourceTemplateRequest = Type.Object(
  {
    name: Type.Optional(Type.String({ ...templateName, description: 'New name' })),
    description: Type.Optional(Description),
    category: Type.Optional(Category),
    icon: Type.Optional(OwnIcon),
    partial_default_config: Type.Optional(DefaultConfig),
    customization: Type.Optional(Customization),
    oauth: Type.Optional(SignIn),
    tags: Type.Optional(TemplateTags),
    propagate: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'The same as `apply` with `all`: existing sources are updated as well, in the background',
      }),
    ),
    apply: Type.Optional(Apply),
    plan_id: Type.Optional(AppliedPlanId),
  },
  { title: 'Update source template request', examples: [{ partial_default_config: { seed: 8 }, propagate: true }] },
);
export type UpdateSourceTemplateRequest = Static<typeof UpdateSourceTemplateRequest>;

const offeredFields = {
  id: Uuid('Identifier of the template', exampleId),
  name: Type.String({ description: 'Name of the template', examples: ['Sample data'] }),
  description: Description,
  category: Category,
  icon: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: "Address of the template's own icon, or of the connector's",
  }),
  tags: Type.Array(Type.String(), { description: 'By name', examples: [['demo']] }),
};
const summaryFields = {
  ...offeredFields,
  source_definition_id: Uuid('Definition of the connector', exampleDefinitionId),
  customization: Customization,
  oauth: SignIn,
  created_at: Timestamp('When the template was created'),
  updated_at: Timestamp('Grows with every change of the template'),
  version: VersionNumber('The newest version, which new sources get'),
};
const userConfigSpec = {
  user_config_spec: Type.Object(ConnectorSpecification.properties, {
    title: 'Connector specification',
    description: "What a customer is asked for: the connector's specification without what the defaults cover",
  }),
};

export const SourceTemplate = Type.Object(
  { ...summaryFields, ...userConfigSpec, partial_default_config: DefaultConfig },
  { title: 'Source template' },
);
export type SourceTemplate = Static<typeof SourceTemplate>;

export const UpdatedSourceTemplate = Type.Object(
  {
    ...SourceTemplate.properties,
    propagated_sources: Type.Optional(
      Type.Integer({ description: 'With `propagate` or `apply`: how many sources are being updated', examples: [12] }),
    ),
    rollout_id: Type.Optional(Uuid('With `propagate` or `apply`: the rollout', exampleRolloutId)),
  },
  { title: 'Updated source template' },
);
export type UpdatedSourceTemplate = Static<typeof UpdatedSourceTemplate>;

export const SourceTemplateSummary = Type.Object(summaryFields, { title: 'Source template summary' });

export const SourceTemplateList = Type.Object(
  { data: Type.Array(SourceTemplateSummary, { description: 'Oldest first' }) },
  { title: 'Source template list' },
);
export type SourceTemplateList = Static<typeof SourceTemplateList>;

/** A template as a scoped token sees it: without the defaults, which may hold the operator's own secrets. */
export const OfferedSourceTemplate = Type.Object(
  {
    ...offeredFields,
    ...userConfigSpec,
    oauth: Type.Union([OfferedOAuth, Type.Null()], {
      description: 'How the customer signs in before the source is made; null: the customer does not',
    }),
  },
  { title: 'Offered source template' },
);
export type OfferedSourceTemplate = Static<typeof OfferedSourceTemplate>;

export const OfferedSourceTemplateSummary = Type.Object(offeredFields, { title: 'Offered source template summary' });

export const OfferedSourceTemplateList = Type.Object(
  { data: Type.Array(OfferedSourceTemplateSummary, { description: 'Oldest first' }) },
  { title: 'Offered source template list' },
);
export type OfferedSourceTemplateList = Static<typeof OfferedSourceTemplateList>;

export const SourceTemplatePath = Type.Object({ source_template_id: Uuid('Identifier of the template', exampleId) });
export type SourceTemplatePath = Static<typeof SourceTemplatePath>;

export const DeletedTemplate = Type.Object(
  {
    id: Uuid('Identifier of the deleted template', exampleId),
    deleted_at: Timestamp('When it was deleted'),
    rollout_id: Type.Optional(Uuid('With `existing`: the rollout that pauses or deletes', exampleRolloutId)),
  },
  { title: 'Deleted template' },
);
export type DeletedTemplate = Static<typeof DeletedTemplate>;
