/** A client for HTTP that reaches only what connectors may reach, in a separate module that is loaded when it is needed. */

import { guardedDispatcher } from '@inlay/guard/guarded-dispatcher';
import { type Dispatcher, request } from 'undici';

export interface GuardedRequest {
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
  signal: AbortSignal;
}

/** Follows no redirects. */
export function openGuardedClient(surroundings: Parameters<typeof guardedDispatcher>[0]): {
  request(url: string, request: GuardedRequest): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
} {
  // How many connections there are is up to the callers.
  const dispatcher = guardedDispatcher(surroundings, { keepAliveTimeout: 10_000 });
  return {
    request: (url, { method, headers, body, signal }) =>
      request(url, { dispatcher, method: method as Dispatcher.HttpMethod, headers, body: body ?? null, signal }),
    close: () => dispatcher.destroy(),
  };
}
