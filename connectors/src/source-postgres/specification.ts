import type { ConnectorSpecification } from '@inlay/protocol/protocol';
import { rowFormat } from '@inlay/protocol/row-blocks';
import { translate } from '../kit/translate.ts';
import { connectionFields, connectionGroups, requiredConnectionFields } from '../postgres/connection-fields.ts';
import { sourceDictionary } from '../postgres/words.ts';

export const specification: ConnectorSpecification = {
  connectionSpecification: translate(
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'PostgreSQL',
      type: 'object',
      required: requiredConnectionFields,
      additionalProperties: true,
      groups: connectionGroups,
      properties: {
        ...connectionFields,
        schemas: {
          type: 'array',
          title: 'Schemas',
          description: 'You can sync the tables and views in these schemas.',
          items: { type: 'string', minLength: 1, maxLength: 63 },
          minItems: 1,
          uniqueItems: true,
          default: ['public'],
          always_show: true,
          group: 'content',
          order: 6,
        },
      },
    },
    sourceDictionary,
  ),
  inlay_row_blocks: rowFormat,
};
