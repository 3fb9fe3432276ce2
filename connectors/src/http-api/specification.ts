/*
 * All secrets are in `authentication`, next to settings that the operator knows: a template can preset everything,
 * including the type of authentication, and leave only the key to the customer.
 */
import type { ConnectorSpecification } from '@inlay/protocol/protocol';
import { bearerToken, noAuthentication, userAndPassword } from '../kit/http-authentication.ts';
import { translate } from '../kit/translate.ts';
import { dictionary } from './words.ts';

const headerName = {
  type: 'string',
  // A token of RFC 9110, less the headers that belong to the connection.
  pattern:
    "^(?!([Hh]ost|[Cc]onnection|[Cc]ontent-[Ll]ength|[Tt]ransfer-[Ee]ncoding|[Uu]pgrade)$)[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
  maxLength: 200,
};

const parameterName = { type: 'string', minLength: 1, maxLength: 200 };

const authentication = {
  type: 'object',
  title: 'Authentication',
  description: 'How to authenticate with the API.',
  order: 1,
  oneOf: [
    noAuthentication,
    bearerToken,
    {
      title: 'API key in a header',
      required: ['type', 'name', 'value'],
      properties: {
        type: { type: 'string', const: 'header', order: 0 },
        name: { ...headerName, title: 'Header', examples: ['X-Api-Key'], order: 1 },
        value: { type: 'string', title: 'API key', minLength: 1, airbyte_secret: true, order: 2 },
      },
    },
    {
      title: 'API key in the query string',
      required: ['type', 'name', 'value'],
      properties: {
        type: { type: 'string', const: 'query', order: 0 },
        name: { ...parameterName, title: 'Parameter', examples: ['api_key'], order: 1 },
        value: { type: 'string', title: 'API key', minLength: 1, airbyte_secret: true, order: 2 },
      },
    },
    userAndPassword,
    {
      title: 'Client credentials (OAuth 2.0)',
      required: ['type', 'token_url', 'client_id', 'client_secret'],
      properties: {
        type: { type: 'string', const: 'client_credentials', order: 0 },
        token_url: {
          type: 'string',
          title: 'Token URL',
          description: 'Where to request access tokens.',
          pattern: '^https?://[^\\s#]+$',
          pattern_descriptor: 'https://auth.example.com/oauth/token',
          examples: ['https://auth.example.com/oauth/token'],
          order: 1,
        },
        client_id: { type: 'string', title: 'Client ID', minLength: 1, order: 2 },
        client_secret: { type: 'string', title: 'Client secret', minLength: 1, airbyte_secret: true, order: 3 },
        scope: {
          type: 'string',
          title: 'Scopes',
          description: 'Separate multiple scopes with spaces.',
          examples: ['orders:read customers:read'],
          order: 4,
        },
        credentials_in: {
          type: 'string',
          title: 'Send client credentials in',
          enum: ['body', 'header'],
          enumNames: ['Request body', 'Authorization header'],
          default: 'body',
          order: 5,
        },
      },
    },
  ],
};

const pageSize = { type: 'integer', title: 'Page size', minimum: 1, maximum: 100_000 };
const sizeParameter = { ...parameterName, title: 'Page size parameter' };

const morePath = {
  type: 'string',
  title: 'Path to the "more pages" flag',
  description:
    'Dot path to the response field that says whether there are more pages. Leave empty to detect common names such as has_more.',
  examples: ['meta.has_more'],
};

const end = {
  type: 'string',
  title: 'Stop condition',
  enum: ['automatic', 'empty_page', 'short_page'],
  enumNames: ['Last page reported by the API, or empty page', 'First empty page', 'First page that is not full'],
  default: 'automatic',
};

