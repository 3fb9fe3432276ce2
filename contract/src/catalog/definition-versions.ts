/** What crosses the wire for the versions of connectors that an organization adds itself. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp } from '../fields.ts';
import { ManifestAnswer } from './definitions.ts';
import { TemplateVersionSummary, VersionAuthor, VersionNumber } from './template-versions.ts';

const Count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });

const Running = (description: string) => Type.Optional(Enumeration(['runs', 'left_out'], { description }));

/** So many changes of a version are told in a list. */
export const maxListedChanges = 50;

export const ManifestStreamChange = Type.Object(
  {
    stream: Type.String({ description: 'Name of the stream', examples: ['loans'] }),
    before: Running('Left out where there was no such stream'),
    after: Running('Left out where there is no such stream any more'),
  },
  { title: 'Manifest stream change' },
);
export type ManifestStreamChange = Static<typeof ManifestStreamChange>;

const summary = {
  version: VersionNumber('Counts up with every new manifest'),
  is_current: Type.Boolean({ description: 'Whether new sources get this version' }),
  copy_of: TemplateVersionSummary.properties.copy_of,
  created_at: Timestamp('When the manifest was given'),
  created_by: Type.Unsafe<VersionAuthor | null>({
    anyOf: [VersionAuthor, { type: 'null' }],
    description: 'Null for a version that was made by command line, or before it was noted who made it',
  }),
  source_count: Count('How many sources have this version', 12),
  running_stream_count: Count('How many streams run', 7),
  left_out_stream_count: Count('How many streams cannot run, and are left out', 1),
  change_count: Count('Of how many streams it differs whether they run', 1),
  changes: Type.Array(ManifestStreamChange, {
    description: `Which streams run, are left out or are gone, other than in the version before that is kept. A list tells the first ${maxListedChanges}`,
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
      description: 'The manifest itself. Secrets that are written into it are masked',
    }),
  },
  { title: 'Source definition version' },
);
export type SourceDefinitionVersion = Static<typeof SourceDefinitionVersion>;

export const SourceDefinitionVersionList = Type.Object(
  {
    data: Type.Array(SourceDefinitionVersionSummary, { description: 'Newest first' }),
    next: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Give it as `cursor` for the next page; null at the end',
    }),
  },
  { title: 'Source definition version list' },
);
export type SourceDefinitionVersionList = Static<typeof SourceDefinitionVersionList>;

export const ConfirmSourceDefinitionRequest = Type.Object(
  { version: VersionNumber('The newest version, which was looked at') },
  { title: 'Confirm source definition request', examples: [{ version: 2 }] },
);
export type ConfirmSourceDefinitionRequest = Static<typeof ConfirmSourceDefinitionRequest>;

export const RollbackSourceDefinitionRequest = Type.Object(
  { version: VersionNumber('The version to go back to') },
  { title: 'Rollback source definition request', examples: [{ version: 1 }] },
);
export type RollbackSourceDefinitionRequest = Static<typeof RollbackSourceDefinitionRequest>;
