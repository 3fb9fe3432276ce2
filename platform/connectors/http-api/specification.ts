/*
 * The only secrets stand in `authentication`, beside what an operator knows: a template can fix everything, the kind of
 * authentication included, and leave just the key to the customer.
 */
import type { ConnectorSpecification } from '../../src/protocol.ts';
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
    {
      title: 'None',
      required: ['type'],
      properties: { type: { type: 'string', const: 'none', order: 0 } },
    },
    {
      title: 'Bearer token',
      required: ['type', 'token'],
      properties: {
        type: { type: 'string', const: 'bearer', order: 0 },
        token: { type: 'string', title: 'Token', minLength: 1, airbyte_secret: true, order: 1 },
      },
    },
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
    {
      title: 'User name and password',
      required: ['type', 'username', 'password'],
      properties: {
        type: { type: 'string', const: 'basic', order: 0 },
        // RFC 7617: the first colon ends the user name.
        username: { type: 'string', title: 'User name', pattern: '^[^:]*$', order: 1 },
        password: { type: 'string', title: 'Password', airbyte_secret: true, order: 2 },
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
        more_path: { ...morePath, order: 5 },
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
        more_path: { ...morePath, order: 4 },
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
    pagination: { ...pagination, order: 7 },
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