const pagination = {
  type: 'object',
  title: 'Pagination',
  description: 'How the API splits long lists into pages.',
  oneOf: [
    {
      title: 'None',
      required: ['type'],
      properties: { type: { type: 'string', const: 'none', order: 0 } },
    },
    {
      title: 'Page number',
      description: 'Stops at an empty page, unless the API reports more pages.',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'page', order: 0 },
        page_parameter: { ...parameterName, title: 'Page parameter', default: 'page', order: 1 },
        first_page: { type: 'integer', title: 'First page', minimum: 0, default: 1, order: 2 },
        size_parameter: { ...sizeParameter, examples: ['per_page'], order: 3 },
        page_size: { ...pageSize, order: 4 },
        end: { ...end, order: 5 },
        more_path: { ...morePath, order: 6 },
      },
    },
    {
      title: 'Offset',
      description: 'Stops at an empty page, unless the API reports more pages.',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'offset', order: 0 },
        offset_parameter: { ...parameterName, title: 'Offset parameter', default: 'offset', order: 1 },
        size_parameter: { ...sizeParameter, default: 'limit', order: 2 },
        page_size: { ...pageSize, default: 100, order: 3 },
        end: { ...end, order: 4 },
        more_path: { ...morePath, order: 5 },
      },
    },
    {
      title: 'Last record ID',
      description: 'Requests the records after the last one. Stops at an empty page or when the API reports the end.',
      required: ['type', 'id_parameter'],
      properties: {
        type: { type: 'string', const: 'last_id', order: 0 },
        id_parameter: { ...parameterName, title: 'ID parameter', examples: ['starting_after'], order: 1 },
        id_field: {
          type: 'string',
          title: 'ID field',
          description: 'Dot path to the ID in a record.',
          minLength: 1,
          default: 'id',
          order: 2,
        },
        size_parameter: { ...sizeParameter, examples: ['limit'], order: 3 },
        page_size: { ...pageSize, order: 4 },
        end: { ...end, order: 5 },
        more_path: { ...morePath, order: 6 },
      },
    },
    {
      title: 'Next page token',
      description: 'Stops when the response has no token or reports no more pages.',
      required: ['type', 'token_path', 'token_parameter'],
      properties: {
        type: { type: 'string', const: 'cursor', order: 0 },
        token_path: {
          type: 'string',
          title: 'Token path',
          description: 'Dot path to the next page token in the response.',
          minLength: 1,
          examples: ['meta.next_cursor'],
          order: 1,
        },
        token_parameter: { ...parameterName, title: 'Token parameter', examples: ['cursor'], order: 2 },
        size_parameter: { ...sizeParameter, examples: ['limit'], order: 3 },
        page_size: { ...pageSize, order: 4 },
        more_path: { ...morePath, order: 5 },
      },
    },
    {
      title: 'Next page link',
      description: 'Stops when there is no link.',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'link', order: 0 },
        url_path: {
          type: 'string',
          title: 'Link path',
          description: 'Dot path to the next page URL in the response. Leave empty to use the Link header.',
          examples: ['links.next'],
          order: 1,
        },
        size_parameter: { ...sizeParameter, examples: ['per_page'], order: 2 },
        page_size: { ...pageSize, order: 3 },
      },
    },
  ],
};

const namesAndValues = (name: object, title: string) => ({
  type: 'array',
  items: {
    type: 'object',
    title,
    required: ['name', 'value'],
    properties: {
      name: { ...name, title: 'Name', order: 0 },
      value: { type: 'string', title: 'Value', order: 1 },
    },
  },
});

const parent = {
  type: 'object',
  title: 'Parent list',
  description:
    'Reads this list once for each record of another stream. Put fields of that record in braces in the path, for example /projects/{id}/issues.',
  required: ['stream'],
  properties: {
    stream: {
      type: 'string',
      title: 'Parent stream',
      minLength: 1,
      maxLength: 200,
      examples: ['projects'],
      order: 0,
    },
    copy_field: {
      type: 'string',
      title: 'Parent field',
      description: 'Added to every record, with the value of the first field in braces.',
      minLength: 1,
      examples: ['project_id'],
      order: 1,
    },
  },
};

const timeWindow = {
  type: 'object',
  title: 'Time window',
  description:
    'Requests changes between two points in time, based on the cursor field. An interrupted sync resumes with the unfinished window.',
  required: ['start', 'start_parameter'],
  properties: {
    start: {
      type: 'string',
      title: 'Start date',
      description: 'The first sync reads data from this date on.',
      format: 'date',
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
      pattern_descriptor: 'YYYY-MM-DD',
      examples: ['2024-01-01'],
      order: 0,
    },
    start_parameter: { ...parameterName, title: 'Start parameter', examples: ['updated_after'], order: 1 },
    end_parameter: { ...parameterName, title: 'End parameter', examples: ['updated_before'], order: 2 },
    step: {
      type: 'string',
      title: 'Window length',
      description: 'Requires an end parameter. Leave empty to use a single window up to now.',
      enum: ['PT1H', 'P1D', 'P7D', 'P1M', 'P1Y'],
      enumNames: ['An hour', 'A day', 'A week', 'A month', 'A year'],
      order: 3,
    },
    format: {
      type: 'string',
      title: 'Time format',
      enum: ['date-time', 'date', 'seconds', 'milliseconds'],
      enumNames: [
        'Date and time (2024-01-31T00:00:00Z)',
        'Date (2024-01-31)',
        'Unix timestamp (seconds)',
        'Unix timestamp (milliseconds)',
      ],
      default: 'date-time',
      order: 4,
    },
  },
};

