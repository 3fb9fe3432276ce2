/** The two texts of a failure; failure-texts.ts decides what is in them. */
import { problemOnOurSide } from '@inlay/contract/pipelines/failure-words';
import type { CheckWarning } from '@inlay/contract/pipelines/sources';

export interface FailureTexts {
  operator: string;
  customer: string;
  /** Who has to do something about it. */
  whose: 'operator' | 'customer';
}

/** The warnings of a check, by reader. */
export type AudienceWarnings = Record<'operator' | 'customer', CheckWarning[]>;

/** Words of our own, in which nothing is quoted. */
export function sameForBoth(message: string): FailureTexts {
  return { operator: message, customer: message, whose: 'customer' };
}

/** A failure on the operator's side, whatever the customer has given. */
export function operatorsOnly(message: string): FailureTexts {
  return { operator: message, customer: problemOnOurSide, whose: 'operator' };
}
