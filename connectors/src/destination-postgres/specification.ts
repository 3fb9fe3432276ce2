import type { ConnectorSpecification } from '@inlay/protocol/protocol';
import { rowFormat } from '@inlay/protocol/row-blocks';
import { connectionFields, connectionGroups, requiredConnectionFields } from '../postgres/connection-fields.ts';

export const specification: ConnectorSpecification = {
  connectionSpecification: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'PostgreSQL',
    type: 'object',
    required: requiredConnectionFields,
    additionalProperties: true,
    groups: connectionGroups,
    properties: {
      ...connectionFields,
      schema: {
        type: 'string',
        title: 'Schema',
        description: 'Schema for tables of streams without a namespace. Created if it does not exist.',
        minLength: 1,
        maxLength: 63,
        default: 'public',
        always_show: true,
        group: 'content',
        order: 6,
      },
    },
  },
  supported_destination_sync_modes: ['overwrite', 'append', 'append_dedup'],
  inlay_row_blocks: rowFormat,
};
