/**
 * Lets a request through only with the kind of token that its route asks for, before the body is read. The token is
 * taken from one Authorization header and from nowhere else; requests of the console's page bring a cookie instead, and
 * come by a path of their own (console/console.hooks.ts). This file also answers browsers that ask about
 * cross-origin calls, because the answer depends on the same access policy. Operator routes never allow such calls.
 * Scoped routes allow them, without credentials; a widget token is accepted only from its own page.
 */

import { exposedHeaders } from '@inlay/contract/response-headers';
import { serializeOrigin } from '@inlay/contract/text/origins';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import { bearerToken } from '../../kernel/http/bearer-token.ts';
import { type NowOrLater, settle, whenThere } from '../../kernel/now-or-later.ts';
import type { OperatorPrincipal, Principal, ScopedPrincipal } from '../../kernel/principals.ts';
import type { OperatorTokens } from './operator-tokens.ts';
import type { ScopedTokens } from './scoped-tokens.ts';

interface Authenticators {
  operatorTokens: OperatorTokens;
  scopedTokens: ScopedTokens;
  /** The widget page is served from here, so its own calls come from this origin. */
  publicUrl: string;
  /** People in the console, known by a cookie. Undefined: there is no console. */
  console: SessionRequests | undefined;
  /** Called for every caller that is let through; throws `rate_limited`. */
  count(principal: Principal, reply: FastifyReply): void;
}

interface SessionRequests {
  isMarked(request: FastifyRequest): boolean;
  authenticate(request: FastifyRequest): Promise<OperatorPrincipal>;
  reauthenticate(request: FastifyRequest): Promise<void>;
}

/**
 * Gives a function that asks again whether the token of a request still works, for answers that take long. It throws if the
 * token does not.
 */
export function authenticateRequests(
  app: FastifyInstance,
  authenticators: Authenticators,
): (request: FastifyRequest) => Promise<void> {
  const ownOrigin = new URL(authenticators.publicUrl).origin;
  app.decorateRequest('principal', null);

  function principalOf(request: FastifyRequest, reply: FastifyReply): NowOrLater<Principal | null> {
    // A path that matched nothing has no access.
    const { access, isAdministration } = request.routeOptions.config ?? {};
    // The console may only use API routes for operators.
    if (access !== 'operator' && authenticators.console?.isMarked(request)) throw new AppError('route_not_found');
    switch (access) {
      case 'operator':
        return authenticateOperator(request, isAdministration === true, authenticators);
      case 'scoped':
        return authenticateScoped(request, reply, authenticators.scopedTokens, ownOrigin);
      default:
        return null;
    }
  }

  app.addHook('onRequest', (request, reply, done) => {
    settle(
      () => principalOf(request, reply),
      done,
      (principal) => {
        request.principal = principal;
        if (principal) authenticators.count(principal, reply);
      },
    );
  });

  const { scopedTokens, console } = authenticators;
  return async (request) => {
    if (console?.isMarked(request)) await console.reauthenticate(request);
    else if (request.principal?.kind === 'operator') {
      const { isAdministration } = request.routeOptions.config;
      await authenticateOperator(request, isAdministration === true, authenticators);
    } else await scopedTokens.verify(bearerToken(request));
  };
}

function authenticateOperator(
  request: FastifyRequest,
  isAdministration: boolean,
  { operatorTokens, console }: Pick<Authenticators, 'operatorTokens' | 'console'>,
): NowOrLater<OperatorPrincipal> {
  const principal = console?.isMarked(request)
    ? console.authenticate(request)
    : operatorTokens.authenticate(bearerToken(request));
  return whenThere(principal, (known) => {
    assertAllowed(request, isAdministration, known);
    return known;
  });
}

function assertAllowed(request: FastifyRequest, isAdministration: boolean, principal: OperatorPrincipal): void {
  const { headers, method } = request;
  const organization = headers['x-organization-id'];
  if (organization !== undefined && String(organization).toLowerCase() !== principal.organizationId) {
    request.refusal = { principal, reason: 'organization' };
    throw new AppError('forbidden');
  }
  const { permission } = principal;
  const reads = method === 'GET' || method === 'HEAD';
  if (!reads && permission !== 'full' && (isAdministration || permission !== 'operator')) {
    request.refusal = { principal, reason: 'permission' };
    throw new AppError('forbidden');
  }
}

function authenticateScoped(
  request: FastifyRequest,
  reply: FastifyReply,
  tokens: ScopedTokens,
  ownOrigin: string,
): NowOrLater<ScopedPrincipal> {
  allowOrigin(reply, '*');
  return whenThere(tokens.verify(bearerToken(request)), (principal) => {
    if (principal.allowedOrigin !== undefined) assertOrigin(request, reply, principal, ownOrigin);
    if (principal.viewer && request.method !== 'GET' && request.method !== 'HEAD') {
      request.refusal = { principal, reason: 'permission' };
      throw new AppError('forbidden');
    }
    return principal;
  });
}

function assertOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  principal: ScopedPrincipal,
  ownOrigin: string,
): void {
  const allowed = serializeOrigin(principal.allowedOrigin ?? '');
  const { origin } = request.headers;
  // A page of another origin may read nothing, not even this error.
  reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
  reply.header('vary', 'origin');
  // The frame in which an operator looks at a widget has no origin.
  const isView = principal.viewer !== undefined;
  if (origin !== undefined && origin !== allowed && origin !== ownOrigin && !(isView && origin === 'null')) {
    request.refusal = { principal, reason: 'origin' };
    throw new AppError('forbidden');
  }
  if (origin !== undefined && (origin === allowed || isView)) allowOrigin(reply, origin);
}

function allowOrigin(reply: FastifyReply, origin: string): void {
  reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', exposedHeaders);
}
