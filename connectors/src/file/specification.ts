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
      title: 'Web address',
      required: ['type', 'url'],
      properties: {
        type: { type: 'string', const: 'url', order: 0 },
        url: {
          type: 'string',
          title: 'Address',
          pattern: '^https?://\\S+$',
          pattern_descriptor: 'https://example.com/orders.csv',
          examples: ['https://example.com/orders.csv'],
          order: 1,
        },
        authentication,
      },
    },
    {
      title: 'Folder of the server',
      required: ['type', 'path'],
      properties: {
        type: { type: 'string', const: 'path', order: 0 },
        path: {
          type: 'string',
          title: 'Path',
          description:
            'An absolute path within a folder that the operator has allowed. The file name may contain *, as in *.csv: ' +
            'then all files that match are read as one stream.',
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
  description: 'Files may be compressed with gzip.',
  order: 2,
  oneOf: [
    {
      title: 'CSV',
      description:
        'Integers, decimals, true and false, dates and times are recognised where a whole column has them. ' +
        'An empty cell is null.',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'csv', order: 0 },
        delimiter: {
          type: 'string',
          title: 'Delimiter',
          enum: [',', ';', '\t', '|'],
          enumNames: ['Comma (,)', 'Semicolon (;)', 'Tab', 'Vertical bar (|)'],
          default: ',',
          order: 1,
        },
        header: {
          type: 'boolean',
          title: 'Names in the first line',
          description: 'Otherwise the columns are called column_1, column_2 and so on.',
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
      description: 'One JSON object a line.',
      required: ['type'],
      properties: { type: { type: 'string', const: 'jsonl', order: 0 } },
    },
    {
      title: 'JSON',
      description: 'A list of objects, or an object with a list in it, of at most 64 MB.',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'json', order: 0 },
        record_path: {
          type: 'string',
          title: 'Path of the records',
          description: 'Where the document has the list of records, with dots. Empty: the document is the list.',
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
          title: 'Name of the stream',
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
          description: 'The fields that tell one record from another.',
          items: { type: 'string', minLength: 1 },
          examples: [['id']],
          order: 3,
        },
      },
    },
    dictionary,
  ),
};
