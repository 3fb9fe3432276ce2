/**
 * A provider whose customers sign in with a click, and the API that its tokens open. Its pages cut the tie to the window that
 * has opened them, as those of large providers do.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { OAuthProvider } from '@inlay/contract/credentials/oauth-providers';

export interface Provider {
  url: string;
  /** Who signs in next. */
  account: { id: number; email: string };
  /** The granted scopes; undefined grants all requested ones. */
  scope: string | undefined;
  /** Until when its tokens are held back; false: it breaks the connection off instead of giving any. */
  held: Promise<boolean> | undefined;
  /** Whether its page cuts the tie to the window that opened it. */
  cutsTies: boolean;
  /** How many were sent to its page. */
  visits: number;
  /** The only address to which it sends codes; undefined: any. Real providers have one, or a list. */
  redirectUrl: string | undefined;
  /** Every code and token that it has given. */
  given: string[];
  /** Every revoked token. `endpoints` does not include the URL, `/revoke`. */
  revoked: string[];
  endpoints: OAuthProvider;
  close(): void;
}

export async function startProvider(): Promise<Provider> {
  const codes = new Set<string>();
  const known = new Map<string, Provider['account']>();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://provider');
    const json = (body: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const account = known.get(request.headers.authorization?.replace(/^Bearer /, '') ?? '');
    switch (pathname) {
      case '/authorize': {
        provider.visits += 1;
        if (provider.redirectUrl !== undefined && searchParams.get('redirect_uri') !== provider.redirectUrl) {
          response
            .writeHead(400, { 'content-type': 'text/html' })
            .end('<!doctype html>This address is not registered.');
          return;
        }
        const code = `code-${provider.visits}-${randomUUID()}`;
        codes.add(code);
        provider.given.push(code);
        const back = (params: Record<string, string>) => {
          const state = searchParams.get('state') ?? '';
          return `${searchParams.get('redirect_uri')}?${new URLSearchParams({ ...params, state })}`.replaceAll(
            '&',
            '&amp;',
          );
        };
        const policy = provider.cutsTies && { 'cross-origin-opener-policy': 'same-origin' };
        response.writeHead(200, { 'content-type': 'text/html', ...policy }).end(
          `<!doctype html><title>Provider</title><h1>Provider</h1><p>${searchParams.get('scope')}</p>
          <a href="${back({ code })}">Allow</a> <a href="${back({ error: 'access_denied' })}">Deny</a>`,
        );
        return;
      }
      case '/token': {
        const form = new URLSearchParams(await text(request));
        if ((await provider.held) === false) return void response.destroy();
        if (!codes.delete(form.get('code') ?? '')) return void json({ error: 'invalid_grant' }, 400);
        const access_token = `token-${randomUUID()}`;
        provider.given.push(access_token);
        known.set(access_token, provider.account);
        json({
          access_token,
          token_type: 'bearer',
          expires_in: 3600,
          ...(provider.scope !== undefined && { scope: provider.scope }),
        });
        return;
      }
      case '/revoke': {
        const token = new URLSearchParams(await text(request)).get('token') ?? '';
        provider.revoked.push(token);
        known.delete(token);
        return void json({});
      }
      case '/me':
        return void (account ? json(account) : json({}, 401));
      case '/items':
        return void (account ? json([{ id: 1, of: account.email }] as object) : json({}, 401));
      default:
        response.writeHead(404).end();
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: Provider = {
    url,
    account: { id: 1, email: 'ada@example.com' },
    scope: undefined,
    held: undefined,
    cutsTies: true,
    visits: 0,
    redirectUrl: undefined,
    given: [],
    revoked: [],
    endpoints: {
      authorization_url: `${url}/authorize`,
      token_url: `${url}/token`,
      account: { url: `${url}/me`, id: ['id'], label: ['email'] },
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return provider;
}
