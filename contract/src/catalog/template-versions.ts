/** What crosses the wire for the versions of templates, which are the same for both kinds. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';

export const VersionNumber = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 1_000_000_000, description, examples: [2] });

const Running = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description, examples: [2] });

export const RunningVersion = Type.Object(
  {
    wanted: Running('The version it is to have; null if it was made before there were versions'),
    applied: Running(
      'The version that the platform has; null while it has none, or if it was made before there were versions',
    ),
  },
  { title: 'Running version', description: 'Which version of its template it runs. Only operators are told' },
);
export type RunningVersion = Static<typeof RunningVersion>;

export const VersionAuthor = Type.Object(
  {
    kind: Enumeration(['operator_token', 'console_user'], {
      description: '`console_user`: a person who signed in to the console without an operator token',
    }),
    id: Uuid('The operator token, or the session of the console', '1f6f2f60-7c0b-4dc4-8f6e-9a3f4a3f6d10'),
    name: Type.String({ description: 'Name of the operator token, or who signed in', examples: ['backend'] }),
  },
  { title: 'Version author' },
);
export type VersionAuthor = Static<typeof VersionAuthor>;

export const TemplateChange = Type.Object(
  {
    path: Type.Array(Type.String(), {
      description: 'The field, or the way to a nested one',
      examples: [['destination_config', 'password']],
    }),
    before: Type.Optional(
      Type.Unsafe<unknown>({
        description: 'Left out where there was nothing',
        examples: ['fingerprint:3fa9c1d2e4b7'],
      }),
    ),
    after: Type.Optional(
      Type.Unsafe<unknown>({
        description: 'Left out where there is nothing',
        examples: ['fingerprint:90b1e07ac233'],
      }),
    ),
  },
  { title: 'Template change' },
);
export type TemplateChange = Static<typeof TemplateChange>;

const summary = {
  version: VersionNumber('1, 2, 3, … without a gap'),
  is_current: Type.Boolean({ description: 'Whether new sources and connections get this version' }),
  copy_of: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'After a rollback: the version that this one repeats',
  }),
  created_at: Timestamp('When the change was made'),
  created_by: Type.Unsafe<VersionAuthor | null>({
    anyOf: [VersionAuthor, { type: 'null' }],
    description: 'Null for a version that was made before it was noted who made it',
  }),
  changes: Type.Array(TemplateChange, {
    description:
      'What differs from the version before. Secrets are shown as fingerprints: equal ones are equal secrets',
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
      description: 'The template as it was, with fingerprints in place of secrets',
      examples: [{ destination_name: 'Warehouse', destination_config: { password: 'fingerprint:90b1e07ac233' } }],
    }),
  },
  { title: 'Template version' },
);
export type TemplateVersion = Static<typeof TemplateVersion>;

export const TemplateVersionList = Type.Object(
  {
    data: Type.Array(TemplateVersionSummary, { description: 'Newest first' }),
    next: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Give it as `cursor` for the next page; null at the end',
    }),
  },
  { title: 'Template version list' },
);
export type TemplateVersionList = Static<typeof TemplateVersionList>;

export const ListVersionsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Versions on a page' })),
  cursor: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: '`next` of the page before', examples: [21] }),
  ),
});
