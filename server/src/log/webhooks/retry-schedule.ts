/** When a webhook that failed is sent again: the schedule of Standard Webhooks, which ends after three days. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The pause after the first attempt, after the second, and so on. After the last attempt the webhook is given up. */
const pauses = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

/** A receiver that asks for more time gets at most this. */
const longestWishMs = 24 * hour;

export const maxAttempts = pauses.length + 1;

/**
 * Milliseconds until the next attempt; undefined when the webhook is given up. Webhooks that failed together do not come back
 * together, so a part of the pause is chance. A receiver's `Retry-After` only makes the pause longer.
 */
export function pauseAfter(attempts: number, random: number, retryAfterMs = 0): number | undefined {
  const pause = pauses[attempts - 1];
  if (pause === undefined) return undefined;
  const jitter = random * Math.max(1.5 * second, pause / 10);
  return Math.round(Math.max(pause + jitter, Math.min(retryAfterMs, longestWishMs)));
}

/** `Retry-After` as seconds or as a date; undefined when it is neither. */
export function readRetryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * second;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
