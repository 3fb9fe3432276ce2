/*
 * What the connector was configured with, ready to use. The platform has checked the specification; here is what a schema
 * cannot say.
 */
import { type Configuration, ConnectorError } from '../kit/connector.ts';

export type Pagination =
  | { type: 'none' }
  | { type: 'page'; page_parameter?: string; first_page?: number; size_parameter?: string; page_size?: number }
  | { type: 'offset'; offset_parameter?: string; size_parameter?: string; page_size?: number }
  | { type: 'cursor'; token_path: string; token_parameter: string; size_parameter?: string; page_size?: number }
  | { type: 'link'; url_path?: string; size_parameter?: string; page_size?: number };

export interface StreamConfiguration {
  name: string;
  path: string;
  query_parameters?: NameAndValue[];
  record_path?: string;
  primary_key?: string[];
  cursor_field?: string;
  cursor_parameter?: string;
  pagination?: Pagination;
}

interface NameAndValue {
  name: string;
  value: string;
}

type Authentication =
  | { type: 'none' }
  | { type: 'bearer'; token: string }
  | { type: 'header'; name: string; value: string }
  | { type: 'query'; name: string; value: string }
  | { type: 'basic'; username: string; password: string };

export interface Api {
  baseUrl: URL;
  streams: StreamConfiguration[];
  /** Headers for the API itself and nobody else: they may hold the key. */
  headers: Record<string, string>;
  /** A key that goes into the query. */
  queryKey: NameAndValue | undefined;
  requestsPerSecond: number | undefined;
}

export function readConfiguration(configuration: Configuration): Api {
  const { base_url, authentication, streams, headers, requests_per_second } = configuration as unknown as {
    base_url: string;
    authentication?: Authentication;
    streams: StreamConfiguration[];
    headers?: NameAndValue[];
    requests_per_second?: number;
  };
  const repeated = streams.find(({ name }, index) => streams.findIndex((other) => other.name === name) !== index);
  if (repeated) throw new ConnectorError(`There are two streams ${repeated.name}. Give each a name of its own.`);
  return {
    baseUrl: readBaseUrl(base_url),
    streams,
    headers: {
      accept: 'application/json',
      ...Object.fromEntries((headers ?? []).map(({ name, value }) => [name.toLowerCase(), sendable(value, name)])),
      ...authenticationHeader(authentication ?? { type: 'none' }),
    },
    queryKey: authentication?.type === 'query' ? authentication : undefined,
    requestsPerSecond: requests_per_second,
  };
}

function readBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new ConnectorError('The base URL is no http or https address. Check its spelling.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConnectorError('The base URL contains a user name. Put it into the authentication.');
  }
  return url;
}

function authenticationHeader(authentication: Authentication): Record<string, string> {
  switch (authentication.type) {
    case 'bearer':
      return { authorization: `Bearer ${sendable(authentication.token, 'token')}` };
    case 'header':
      return { [authentication.name.toLowerCase()]: sendable(authentication.value, 'key') };
    case 'basic':
      return { authorization: `Basic ${basicCredentials(authentication.username, authentication.password)}` };
    default:
      return {};
  }
}

function basicCredentials(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}

/** A key is easily pasted with the line break after it. */
function sendable(value: string, what: string): string {
  const trimmed = value.trim();
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(trimmed)) return trimmed;
  throw new ConnectorError(
    `The ${what} contains a line break or a character that no header can carry. Enter it again.`,
  );
}
