/** Schemas for versions of connectors that an organization adds itself. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp } from '../fields.ts';
import { ManifestAnswer } from './definitions.ts';
import { TemplateVersionSummary, VersionAuthor, VersionNumber } from './template-versions.ts';

const Count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });

const Running = (description: string) => Type.Optional(Enumeration(['runs', 'left_out'], { description }));

/** Maximum number of changes that a version lists. */
export const maxListedChanges = 50;

export const ManifestStreamChange = Type.Object(
  {
    stream: Type.String({ description: 'Name of the stream.', examples: ['loans'] }),
    before: Running('Absent if the stream did not exist before.'),
    after: Running('Absent if the stream no longer exists.'),
  },
  { title: 'Manifest stream change' },
);
export type ManifestStreamChange = Static<typeof ManifestStreamChange>;

const summary = {
  version: VersionNumber('Increases with every new manifest.'),
  is_current: Type.Boolean({ description: 'Whether new sources get this version.' }),
  copy_of: TemplateVersionSummary.properties.copy_of,
  created_at: Timestamp('When the manifest was uploaded.'),
  created_by: Type.Unsafe<VersionAuthor | null>({
    anyOf: [VersionAuthor, { type: 'null' }],
    description:
      'Who uploaded the manifest. Null for versions created by the command line, or before authors were recorded.',
  }),
  source_count: Count('Number of sources on this version.', 12),
  running_stream_count: Count('Number of streams that can run.', 7),
  left_out_stream_count: Count('Number of streams that are skipped because they cannot run.', 1),
  change_count: Count('Number of streams whose status differs from the previous version.', 1),
  changes: Type.Array(ManifestStreamChange, {
    description: `Streams that were added, removed or changed status since the previous stored version. Lists at most ${maxListedChanges}.`,
  }),
};

export const SourceDefinitionVersionSummary = Type.Object(summary, { title: 'Source definition version summary' });
export type SourceDefinitionVersionSummary = Static<typeof SourceDefinitionVersionSummary>;

const { language_version, streams, warnings } = ManifestAnswer.properties;

export const SourceDefinitionVersion = Type.Object(
  {
    ...summary,
    language_version,
    streams,
    warnings,
    content: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'The manifest, with embedded secrets masked.',
    }),
  },
  { title: 'Source definition version' },
);
export type SourceDefinitionVersion = Static<typeof SourceDefinitionVersion>;

export const SourceDefinitionVersionList = Type.Object(
  {
    data: Type.Array(SourceDefinitionVersionSummary, { description: 'Versions, newest first.' }),
    next: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Pass as `cursor` to get the next page. Null on the last page.',
    }),
  },
  { title: 'Source definition version list' },
);
export type SourceDefinitionVersionList = Static<typeof SourceDefinitionVersionList>;

export const ConfirmSourceDefinitionRequest = Type.Object(
  { version: VersionNumber('The latest version, as you reviewed it.') },
  { title: 'Confirm source definition request', examples: [{ version: 2 }] },
);
export type ConfirmSourceDefinitionRequest = Static<typeof ConfirmSourceDefinitionRequest>;

export const RollbackSourceDefinitionRequest = Type.Object(
  { version: VersionNumber('The version to go back to.') },
  { title: 'Rollback source definition request', examples: [{ version: 1 }] },
);
export type RollbackSourceDefinitionRequest = Static<typeof RollbackSourceDefinitionRequest>;
