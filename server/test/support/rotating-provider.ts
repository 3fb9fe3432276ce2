/**
 * A provider whose access tokens live as long as a test says and whose refresh tokens work once, together with the API that
 * takes its tokens. A refresh token that comes a second time ends the grant, as with real providers.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startProvider, type TestProvider } from './providers.ts';

export interface RotatingProvider {
  provider: TestProvider;
  apiUrl: string;
  /** How many access tokens there have been. */
  issued(): number;
  /** Refresh tokens that came again: nobody may send one twice. */
  readonly reused: string[];
  /** The API takes no token that was issued until now. */
  endTokens(): void;
  /** How many requests the API has answered with records. */
  served(): number;
  close(): void;
}

interface RotatingOptions {
  tokenSeconds: number;
  /** Whether the API refuses a token when its time is over, and not only when a test says so. */
  endsByTime?: boolean;
}

export async function startRotatingProvider({
  tokenSeconds,
  endsByTime = false,
}: RotatingOptions): Promise<RotatingProvider> {
  const provider = await startProvider();
  const spent = new Set<string>();
  const reused: string[] = [];
  let issued = 0;
  const issuedAt = new Map<number, number>();
  let firstGood = 1;
  let served = 0;
  provider.token = ({ form }) => {
    const { refresh_token: old } = form;
    if (old !== undefined) {
      if (spent.has(old)) {
        reused.push(old);
        return { status: 400, body: { error: 'invalid_grant' } };
      }
      spent.add(old);
    }
    issued++;
    issuedAt.set(issued, performance.now());
    return { body: { access_token: `access-${issued}`, refresh_token: `refresh-${issued}`, expires_in: tokenSeconds } };
  };
  const api = createServer(({ headers }, reply) => {
    const number = Number(/^Bearer access-(\d+)$/.exec(headers.authorization ?? '')?.[1] ?? 0);
    const isOver = endsByTime && performance.now() - (issuedAt.get(number) ?? 0) >= tokenSeconds * 1_000;
    const isGood = number >= firstGood && !isOver;
    if (isGood) served++;
    reply.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' }).end(isGood ? '[{"id":1}]' : '{}');
  });
  await new Promise<void>((listening) => api.listen(0, '127.0.0.1', listening));
  return {
    provider,
    apiUrl: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    issued: () => issued,
    reused,
    endTokens() {
      firstGood = issued + 1;
    },
    served: () => served,
    close() {
      provider.close();
      api.close();
      api.closeAllConnections();
    },
  };
}
