/* Sends the requests of a component. */

import { isJsonObject } from '@inlay/protocol/json';
import {
  anything,
  boolean,
  type ComponentDefinition,
  choice,
  component,
  either,
  type Given,
  mapping,
  optional,
  string,
  template,
} from '../component.ts';
import type { Answer } from '../http/answer.ts';
import { exchange, type TokenInUse } from '../http/exchange.ts';
import { TokenReplaced } from '../http/failures.ts';
import {
  combineParts,
  emptyParts,
  joinAddress,
  type PreparedRequest,
  prepareRequest,
  type RequestParts,
  type Values,
} from '../http/request.ts';
import type { ErrorHandler } from '../http/resolution.ts';
import { type Mapping, makeMapping, type Names } from '../interpolation.ts';
import { type Slice, sliceView } from '../run/slice.ts';
import { defaultErrorHandler } from './error-handlers.ts';

export interface Authenticator {
  parts(): Promise<RequestParts>;
  /** The headers of another attempt. */
  renewedHeaders(): Promise<Values>;
  /** Gets a new token at once. */
  refresh?(): Promise<void>;
  /** The headers of one attempt, for credentials that depend on the request. */
  sign?(request: PreparedRequest): Promise<Values>;
  /** Hears of every answer. */
  observe?(request: PreparedRequest, answer: Answer): void;
  /** Whether a retry would use different credentials, so that there is no need to wait. */
  canGoOn?(request: PreparedRequest): boolean;
}

export interface Ask {
  slice: Slice;
  token?: unknown;
  /** The address of a page, or its path. */
  path?: string | undefined;
  parts?: RequestParts;
  /** What templates know besides. */
  names?: Names;
  /** Statuses with which the API reports that there is no such page. */
  endStatuses?: readonly number[] | undefined;
}

export interface Requester {
  send(ask: Ask): Promise<Answer>;
}

/** What a requester gets from the component around it. */
export interface RequesterSurroundings extends Record<string, unknown> {
  mayCache?: boolean;
  isStreamed?: boolean;
  /** The request parameter that the properties of a chunk go to. */
  queryPropertiesKey?: string | undefined;
  /** What the requests are for, if not for the records of a stream. */
  requestsFor?: string;
}

function makeHttpRequester(given: Given): Requester {
  const {
    mayCache = false,
    isStreamed = false,
    queryPropertiesKey,
    requestsFor,
  } = given.around as RequesterSurroundings;
  const url = given.template('url');
  const base = given.template('url_base');
  const path = given.template('path');
  const method = given.text('http_method') ?? 'GET';
  const authenticator = given.child<Authenticator>('authenticator', {
    baseAddress: given.text('url') ?? given.text('url_base'),
  });
  const handler = given.child<ErrorHandler>('error_handler') ?? defaultErrorHandler;
  const query = makeParameters(given, 'request_parameters');
  const headers = given.mapping('request_headers');
  const { form, json } = makeBody(given);
  const useCache = given.value('use_cache') ?? mayCache;

  const { signIn } = given.run;
  /** Another token did not help the last time: then the API means something else, and is not asked twice again. */
  let isHelpless = false;

  async function tokenInUse(isSecond: boolean): Promise<TokenInUse | undefined> {
    if (!signIn) return undefined;
    const generation = await signIn.ready();
    return {
      accepted() {
        isHelpless = false;
        signIn.accepted(generation);
      },
      async refused() {
        isHelpless ||= isSecond;
        return !isHelpless && (await signIn.replace(generation));
      },
    };
  }

  /** A wait before another attempt may have outlived the token. */
  async function freshHeaders(of: Authenticator): Promise<Values> {
    await signIn?.ready();
    return await of.renewedHeaders();
  }

  function addressOf(ask: Ask, names: Names): string {
    const baseText = base?.text(names) ?? '';
    const pathText = ask.path || (path?.text(names) ?? '').replace(/^\/+/, '');
    if (baseText !== '') return joinAddress(baseText, pathText);
    const urlText = url?.text(names) ?? '';
    return pathText === '' ? urlText : joinAddress(urlText, pathText);
  }

  function ownParts(ask: Ask, names: Names): RequestParts {
    const own = emptyParts();
    const parameters = query.value(names, ['text', 'list']);
    own.query = isJsonObject(parameters) ? parameters : {};
    if (queryPropertiesKey !== undefined) {
      const { query_properties: properties } = ask.slice.extraFields;
      own.query = { ...own.query, [queryPropertiesKey]: (properties as string[]).join(',') };
    }
    const own_headers = headers.value(names);
    own.headers = isJsonObject(own_headers) ? own_headers : {};
    own.form = form.value(names, ['text', 'list']);
    own.json = json.value(names);
    return own;
  }

  return {
    async send(ask) {
      const { slice, token, names: further } = ask;
      const names: Names = {
        ...slice.extraFields,
        ...further,
        stream_slice: sliceView(slice),
        next_page_token: token === undefined ? null : { next_page_token: token },
      };
      const attempt = async (isSecond: boolean) => {
        const token = await tokenInUse(isSecond);
        const credentials = (await authenticator?.parts()) ?? emptyParts();
        const parts = combineParts([ownParts(ask, names), credentials, ask.parts ?? emptyParts()]);
        return exchange(
          given.run,
          prepareRequest(method, addressOf(ask, names), parts),
          {
            streamName: requestsFor ?? given.making.streamName,
            handler,
            endStatuses: ask.endStatuses,
            signer: authenticator,
            ...(authenticator && { credentials: () => freshHeaders(authenticator) }),
            refreshToken: authenticator?.refresh && (() => authenticator.refresh?.() ?? Promise.resolve()),
            token,
          },
          { mayCache: useCache === true, isStreamed },
        );
      };
      try {
        return await attempt(false);
      } catch (error) {
        // The token may be in any part of the request, so the whole request is rebuilt.
        if (error instanceof TokenReplaced) return await attempt(true);
        throw error;
      }
    },
  };
}

