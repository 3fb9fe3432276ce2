/**
 * Who refreshes the tokens of customers: this service wherever the platform is Inlay's own, which says so itself
 * (GET /credentials) and asks for them; a hosted platform gets them once. Nothing is decided before the platform has answered.
 */
import type { CredentialOwner } from '@inlay/contract/credentials/credentials';
import type { Logger } from 'pino';
import type { PlatformPort } from './platform-port.ts';

export interface TokenOwner {
  /** Throws PlatformError while the platform cannot be asked. */
  isService(): Promise<boolean>;
  /** As far as it is known; undefined as long as the platform has not answered. Never waits, but has it asked. */
  current(): CredentialOwner | undefined;
}

export function createTokenOwner(
  platform: Pick<PlatformPort, 'resolvesCredentials'>,
  { isBundled, log }: { isBundled: boolean; log: Pick<Logger, 'warn'> },
): TokenOwner {
  let known: CredentialOwner | undefined = isBundled ? 'service' : undefined;
  let asking: Promise<boolean> | undefined;

  const ask = async () => {
    const isService = await platform.resolvesCredentials();
    known = isService ? 'service' : 'platform';
    return isService;
  };

  /** A platform of ours stays one; a path that is missing now may come with its update. */
  const isService = async () => {
    if (known === 'service') return true;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return await asking;
  };

  const askLater = () =>
    void isService().catch((err) => log.warn({ err }, 'Failed to ask the platform who refreshes tokens'));
  return {
    isService,
    current() {
      if (known === undefined) askLater();
      return known;
    },
  };
}
