import type { ConnectorSpecification } from '@inlay/protocol/protocol';
import { rowFormat } from '@inlay/protocol/row-blocks';
import { translate } from '../kit/translate.ts';
import { dictionary } from './words.ts';

export const specification: ConnectorSpecification = {
  connectionSpecification: translate(
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'Sample Data',
      type: 'object',
      required: ['count'],
      additionalProperties: true,
      properties: {
        count: {
          type: 'integer',
          title: 'Users',
          description: 'Number of users to generate. Products and purchases scale with it.',
          minimum: 1,
          maximum: 1_000_000,
          default: 1000,
          order: 0,
        },
        seed: {
          type: 'integer',
          title: 'Seed',
          description: 'Change this number to get different records.',
          minimum: 0,
          maximum: 2_147_483_647,
          default: 1,
          order: 1,
        },
        records_per_second: {
          type: 'integer',
          title: 'Records per second',
          description: 'Maximum number of records per second. Leave empty for full speed.',
          minimum: 1,
          maximum: 100_000,
          order: 2,
        },
      },
    },
    dictionary,
  ),
  inlay_row_blocks: rowFormat,
};