/** A parameter that lists properties is not a template: the retriever fills it. */
function makeParameters(given: Given, name: string): Mapping {
  const value = given.value(name);
  if (!isJsonObject(value)) return given.mapping(name);
  const texts = Object.entries(value).filter(([, item]) => !isJsonObject(item));
  return makeMapping(Object.fromEntries(texts), { ...given.place, at: given.at(name) });
}

function makeBody(given: Given): { form: Mapping; json: Mapping } {
  const nothing: Mapping = { value: () => ({}) };
  const body = given.value('request_body');
  if (isJsonObject(body)) {
    const inside = given.inside({ ...body, $parameters: given.parameters }, 'request_body');
    switch (body.type) {
      case 'RequestBodyUrlEncodedForm':
      case 'RequestBodyPlainText':
        return { form: inside.mapping('value'), json: nothing };
      default:
        return { form: nothing, json: inside.nestedMapping('value') };
    }
  }
  const [hasForm, hasJson] = [given.has('request_body_data'), given.has('request_body_json')];
  return {
    form: hasForm ? given.mapping('request_body_data') : nothing,
    json: hasJson ? given.nestedMapping('request_body_json') : nothing,
  };
}

export const authenticatorNames = [
  'NoAuth',
  'ApiKeyAuthenticator',
  'BearerAuthenticator',
  'BasicHttpAuthenticator',
  'OAuthAuthenticator',
  'SessionTokenAuthenticator',
  'SelectiveAuthenticator',
  'JwtAuthenticator',
  'LegacySessionTokenAuthenticator',
  'RateLimitedMultipleTokenAuthenticator',
  'CustomAuthenticator',
];

export const requesterComponents: ComponentDefinition[] = [
  {
    name: 'HttpRequester',
    step: 'S1',
    words: 'Sends HTTP requests with authentication and error handling.',
    options: {
      url: optional(template, 'The full URL.'),
      url_base: optional(template, 'The base URL, to which the path is appended.'),
      path: optional(template, 'The path, such as /orders.'),
      http_method: optional(
        choice('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
        'The HTTP method.',
        'GET',
      ),
      authenticator: optional(component(...authenticatorNames), 'Adds credentials to requests.'),
      error_handler: optional(
        component('DefaultErrorHandler', 'CompositeErrorHandler', 'CustomErrorHandler'),
        'Decides how to handle failures.',
      ),
      request_parameters: optional(
        either(string, mapping(either(string, component('QueryProperties')))),
        'Query parameters.',
      ),
      request_headers: optional(either(template, mapping(template)), 'Headers.'),
      request_body: optional(
        component('RequestBodyPlainText', 'RequestBodyUrlEncodedForm', 'RequestBodyJsonObject', 'RequestBodyGraphQL'),
        'The request body.',
      ),
      request_body_data: optional(either(string, mapping(string)), 'A form or a string as the body.'),
      request_body_json: optional(anything, 'An object as the JSON body.'),
      use_cache: optional(
        boolean,
        'Caches responses during a run, for several streams that need the same. Always on for parent streams.',
        false,
      ),
      fetch_properties_from_endpoint: optional(
        component('PropertiesFromEndpoint'),
        'Older option for query_properties.',
      ),
      query_properties: optional(
        component('QueryProperties'),
        'Requests properties in several requests and merges the records.',
      ),
    },
    rule: ({ request_body_data: form, request_body_json: json }) =>
      form && json ? 'A requester takes either request_body_data or request_body_json, not both' : undefined,
    make: makeHttpRequester,
  },
];
