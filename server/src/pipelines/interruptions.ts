/** Why setting up a source stops before its end: one class for each thing that has to happen next. */
import type { Reason, RejectedPart } from '@inlay/contract/reasons';
import { PlatformError } from '../kernel/platform/platform-port.ts';
import { type FailureTexts, operatorsOnly, sameForBoth } from './two-texts.ts';

/** Nothing is wrong; the work can only continue after some time. */
export class Waiting extends Error {
  constructor(
    message: string,
    readonly delayMs: number,
  ) {
    super(message);
  }
}

/**
 * The customer or the operator has to change something; the texts say what. The platform itself is never quoted.
 */
export class Refused extends Error {
  constructor(
    readonly texts: FailureTexts,
    options?: ErrorOptions,
  ) {
    super(texts.operator, options);
  }
}

/** Another worker has taken over, or the source was changed meanwhile. */
export class Outdated extends Error {}

/** Separates requests that the platform will never accept from requests that it may accept later. */
export async function refusing<T>(what: keyof typeof refusals, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PlatformError && error.failure === 'rejected' && !error.isConflict) {
      throw new Refused(refusals[what], { cause: error });
    }
    throw error;
  }
}

/** Only the source is the customer's. */
const refusals = {
  source: sameForBoth(rejected('source')),
  definition: operatorsOnly(rejected('manifest')),
  streams: sameForBoth(rejected('streams')),
  destination: operatorsOnly(rejected('destination')),
  connection: operatorsOnly(rejected('connection')),
  firstSync: operatorsOnly(rejected('first_sync')),
};

function rejected(what: RejectedPart): Reason {
  return { code: 'rejected_by_platform', parameters: { what } };
}
