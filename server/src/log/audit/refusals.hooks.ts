/** Records refused requests in the audit trail: 403, and 401 where a token is required. Other requests cost a comparison. */
import type { FastifyInstance } from 'fastify';
import { byRequest } from '../../kernel/cause.ts';
import type { Principal } from '../../kernel/principals.ts';
import type { Refusals, RefusedRequest } from './refusals.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set where a token works, but may not do this. */
    refusal: { principal: Principal; reason: RefusedRequest['reason'] } | null;
  }
}

export function recordRefusals(app: FastifyInstance, refusals: Refusals): void {
  app.decorateRequest('refusal', null);
  app.addHook('onResponse', (request, { statusCode }, done) => {
    if (statusCode === 403 || statusCode === 401) {
      const { access, url = '' } = { ...request.routeOptions, ...request.routeOptions.config };
      const isGuarded = access === 'operator' || access === 'scoped' || access === 'channel';
      const principal = request.refusal?.principal ?? request.principal;
      if (isGuarded && statusCode === 401) refusals.badToken(request.ip);
      else if (isGuarded && principal) {
        const reason = request.refusal?.reason ?? 'forbidden';
        const cause = byRequest({ ...causing(request), principal });
        refusals.refused({ principal, cause, method: request.method, route: url, reason });
      }
    }
    done();
  });
}

/** What a cause needs of a request that is over. */
function causing({ id, trace, ip, headers }: Parameters<typeof byRequest>[0]) {
  return { id, trace, ip, headers };
}
