/**
 * When tokens are refreshed, by the clock of the database, and how many requests each provider gets from this process
 * meanwhile. refresh.ts does it.
 */
import type { Runtime } from '../../kernel/runtime.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** How long before a credential without refresh expires its warning is sent. */
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
 * When a credential with new tokens is due next. In use: ahead of the expiry of its access token. Idle: every day,
 * because some providers end unused grants. Without a refresh token: when its warning is due. Null: never.
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

export type Refreshed =
  /** There is another generation than the one that was known. */
  | { kind: 'fresh' }
  /** Another process refreshes, for that long at most. */
  | { kind: 'busy'; ms: number }
  /** It has not worked this time; `isAsked`: the provider was asked, and when to ask again is stored. */
  | { kind: 'later'; reason: string; isAsked: boolean }
  /** The customer or the operator has to act. */
  | { kind: 'ended' };

/** What this process refreshes at the moment, so that everybody who wants the same tokens shares one request. */
export class Refreshes {
  readonly flights = new Map<string, Promise<Refreshed>>();
  readonly hosts: TokenHosts;

  constructor(runtime: Pick<Runtime, 'elapsed' | 'random'>) {
    this.hosts = new TokenHosts(runtime);
  }
}

/**
 * How many token requests each host gets from one organization and this process: a few at a time, so that a thousand
 * customers whose tokens end together do not overload a provider. A host that fails is left alone for a while, and then asked
 * by one. What an organization meets at a host delays no other organization: the fault may be its own client's.
 */
const atATime = 5;
const longestPauseMs = 5 * 60_000;
/** A provider that asks for more patience is asked again all the same: its Retry-After may be wrong. */
const longestRetryAfterMs = 60 * 60_000;
const remembered = 1_000;

/** The outcome of a request. An object: the host failed. */
export type HostOutcome = 'works' | { retryAfterMs?: number | undefined };

/** How long a host that failed has asked to be left alone, within bounds. */
export const hostPauseMs = (retryAfterMs = 0) => Math.min(retryAfterMs, longestRetryAfterMs);

interface Host {
  active: number;
  waiting: (() => void)[];
  failures: number;
  pausedUntil: number;
}

export class TokenHosts {
  readonly #runtime: Pick<Runtime, 'elapsed' | 'random'>;
  readonly #hosts = new Map<string, Host>();

  constructor(runtime: Pick<Runtime, 'elapsed' | 'random'>) {
    this.#runtime = runtime;
  }

  /**
   * Resolves when it is the caller's turn, who must leave again; undefined: the host is to be left alone for now. `name` is of the
   * host and the organization.
   */
  async enter(name: string): Promise<((outcome: HostOutcome | undefined) => void) | undefined> {
    const host = this.#of(name);
    for (;;) {
      if (this.#runtime.elapsed() < host.pausedUntil) return undefined;
      // A host that has failed is asked by one at a time, until it works.
      if (host.active < (host.failures > 0 ? 1 : atATime)) break;
      await new Promise<void>((turn) => host.waiting.push(turn));
    }
    host.active++;
    return (outcome) => this.#leave(name, host, outcome);
  }

  #leave(name: string, host: Host, outcome: HostOutcome | undefined): void {
    host.active--;
    if (outcome === 'works') {
      host.failures = 0;
    } else if (outcome !== undefined) {
      host.failures++;
      const usualMs = Math.min(backoffMs(host.failures, this.#runtime.random()), longestPauseMs);
      host.pausedUntil = this.#runtime.elapsed() + Math.max(usualMs, hostPauseMs(outcome.retryAfterMs));
    }
    if (host.active === 0 && host.failures === 0 && host.waiting.length === 0) this.#hosts.delete(name);
    // Everybody looks again: the host may work again, or be paused.
    for (const turn of host.waiting.splice(0)) turn();
  }

  #of(name: string): Host {
    const known = this.#hosts.get(name);
    if (known) return known;
    if (this.#hosts.size >= remembered) this.#forgetIdle();
    const host = { active: 0, waiting: [], failures: 0, pausedUntil: 0 };
    this.#hosts.set(name, host);
    return host;
  }

  /** First those whose pause is over; all others as well where that is not enough. */
  #forgetIdle(): void {
    const idle = [...this.#hosts].filter(([, { active, waiting }]) => active === 0 && waiting.length === 0);
    const now = this.#runtime.elapsed();
    const over = idle.filter(([, { pausedUntil }]) => pausedUntil <= now);
    for (const [name] of over.length > 0 ? over : idle) this.#hosts.delete(name);
  }
}
