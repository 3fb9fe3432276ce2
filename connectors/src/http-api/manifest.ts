/*
 * Translates a configuration into a declarative manifest, which the engine runs. Entered text never changes its
 * meaning: the manifest contains it as a quoted literal or refers to the configuration, so braces stay braces and `1e3`
 * stays `1e3`. What manifests cannot express is in this connector's own components (components.ts), which read their
 * settings from the configuration by stream name.
 */
import type { Configuration } from '@inlay/protocol/connector';
import {
  type Api,
  type Authentication,
  bodyOf,
  type DeclaredField,
  placeholdersOf,
  type StreamConfiguration,
  type TimeWindow,
} from './configuration.ts';

type Component = Record<string, unknown>;

export interface Translation {
  manifest: Component;
  /** What the manifest's templates and the connector's own components know as the configuration. */
  config: Configuration;
}

export function toManifest(api: Api): Translation {
  const { authentication, streams, requestsPerSecond } = api;
  return {
    manifest: {
      version: '6.0.0',
      type: 'DeclarativeSource',
      check: { type: 'CheckStream', stream_names: streams.map(({ name }) => name) },
      streams: streams.map((stream) => streamComponent(api, stream)),
      // Sequential: an API is never called faster than before.
      stream_groups: {
        all: {
          type: 'StreamGroup',
          action: { type: 'BlockSimultaneousSyncsAction' },
          streams: streams.map(({ name }) => name),
        },
      },
      ...(requestsPerSecond !== undefined && { api_budget: budget(requestsPerSecond) }),
    },
    config: { authentication, streams },
  };
}

/** A template that evaluates to exactly this text, whatever it contains. */
export function exact(text: string): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `'${text.replace(/[^A-Za-z0-9 ./:?&=_-]/g, escaped)}'`;
}

/** A template that evaluates to exactly this text of the configuration. */
const entered = (...path: string[]) => `{{ config${path.map((key) => `['${key}']`).join('')} | tojson }}`;

function budget(perSecond: number): Component {
  const interval = `PT${(1 / perSecond).toFixed(6)}S`;
  const rates = [{ type: 'Rate', limit: 1, interval }];
  return { type: 'HTTPAPIBudget', policies: [{ type: 'MovingWindowCallRatePolicy', rates, matchers: [] }] };
}

/** @param needed fields that a record of a parent must have: without a value, it has no child list. */
function streamComponent(api: Api, stream: StreamConfiguration, needed: readonly string[] = []): Component {
  const { name, primary_key, pagination, parent, fields } = stream;
  const cursor = cursorComponent(stream);
  const transformations = [
    ...(fields ? [{ type: 'CustomTransformation' }] : []),
    ...(parent?.copy_field ? [copiedField(stream, parent.copy_field)] : []),
  ];
  return {
    type: 'DeclarativeStream',
    name,
    ...(primary_key && { primary_key }),
    retriever: {
      type: 'SimpleRetriever',
      requester: requester(api, stream),
      decoder: { type: 'CustomDecoder' },
      record_selector: {
        type: 'RecordSelector',
        extractor: { type: 'CustomRecordExtractor' },
        ...(needed.length > 0 && { record_filter: { type: 'RecordFilter', condition: hasValues(needed) } }),
      },
      paginator: { type: 'CustomPaginator' },
      // A link to the next page has all it needs.
      ignore_stream_slicer_parameters_on_paginated_requests: pagination?.type === 'link',
      ...(parent && { partition_router: parentRouter(api, stream, parent.stream) }),
    },
    ...(cursor && { incremental_sync: cursor, state_migrations: [{ type: 'CustomStateMigration' }] }),
    ...(fields && { schema_loader: { type: 'InlineSchemaLoader', schema: declaredSchema(fields) } }),
    ...(transformations.length > 0 && { transformations }),
  };
}

