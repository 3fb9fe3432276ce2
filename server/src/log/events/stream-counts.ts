/** How many event streams are open in this process: each costs a connection, and a little work at every event. */
import { maxEventStreams } from '@inlay/contract/log/events';
import { AppError } from '../../kernel/errors.ts';
import type { OperatorPrincipal } from '../../kernel/principals.ts';

/** Counts a stream until it has ended. Throws where there are too many. */
export function createStreamCounts(): (principal: OperatorPrincipal, ended: AbortSignal) => void {
  const open = new Map<string, number>();
  const add = (key: string, difference: number) => {
    const count = (open.get(key) ?? 0) + difference;
    if (count > 0) open.set(key, count);
    else open.delete(key);
  };
  return ({ organizationId, tokenId, session }, ended) => {
    const keys = { token: session?.id ?? tokenId, organization: organizationId };
    for (const whose of ['token', 'organization'] as const) {
      const limit = maxEventStreams[whose];
      if ((open.get(keys[whose]) ?? 0) >= limit) throw new AppError('too_many_event_streams', { whose, limit });
    }
    for (const key of Object.values(keys)) add(key, 1);
    const end = () => {
      for (const key of Object.values(keys)) add(key, -1);
    };
    if (ended.aborted) end();
    else ended.addEventListener('abort', end, { once: true });
  };
}
