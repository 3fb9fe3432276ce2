/* A schema for each type of column that the `postgres` destination has. */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';

export const dateTime = { type: 'string', format: 'date-time' };

export const columnSchemas: Record<string, JsonSchema> = {
  text: { type: 'string' },
  boolean: { type: ['boolean', 'null'] },
  bigint: { type: 'integer' },
  'double precision': { type: 'number' },
  numeric: { type: 'string', airbyte_type: 'big_number' },
  date: { type: 'string', format: 'date' },
  'timestamp without time zone': { ...dateTime, airbyte_type: 'timestamp_without_timezone' },
  'timestamp with time zone': { ...dateTime, airbyte_type: 'timestamp_with_timezone' },
  'time without time zone': { type: 'string', format: 'time' },
  'time with time zone': { type: 'string', format: 'time', airbyte_type: 'time_with_timezone' },
  bytea: { type: 'string', contentEncoding: 'base64' },
  jsonb: {},
};
