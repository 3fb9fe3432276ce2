/** How webhooks reach their receivers. */
import type { Config } from '../../kernel/config/config.ts';
import { openGuardedNetwork } from '../../kernel/network/guarded-network.ts';
import type { Network } from './sending.ts';

export interface WebhookNetwork extends Network {
  close(): Promise<void>;
}

export function openWebhookNetwork(config: Config): WebhookNetwork {
  const { allowPrivateNetworks, timeoutMs } = config.webhooks;
  const { request, ...network } = openGuardedNetwork(config, allowPrivateNetworks);
  return {
    ...network,
    allowPrivateNetworks,
    timeoutMs,
    post: (url, options) => request(url, { ...options, method: 'POST' }),
  };
}
