import type { ConnectorSpecification } from '@inlay/protocol/protocol';
import { bearerToken, noAuthentication, userAndPassword } from '../kit/http-authentication.ts';
import { translate } from '../kit/translate.ts';
import { dictionary } from './words.ts';

const authentication = {
  type: 'object',
  title: 'Authentication',
  order: 2,
  oneOf: [noAuthentication, bearerToken, userAndPassword],
};

const location = {
  type: 'object',
  title: 'Location',
  order: 1,
  oneOf: [
    {
      title: 'URL',
      required: ['type', 'url'],
      properties: {
        type: { type: 'string', const: 'url', order: 0 },
        url: {
          type: 'string',
          title: 'File URL',
          pattern: '^https?://\\S+$',
          pattern_descriptor: 'https://example.com/orders.csv',
          examples: ['https://example.com/orders.csv'],
          order: 1,
        },
        authentication,
      },
    },
    {
      title: 'Server folder',
      required: ['type', 'path'],
      properties: {
        type: { type: 'string', const: 'path', order: 0 },
        path: {
          type: 'string',
          title: 'Path',
          description:
            'Absolute path in an allowed folder. Use * in the file name, for example *.csv, to read all matching files as one stream.',
          pattern: '^/',
          pattern_descriptor: '/data/orders.csv',
          examples: ['/data/orders/*.csv'],
          order: 1,
        },
      },
    },
  ],
};

const format = {
  type: 'object',
  title: 'Format',
  description: 'Files can be compressed with gzip.',
  order: 2,
  oneOf: [
    {
      title: 'CSV',
      description:
        'Column types such as integer, decimal, boolean, date and time are detected from the values. Empty cells become null.',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'csv', order: 0 },
        delimiter: {
          type: 'string',
          title: 'Delimiter',
          enum: [',', ';', '\t', '|'],
          enumNames: ['Comma (,)', 'Semicolon (;)', 'Tab', 'Pipe (|)'],
          default: ',',
          order: 1,
        },
        header: {
          type: 'boolean',
          title: 'First row contains column names',
          description: 'Otherwise, columns are named column_1, column_2 and so on.',
          default: true,
          order: 2,
        },
        encoding: {
          type: 'string',
          title: 'Encoding',
          enum: ['utf-8', 'latin1'],
          enumNames: ['UTF-8', 'Latin-1'],
          default: 'utf-8',
          order: 3,
        },
      },
    },
    {
      title: 'JSON Lines',
      description: 'One JSON object per line.',
      required: ['type'],
      properties: { type: { type: 'string', const: 'jsonl', order: 0 } },
    },
    {
      title: 'JSON',
      description: 'A list of objects, or an object that contains a list, up to 64 MB.',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'json', order: 0 },
        record_path: {
          type: 'string',
          title: 'Records path',
          description:
            'Dot path to the list of records in the document. Leave empty if the document itself is the list.',
          default: '',
          examples: ['data.items'],
          order: 1,
        },
      },
    },
  ],
};

export const specification: ConnectorSpecification = {
  connectionSpecification: translate(
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'File',
      type: 'object',
      required: ['stream_name', 'location', 'format'],
      additionalProperties: true,
      properties: {
        stream_name: {
          type: 'string',
          title: 'Stream name',
          minLength: 1,
          maxLength: 200,
          examples: ['orders'],
          order: 0,
        },
        location,
        format,
        primary_key: {
          type: 'array',
          title: 'Primary key',
          description: 'The fields that uniquely identify a record.',
          items: { type: 'string', minLength: 1 },
          examples: [['id']],
          order: 3,
        },
      },
    },
    dictionary,
  ),
};
