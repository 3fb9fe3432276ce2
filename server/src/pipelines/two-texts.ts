/** A failure as each audience reads it; failure-texts.ts decides what customers may read. */
import type { Audience } from '@inlay/contract/pipelines/health';
import type { CheckWarning } from '@inlay/contract/pipelines/sources';
import { sayReason } from '@inlay/contract/reason-words';
import type { Reason } from '@inlay/contract/reasons';

/** A code for each reader. Null, or absent, where an older version stored only texts. */
export type Reasons = Record<Audience, Reason | null>;

export interface FailureTexts {
  operator: string;
  customer: string;
  reasons: Reasons;
  /** Who has to act on it. */
  whose: Audience;
}

/** The warnings of a check, by reader. */
export type AudienceWarnings = Record<Audience, CheckWarning[]>;

export const problemOnOurSide: Reason = { code: 'problem_on_our_side', parameters: {} };

/** The platform reports that something failed, but not why. */
export const notReported: Reasons = {
  operator: { code: 'not_reported', parameters: {} },
  customer: { code: 'not_reported', parameters: {} },
};

/** A reason that both may read. */
export function sameForBoth(reason: Reason): FailureTexts {
  const [operator, customer] = [sayReason(reason, 'operator'), sayReason(reason, 'customer')];
  return { operator, customer, reasons: { operator: reason, customer: reason }, whose: 'customer' };
}

/** A failure that only the operator can do something about. `text`: the words of a connector or of the platform. */
export function operatorsOnly(reason: Reason, text = sayReason(reason, 'operator')): FailureTexts {
  return {
    operator: text,
    customer: sayReason(problemOnOurSide, 'customer'),
    reasons: { operator: reason, customer: problemOnOurSide },
    whose: 'operator',
  };
}

/** Fields that the API shows beside a text. */
export function shownReason(reasons: Reasons | null | undefined, audience: Audience) {
  const { code, parameters } = reasons?.[audience] ?? { code: null, parameters: {} };
  return { code, parameters };
}

export const storedReasons = (text: string | null): Reasons | null => (text ? JSON.parse(text) : null);
