/**
 * How many requests a token may send within a minute, in this process. The minute of a token begins with its first
 * request; what is refused counts, too. Counted after authentication and before anything of a body is read. Written by
 * hand because a plug-in that may have to ask another machine takes six turns of promises for what is one look into a
 * map, with every request.
 */
import type { FastifyInstance } from 'fastify';
import { BoundedMap } from '../bounded-map.ts';
import { AppError } from '../errors.ts';
import type { Principal } from '../principals.ts';

export interface RateLimits {
  scopedPerMinute: number;
  operatorPerMinute: number;
}

const windowMs = 60_000;
/** Enough for the tokens that are busy within one minute. */
const maxTokens = 50_000;

/** A limit of 0 is off. */
export function limitRates(app: FastifyInstance, limits: RateLimits, elapsed: () => number): void {
  const limitOf = { scoped: limits.scopedPerMinute, operator: limits.operatorPerMinute };
  if (limitOf.scoped === 0 && limitOf.operator === 0) return;
  const windows = new Windows(maxTokens);

  app.addHook('preParsing', ({ principal }, reply, _payload, done) => {
    const limit = principal === null ? 0 : limitOf[principal.kind];
    if (principal === null || limit === 0) {
      done();
      return;
    }
    const now = elapsed();
    const { requests, beganAt } = windows.count(tokenOf(principal), now);
    const secondsLeft = Math.ceil((windowMs - (now - beganAt)) / 1000);
    reply.header('ratelimit-limit', limit);
    reply.header('ratelimit-remaining', Math.max(0, limit - requests));
    reply.header('ratelimit-reset', secondsLeft);
    if (requests > limit) done(new AppError('rate_limited', { retryAfterSeconds: secondsLeft }));
    else done();
  });
}

function tokenOf(principal: Principal): string {
  return principal.kind === 'operator' ? principal.tokenId : principal.jti;
}

interface Window {
  requests: number;
  beganAt: number;
}

/** Of more tokens than it has room for, it forgets those whose minute began first. */
export class Windows {
  readonly #byToken: BoundedMap<string, Window>;

  constructor(maxTokens: number) {
    this.#byToken = new BoundedMap(maxTokens);
  }

  count(token: string, now: number): Readonly<Window> {
    let window = this.#byToken.get(token);
    if (!window || now - window.beganAt >= windowMs) {
      window = { requests: 0, beganAt: now };
      this.#byToken.set(token, window);
    }
    window.requests++;
    return window;
  }
}
