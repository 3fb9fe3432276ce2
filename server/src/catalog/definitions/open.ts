/** Decides where definitions come from: from the platform if it describes its connectors, else from a registry. */
import type { Logger } from 'pino';
import type { PlatformPort } from '../../kernel/platform/platform-port.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Definitions } from './definitions.ts';
import { createPlatformDefinitions, describesConnectors } from './platform-definitions.ts';
import { createRegistry, defaultRegistry } from './registry.ts';

interface OpenDefinitionsOptions {
  platform: PlatformPort;
  isBundled: boolean;
  /** The registry's address as the operator configured it. */
  registry: string | undefined;
  cacheFile: string;
  runtime: Runtime;
  log: Logger;
}

export function openDefinitions({ registry: location, isBundled, ...parts }: OpenDefinitionsOptions): Definitions {
  const ofPlatform = createPlatformDefinitions(parts);
  if (isBundled) return ofPlatform;
  const registry = createRegistry({ location: location ?? defaultRegistry, ...parts });
  if (location !== undefined) return registry;

  // Our own platform describes its connectors, also when it runs alone. Those of a hosted one are in the public
  // registry.
  let chosen: Definitions | undefined;
  return {
    async list(kind) {
      chosen ??= (await describesConnectors(parts.platform)) ? ofPlatform : registry;
      return await chosen.list(kind);
    },
  };
}
