/*
 * What the connector was configured with, ready to use. The platform has checked the specification; here is what a schema
 * cannot say.
 */
import { type Configuration, ConnectorError, checkedConfiguration } from '@inlay/protocol/connector';
import { isJsonObject, parseJson } from '@inlay/protocol/json';
import { type HeaderAuthentication, headerValue, httpAddress } from '../kit/http-settings.ts';

export type Pagination =
  | { type: 'none' }
  | ({ type: 'page'; page_parameter?: string; first_page?: number } & PageSize & End)
  | ({ type: 'offset'; offset_parameter?: string } & PageSize & End)
  | ({ type: 'last_id'; id_parameter: string; id_field?: string } & PageSize & End)
  | ({ type: 'cursor'; token_path: string; token_parameter: string } & PageSize & MoreFlag)
  | ({ type: 'link'; url_path?: string } & PageSize);

export interface PageSize {
  size_parameter?: string;
  page_size?: number;
}

interface MoreFlag {
  /** Where a response says whether there are more pages. */
  more_path?: string;
}

interface End extends MoreFlag {
  end?: 'automatic' | 'empty_page' | 'short_page';
}

/** A stream is read in parts of time, from `start` on. */
export interface TimeWindow {
  start: string;
  start_parameter: string;
  end_parameter?: string;
  /** How long a part is; absent for one part. */
  step?: 'PT1H' | 'P1D' | 'P7D' | 'P1M' | 'P1Y';
  format?: 'date-time' | 'date' | 'seconds' | 'milliseconds';
}

export interface DeclaredField {
  name: string;
  type: 'text' | 'integer' | 'number' | 'boolean' | 'date' | 'date-time' | 'object' | 'list';
}

export interface StreamConfiguration {
  name: string;
  path: string;
  query_parameters?: NameAndValue[];
  /** JSON. Given, requests are POST. */
  body?: string;
  /** Where page and cursor parameters are sent. */
  parameters_in?: 'query' | 'body';
  record_path?: string;
  primary_key?: string[];
  cursor_field?: string;
  cursor_parameter?: string;
  /** Records come in the order of the cursor field. */
  sorted?: boolean;
  time_window?: TimeWindow;
  pagination?: Pagination;
  /** The stream whose records this one has lists for. Fields of theirs stand in braces in the path. */
  parent?: { stream: string; copy_field?: string };
  fields?: DeclaredField[];
}

export interface NameAndValue {
  name: string;
  value: string;
}

export type Authentication =
  | HeaderAuthentication
  | { type: 'header'; name: string; value: string }
  | { type: 'query'; name: string; value: string }
  | {
      type: 'client_credentials';
      token_url: string;
      client_id: string;
      client_secret: string;
      scope?: string;
      credentials_in?: 'body' | 'header';
    };

export interface Api {
  baseUrl: URL;
  /** Header names with valid characters only. */
  authentication: Authentication;
  streams: StreamConfiguration[];
  headers: NameAndValue[];
  requestsPerSecond: number | undefined;
}

interface ApiConfiguration {
  base_url: string;
  authentication?: Authentication;
  streams: StreamConfiguration[];
  headers?: NameAndValue[];
  requests_per_second?: number;
}

export function readConfiguration(configuration: Configuration): Api {
  const { base_url, authentication, streams, headers, requests_per_second } =
    checkedConfiguration<ApiConfiguration>(configuration);
  const repeated = streams.find(({ name }, index) => streams.findIndex((other) => other.name === name) !== index);
  if (repeated) throw aboutStreams(`Two streams are named ${repeated.name}. Give each stream a unique name.`);
  for (const stream of streams) checkStream(stream, streams);
  return {
    baseUrl: httpAddress(base_url, 'base URL', 'base_url'),
    authentication: readAuthentication(authentication ?? { type: 'none' }),
    streams,
    headers: (headers ?? []).map(({ name, value }) => ({ name, value: headerValue(value, name, 'headers') })),
    requestsPerSecond: requests_per_second,
  };
}

function aboutStreams(message: string): ConnectorError {
  return new ConnectorError(message).about('streams');
}

function readAuthentication(authentication: Authentication): Authentication {
  switch (authentication.type) {
    case 'bearer':
      return { ...authentication, token: headerValue(authentication.token, 'token', 'authentication') };
    case 'header':
      return { ...authentication, value: headerValue(authentication.value, 'key', 'authentication') };
    case 'client_credentials':
      httpAddress(authentication.token_url, 'token URL', 'authentication');
      return authentication;
    default:
      return authentication;
  }
}

function checkStream(stream: StreamConfiguration, streams: readonly StreamConfiguration[]): void {
  const { name, time_window, cursor_field, parent, path } = stream;
  bodyOf(stream);
  if (time_window && cursor_field === undefined)
    throw aboutStreams(`Stream ${name}: A time window requires a cursor field that says when a record changed.`);
  if (time_window?.step && time_window.end_parameter === undefined)
    throw aboutStreams(`Stream ${name}: A window length requires an end parameter.`);
  if (!parent) return;
  if (placeholdersOf(path).length === 0)
    throw aboutStreams(`Stream ${name}: Put a field of the parent in braces in the path, such as {id}.`);
  ancestorsOf(stream, streams);
}

/** The streams above a stream, nearest first. Throws a ConnectorError if they do not end. */
export function ancestorsOf(
  stream: StreamConfiguration,
  streams: readonly StreamConfiguration[],
): StreamConfiguration[] {
  const ancestors: StreamConfiguration[] = [];
  for (let one = stream; one.parent; ) {
    const { stream: wanted } = one.parent;
    const found = streams.find(({ name }) => name === wanted);
    if (!found) throw aboutStreams(`Stream ${one.name}: The parent stream ${wanted} does not exist.`);
    if (found === stream || ancestors.includes(found))
      throw aboutStreams(
        `Stream ${stream.name}: The parent streams form a cycle through ${one.name}. Check the parent streams.`,
      );
    ancestors.push(found);
    one = found;
  }
  return ancestors;
}

/** The fields of the parent that a path names in braces. */
export function placeholdersOf(path: string): string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map(([, field = '']) => field);
}

/** Undefined for a stream requested with GET. */
export function bodyOf(stream: StreamConfiguration): Record<string, unknown> | undefined {
  const { name, body, parameters_in } = stream;
  if (body === undefined || body.trim() === '') return parameters_in === 'body' ? {} : undefined;
  let value: unknown;
  try {
    value = parseJson(body);
  } catch {
    value = undefined;
  }
  if (isJsonObject(value)) return value;
  throw aboutStreams(`Stream ${name}: The JSON body is not a valid JSON object. Check its brackets and quotes.`);
}
