/** Why setting up a source stops before its end, told apart by what is to be done about it. */
import { PlatformError } from '../platform/platform-port.ts';

/** Nothing is wrong; there is just nothing to be done before some time has passed. */
export class Waiting extends Error {
  constructor(
    message: string,
    readonly delayMs: number,
  ) {
    super(message);
  }
}

/** The customer or the operator has to change something; the message tells them. The platform itself is never quoted. */
export class Refused extends Error {}

/** Somebody else has taken over, or something newer is wanted. */
export class Outdated extends Error {}

/** What the platform will never accept is told apart from what it may accept later. */
export async function refusing<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PlatformError && error.failure === 'rejected' && !error.isConflict) {
      throw new Refused(`The platform did not accept ${what}. Check the configuration.`, { cause: error });
    }
    throw error;
  }
}
