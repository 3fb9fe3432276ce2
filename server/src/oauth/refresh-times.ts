/** When tokens are refreshed. Pure: all times are milliseconds of the database's clock. */

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** How long before the end of a credential that cannot be refreshed somebody is told. */
export const expiringMs = 7 * dayMs;

/** How long before its end an access token is replaced: five minutes or a tenth of its life, but not half of it. */
export function marginMs(lifeMs: number): number {
  return Math.min(Math.max(5 * minuteMs, lifeMs / 10), lifeMs / 2);
}

/** Whether an access token is good for that long. A token that never lives that long is good for half of its life. */
export function isGoodFor(
  { issuedAt, expiresAt }: { issuedAt: number; expiresAt: number | null },
  now: number,
  forMs?: number,
): boolean {
  if (expiresAt === null) return true;
  const lifeMs = expiresAt - issuedAt;
  return expiresAt - now > Math.min(forMs ?? marginMs(lifeMs), lifeMs / 2);
}

interface Facts {
  now: number;
  expiresAt: number | null;
  canRefresh: boolean;
  usedAt: number | null;
  /** From 0 up to 1. */
  chance: number;
}

/**
 * When a credential with new tokens is looked at next. In use: ahead of the end of its access token. Idle: every day, because
 * some providers end a grant that is not used. Without a refresh token: when its end is to be told. Null: never.
 */
export function nextLook({ now, expiresAt, canRefresh, usedAt, chance }: Facts): number | null {
  if (!canRefresh) {
    if (expiresAt === null) return null;
    return Math.round(expiresAt - now > expiringMs ? expiresAt - expiringMs : expiresAt);
  }
  const daily = now + dayMs * (1 - chance / 4);
  const isIdle = usedAt === null || usedAt < now - dayMs;
  if (expiresAt === null || isIdle) return Math.round(daily);
  // The jitter keeps credentials that were made together from being refreshed together.
  const ahead = Math.max(now, expiresAt - marginMs(expiresAt - now) * (1 + chance / 2));
  return Math.round(Math.min(daily, ahead));
}

/** How long to wait after refreshing has failed that often. */
export function backoffMs(failures: number, chance: number): number {
  return Math.round(Math.min(30 * minuteMs, 5_000 * 2 ** Math.min(failures - 1, 20)) * (0.75 + chance / 2));
}
