/** Why setting up a source stops before its end: one class for each thing that has to happen next. */
import { storableText } from '@inlay/contract/storable-text';
import { PlatformError } from '../platform/platform-port.ts';

/** Nothing is wrong; the work can only go on after some time has passed. */
export class Waiting extends Error {
  constructor(
    message: string,
    readonly delayMs: number,
  ) {
    super(message);
  }
}

/**
 * The customer or the operator has to change something; the message tells them. The platform itself is never quoted.
 */
export class Refused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    // The message is stored. It may quote a connector, and a connector may say anything.
    super(storableText(message), options);
  }
}

/** Another worker has taken over, or the source was changed meanwhile. */
export class Outdated extends Error {}

/** Separates requests that the platform will never accept from requests that it may accept later. */
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
