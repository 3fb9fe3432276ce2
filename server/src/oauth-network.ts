/** How providers of OAuth are reached. */
import type { Config } from './config.ts';
import { openGuardedNetwork } from './guarded-network.ts';
import type { ProviderNetwork } from './oauth/context.ts';

const usualTimeoutMs = 20_000;
const maxBytes = 1024 * 1024;

export function openOAuthNetwork(
  config: Config,
  { timeoutMs = usualTimeoutMs }: { timeoutMs?: number } = {},
): ProviderNetwork & { close(): Promise<void> } {
  const { allowPrivateNetworks } = config;
  const { request, hostFault, close } = openGuardedNetwork(config, allowPrivateNetworks);
  return {
    async request(url, options) {
      const { statusCode, headers, body } = await request(url, { ...options, signal: AbortSignal.timeout(timeoutMs) });
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of body) {
        size += chunk.length;
        if (size > maxBytes) throw new Error('The answer is too long.');
        chunks.push(chunk);
      }
      const contentType = headers['content-type']?.toString() ?? '';
      return { status: statusCode, contentType, body: Buffer.concat(chunks).toString() };
    },
    addressFault({ protocol, hostname }) {
      if (protocol !== 'https:' && !allowPrivateNetworks) return 'the address must begin with https://';
      return hostFault(hostname);
    },
    close,
  };
}
