/** Resumes a sign-in after a reload, or when the provider redirects back. */
import { failureOf } from '../api/failure.ts';
import type { Wish } from '../page/address.ts';
import { longerPauseMs, pause } from '../sources/pausing.ts';
import type { Widget } from '../widget.ts';
import { getSignIn, type SignIn } from './endpoints.ts';
import { remember } from './memory.ts';

export interface Resumed {
  /** Where the customer continues. */
  wish: Wish;
  /** Undefined if nothing is left to do because a source uses the sign-in. */
  signIn: SignIn | undefined;
}

const firstPauseMs = 1_000;
const lastPauseMs = 10_000;

/**
 * Undefined if there is nothing to resume: the sign-in belongs to another customer, was removed or expired, or the page opens
 * something else.
 */
export async function resume(
  { api, host }: Pick<Widget, 'api' | 'host'>,
  id: string,
  wish: Wish | undefined,
): Promise<Resumed | undefined> {
  // Only the end of the page ends it.
  const { signal } = new AbortController();
  for (let pauseMs = firstPauseMs; ; pauseMs = longerPauseMs(pauseMs, lastPauseMs)) {
    try {
      const signIn = await getSignIn(api, id, undefined, signal);
      const { source_template_id: template, source_id, used_by, failure } = signIn;
      const source = source_id ?? undefined;
      // Another widget on the same page may resume it.
      if (wish && (wish.source !== source || (wish.template ?? template) !== template)) return undefined;
      const isUsed = used_by !== null && used_by !== source;
      const isOver = isUsed || failure === 'expired';
      remember(host, isOver ? null : id);
      if (isUsed) return { wish: { source: used_by }, signIn: undefined };
      return isOver ? undefined : { wish: { template, source }, signIn };
    } catch (error) {
      const failure = failureOf(error);
      if (!failure.isPassing) {
        remember(host, null);
        return undefined;
      }
      await pause(Math.max(pauseMs, failure.retryAfterMs ?? 0), signal);
    }
  }
}
