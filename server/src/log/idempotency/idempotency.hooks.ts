/**
 * Gives every POST of the API its Idempotency-Key. What a key means is in idempotency.ts; here is what an answer is made
 * of. The hooks are put into the routes themselves, so that other requests do not pay for them.
 */
import { responseHeaders } from '@inlay/contract/response-headers';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onSendHookHandler,
  preHandlerHookHandler,
  RouteOptions,
} from 'fastify';
import { UnreadableBody } from '../../kernel/http/validation.ts';
import type { Principal } from '../../kernel/principals.ts';
import { beginRequest, type ClaimedRequest, type IdempotencyContext, type KeptAnswer } from './idempotency.ts';

/** The headers of one answer that say something about the first request, and not about the repeated one. */
const notKept = ['X-Request-Id', 'X-Trace-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
const keptHeaders = [
  'content-type',
  ...Object.keys(responseHeaders)
    .filter((name) => !notKept.includes(name))
    .map((name) => name.toLowerCase()),
];

export function keepAnswers(app: FastifyInstance, ctx: IdempotencyContext): void {
  app.decorateRequest('beforeCommit', undefined);
  const works = new WeakMap<FastifyRequest, ClaimedRequest>();

  /** Whether the answer was given here: it is the kept one. */
  async function begin(
    request: FastifyRequest,
    reply: FastifyReply,
    principal: Principal,
    header: string | string[],
  ): Promise<boolean> {
    const { body, method, url } = request;
    const [path = '', ...query] = url.split('?');
    const begun = await beginRequest(ctx, {
      organizationId: principal.organizationId,
      token: tokenOf(principal),
      method,
      path,
      query: query.join('?'),
      header,
      body,
      isRepeatable: request.routeOptions.config.isRepeatable ?? false,
    });
    if ('replay' in begun) {
      const { status, headers: kept, body: text } = begun.replay;
      reply.code(status).headers(kept).header('idempotency-replayed', 'true').send(text);
      return true;
    }
    works.set(request, begun.work);
    request.beforeCommit = begun.work.recordApplied;
    return false;
  }

  // With callbacks, not promises: a request without a key waits for nothing.
  const preHandler: preHandlerHookHandler = (request, reply, done) => {
    const { principal, body } = request;
    const header = request.headers['idempotency-key'];
    // A body that cannot be read is refused by the route, and nothing is done.
    if (header === undefined || principal === null || body instanceof UnreadableBody) done();
    else begin(request, reply, principal, header).then((isAnswered) => isAnswered || done(), done);
  };

  const onSend: onSendHookHandler = (request, reply, payload, done) => {
    const work = works.get(request);
    if (!work) {
      done(null, payload);
      return;
    }
    works.delete(request);
    work.end(answerOf(reply, payload), judge(reply)).then(() => done(null, payload), done);
  };

  app.addHook('onRoute', (route) => {
    if (takesKeys(route)) Object.assign(route, { preHandler, onSend });
  });
}

function takesKeys({ method, config }: RouteOptions): boolean {
  return method === 'POST' && (config?.access === 'operator' || config?.access === 'scoped');
}

/**
 * A success is final, and so is a refusal that depends on more than the request itself. A request that is not as
 * described (422) was not begun, an answer with Retry-After asks for another try, and a failure (5xx) says nothing.
 */
function judge(reply: FastifyReply): { isFinal: boolean; mayRetry: boolean } {
  const { statusCode: status } = reply;
  const asksForRetry = reply.hasHeader('retry-after');
  return {
    isFinal: status < 500 && status !== 422 && !asksForRetry,
    mayRetry: status < 500 || asksForRetry,
  };
}

function answerOf(reply: FastifyReply, payload: unknown): KeptAnswer {
  const headers: Record<string, string> = {};
  for (const name of keptHeaders) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  return { status: reply.statusCode, headers, body: typeof payload === 'string' ? payload : '' };
}

function tokenOf(principal: Principal): string {
  return principal.kind === 'operator' ? `operator ${principal.tokenId}` : `scoped ${principal.jti}`;
}
