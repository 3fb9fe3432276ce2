/*
 * The only secrets stand in `authentication`, beside what an operator knows: a template can fix everything, the kind of
 * authentication included, and leave just the key to the customer.
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
  description: 'How the API knows who asks.',
  order: 1,
  oneOf: [
    noAuthentication,
    bearerToken,
    {
      title: 'Key in a header',
      required: ['type', 'name', 'value'],
      properties: {
        type: { type: 'string', const: 'header', order: 0 },
        name: { ...headerName, title: 'Header', examples: ['X-Api-Key'], order: 1 },
        value: { type: 'string', title: 'Key', minLength: 1, airbyte_secret: true, order: 2 },
      },
    },
    {
      title: 'Key in the query',
      required: ['type', 'name', 'value'],
      properties: {
        type: { type: 'string', const: 'query', order: 0 },
        name: { ...parameterName, title: 'Parameter', examples: ['api_key'], order: 1 },
        value: { type: 'string', title: 'Key', minLength: 1, airbyte_secret: true, order: 2 },
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
          title: 'Address for tokens',
          description: 'Where the API gives access tokens.',
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
          description: 'What the token is for, with spaces between several.',
          examples: ['orders:read customers:read'],
          order: 4,
        },
        credentials_in: {
          type: 'string',
          title: 'Where ID and secret go',
          enum: ['body', 'header'],
          enumNames: ['Into the body', 'Into a header'],
          default: 'body',
          order: 5,
        },
      },
    },
  ],
};

const pageSize = { type: 'integer', title: 'Page size', minimum: 1, maximum: 100_000 };
const sizeParameter = { ...parameterName, title: 'Parameter of the page size' };

const morePath = {
  type: 'string',
  title: 'Path of the sign for more pages',
  description:
    'Where the answer says whether there are more pages, with dots. Empty: usual names such as has_more are recognised.',
  examples: ['meta.has_more'],
};

const end = {
  type: 'string',
  title: 'End of the list',
  enum: ['automatic', 'empty_page', 'short_page'],
  enumNames: [
    'When the API says so, or with an empty page',
    'With the first empty page',
    'With the first page that is not full',
  ],
  default: 'automatic',
};

const pagination = {
  type: 'object',
  title: 'Pagination',
  description: 'How the API gives long lists in pages.',
  oneOf: [
    {
      title: 'None',
      required: ['type'],
      properties: { type: { type: 'string', const: 'none', order: 0 } },
    },
    {
      title: 'Page number',
      description: 'Ends with an empty page, unless the API says that there are more.',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'page', order: 0 },
        page_parameter: { ...parameterName, title: 'Parameter of the page', default: 'page', order: 1 },
        first_page: { type: 'integer', title: 'First page', minimum: 0, default: 1, order: 2 },
        size_parameter: { ...sizeParameter, examples: ['per_page'], order: 3 },
        page_size: { ...pageSize, order: 4 },
        end: { ...end, order: 5 },
        more_path: { ...morePath, order: 6 },
      },
    },
    {
      title: 'Offset',
      description: 'Ends with an empty page, unless the API says that there are more.',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'offset', order: 0 },
        offset_parameter: { ...parameterName, title: 'Parameter of the offset', default: 'offset', order: 1 },
        size_parameter: { ...sizeParameter, default: 'limit', order: 2 },
        page_size: { ...pageSize, default: 100, order: 3 },
        end: { ...end, order: 4 },
        more_path: { ...morePath, order: 5 },
      },
    },
    {
      title: 'ID of the last record',
      description: 'Asks for the records after the last one. Ends with an empty page, or when the API says so.',
      required: ['type', 'id_parameter'],
      properties: {
        type: { type: 'string', const: 'last_id', order: 0 },
        id_parameter: { ...parameterName, title: 'Parameter of the ID', examples: ['starting_after'], order: 1 },
        id_field: {
          type: 'string',
          title: 'Field of the ID',
          description: 'Where a record has its ID, with dots.',
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
      title: 'Token of the next page',
      description: 'Ends when the answer has no token, or says that there are no more pages.',
      required: ['type', 'token_path', 'token_parameter'],
      properties: {
        type: { type: 'string', const: 'cursor', order: 0 },
        token_path: {
          type: 'string',
          title: 'Path of the token',
          description: 'Where the answer has the token of the next page, with dots.',
          minLength: 1,
          examples: ['meta.next_cursor'],
          order: 1,
        },
        token_parameter: { ...parameterName, title: 'Parameter of the token', examples: ['cursor'], order: 2 },
        size_parameter: { ...sizeParameter, examples: ['limit'], order: 3 },
        page_size: { ...pageSize, order: 4 },
        more_path: { ...morePath, order: 5 },
      },
    },
    {
      title: 'Link to the next page',
      description: 'Ends when there is no link.',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'link', order: 0 },
        url_path: {
          type: 'string',
          title: 'Path of the link',
          description: 'Where the answer has the address of the next page, with dots. Empty: in the Link header.',
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
    'Reads this list once for each record of another stream. ' +
    'Write fields of that record into the path, in braces: /projects/{id}/issues.',
  required: ['stream'],
  properties: {
    stream: {
      type: 'string',
      title: 'Stream of the parents',
      minLength: 1,
      maxLength: 200,
      examples: ['projects'],
      order: 0,
    },
    copy_field: {
      type: 'string',
      title: 'Field for the parent',
      description: 'Is added to every record, with the value of the first field in braces.',
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
    'Asks for what has changed between two times, by the cursor field. ' +
    'A sync that was cut off goes on with the window that was not finished.',
  required: ['start', 'start_parameter'],
  properties: {
    start: {
      type: 'string',
      title: 'First day',
      description: 'Where the first sync begins.',
      format: 'date',
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
      pattern_descriptor: 'YYYY-MM-DD',
      examples: ['2024-01-01'],
      order: 0,
    },
    start_parameter: { ...parameterName, title: 'Parameter of the start', examples: ['updated_after'], order: 1 },
    end_parameter: { ...parameterName, title: 'Parameter of the end', examples: ['updated_before'], order: 2 },
    step: {
      type: 'string',
      title: 'Length of a window',
      description: 'Needs a parameter of the end. Empty: one window up to now.',
      enum: ['PT1H', 'P1D', 'P7D', 'P1M', 'P1Y'],
      enumNames: ['An hour', 'A day', 'A week', 'A month', 'A year'],
      order: 3,
    },
    format: {
      type: 'string',
      title: 'Format of the times',
      enum: ['date-time', 'date', 'seconds', 'milliseconds'],
      enumNames: [
        'Date and time (2024-01-31T00:00:00Z)',
        'Date (2024-01-31)',
        'Seconds since 1970',
        'Milliseconds since 1970',
      ],
      default: 'date-time',
      order: 4,
    },
  },
};

const fields = {
  type: 'array',
  title: 'Types of fields',
  description: 'For fields whose type the first pages do not show. All others get their type from the records.',
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
      description: 'Follows the base URL.',
      examples: ['/customers'],
      order: 1,
    },
    query_parameters: { ...namesAndValues(parameterName, 'Parameter'), title: 'Query parameters', order: 2 },
    record_path: {
      type: 'string',
      title: 'Path of the records',
      description: 'Where the answer has the list of records, with dots. Empty: the answer is the list.',
      default: '',
      examples: ['data.items'],
      order: 3,
    },
    primary_key: {
      type: 'array',
      title: 'Primary key',
      description: 'The fields that tell one record from another.',
      items: { type: 'string', minLength: 1 },
      examples: [['id']],
      order: 4,
    },
    cursor_field: {
      type: 'string',
      title: 'Cursor field',
      description:
        'A field that grows with every change, such as updated_at: only what is new since the last sync is taken.',
      minLength: 1,
      examples: ['updated_at'],
      order: 5,
    },
    cursor_parameter: {
      ...parameterName,
      title: 'Parameter of the cursor',
      description:
        'Tells the API the last value of the cursor field, so that it sends only what is new. ' +
        'Takes the place of a query parameter of the same name.',
      examples: ['updated_since'],
      order: 6,
    },
    sorted: {
      type: 'boolean',
      title: 'Sorted by the cursor field',
      description:
        'The API sends the oldest change first. A sync that was cut off then goes on in the middle of the list.',
      default: false,
      order: 7,
    },
    pagination: { ...pagination, order: 8 },
    time_window: { ...timeWindow, order: 9 },
    parent: { ...parent, order: 10 },
    body: {
      type: 'string',
      title: 'JSON body',
      description: 'Requests are sent as POST with this body. Empty: as GET.',
      multiline: true,
      examples: ['{"status": "open"}'],
      order: 11,
    },
    parameters_in: {
      type: 'string',
      title: 'Where parameters go',
      description: 'Those of the pages, the cursor and the time window.',
      enum: ['query', 'body'],
      enumNames: ['Into the query', 'Into the JSON body'],
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
          description: 'What to read, one stream for each kind of record.',
          minItems: 1,
          maxItems: 200,
          items: stream,
          order: 2,
        },
        headers: {
          ...namesAndValues(headerName, 'Header'),
          title: 'Headers',
          description: 'Sent with every request, for instance a version of the API.',
          order: 3,
        },
        requests_per_second: {
          type: 'number',
          title: 'Requests per second',
          description: 'At most this many requests a second. Leave empty for as many as the API answers.',
          minimum: 0.01,
          maximum: 1000,
          order: 4,
        },
      },
    },
    dictionary,
  ),
};