function requester(api: Api, stream: StreamConfiguration): Component {
  const { authentication, headers } = api;
  const isPost = bodyOf(stream) !== undefined;
  const own = headers.map(({ name, value }): [string, string] => [name.toLowerCase(), exact(value)]);
  const sent = new Map([
    ['accept', exact('application/json')],
    ...(isPost ? [['content-type', exact('application/json')] as const] : []),
    ...own.filter(([name, value]) => name !== credentialsHeader(authentication) && value !== exact('')),
  ]);
  return {
    type: 'HttpRequester',
    url: address(api, stream),
    http_method: isPost ? 'POST' : 'GET',
    request_headers: Object.fromEntries(sent),
    error_handler: { type: 'CustomErrorHandler' },
    authenticator: authenticator(authentication),
  };
}

function credentialsHeader(authentication: Authentication): string | undefined {
  if (authentication.type === 'header') return authentication.name.toLowerCase();
  return authentication.type === 'none' || authentication.type === 'query' ? undefined : 'authorization';
}

function authenticator(authentication: Authentication): Component {
  const into = (inject_into: string, name: string) => ({ type: 'RequestOption', inject_into, field_name: exact(name) });
  switch (authentication.type) {
    case 'none':
      return { type: 'NoAuth' };
    case 'bearer':
      return { type: 'BearerAuthenticator', api_token: entered('authentication', 'token') };
    case 'basic':
      return {
        type: 'BasicHttpAuthenticator',
        username: entered('authentication', 'username'),
        password: entered('authentication', 'password'),
      };
    case 'header':
    case 'query': {
      const place = authentication.type === 'header' ? 'header' : 'request_parameter';
      const api_token = entered('authentication', 'value');
      return { type: 'ApiKeyAuthenticator', api_token, inject_into: into(place, authentication.name) };
    }
    case 'client_credentials':
      return { type: 'CustomAuthenticator', oauth: clientCredentials(authentication) };
  }
}

function clientCredentials({ scope, credentials_in }: Authentication & { type: 'client_credentials' }): Component {
  const [id, secret] = ['client_id', 'client_secret'].map((name) => `config['authentication']['${name}']`);
  return {
    type: 'OAuthAuthenticator',
    grant_type: 'client_credentials',
    token_refresh_endpoint: entered('authentication', 'token_url'),
    client_id: entered('authentication', 'client_id'),
    client_secret: entered('authentication', 'client_secret'),
    ...(scope && { refresh_request_body: { scope: entered('authentication', 'scope') } }),
    ...(credentials_in === 'header' && {
      refresh_request_headers: { Authorization: `Basic {{ (${id} ~ ':' ~ ${secret}) | base64encode }}` },
    }),
  };
}

/** The address of a stream. What stands behind a question mark is among the parameters (parametersOf), unless the parent fills it. */
function address({ baseUrl }: Api, { path, parent }: StreamConfiguration): string {
  const separator = path === '' || path.startsWith('?') ? '' : '/';
  const whole = `${baseUrl.href.replace(/\/$/, '')}${separator}${path.replace(/^\//, '')}`;
  if (parent) return filledAddress(whole, placeholdersOf(path));
  const url = new URL(whole);
  return exact(`${url.origin}${url.pathname}`);
}

function filledAddress(whole: string, fields: readonly string[]): string {
  let rest = whole;
  const parts = fields.map((field) => {
    const at = rest.indexOf(`{${field}}`);
    const before = rest.slice(0, at);
    rest = rest.slice(at + field.length + 2);
    return `${exact(before)} ~ (('' ~ ${parentValue(field, fields)}) | urlencode) ~ `;
  });
  return `{{ (${parts.join('')}${exact(rest)}) | tojson }}`;
}

/** The first field identifies partitions; the others are copied. */
function parentValue(field: string, [first]: readonly string[]): string {
  return field === first ? `stream_partition[${exact(field)}]` : `stream_slice.extra_fields[${exact(field)}]`;
}

