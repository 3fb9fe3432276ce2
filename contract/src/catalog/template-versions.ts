/** Schemas for template versions, shared by both kinds of template. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';

export const VersionNumber = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 1_000_000_000, description, examples: [2] });

const Running = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description, examples: [2] });

export const RunningVersion = Type.Object(
  {
    wanted: Running('Desired version. Null if created before versioning.'),
    applied: Running('Version on the platform. Null if not yet set up, or created before versioning.'),
  },
  { title: 'Running version', description: 'Template version in use. Visible to operators only.' },
);
export type RunningVersion = Static<typeof RunningVersion>;

export const VersionAuthor = Type.Object(
  {
    kind: Enumeration(['operator_token', 'console_user'], {
      description:
        'Who made the change. `console_user` is a person who signed in to the console without an operator token.',
    }),
    id: Uuid('Identifier of the operator token or console session.', '1f6f2f60-7c0b-4dc4-8f6e-9a3f4a3f6d10'),
    name: Type.String({ description: 'Name of the operator token or of the person.', examples: ['backend'] }),
  },
  { title: 'Version author' },
);
export type VersionAuthor = Static<typeof VersionAuthor>;

export const TemplateChange = Type.Object(
  {
    path: Type.Array(Type.String(), {
      description: 'Name of the field, or path to a nested field.',
      examples: [['destination_config', 'password']],
    }),
    before: Type.Optional(
      Type.Unsafe<unknown>({
        description: 'Absent if the field had no value before.',
        examples: ['fingerprint:3fa9c1d2e4b7'],
      }),
    ),
    after: Type.Optional(
      Type.Unsafe<unknown>({
        description: 'Absent if the field has no value any more.',
        examples: ['fingerprint:90b1e07ac233'],
      }),
    ),
  },
  { title: 'Template change' },
);
export type TemplateChange = Static<typeof TemplateChange>;

const summary = {
  version: VersionNumber('Version number: 1, 2, 3, … without gaps.'),
  is_current: Type.Boolean({ description: 'Whether new sources and connections get this version.' }),
  copy_of: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'The version that a rollback repeats. Null otherwise.',
  }),
  created_at: Timestamp('When the change was made.'),
  created_by: Type.Unsafe<VersionAuthor | null>({
    anyOf: [VersionAuthor, { type: 'null' }],
    description: 'Who made the change. Null for versions created before authors were recorded.',
  }),
  changes: Type.Array(TemplateChange, {
    description:
      'Differences from the previous version. Secrets appear as fingerprints: equal fingerprints mean equal secrets.',
  }),
};

export const TemplateVersionSummary = Type.Object(summary, { title: 'Template version summary' });
export type TemplateVersionSummary = Static<typeof TemplateVersionSummary>;

export const TemplateVersion = Type.Object(
  {
    ...summary,
    content: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'The template at this version, with fingerprints in place of secrets.',
      examples: [{ destination_name: 'Warehouse', destination_config: { password: 'fingerprint:90b1e07ac233' } }],
    }),
  },
  { title: 'Template version' },
);
export type TemplateVersion = Static<typeof TemplateVersion>;

export const TemplateVersionList = Type.Object(
  {
    data: Type.Array(TemplateVersionSummary, { description: 'Versions, newest first.' }),
    next: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Pass as `cursor` to get the next page. Null on the last page.',
    }),
  },
  { title: 'Template version list' },
);
export type TemplateVersionList = Static<typeof TemplateVersionList>;

export const ListVersionsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Number of versions per page.' }),
  ),
  cursor: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'The `next` value of the previous page.',
      examples: [21],
    }),
  ),
});
