/** The reason of a failure, in the customer's language where the words are the service's own. */
import { pausedByTeam, problemOnOurSide } from '@inlay/contract/failure-words';
import type { Words } from './words.ts';

export function reasonInWords<Reason extends string | null | undefined>(
  reason: Reason,
  words: Pick<Words, 'problemOnOurSide' | 'source'>,
): Reason | string {
  if (reason === pausedByTeam) return words.source.pausedByTeam;
  return reason === problemOnOurSide ? words.problemOnOurSide : reason;
}
