/** Why something failed, waits or was stopped, in words made from its code where it has words of its own. */
import { quotedCodes, sayReason } from '@inlay/contract/reason-words';
import type { Reason, ReasonCode } from '@inlay/contract/reasons';
import { words } from './words.ts';

type Told = { code: ReasonCode | null; parameters: object } | null | undefined;

/** The text beside the code stands where the code has no words, and for rows that an older version stored. */
export function reasonInWords<Text extends string | null | undefined>(told: Told, text: Text): string | Text {
  if (!told?.code || quotedCodes.includes(told.code)) return text;
  return sayReason(told as Reason, 'operator') ?? text;
}

export const failureInWords = (failure: NonNullable<Told> & { message: string | null }) =>
  reasonInWords(failure, failure.message) ?? words.noReason;
