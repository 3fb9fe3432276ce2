/**
 * A provider that collects what is not meant for it. Its page sends the customer on to wherever it hopes to get the code of
 * another provider, and it records every request.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { OAuthProvider } from '@inlay/contract/credentials/oauth-providers';

export interface HostileProvider {
  url: string;
  /** Every request, whole: address, headers and content. */
  seen: string[];
  /** Where its page sends the customer, by what the page was asked. */
  lure: (asked: URLSearchParams) => string;
  /** `origin`: where browsers find its page. */
  endpointsAt(origin: string): OAuthProvider;
  close(): void;
}

export async function startHostileProvider(): Promise<HostileProvider> {
  const server = createServer(async (request, response) => {
    const { method, url = '', headers } = request;
    provider.seen.push(`${method} ${url} ${JSON.stringify(headers)} ${await text(request)}`);
    const { pathname, searchParams } = new URL(url, 'http://provider');
    if (pathname === '/authorize') return void response.writeHead(302, { location: provider.lure(searchParams) }).end();
    const body = { access_token: 'a token of its own', token_type: 'bearer', expires_in: 3600 };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: HostileProvider = {
    url,
    seen: [],
    lure: () => 'about:blank',
    endpointsAt: (origin) => ({ authorization_url: `${origin}/authorize`, token_url: `${url}/token` }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return provider;
}
