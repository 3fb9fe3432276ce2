/**
 * What each audience reads of a quota. Operators read which quota it is, its limit and its use, and how to raise it.
 * Customers read only what they may still do.
 */
import type { Audience } from '@inlay/contract/health';
import type { QuotaName } from '@inlay/contract/quotas';
import { isoTime } from '../iso-time.ts';

const nouns: Record<QuotaName, string> = {
  sources: 'sources',
  connections: 'connections',
  concurrent_syncs: 'syncs at the same time',
  shortest_interval_seconds: 'seconds between two syncs',
  rows_per_day: 'rows per day',
  rows_per_month: 'rows per month',
  bytes_per_day: 'bytes per day',
  bytes_per_month: 'bytes per month',
};

export interface Reached {
  quota: QuotaName;
  limit: number;
  used: number;
}

const raise = 'To raise it, use PUT /api/v1/workspaces/{workspace_id}/quotas.';
const change = raise.replace('raise', 'change');
const useOf = ({ quota, limit, used }: Reached) => `The quota ${quota} is reached: ${used} of ${limit} are used`;
const limitOf = ({ quota, limit }: Reached) => `The limit of ${limit} ${nounOf(quota, limit)} is reached`;
const nounOf = (quota: QuotaName, count: number) => (count === 1 ? nouns[quota].replace(/s\b/, '') : nouns[quota]);

/** Of something that would be one too many. */
export function refusalWords(reached: Reached, audience: Audience): string {
  if (audience === 'operator') return `${useOf(reached)}. ${raise}`;
  if (reached.quota === 'concurrent_syncs') return `${limitOf(reached)}. Try again when one has ended.`;
  return `${limitOf(reached)}. Remove a source that is not needed, or ask for a higher limit.`;
}

/** Of syncs that wait for the next period. */
export function pauseWords(reached: Reached, until: number, audience: Audience): string {
  if (audience === 'operator') {
    return `${useOf(reached)}. Syncs go on at ${isoTime(until)}, or when the quota is raised.`;
  }
  return `${limitOf(reached)}. Syncs go on by themselves on ${forPeople(until)}.`;
}

/** Of a sync that waits until another one has ended. */
export function waitWords(reached: Reached, audience: Audience): string {
  if (audience === 'operator') return `${useOf(reached)}. The sync starts when another one has ended. ${raise}`;
  return `${limitOf(reached)}. The sync starts by itself when another one has ended.`;
}

/** Of a sync that is asked for too soon after the last one. */
export function tooSoonWords(limitSeconds: number, from: number, audience: Audience): string {
  if (audience === 'operator') {
    return `The quota shortest_interval_seconds is ${limitSeconds}: the next sync may start at ${isoTime(from)}. ${change}`;
  }
  return `The next sync of this connection can start on ${forPeople(from)}.`;
}

/** Customers read it: 2026-02-01 at 00:00 UTC. Part of a minute counts as a whole one, so that nobody comes too soon. */
function forPeople(time: number): string {
  const [day, clock = ''] = isoTime(Math.ceil(time / 60_000) * 60_000).split('T');
  return `${day} at ${clock.slice(0, 5)} UTC`;
}
