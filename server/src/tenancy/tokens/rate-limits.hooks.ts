/**
 * How many requests a token may send within a minute, in this process, and how many all scoped tokens of a workspace
 * may send together. A minute begins with the first request. A refused request counts for its token. It does not count
 * for the workspace, so that one token with too many requests leaves something for the others. Requests are counted
 * after authentication and before the body is read. Written by hand because the usual plug-in, made to ask another
 * machine, waits for six promises with every request where we need one look into a map.
 */
import { BoundedMap } from '@inlay/schedule/bounded-map';
import type { FastifyReply } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principals.ts';

interface RateLimits {
  scopedPerMinute: number;
  operatorPerMinute: number;
  /** All scoped tokens of one workspace together. */
  workspacePerMinute: number;
}

const windowMs = 60_000;
/** Enough for the tokens, and the workspaces, that are busy within one minute. */
const maxWindows = 50_000;

/** The function that it returns counts a request of a known caller. A limit of 0 means no limit. */
export function limitRates(
  limits: RateLimits,
  elapsed: () => number,
): (principal: Principal, reply: FastifyReply) => void {
  const limitOf = { scoped: limits.scopedPerMinute, operator: limits.operatorPerMinute };
  const ofWorkspace = limits.workspacePerMinute;
  if (limitOf.scoped === 0 && limitOf.operator === 0 && ofWorkspace === 0) return () => {};
  const tokens = new Windows(maxWindows);
  const workspaces = new Windows(maxWindows);

  function nearestLimit(principal: Principal, now: number): Allowance | undefined {
    const limit = limitOf[principal.kind];
    const own = limit === 0 ? undefined : allowance(limit, tokens.count(tokenOf(principal), now), now);
    if (principal.kind === 'operator' || ofWorkspace === 0 || (own && own.left < 0)) return own;
    const shared = allowance(ofWorkspace, workspaces.count(principal.workspaceId, now), now);
    return own && isNearer(own, shared) ? own : shared;
  }

  return (principal, reply) => {
    const nearest = nearestLimit(principal, elapsed());
    if (nearest === undefined) return;
    const { limit, left, secondsLeft } = nearest;
    reply.header('ratelimit-limit', limit);
    reply.header('ratelimit-remaining', Math.max(0, left));
    reply.header('ratelimit-reset', secondsLeft);
    if (left < 0) throw new AppError('rate_limited', { retryAfterSeconds: secondsLeft });
  };
}

/** What a limit leaves after a request. */
interface Allowance {
  limit: number;
  /** Below zero: this request is refused. */
  left: number;
  secondsLeft: number;
}

function allowance(limit: number, { requests, beganAt }: Window, now: number): Allowance {
  return { limit, left: limit - requests, secondsLeft: Math.ceil((windowMs - (now - beganAt)) / 1000) };
}

/** Whether a caller would reach the first limit before the other. */
function isNearer(one: Allowance, other: Allowance): boolean {
  return one.left === other.left ? one.secondsLeft >= other.secondsLeft : one.left < other.left;
}

function tokenOf(principal: Principal): string {
  return principal.kind === 'operator' ? principal.tokenId : principal.jti;
}

interface Window {
  requests: number;
  beganAt: number;
}

/**
 * Counts by the id of a token or a workspace. When there are too many ids, those whose minute began first are
 * forgotten.
 */
export class Windows {
  readonly #byId: BoundedMap<string, Window>;

  constructor(maxIds: number) {
    this.#byId = new BoundedMap(maxIds);
  }

  count(id: string, now: number): Readonly<Window> {
    let window = this.#byId.get(id);
    if (!window || now - window.beganAt >= windowMs) {
      window = { requests: 0, beganAt: now };
      this.#byId.set(id, window);
    }
    window.requests++;
    return window;
  }
}
