/**
 * Who makes a change, and in the course of which request. Every entry of the log says so (events/journal.ts). A cause comes
 * from the route, the command or the worker that begins the work, and travels with the context of the rules: no rule looks
 * it up anywhere else.
 */
import type { Principal } from './principals.ts';

/**
 * `console_user` is a person who has signed in to the console; its id is the session. `sign_in_link` is someone who has a link
 * that an operator has sent.
 */
export const actorKinds = [
  'operator_token',
  'scoped_token',
  'sign_in_link',
  'console_user',
  'command_line',
  'worker',
] as const;
export type ActorKind = (typeof actorKinds)[number];

/** Where a request comes from. Personal: entries of the log only commit to it (events/chain.ts). */
export interface Origin {
  /** IP address of the client, as forwarded by trusted proxies. */
  address: string | undefined;
  userAgent: string | undefined;
}

export interface Cause {
  actor: { kind: ActorKind; id: string | null; name: string | null };
  requestId: string | null;
  /** W3C Trace Context. */
  traceId: string | null;
  /** Asked only when something is recorded: most requests record nothing. Undefined where no request is behind it. */
  where?: () => Origin;
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

interface CausingRequest {
  principal: Principal | null;
  id: string;
  trace: { traceId: string };
  ip: string;
  headers: { 'user-agent'?: string | undefined };
}

export function byRequest(request: CausingRequest): Cause {
  return {
    actor: actorOf(request.principal),
    requestId: request.id,
    traceId: request.trace.traceId,
    where: () => ({ address: request.ip, userAgent: request.headers['user-agent'] }),
  };
}

function actorOf(principal: Principal | null): Cause['actor'] {
  switch (principal?.kind) {
    case 'operator':
      if (principal.session) return { kind: 'console_user', id: principal.session.id, name: principal.tokenName };
      return { kind: 'operator_token', id: principal.tokenId, name: principal.tokenName };
    case 'scoped':
      return { kind: 'scoped_token', id: principal.jti, name: null };
    default:
      // Among routes without a token, only the sign-in pages change anything, and they know whose sign-in it is.
      return byWorker.actor;
  }
}