function parentRouter(api: Api, { path }: StreamConfiguration, parentName: string): Component {
  const parent = api.streams.find(({ name }) => name === parentName) as StreamConfiguration;
  const [first = '', ...others] = placeholdersOf(path);
  return {
    type: 'SubstreamPartitionRouter',
    parent_stream_configs: [
      {
        type: 'ParentStreamConfig',
        // All of them in every sync: children change without a change in the parent.
        stream: streamComponent(api, parent, placeholdersOf(path)),
        parent_key: exact(first.split('.').join('/')),
        partition_field: exact(first),
        extra_fields: [...new Set(others)]
          .filter((field) => field !== first)
          .map((field) => field.split('.').map(exact)),
      },
    ],
  };
}

function hasValues(fields: readonly string[]): string {
  const keys = (field: string) => field.split('.').map((key) => `[${exact(key)}]`);
  const tests = fields.map(
    (field) => `record${keys(field).join('')} is defined and record${keys(field).join('')} is not none`,
  );
  return `{{ ${tests.join(' and ')} }}`;
}

function copiedField({ path }: StreamConfiguration, name: string): Component {
  const fields = placeholdersOf(path);
  const value = `{{ ${parentValue(fields[0] ?? '', fields)} | tojson }}`;
  return { type: 'AddFields', fields: [{ type: 'AddedFieldDefinition', path: [name], value }] };
}

function cursorComponent(stream: StreamConfiguration): Component | undefined {
  const { cursor_field, time_window, parent } = stream;
  if (cursor_field === undefined) return undefined;
  if (time_window) return windowCursor(stream, cursor_field, time_window);
  // Without times, nothing says how far the lists of all parents have been read.
  return parent ? undefined : { type: 'CustomIncrementalSync' };
}

const times = ['%Y-%m-%dT%H:%M:%S.%f%z', '%Y-%m-%dT%H:%M:%S%z', '%Y-%m-%dT%H:%M:%S.%f', '%Y-%m-%dT%H:%M:%S'];
const spacedTimes = times.map((format) => format.replace('T', ' '));
const formats = {
  'date-time': { sent: '%Y-%m-%dT%H:%M:%SZ', granularity: 'PT1S' },
  date: { sent: '%Y-%m-%d', granularity: 'P1D' },
  seconds: { sent: '%s', granularity: 'PT1S' },
  milliseconds: { sent: '%ms', granularity: 'PT0.001S' },
};

function windowCursor(stream: StreamConfiguration, cursorField: string, window: TimeWindow): Component {
  const { start, start_parameter, end_parameter, step, format = 'date-time' } = window;
  const { sent, granularity } = formats[format];
  const inject_into = stream.parameters_in === 'body' ? 'body_json' : 'request_parameter';
  const option = (name: string) => ({ type: 'RequestOption', inject_into, ...fieldOf(name, stream) });
  return {
    type: 'DatetimeBasedCursor',
    cursor_field: exact(cursorField),
    datetime_format: sent,
    cursor_datetime_formats: [sent, ...times, ...spacedTimes, '%Y-%m-%d', '%s', '%ms'],
    start_datetime: { type: 'MinMaxDatetime', datetime: exact(start), datetime_format: '%Y-%m-%d' },
    start_time_option: option(start_parameter),
    ...(end_parameter && { end_time_option: option(end_parameter) }),
    ...(step && { step, cursor_granularity: granularity }),
  };
}

function fieldOf(name: string, { parameters_in }: StreamConfiguration): Component {
  return parameters_in === 'body' ? { field_path: name.split('.').map(exact) } : { field_name: exact(name) };
}

const schemas: Record<DeclaredField['type'], object> = {
  text: { type: ['null', 'string'] },
  integer: { type: ['null', 'integer'] },
  number: { type: ['null', 'number'] },
  boolean: { type: ['null', 'boolean'] },
  date: { type: ['null', 'string'], format: 'date' },
  'date-time': { type: ['null', 'string'], format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
  object: { type: ['null', 'object'], additionalProperties: true },
  list: { type: ['null', 'array'], items: {} },
};

export function declaredSchema(fields: readonly DeclaredField[]): Component {
  return { type: 'object', properties: Object.fromEntries(fields.map(({ name, type }) => [name, schemas[type]])) };
}
