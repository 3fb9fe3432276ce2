/** The client for HTTP of webhook-network.ts, in a separate module that is loaded when it is needed. */
import { request } from 'undici';
import { guardedDispatcher } from '../../platform/connectors/kit/guarded-dispatcher.ts';
import type { Network } from './webhooks/sending.ts';

export function openWebhookClient(
  surroundings: Parameters<typeof guardedDispatcher>[0],
): Pick<Network, 'post'> & { close(): Promise<void> } {
  // How many connections there are is up to the lanes of the endpoints.
  const dispatcher = guardedDispatcher(surroundings, { keepAliveTimeout: 10_000 });
  return {
    post: (url, options) => request(url, { ...options, dispatcher, method: 'POST' }),
    close: () => dispatcher.destroy(),
  };
}
