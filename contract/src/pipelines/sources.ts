/** Schemas for sources, which customers create from an operator's templates. */
import { type Static, Type } from 'typebox';
import { ConnectorSpecification } from '../catalog/definitions.ts';
import { OfferedOAuth } from '../catalog/template-oauth.ts';
import { RunningVersion } from '../catalog/template-versions.ts';
import { Enumeration, Timestamp, tagModes, Uuid, WorkspaceName } from '../fields.ts';
import { NullableReason } from '../reasons.ts';
import { Health } from './health.ts';

const exampleId = '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7';
const exampleTemplateId = '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11';

export const sourceStatuses = ['pending', 'ready', 'failed'] as const;
export type SourceStatus = (typeof sourceStatuses)[number];

export const checkStatuses = ['running', 'succeeded', 'failed'] as const;
export type CheckStatus = (typeof checkStatuses)[number];

const Configuration = (description: string, examples: object[]) =>
  Type.Record(Type.String(), Type.Unknown(), { description, examples });

const SourceConfig = Configuration(
  "Values for the template's `user_config_spec`. Values set by the template cannot be overridden.",
  [{ count: 1000 }],
);

const CredentialId = Uuid(
  'Credential from a sign-in, if the template requires one.',
  '6e0f3a5d-94a8-4d6c-8c41-7a3c1f1d2b90',
);

const SourceName = Type.String({ ...WorkspaceName, description: 'Name of the source.', examples: ['Our shop'] });

export const SourcePath = Type.Object({ source_id: Uuid('Identifier of the source.', exampleId) });
export const CheckPath = Type.Object({ check_id: Uuid('Identifier of the check.', exampleId) });

/** Operators name the workspace. A scoped token contains its workspace. */
export const InWorkspaceQuery = Type.Object({
  workspace_id: Uuid('Workspace to use.', '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11'),
});

const connectionTags = {
  selected_connection_template_tags: Type.Optional(
    Type.Array(Type.String(), {
      default: [],
      maxItems: 100,
      description: 'Applies only connection templates with these tags. Tags of the token itself narrow them further.',
    }),
  ),
  selected_connection_template_tags_mode: Type.Optional(Enumeration(tagModes, { default: 'any' })),
};

export const CreateSourceRequest = Type.Object(
  {
    source_template_id: Type.String({
      format: 'uuid',
      description: 'Source template to use.',
      examples: [exampleTemplateId],
    }),
    name: Type.Optional(SourceName),
    source_config: Type.Optional(SourceConfig),
    credential_id: Type.Optional(CredentialId),
    ...connectionTags,
  },
  {
    title: 'Create source request',
    examples: [{ source_template_id: exampleTemplateId, name: 'Our shop', source_config: { count: 1000 } }],
  },
);
export type CreateSourceRequest = Static<typeof CreateSourceRequest>;

export const UpdateSourceRequest = Type.Object(
  {
    name: Type.Optional(SourceName),
    source_config: Type.Optional(SourceConfig),
    credential_id: Type.Optional(CredentialId),
  },
  { title: 'Update source request', examples: [{ name: 'Our new shop' }] },
);
export type UpdateSourceRequest = Static<typeof UpdateSourceRequest>;

export const SummarizedSourceTemplate = Type.Object(
  {
    id: Uuid('Source template of the source.', exampleTemplateId),
    name: Type.String(),
    icon: Type.Union([Type.String(), Type.Null()]),
    tags: Type.Array(Type.String()),
  },
  { title: 'Summarized source template' },
);

const common = {
  id: Uuid('Identifier of the source.', exampleId),
  name: Type.String({ examples: ['Our shop'] }),
  workspace_id: Uuid('Workspace of the source.', '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11'),
  status: Enumeration(sourceStatuses, {
    description:
      'Status of the source. `pending`: the source and its connections are being set up. `ready`: everything is set up. `failed`: rejected by the platform. Change the source to try again.',
  }),
  status_message: Type.Union([Type.String(), Type.Null()], {
    description: 'Why the source is pending or failed, if known.',
  }),
  status_reason: NullableReason('The same as a code.'),
  health: Health,
  created_at: Timestamp('When the source was created.'),
  updated_at: Timestamp('When the source was last changed.'),
  template_version: Type.Optional(RunningVersion),
};

export const SourceSummary = Type.Object(
  { ...common, summarized_source_template: SummarizedSourceTemplate },
  { title: 'Source summary' },
);
export type SourceSummary = Static<typeof SourceSummary>;

export const Source = Type.Object(
  {
    ...common,
    source_template: SummarizedSourceTemplate,
    credential_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'Credential of the source. Null if nobody has signed in.',
    }),
    source_config: Configuration(
      'Configuration that was given, with masked secrets. Send the masks back to keep the secrets.',
      [{ count: 1000 }],
    ),
    user_config_spec: Type.Union([ConnectorSpecification, Type.Null()], {
      description: "What can be changed in `source_config`. Null while the connector's definition is unavailable.",
    }),
    oauth: Type.Union([OfferedOAuth, Type.Null()], {
      description: 'How the customer signs in, or signs in again. Null if no sign-in is needed.',
    }),
  },
  { title: 'Source' },
);
export type Source = Static<typeof Source>;

export const SourceList = Type.Object({ data: Type.Array(SourceSummary) }, { title: 'Source list' });

export const DeletedSource = Type.Object(
  { id: Uuid('Identifier of the deleted source.', exampleId), deleted_at: Timestamp('When the source was deleted.') },
  { title: 'Deleted source' },
);

export const CheckSourceRequest = Type.Object(
  {
    source_template_id: CreateSourceRequest.properties.source_template_id,
    source_config: Type.Optional(SourceConfig),
    credential_id: Type.Optional(CredentialId),
  },
  {
    title: 'Check source request',
    examples: [{ source_template_id: exampleTemplateId, source_config: { count: 1000 } }],
  },
);
export type CheckSourceRequest = Static<typeof CheckSourceRequest>;

export const RecheckSourceRequest = Type.Object(
  { source_config: Type.Optional(SourceConfig), credential_id: Type.Optional(CredentialId) },
  { title: 'Recheck source request' },
);
export type RecheckSourceRequest = Static<typeof RecheckSourceRequest>;

export const StartedCheck = Type.Object(
  { id: Uuid('Identifier of the check.', exampleId) },
  { title: 'Started check' },
);

export const CheckWarning = Type.Object(
  {
    code: Type.String({
      description:
        'Code of the notice. `one_record`: found a single object where a list of records was expected. Connectors may define others.',
      examples: ['one_record'],
    }),
    message: Type.String({ description: 'The notice in words.' }),
    stream: Type.Optional(Type.String({ description: 'Stream concerned.', examples: ['orders'] })),
    record_path: Type.Optional(Type.String({ description: 'Probable path to the list.', examples: ['data.items'] })),
  },
  { title: 'Check warning' },
);
export type CheckWarning = Static<typeof CheckWarning>;

export const Check = Type.Object(
  {
    id: Uuid('Identifier of the check.', exampleId),
    status: Enumeration(checkStatuses),
    error_message: Type.Union([Type.String(), Type.Null()], {
      description:
        'What to fix if the check failed. With a scoped token, only mentions what the customer entered and can change. Use an operator token to see problems on your side.',
    }),
    error_reason: NullableReason('Why it failed, as a code.'),
    warnings: Type.Optional(
      Type.Array(CheckWarning, {
        description: 'Notices about a working source that are not failures.',
      }),
    ),
  },
  { title: 'Check' },
);
export type Check = Static<typeof Check>;
