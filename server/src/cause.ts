/**
 * Who makes a change, and in the course of which request. Every entry of the log says so (events/journal.ts). A cause comes
 * from the route, the command or the worker that begins the work, and travels with the context of the rules: no rule looks
 * it up anywhere else.
 */
import type { Principal } from './principals.ts';

export type ActorKind = 'operator_token' | 'scoped_token' | 'command_line' | 'worker';

export interface Cause {
  actor: { kind: ActorKind; id: string | null; name: string | null };
  requestId: string | null;
  /** Of W3C Trace Context. */
  traceId: string | null;
}

/** Work in the background that no request waits for. */
export const byWorker: Cause = {
  actor: { kind: 'worker', id: null, name: null },
  requestId: null,
  traceId: null,
};

export const byCommandLine: Cause = {
  actor: { kind: 'command_line', id: null, name: null },
  requestId: null,
  traceId: null,
};

export function byRequest(principal: Principal | null, requestId: string, traceId: string): Cause {
  return { actor: actorOf(principal), requestId, traceId };
}

function actorOf(principal: Principal | null): Cause['actor'] {
  switch (principal?.kind) {
    case 'operator':
      return { kind: 'operator_token', id: principal.tokenId, name: principal.tokenName };
    case 'scoped':
      return { kind: 'scoped_token', id: principal.jti, name: null };
    default:
      // No route without a token changes anything.
      return byWorker.actor;
  }
}
