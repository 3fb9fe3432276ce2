/**
 * How every route of the API is made: one definition gives validation, types, serialisation and its page in the API
 * reference. A route says who may call it (`access`); one that does not is refused when the service is put together.
 */
import { ErrorBody, type Fault, ValidationErrorBody } from '@inlay/contract/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { AppError, type ErrorCode } from '../errors.ts';
import type { OperatorPrincipal, Principal, ScopedPrincipal } from '../principals.ts';
import { detailOf, errorCatalogue } from './error-catalogue.ts';
import type { PartCompiler } from './validation.ts';

/**
 * public: anyone. operator: an operator token, and for anything but GET one that may write. scoped: a scoped token or
 * the scoped token inside a widget token. platform: guarded by the bundled platform itself.
 */
export const accessPolicies = ['public', 'operator', 'scoped', 'platform'] as const;
export type Access = (typeof accessPolicies)[number];

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** For the API reference: the schemas of its errors by status. Asked for when it is made, not at the start. */
    describeErrors?: () => Record<string, object>;
  }
  interface FastifySchema {
    hide?: boolean;
  }
  interface FastifyRequest {
    principal: Principal | null;
  }
  interface FastifyInstance {
    compilePart: PartCompiler;
  }
}

type PrincipalOf<A extends Access> = A extends 'operator'
  ? OperatorPrincipal
  : A extends 'scoped'
    ? ScopedPrincipal
    : null;
type ValueOf<S> = S extends TSchema ? Static<S> : undefined;

export interface Endpoint<
  A extends Access,
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
  R extends TSchema,
> {
  method: HTTPMethods;
  url: string;
  access: A;
  tag: string;
  summary: string;
  description?: string;
  deprecated?: boolean;
  params?: P;
  query?: Q;
  body?: B;
  status?: 200 | 201;
  answer: R;
  /** What else than success this endpoint answers, beyond what its access and schemas imply. */
  errors?: ErrorCode[];
  handle(input: {
    params: ValueOf<P>;
    query: ValueOf<Q>;
    body: ValueOf<B>;
    principal: PrincipalOf<A>;
    request: FastifyRequest;
    reply: FastifyReply;
  }): Promise<Static<R>>;
}

export function endpoint<
  A extends Access,
  R extends TSchema,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(app: FastifyInstance, definition: Endpoint<A, P, Q, B, R>): void {
  const { method, url, access, params, query, body, answer, status = 200 } = definition;
  const checkParams = params && app.compilePart('path', params);
  const checkQuery = query && app.compilePart('query', query);
  const checkBody = body && app.compilePart('body', body);

  /** What this endpoint says of a request with nothing in its body, or with nonsense everywhere. */
  function exampleFault(): Fault[] {
    const faults: Fault[] = [];
    checkBody?.({}, faults);
    checkParams?.(nonsenseFor(params), faults);
    checkQuery?.(nonsenseFor(query), faults);
    checkBody?.(nonsenseFor(body), faults);
    return faults.slice(0, 1);
  }

  app.route({
    method,
    url,
    config: { access, describeErrors: () => errorAnswers(impliedErrors(definition), exampleFault()) },
    schema: {
      tags: [definition.tag],
      summary: definition.summary,
      ...(definition.description ? { description: definition.description } : {}),
      ...(definition.deprecated ? { deprecated: true } : {}),
      ...(params ? { params } : {}),
      ...(query ? { querystring: query } : {}),
      ...(body ? { body } : {}),
      // An error has the one form that error-reply.ts gives it, and needs no serialiser of its own.
      response: { [status]: { 'x-response-description': titleOf(answer), ...answer } } as Record<string, object>,
      security: securityOf(access, method),
    },
    handler: async (request, reply) => {
      const faults: Fault[] = [];
      const input = {
        params: checkParams?.(request.params, faults) as ValueOf<P>,
        query: checkQuery?.(request.query, faults) as ValueOf<Q>,
        body: checkBody?.(request.body, faults) as ValueOf<B>,
        principal: request.principal as PrincipalOf<A>,
        request,
        reply,
      };
      if (faults.length > 0) throw new AppError('invalid_request', { faults });
      reply.code(status);
      return await definition.handle(input);
    },
  });
}

function nonsenseFor(schema: TSchema | undefined): Record<string, string> {
  const { properties = {} } = (schema ?? {}) as { properties?: object };
  return Object.fromEntries(Object.keys(properties).map((name) => [name, '?']));
}

function titleOf(schema: TSchema): string {
  return (schema as { title?: string }).title ?? 'Success';
}

/** In OpenAPI: the kind of token and, in the list, the permission it must have. */
function securityOf(access: Access, method: HTTPMethods): Record<string, string[]>[] {
  if (access === 'public') return [];
  return [{ [`${access}Token`]: access === 'operator' && method !== 'GET' ? ['full'] : [] }];
}

function impliedErrors(definition: {
  access: Access;
  params?: unknown;
  query?: unknown;
  body?: unknown;
  errors?: ErrorCode[];
}): ErrorCode[] {
  const codes = new Set<ErrorCode>();
  const isPublic = definition.access === 'public';
  if (!isPublic) codes.add('unauthenticated').add('forbidden').add('rate_limited');
  if (definition.params || definition.query || definition.body) codes.add('invalid_request');
  for (const code of definition.errors ?? []) codes.add(code);
  // Whatever asks for a token looks it up in the store.
  if (!isPublic) codes.add('storage_unavailable');
  return [...codes];
}

/** One answer a status; its examples are the errors that share it, each under its code and with the case it stands for. */
function errorAnswers(codes: ErrorCode[], exampleFault: Fault[]): Record<string, object> {
  const answers: Record<string, object & { 'x-examples': Record<string, { summary: string; value: object }> }> = {};
  for (const code of codes) {
    const { statuses, when, example } = errorCatalogue[code];
    for (const status of statuses) {
      answers[status] ??= { ...(status === 422 ? ValidationErrorBody : ErrorBody), 'x-examples': {} };
      const detail = status === 422 ? exampleFault : (example ?? detailOf(code));
      answers[status]['x-examples'][code] = { summary: when, value: { detail } };
    }
  }
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => {
      const cases = Object.values(answer['x-examples']).map(({ summary }) => summary);
      return [status, { ...answer, 'x-response-description': cases.join(' ') }];
    }),
  );
}
