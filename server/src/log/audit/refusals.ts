/**
 * Refused requests as entries for the audit. The first refusal of its kind is an entry at once; repeated ones are counted,
 * and are one entry a minute, so that a client that tries again and again does not fill the trail. Requests without a token
 * that works belong to nobody: they are only counted, for the first organization of the deployment.
 *
 * Counts are in the memory of a process. A process that is killed loses what it has counted since the last minute.
 */
import type { Logger } from 'pino';
import type { Cause } from '../../kernel/cause.ts';
import { byWorker } from '../../kernel/cause.ts';
import type { Store } from '../../kernel/db/open.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Principal } from '../../kernel/principals.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { DataOf, Entry } from '../events/catalogue.ts';
import type { Journal } from '../events/journal.ts';

export interface RefusedRequest {
  principal: Principal;
  cause: Cause;
  method: string;
  route: string;
  reason: DataOf<'request.refused'>['reason'];
}

export interface Refusals {
  refused(request: RefusedRequest): void;
  /** A request whose token does not work, or without any. */
  badToken(address: string): void;
  /** Writes what was counted. Called every minute. */
  flush(): Promise<void>;
}

interface RefusalsContext {
  store: Store;
  runtime: Runtime;
  log: Logger;
  journal: Journal;
  firstOrganizationId: string;
  inBackground(what: string, work: () => Promise<unknown>): void;
}

/** Tokens and routes that are refused within one minute. */
const maxKinds = 10_000;
/** Fewer bad tokens are held back for an hour, because a page with an expired token is not urgent. */
const burst = 10;
const patienceMs = 3_600_000;
const maxAddresses = 1_000;
const namedAddresses = 10;

export function createRefusals(ctx: RefusalsContext): Refusals {
  const repeated = new Map<string, { request: RefusedRequest; count: number }>();
  let bad: { count: number; addresses: Set<string>; since: number } | undefined;

  async function record({ principal, cause, method, route, reason }: RefusedRequest, count: number): Promise<void> {
    const { organizationId } = principal;
    const entry: Entry = {
      type: 'request.refused',
      outcome: 'refused',
      ...(principal.kind === 'scoped' && { workspaceId: principal.workspaceId }),
      data: { method, route, reason, count },
    };
    await ctx.store.transaction((tx) => ctx.journal.by(cause).record(tx, organizationId, entry));
  }

  async function flushBadTokens(): Promise<void> {
    if (!bad || (bad.count < burst && Math.abs(ctx.runtime.now() - bad.since) < patienceMs)) return;
    const { count, addresses, since } = bad;
    bad = undefined;
    const named = [...addresses].slice(0, namedAddresses).join(', ');
    const cause: Cause = { ...byWorker, where: () => ({ address: named, userAgent: undefined }) };
    const data = { count, addresses: addresses.size, since: isoTime(since) };
    try {
      await ctx.store.transaction((tx) =>
        ctx.journal.by(cause).record(tx, ctx.firstOrganizationId, { type: 'token.refused', outcome: 'refused', data }),
      );
    } catch (error) {
      const { count: more, addresses: others } = bad ?? { count: 0, addresses: [] };
      bad = { count: count + more, addresses: new Set([...addresses, ...others]), since };
      throw error;
    }
  }

  return {
    refused(request) {
      const { principal, method, route, reason } = request;
      const token = principal.kind === 'operator' ? principal.tokenId : principal.jti;
      const kind = `${token} ${method} ${route} ${reason}`;
      const before = repeated.get(kind);
      if (before) {
        before.request = request;
        before.count++;
      } else if (repeated.size < maxKinds) {
        repeated.set(kind, { request, count: 0 });
        ctx.inBackground('Recording a refused request', () => record(request, 1));
      }
    },
    badToken(address) {
      bad ??= { count: 0, addresses: new Set(), since: ctx.runtime.now() };
      bad.count++;
      if (bad.addresses.size < maxAddresses) bad.addresses.add(address);
    },
    async flush() {
      for (const [kind, refusal] of [...repeated]) {
        const { request, count } = refusal;
        if (count > 0) await record(request, count);
        // Refusals in the meantime, or those that failed to be recorded, are included next time.
        refusal.count -= count;
        if (refusal.count === 0) repeated.delete(kind);
      }
      await flushBadTokens();
    },
  };
}
