/** How providers of OAuth are reached. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../../kernel/config/config.ts';
import { openGuardedNetwork } from '../../kernel/network/guarded-network.ts';

export interface ProviderRequest {
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

export interface ProviderAnswer {
  status: number;
  contentType: string;
  /** Empty where the answer is longer than a mebibyte. */
  body: string;
  /** The answer began and broke off. */
  isCut?: boolean;
  /** When the provider wants to be asked again; not bounded. */
  retryAfterMs?: number | undefined;
}

/** How providers are reached. */
export interface ProviderNetwork {
  /** Follows no redirects, and fails for an address that may not be reached. */
  request(url: string, request: ProviderRequest): Promise<ProviderAnswer>;
  /** Says why no secret may be sent to an address. */
  addressFault(url: URL): string | undefined;
}

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
      const contentType = headers['content-type']?.toString() ?? '';
      const answer = { status: statusCode, contentType, retryAfterMs: retryAfterIn(headers) };
      const chunks: Buffer[] = [];
      let size = 0;
      try {
        for await (const chunk of body) {
          size += chunk.length;
          // Nothing that is wanted is that long: the answer is as good as empty.
          if (size > maxBytes) return { ...answer, body: '' };
          chunks.push(chunk);
        }
      } catch {
        return { ...answer, body: '', isCut: true };
      }
      return { ...answer, body: Buffer.concat(chunks).toString() };
    },
    addressFault({ protocol, hostname }) {
      if (protocol !== 'https:' && !allowPrivateNetworks) return 'the URL must start with https://';
      return hostFault(hostname);
    },
    close,
  };
}

/** Seconds, or a date, which is compared with the provider's own clock (RFC 9110, 10.2.3). */
function retryAfterIn({ 'retry-after': value = '', date = '' }: IncomingHttpHeaders): number | undefined {
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.parse(date);
  return ms > 0 ? ms : undefined;
}
