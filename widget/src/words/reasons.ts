/** Reasons for failures, waits and pauses in the customer's language, by code. */
import type { Reason, ReasonCode } from '@inlay/contract/reasons';
import type { LimitedQuota } from '@inlay/contract/tenancy/quotas';
import type { Formatting } from '@inlay/ui/words/formatting.ts';
import type { Words } from './words.ts';

type ReasonWords = Pick<Words, 'problemOnOurSide' | 'signInEnded' | 'source' | 'quotas' | 'checkFields' | 'reasons'>;
export type CodedReason = { code: ReasonCode | null; parameters: object } | null | undefined;

/** Falls back to the text for codes without words, such as a connector's own message, and without a code. */
export function reasonInWords<Text extends string | null | undefined>(
  reason: CodedReason,
  text: Text,
  words: ReasonWords,
  formatting: Formatting,
): Text | string {
  if (!reason?.code) return text;
  const { code, parameters } = reason as Reason;
  switch (code) {
    case 'problem_on_our_side':
      return words.problemOnOurSide;
    case 'sign_in_ended':
      return words.signInEnded;
    case 'paused_by_operator':
      return words.source.pausedByTeam;
    case 'check_fields':
      return words.checkFields(parameters.fields.join(', '));
    case 'quota_paused':
    case 'quota_waiting':
      return quotaInWords(parameters, 'waits', words, formatting) ?? text;
    default:
      return (words.reasons as Record<string, string>)[code] ?? text;
  }
}

/** `until`: when the quota resets. `ending`: what to do if there is no such time. Undefined for unknown quotas. */
export function quotaInWords(
  { quota, limit, until }: { quota: string; limit: number; until?: string },
  ending: 'waits' | 'no_room' | 'too_many',
  { quotas }: Pick<Words, 'quotas'>,
  formatting: Formatting,
): string | undefined {
  const at = until && formatting.dateTime(until);
  if (quota === 'shortest_interval_seconds') return quotas.nextSync(at ?? '');
  const thing = quotas.things[quota as LimitedQuota];
  if (!thing) return undefined;
  const amount = quota.startsWith('bytes') ? formatting.bytes(limit) : formatting.number(limit);
  return quotas.reached(thing(limit, amount), at ? quotas.resumes(at) : quotas[ending]);
}
