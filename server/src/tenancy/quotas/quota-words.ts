/**
 * What each audience reads of a quota. Operators read which quota it is, its limit, its use and how to raise it; customers
 * only what they can still do. Words of waiting and paused syncs are in contract/src/reason-words.ts.
 */
import type { Audience } from '@inlay/contract/pipelines/health';
import { limitReached, momentOf, quotaUse, raiseQuota } from '@inlay/contract/reason-words';
import type { LimitedQuota } from '@inlay/contract/tenancy/quotas';
import { isoTime } from '../../kernel/iso-time.ts';

export interface Reached {
  quota: LimitedQuota;
  limit: number;
  used: number;
}

/** What each audience may know, as parameters of a code. */
export function parametersFor({ used, ...reached }: Reached, audience: Audience) {
  return audience === 'operator' ? { ...reached, used } : reached;
}

/** Refusal of something that would exceed the quota. */
export function refusalWords(reached: Reached, audience: Audience): string {
  const { quota, limit } = reached;
  if (audience === 'operator') return `${quotaUse(reached)} ${raiseQuota}`;
  const remedy =
    quota === 'concurrent_syncs'
      ? 'Try again when one ends.'
      : 'Remove a source that you no longer need, or ask for a higher limit.';
  return `${limitReached(quota, limit)} ${remedy}`;
}

/** For a sync that is requested too soon after the last one. */
export function tooSoonWords(limitSeconds: number, from: number, audience: Audience): string {
  if (audience === 'customer') return `The next sync of this connection can start on ${momentOf(from)}.`;
  const change = raiseQuota.replace('raise', 'change');
  return `Quota shortest_interval_seconds is ${limitSeconds}: the next sync can start at ${isoTime(from)}. ${change}`;
}
