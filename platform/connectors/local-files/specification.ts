import type { ConnectorSpecification } from '../../src/protocol.ts';

export const specification: ConnectorSpecification = {
  connectionSpecification: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Local Files',
    type: 'object',
    required: ['path'],
    additionalProperties: true,
    properties: {
      path: {
        type: 'string',
        title: 'Folder',
        description: 'Where the files go, relative to the data folder.',
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
        enum: ['jsonl', 'csv'],
        default: 'jsonl',
        order: 1,
      },
    },
  },
  supported_destination_sync_modes: ['overwrite', 'append'],
};
