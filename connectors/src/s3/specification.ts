import type { ConnectorSpecification } from '@inlay/protocol/protocol';

export const specification: ConnectorSpecification = {
  connectionSpecification: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'S3',
    type: 'object',
    required: ['bucket', 'access_key_id', 'secret_access_key'],
    additionalProperties: true,
    properties: {
      bucket: {
        type: 'string',
        title: 'Bucket',
        description: 'Name of an existing bucket.',
        pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
        pattern_descriptor: 'my-bucket',
        order: 0,
      },
      prefix: {
        type: 'string',
        title: 'Prefix',
        description:
          'Folder in the bucket to write to. Leave empty to write to the top level. Objects are named ' +
          '<prefix>/<namespace>/<stream>/<generation>/<sync>-<start>-<part>.jsonl.gz. Each line is a record with ' +
          '_inlay_emitted_at (when the source sent it) and _inlay_sync_id (the sync that wrote it).',
        // Every segment starts with a letter or digit, so that neither '..' nor an empty segment can be written.
        pattern: '^([A-Za-z0-9][A-Za-z0-9._=-]*(/[A-Za-z0-9][A-Za-z0-9._=-]*)*/?)?$',
        pattern_descriptor: 'folder/subfolder',
        maxLength: 200,
        examples: ['exports/inlay'],
        order: 1,
      },
      region: {
        type: 'string',
        title: 'Region',
        description: "The bucket's region. Stores other than AWS often accept any region or document the one to use.",
        pattern: '^[a-z0-9-]{1,40}$',
        pattern_descriptor: 'eu-central-1',
        default: 'us-east-1',
        examples: ['eu-central-1', 'auto'],
        order: 2,
      },
      endpoint: {
        type: 'string',
        title: 'Endpoint',
        description: 'URL of an S3-compatible store, such as MinIO or Cloudflare R2. Leave empty for AWS.',
        pattern: '^(https?://[^/?#@\\s]+(/[^?#\\s]*)?)?$',
        pattern_descriptor: 'https://host[:port]',
        examples: ['https://minio.example.com:9000'],
        order: 3,
      },
      access_key_id: { type: 'string', title: 'Access key ID', minLength: 1, maxLength: 200, order: 4 },
      secret_access_key: {
        type: 'string',
        title: 'Secret access key',
        minLength: 1,
        maxLength: 200,
        airbyte_secret: true,
        order: 5,
      },
    },
  },
  supported_destination_sync_modes: ['overwrite', 'append'],
};