const fields = {
  type: 'array',
  title: 'Field types',
  description:
    'Set the type of fields that the first pages do not reveal. All other types are detected from the records.',
  items: {
    type: 'object',
    title: 'Field',
    required: ['name', 'type'],
    properties: {
      name: { type: 'string', title: 'Name', minLength: 1, order: 0 },
      type: {
        type: 'string',
        title: 'Type',
        enum: ['text', 'integer', 'number', 'boolean', 'date', 'date-time', 'object', 'list'],
        enumNames: ['Text', 'Whole number', 'Number', 'Yes or no', 'Date', 'Date and time', 'Object', 'List'],
        order: 1,
      },
    },
  },
};

const stream = {
  type: 'object',
  title: 'Stream',
  required: ['name', 'path'],
  properties: {
    name: { type: 'string', title: 'Name', minLength: 1, maxLength: 200, examples: ['customers'], order: 0 },
    path: {
      type: 'string',
      title: 'Path',
      description: 'Appended to the base URL.',
      examples: ['/customers'],
      order: 1,
    },
    query_parameters: { ...namesAndValues(parameterName, 'Parameter'), title: 'Query parameters', order: 2 },
    record_path: {
      type: 'string',
      title: 'Records path',
      description: 'Dot path to the list of records in the response. Leave empty if the response itself is the list.',
      default: '',
      examples: ['data.items'],
      order: 3,
    },
    primary_key: {
      type: 'array',
      title: 'Primary key',
      description: 'The fields that uniquely identify a record.',
      items: { type: 'string', minLength: 1 },
      examples: [['id']],
      order: 4,
    },
    cursor_field: {
      type: 'string',
      title: 'Cursor field',
      description:
        'A field that increases with every change, such as updated_at. Syncs then read only new and changed records.',
      minLength: 1,
      examples: ['updated_at'],
      order: 5,
    },
    cursor_parameter: {
      ...parameterName,
      title: 'Cursor parameter',
      description:
        'Sends the last value of the cursor field to the API so that it returns only new records. Replaces a query parameter with the same name.',
      examples: ['updated_since'],
      order: 6,
    },
    sorted: {
      type: 'boolean',
      title: 'Sorted by the cursor field',
      description:
        'The API returns the oldest changes first. An interrupted sync can then resume in the middle of the list.',
      default: false,
      order: 7,
    },
    pagination: { ...pagination, order: 8 },
    time_window: { ...timeWindow, order: 9 },
    parent: { ...parent, order: 10 },
    body: {
      type: 'string',
      title: 'JSON body',
      description: 'Sends requests as POST with this body. Leave empty to use GET.',
      multiline: true,
      examples: ['{"status": "open"}'],
      order: 11,
    },
    parameters_in: {
      type: 'string',
      title: 'Send parameters in',
      description: 'Applies to the parameters for pages, cursor and time window.',
      enum: ['query', 'body'],
      enumNames: ['Query string', 'JSON body'],
      default: 'query',
      order: 12,
    },
    fields: { ...fields, order: 13 },
  },
};

export const specification: ConnectorSpecification = {
  connectionSpecification: translate(
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'HTTP API',
      type: 'object',
      required: ['base_url', 'authentication', 'streams'],
      additionalProperties: true,
      properties: {
        base_url: {
          type: 'string',
          title: 'Base URL',
          pattern: '^https?://[^\\s?#]+$',
          pattern_descriptor: 'https://api.example.com/v1',
          examples: ['https://api.example.com/v1'],
          order: 0,
        },
        authentication,
        streams: {
          type: 'array',
          title: 'Streams',
          description: 'The data to read, with one stream per type of record.',
          minItems: 1,
          maxItems: 200,
          items: stream,
          order: 2,
        },
        headers: {
          ...namesAndValues(headerName, 'Header'),
          title: 'Headers',
          description: 'Sent with every request, for example an API version.',
          order: 3,
        },
        requests_per_second: {
          type: 'number',
          title: 'Requests per second',
          description: 'Maximum number of requests per second. Leave empty for no limit.',
          minimum: 0.01,
          maximum: 1000,
          order: 4,
        },
      },
    },
    dictionary,
  ),
};
