/**
 * How webhooks reach their receivers: through the guard that connectors have, which judges the very address that is
 * connected to. The client for HTTP is loaded with the first webhook, because it takes long to load.
 */
import { isIP } from 'node:net';
import { isPublicAddress, notReachable, withoutBrackets } from '../../platform/connectors/kit/addresses.ts';
import { type Config, serviceEndpoints } from './config.ts';
import type { Network } from './webhooks/sending.ts';

export interface WebhookNetwork extends Network {
  close(): Promise<void>;
}

export function openWebhookNetwork(config: Config): WebhookNetwork {
  const { allowPrivateNetworks, timeoutMs } = config.webhooks;
  const surroundings = {
    workspaceDir: undefined,
    readableDirs: [],
    allowPrivateNetworks,
    serviceEndpoints: serviceEndpoints(config),
  };
  type Client = Awaited<typeof import('./webhook-client.ts')>['openWebhookClient'];
  let client: Promise<ReturnType<Client>> | undefined;
  return {
    allowPrivateNetworks,
    timeoutMs,
    async post(url, request) {
      client ??= import('./webhook-client.ts').then(({ openWebhookClient }) => openWebhookClient(surroundings));
      return await (await client).post(url, request);
    },
    hostFault(hostname) {
      const host = withoutBrackets(hostname);
      const isHere = /(^|\.)localhost\.?$/i.test(host) || (isIP(host) !== 0 && !isPublicAddress(host));
      return isHere && !allowPrivateNetworks ? notReachable(hostname).message : undefined;
    },
    close: async () => (await client)?.close(),
  };
}
