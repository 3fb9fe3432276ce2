/** Schemas for source templates, for operators and for customers with a scoped token. */
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

const FieldPath = Type.Array(Type.String(), { description: 'Name of a field, or path to a nested field.' });

const StreamCustomization = Type.Object(
  {
    primary_key_fields: Type.Optional(
      Type.Array(FieldPath, { description: 'Fields of the primary key.', examples: [[['id']]] }),
    ),
    cursor_field: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Field used to find new and updated records.',
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
      description: "Name of a field of the connector's configuration, or path to a nested field.",
      examples: [['start_date']],
    }),
    hidden: Type.Optional(
      Type.Boolean({
        description: 'Hides the field from customers, who can then not set it. Required fields cannot be hidden.',
      }),
    ),
    default: Type.Optional(
      Type.Unsafe<unknown>({
        description: "Initial value in the customer's form. Visible to customers, so never put a secret here.",
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
          "Which streams are synced: `suggested` for the connector's recommendation (all streams if it has none), `all`, or `whitelist` for those in `stream_whitelist`.",
      }),
    ),
    stream_whitelist: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        default: [],
        maxItems: 1_000,
        description: 'Exact names of the streams to sync. Required in `whitelist` mode.',
        examples: [['users']],
      }),
    ),
    stream_customizations: Type.Optional(
      Type.Record(Type.String(), StreamCustomization, {
        default: {},
        description: 'Settings per stream name that override those of the connector.',
        examples: [{ users: { cursor_field: ['updated_at'] } }],
      }),
    ),
    field_customizations: Type.Optional(
      Type.Array(FieldCustomization, {
        maxItems: 200,
        description: "Fields to hide from the customer's form or to pre-fill.",
        examples: [[{ path: ['records_per_second'], hidden: true }]],
      }),
    ),
  },
  {
    title: 'Customization',
    description: "Which streams of the source are synced and how, and adjustments to the customer's form.",
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
  description: 'One line shown to customers below the name, to tell templates of the same connector apart.',
  examples: ['The shop in Berlin'],
});
const Category = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'short-text',
  minLength: 1,
  maxLength: 60,
  description: 'Heading under which the widget groups templates.',
  examples: ['Marketing'],
});
const OwnIcon = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'icon-address',
  description:
    "Icon that replaces the connector's: an image as a `data:` URL (PNG, JPEG, GIF or WebP, at most 16 kB) or an https URL. The widget loads https URLs only from the embedding origin or from Inlay's own origin.",
  examples: ['https://app.example.com/icons/berlin.png'],
});
const DefaultConfig = Type.Unsafe<Configuration>({
  type: 'object',
  additionalProperties: true,
  description:
    "Part of the connector's configuration that you provide. Customers never see it and enter only the rest. Secrets are stored encrypted and returned masked. Sending a mask back keeps the stored secret, unless an address that the secret is sent to changes.",
  examples: [{ seed: 7 }],
});

const SignIn = Type.Union([TemplateOAuth, Type.Null()], { description: "How customers sign in. Null if they don't." });

export const CreateSourceTemplateRequest = Type.Object(
  {
    actor_definition_id: Type.Optional(Uuid('Definition of the connector. Omit when cloning.', exampleDefinitionId)),
    partial_default_config: Type.Optional(DefaultConfig),
    original_source_template_id: Type.Optional(
      Uuid('Template to clone. Other fields of the request override those of the original.', exampleId),
    ),
    name: Type.Optional(
      Type.String({
        ...templateName,
        description: 'Name of the template. Defaults to the name of the original or the connector.',
      }),
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
    name: Type.Optional(Type.String({ ...templateName, description: 'New name.' })),
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
        description: 'Equivalent to `apply: all`. Existing sources are updated in the background.',
      }),
    ),
    apply: Type.Optional(Apply),
    plan_id: Type.Optional(AppliedPlanId),
  },
  { title: 'Update source template request', examples: [{ partial_default_config: { seed: 8 }, propagate: true }] },
);
export type UpdateSourceTemplateRequest = Static<typeof UpdateSourceTemplateRequest>;

const offeredFields = {
  id: Uuid('Identifier of the template.', exampleId),
  name: Type.String({ description: 'Name of the template.', examples: ['Sample data'] }),
  description: Description,
  category: Category,
  icon: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: "URL of the template's icon, or of the connector's.",
  }),
  tags: Type.Array(Type.String(), { description: 'Tags of the template, sorted by name.', examples: [['demo']] }),
};
const summaryFields = {
  ...offeredFields,
  source_definition_id: Uuid('Definition of the connector.', exampleDefinitionId),
  customization: Customization,
  oauth: SignIn,
  created_at: Timestamp('When the template was created.'),
  updated_at: Timestamp('When the template was last changed. Increases with every change.'),
  version: VersionNumber('Latest version, which new sources get.'),
};
const userConfigSpec = {
  user_config_spec: Type.Object(ConnectorSpecification.properties, {
    title: 'Connector specification',
    description:
      "The connector's specification without the fields that the template already sets. Customers fill in these fields.",
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
      Type.Integer({ description: 'Number of sources being updated by `propagate` or `apply`.', examples: [12] }),
    ),
    rollout_id: Type.Optional(Uuid('The rollout started by `propagate` or `apply`.', exampleRolloutId)),
  },
  { title: 'Updated source template' },
);
export type UpdatedSourceTemplate = Static<typeof UpdatedSourceTemplate>;

export const SourceTemplateSummary = Type.Object(summaryFields, { title: 'Source template summary' });

export const SourceTemplateList = Type.Object(
  { data: Type.Array(SourceTemplateSummary, { description: 'Source templates, oldest first.' }) },
  { title: 'Source template list' },
);
export type SourceTemplateList = Static<typeof SourceTemplateList>;

/** A template as a scoped token sees it: without the defaults, which may hold the operator's own secrets. */
export const OfferedSourceTemplate = Type.Object(
  {
    ...offeredFields,
    ...userConfigSpec,
    oauth: Type.Union([OfferedOAuth, Type.Null()], {
      description: 'How the customer signs in before the source is created. Null if no sign-in is needed.',
    }),
  },
  { title: 'Offered source template' },
);
export type OfferedSourceTemplate = Static<typeof OfferedSourceTemplate>;

export const OfferedSourceTemplateSummary = Type.Object(offeredFields, { title: 'Offered source template summary' });

export const OfferedSourceTemplateList = Type.Object(
  { data: Type.Array(OfferedSourceTemplateSummary, { description: 'Source templates, oldest first.' }) },
  { title: 'Offered source template list' },
);
export type OfferedSourceTemplateList = Static<typeof OfferedSourceTemplateList>;

export const SourceTemplatePath = Type.Object({ source_template_id: Uuid('Identifier of the template.', exampleId) });
export type SourceTemplatePath = Static<typeof SourceTemplatePath>;

export const DeletedTemplate = Type.Object(
  {
    id: Uuid('Identifier of the deleted template.', exampleId),
    deleted_at: Timestamp('When the template was deleted.'),
    rollout_id: Type.Optional(
      Uuid('The rollout that pauses or deletes existing connections, if `existing` asked for one.', exampleRolloutId),
    ),
  },
  { title: 'Deleted template' },
);
export type DeletedTemplate = Static<typeof DeletedTemplate>;
