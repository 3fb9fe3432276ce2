import type { ConnectorSpecification } from '@inlay/protocol/protocol';

export const specification: ConnectorSpecification = {
  connectionSpecification: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Local Files',
    type: 'object',
    // Each workspace has its own folder, so that files of two workspaces never mix.
    inlay_separates_workspaces: true,
    required: ['path'],
    additionalProperties: true,
    properties: {
      path: {
        type: 'string',
        title: 'Folder',
        description:
          "Folder for the files, relative to the workspace's own folder. Each stream gets a folder in it, with a folder " +
          'for each generation of its records: <path>/<stream>/<generation>/<sync>-<start>-<part>.jsonl.',
        // Every segment starts with a letter or digit, which leaves no way to write '..', an absolute path or a hidden file.
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$',
        pattern_descriptor: 'folder/subfolder',
        maxLength: 200,
        examples: ['exports'],
        order: 0,
      },
      format: {
        type: 'string',
        title: 'Format',
        description:
          'JSON Lines (jsonl) keeps every field of a record unchanged. CSV has a column for each field that the stream ' +
          'declares, with nested values as JSON, and all other fields in _inlay_other_fields. Both add _inlay_emitted_at (when the source sent the record) and _inlay_sync_id ' +
          '(the sync that wrote it).',
        enum: ['jsonl', 'csv'],
        default: 'jsonl',
        order: 1,
      },
      compression: {
        type: 'string',
        title: 'Compression',
        enum: ['none', 'gzip'],
        default: 'none',
        order: 2,
      },
    },
  },
  supported_destination_sync_modes: ['overwrite', 'append'],
};
