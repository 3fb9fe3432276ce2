/**
 * What each audience reads of a quota. Operators read which quota it is, its limit and its use, and how to raise it.
 * Customers read only what they may still do (contract/src/tenancy/quota-words.ts).
 */
import type { Audience } from '@inlay/contract/pipelines/health';
import { type LimitedQuota, sayQuota } from '@inlay/contract/tenancy/quota-words';
import { isoTime } from '../../kernel/iso-time.ts';

export interface Reached {
  quota: LimitedQuota;
  limit: number;
  used: number;
}

const raise = 'To raise it, use PUT /api/v1/workspaces/{workspace_id}/quotas.';
const change = raise.replace('raise', 'change');
const useOf = ({ quota, limit, used }: Reached) => `The quota ${quota} is reached: ${used} of ${limit} are used`;

/** Refusal of something that would exceed the quota. */
export function refusalWords(reached: Reached, audience: Audience): string {
  if (audience === 'operator') return `${useOf(reached)}. ${raise}`;
  const { quota, limit } = reached;
  return sayQuota({ kind: quota === 'concurrent_syncs' ? 'too_many' : 'no_room', quota, limit });
}

/** Pause of syncs until the next period. */
export function pauseWords(reached: Reached, until: number, audience: Audience): string {
  if (audience === 'operator') {
    return `${useOf(reached)}. Syncs go on at ${isoTime(until)}, or when the quota is raised.`;
  }
  const { quota, limit } = reached;
  return sayQuota({ kind: 'held', quota, limit, until });
}

/** Wait of a sync until another one has ended. */
export function waitWords(reached: Reached, audience: Audience): string {
  if (audience === 'operator') return `${useOf(reached)}. The sync starts when another one has ended. ${raise}`;
  const { quota, limit } = reached;
  return sayQuota({ kind: 'waits', quota, limit });
}

/** Refusal of a sync that is requested too soon after the last one. */
export function tooSoonWords(limitSeconds: number, from: number, audience: Audience): string {
  if (audience === 'operator') {
    return `The quota shortest_interval_seconds is ${limitSeconds}: the next sync may start at ${isoTime(from)}. ${change}`;
  }
  return sayQuota({ kind: 'too_soon', from });
}
