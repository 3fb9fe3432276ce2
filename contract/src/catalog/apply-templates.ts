/** Schemas for comparing a workspace with the templates that currently match it. */
import { type Static, Type } from 'typebox';
import { Enumeration, Uuid } from '../fields.ts';
import { existingChoices } from './rollouts.ts';
import { templateFilterFields } from './template-filters.ts';

export const ApplyTemplatesRequest = Type.Object(
  {
    ...templateFilterFields,
    no_longer_matching: Type.Optional(
      Enumeration(existingChoices, {
        default: 'keep',
        description: 'What to do with connections that no longer match. Data already written is kept.',
      }),
    ),
    plan: Type.Optional(
      Type.Boolean({ default: false, description: 'Report what would change without changing anything.' }),
    ),
  },
  { title: 'Apply templates request', examples: [{ selected_connection_template_tags: ['gold'], plan: true }] },
);
export type ApplyTemplatesRequest = Static<typeof ApplyTemplatesRequest>;

const pair = {
  source_id: Uuid('The source.', 'b6e1c0d4-2f3a-4d5b-8c6e-7f8091a2b3c4'),
  source_name: Type.String({ description: 'Name of the source.', examples: ['Shop'] }),
  connection_template_id: Uuid('The connection template.', 'd2b6f1a8-7e0c-4c39-9b64-5a8e3f7c1d02'),
  destination_name: Type.String({ description: 'Name of the destination.', examples: ['Warehouse'] }),
};

export const MissingConnection = Type.Object(pair, { title: 'Missing connection' });
export type MissingConnection = Static<typeof MissingConnection>;

export const UnmatchedConnection = Type.Object(
  { connection_id: Uuid('The connection.', '0e9d8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b'), ...pair },
  { title: 'Unmatched connection' },
);
export type UnmatchedConnection = Static<typeof UnmatchedConnection>;

export const AppliedTemplates = Type.Object(
  {
    plan: Type.Boolean({ description: 'True if this is a plan only and nothing was changed.' }),
    missing: Type.Array(MissingConnection, {
      description: 'Matching connections that did not exist yet. They are being created, or would be in a plan.',
    }),
    no_longer_matching: Type.Array(UnmatchedConnection, {
      description:
        'Connections whose source template or connection template no longer matches, or whose connection template was deleted.',
    }),
    matching: Type.Integer({ description: 'Number of matching connections that already existed.', examples: [2] }),
  },
  { title: 'Applied templates' },
);
export type AppliedTemplates = Static<typeof AppliedTemplates>;
