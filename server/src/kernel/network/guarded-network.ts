/**
 * How the service reaches addresses that others have given: through the guard that connectors have, which judges the very
 * address that is connected to. The client for HTTP is loaded with the first request, because it takes long to load.
 */
import { isIP } from 'node:net';
import { isPublicAddress, notReachable, withoutBrackets } from '@inlay/guard/addresses';
import type { Dispatcher } from 'undici';
import { type Config, serviceEndpoints } from '../config/config.ts';
import type { GuardedRequest } from './guarded-client.ts';

export interface GuardedNetwork {
  /** Follows no redirects. Fails for an address that may not be reached. */
  request(url: string, request: GuardedRequest): Promise<Dispatcher.ResponseData>;
  /** Says why a host that is an address, or a name of this machine, may not be reached. Other names are judged later. */
  hostFault(hostname: string): string | undefined;
  close(): Promise<void>;
}

export function openGuardedNetwork(config: Config, allowPrivateNetworks: boolean): GuardedNetwork {
  const surroundings = {
    workspaceDir: undefined,
    readableDirs: [],
    allowPrivateNetworks,
    serviceEndpoints: serviceEndpoints(config),
  };
  type Client = Awaited<typeof import('./guarded-client.ts')>['openGuardedClient'];
  let client: Promise<ReturnType<Client>> | undefined;
  return {
    async request(url, request) {
      client ??= import('./guarded-client.ts').then(({ openGuardedClient }) => openGuardedClient(surroundings));
      return await (await client).request(url, request);
    },
    hostFault(hostname) {
      const host = withoutBrackets(hostname);
      const isHere = /(^|\.)localhost\.?$/i.test(host) || (isIP(host) !== 0 && !isPublicAddress(host));
      return isHere && !allowPrivateNetworks ? notReachable(hostname).message : undefined;
    },
    close: async () => (await client)?.close(),
  };
}
