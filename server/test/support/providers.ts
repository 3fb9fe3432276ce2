/** Providers of OAuth that answer as a test wants, and browsers that remember cookies. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { OAuthProvider } from '@inlay/contract/credentials/oauth-providers';
import { expect } from 'vitest';
import type { Answer, TestApp } from './app.ts';
import { httpApi } from './pipelines.ts';

interface Asked {
  path: string;
  headers: IncomingHttpHeaders;
  form: Record<string, string>;
}

interface ProviderAnswer {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** No answer at all. */
  lost?: boolean;
}

export interface TestProvider {
  url: string;
  /** What it was asked, oldest first. */
  asked: Asked[];
  /** Tokens for the next codes; may be replaced. */
  token: (asked: Asked) => ProviderAnswer | Promise<ProviderAnswer>;
  account: (asked: Asked) => ProviderAnswer | Promise<ProviderAnswer>;
  endpoints: OAuthProvider;
  /** What it was asked at the token endpoint. */
  exchanged(): Record<string, string>[];
  close(): void;
}

export async function startProvider(): Promise<TestProvider> {
  const server = createServer(async (request, response) => {
    const asked = {
      path: request.url ?? '',
      headers: request.headers,
      form: Object.fromEntries(new URLSearchParams(await text(request))),
    };
    provider.asked.push(asked);
    const answer = await provider[asked.path === '/me' ? 'account' : 'token'](asked);
    const { status = 200, body = {}, headers = {}, lost } = answer;
    if (lost) return void response.destroy();
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: TestProvider = {
    url,
    asked: [],
    token: () => ({ body: { access_token: 'the access token', refresh_token: 'the refresh token', expires_in: 3600 } }),
    account: () => ({ body: { id: 7, email: 'ada@example.com' } }),
    endpoints: {
      authorization_url: `${url}/authorize`,
      token_url: `${url}/token`,
      account: { url: `${url}/me`, id: ['id'], label: ['email'] },
    },
    exchanged: () => provider.asked.filter(({ path }) => path === '/token').map(({ form }) => form),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return provider;
}

/** What browsers say of a window that a page of our own has opened. */
export const openedByUs = {
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};
export const typedIn = { ...openedByUs, 'sec-fetch-site': 'none' };
export const fromElsewhere = { ...openedByUs, 'sec-fetch-site': 'cross-site' };

export interface Visitor {
  cookies: Map<string, string>;
  get(address: string, headers?: Record<string, string>): Promise<Answer>;
  post(address: string, form: Record<string, string>, headers?: Record<string, string>): Promise<Answer>;
}

/** A browser: keeps cookies, and sends them back. */
export function visitorOf(test: Pick<TestApp, 'request'>): Visitor {
  const cookies = new Map<string, string>();
  async function send(method: string, address: string, headers: Record<string, string>, payload?: string) {
    const { pathname, search } = new URL(address, 'http://localhost');
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await test.request(method, `${pathname}${search}`, {
      token: null,
      headers: { ...(cookie !== '' && { cookie }), ...headers },
      ...(payload !== undefined && { payload }),
    });
    for (const one of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(String(one)) ?? [];
      cookies.set(name, value);
    }
    return answer;
  }
  return {
    cookies,
    get: (address, headers = typedIn) => send('GET', address, headers),
    post: (address, form, headers = { ...openedByUs, origin: 'null' }) =>
      send(
        'POST',
        address,
        { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        String(new URLSearchParams(form)),
      ),
  };
}

export const locationOf = ({ headers }: Answer) => new URL(String(headers.location), 'http://localhost');
/** What the form of our page sends back. */
export const proofIn = ({ text }: Answer) => /name="proof" value="([^"]+)"/.exec(text)?.[1] ?? '';
/** Where the page on the way to the provider leads. */
export const nextIn = ({ text }: Answer) =>
  new URL((/href="([^"]+)" rel="noreferrer" data-next/.exec(text)?.[1] ?? '').replaceAll('&#38;', '&'));

export async function makeClient(
  { request }: Pick<TestApp, 'request'>,
  endpoints: OAuthProvider | undefined,
  more: object = {},
): Promise<{ id: string; redirect_url: string }> {
  const body = { name: 'Provider', client_id: 'our app', client_secret: 'the client secret', endpoints, ...more };
  const answer = await request('POST', '/api/v1/integrations/oauth/clients', { body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

export const returnTo = 'https://app.example/integrations?tab=crm';

/** A template whose customers sign in, and enter nothing unless `config` takes a default away. */
export async function makeSignInTemplate(
  { request }: Pick<TestApp, 'request'>,
  clientId: string,
  oauth: object = {},
  config: object = {},
): Promise<string> {
  const body = {
    actor_definition_id: httpApi,
    name: 'Provider',
    partial_default_config: {
      base_url: 'https://api.example.com',
      streams: [{ name: 'items', path: '/items' }],
      authentication: { type: 'bearer' },
      ...config,
    },
    oauth: {
      oauth_client_id: clientId,
      scopes: ['contacts.read'],
      optional_scopes: ['deals.read'],
      fields: { access_token: ['authentication', 'token'] },
      return_to: [returnTo],
      ...oauth,
    },
  };
  const answer = await request('POST', '/api/v1/integrations/templates/sources', { body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}
