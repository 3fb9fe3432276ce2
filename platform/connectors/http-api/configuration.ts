/*
 * What the connector was configured with, ready to use. The platform has checked the specification; here is what a schema
 * cannot say.
 */
import { type Configuration, ConnectorError, checkedConfiguration } from '../kit/connector.ts';
import { authorizationHeader, type HeaderAuthentication, headerValue, httpAddress } from '../kit/http-settings.ts';

export type Pagination =
  | { type: 'none' }
  | ({ type: 'page'; page_parameter?: string; first_page?: number } & PageSize & MoreFlag)
  | ({ type: 'offset'; offset_parameter?: string } & PageSize & MoreFlag)
  | ({ type: 'cursor'; token_path: string; token_parameter: string } & PageSize & MoreFlag)
  | ({ type: 'link'; url_path?: string } & PageSize);

export interface PageSize {
  size_parameter?: string;
  page_size?: number;
}

interface MoreFlag {
  /** Where an answer says whether there are more pages. */
  more_path?: string;
}

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
  | HeaderAuthentication
  | { type: 'header'; name: string; value: string }
  | { type: 'query'; name: string; value: string };

interface ApiConfiguration {
  base_url: string;
  authentication?: Authentication;
  streams: StreamConfiguration[];
  headers?: NameAndValue[];
  requests_per_second?: number;
}

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
  const { base_url, authentication, streams, headers, requests_per_second } =
    checkedConfiguration<ApiConfiguration>(configuration);
  const repeated = streams.find(({ name }, index) => streams.findIndex((other) => other.name === name) !== index);
  if (repeated)
    throw new ConnectorError(`There are two streams ${repeated.name}. Give each a name of its own.`).about('streams');
  return {
    baseUrl: httpAddress(base_url, 'base URL', 'base_url'),
    streams,
    headers: {
      accept: 'application/json',
      ...Object.fromEntries(
        (headers ?? []).map(({ name, value }) => [name.toLowerCase(), headerValue(value, name, 'headers')]),
      ),
      ...authenticationHeader(authentication ?? { type: 'none' }),
    },
    queryKey: authentication?.type === 'query' ? authentication : undefined,
    requestsPerSecond: requests_per_second,
  };
}

function authenticationHeader(authentication: Authentication): Record<string, string> {
  switch (authentication.type) {
    case 'header':
      return { [authentication.name.toLowerCase()]: headerValue(authentication.value, 'key', 'authentication') };
    case 'query':
      return {};
    default:
      return authorizationHeader(authentication, 'authentication');
  }
}
