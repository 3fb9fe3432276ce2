/* Credentials that are the same for every request. */
import { type ComponentDefinition, component, type Given, optional, required, template } from '../component.ts';
import { emptyParts, type RequestParts } from '../http/request.ts';
import type { RequestOption } from '../requests/request-options.ts';
import type { Authenticator } from '../requests/requester.ts';

/** An authenticator whose parts are created for every request. */
export function authenticatorOf(makeParts: () => Promise<RequestParts> | RequestParts): Authenticator {
  return {
    async parts() {
      return makeParts();
    },
    async renewedHeaders() {
      return (await makeParts()).headers;
    },
  };
}

export function headerParts(name: string, value: string): RequestParts {
  return { ...emptyParts(), headers: { [name]: value } };
}

function makeApiKey(given: Given): Authenticator {
  const option = given.child<RequestOption>('inject_into');
  const header = given.template('header');
  const token = given.template('api_token');
  return authenticatorOf(() => {
    const value = token?.value() ?? '';
    return option ? option.alone(value) : headerParts(header?.text() ?? '', token?.text() ?? '');
  });
}

function makeBearer(given: Given): Authenticator {
  const token = given.template('api_token');
  return authenticatorOf(() => headerParts('Authorization', `Bearer ${token?.text() ?? ''}`));
}

function makeBasic(given: Given): Authenticator {
  const [name, password] = [given.template('username'), given.template('password')];
  return authenticatorOf(() => {
    const pair = `${name?.text() ?? ''}:${password?.text() ?? ''}`;
    return headerParts('Authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  });
}

export const authenticatorComponents: ComponentDefinition[] = [
  { name: 'NoAuth', step: 'S1', words: 'Sends no credentials.', options: {}, make: () => authenticatorOf(emptyParts) },
  {
    name: 'ApiKeyAuthenticator',
    step: 'S1',
    words: 'Sends an API key in a header, a query parameter or the body.',
    options: {
      api_token: optional(template, 'The API key.'),
      header: optional(template, 'Older option for the header name.'),
      inject_into: optional(component('RequestOption'), 'Where to send the key.'),
    },
    rule: ({ inject_into: option, header }) => {
      if (option && header) return 'An ApiKeyAuthenticator takes either inject_into or header, not both';
      return option || header
        ? undefined
        : 'An ApiKeyAuthenticator requires inject_into, which says where to send the key';
    },
    make: makeApiKey,
  },
  {
    name: 'BearerAuthenticator',
    step: 'S1',
    words: 'Sends a token as `Authorization: Bearer …`.',
    options: { api_token: required(template, 'The token.') },
    make: makeBearer,
  },
  {
    name: 'BasicHttpAuthenticator',
    step: 'S1',
    words: 'Sends a username and a password as `Authorization: Basic …`.',
    options: {
      username: required(template, 'The username.'),
      password: optional(template, 'The password.', ''),
    },
    make: makeBasic,
  },
];
