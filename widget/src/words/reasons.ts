/** The reason of a failure, in the customer's language where the words are the service's own. */
import { pausedByTeam, problemOnOurSide, readLookAt, signInAgain } from '@inlay/contract/pipelines/failure-words';
import { readQuota } from '@inlay/contract/tenancy/quota-words';
import type { Formatting } from '@inlay/ui/words/formatting.ts';
import type { Words } from './words.ts';

export function reasonInWords<Reason extends string | null | undefined>(
  reason: Reason,
  words: Pick<Words, 'problemOnOurSide' | 'signInEnded' | 'source' | 'quotas' | 'lookAt'>,
  formatting: Formatting,
): Reason | string {
  if (typeof reason !== 'string') return reason;
  if (reason === pausedByTeam) return words.source.pausedByTeam;
  if (reason === problemOnOurSide) return words.problemOnOurSide;
  if (reason === signInAgain) return words.signInEnded;
  const titles = readLookAt(reason);
  return titles === undefined ? (quotaInWords(reason, words, formatting) ?? reason) : words.lookAt(titles);
}

/** Undefined for a text that is not about a quota. */
export function quotaInWords(
  text: string,
  { quotas }: Pick<Words, 'quotas'>,
  formatting: Formatting,
): string | undefined {
  const message = readQuota(text);
  if (!message) return undefined;
  const at = (time: number) => formatting.dateTime(new Date(time).toISOString());
  if (message.kind === 'too_soon') return quotas.nextSync(at(message.from));
  const { quota, limit } = message;
  const amount = quota.startsWith('bytes') ? formatting.bytes(limit) : formatting.number(limit);
  const ending = message.kind === 'held' ? quotas.goesOn(at(message.until)) : quotas[message.kind as 'waits'];
  return `${quotas.reached(quotas.things[quota](limit, amount))} ${ending}`;
}
