/**
 * How every route of the API is made: an operation of the contract gives its validation, types, serialization and page in
 * the API reference. A route says who may call it (`access`); a route without that is refused when the service is put
 * together.
 */
import { type ErrorCode, errorCatalogue, type RefusalCode, refusals } from '@inlay/contract/error-catalogue';
import { ErrorBody, type Fault, ValidationErrorBody } from '@inlay/contract/errors';
import { methodAndPath, type Operation } from '@inlay/contract/operations/operation';
import type { ResponseHeaderName } from '@inlay/contract/response-headers';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { byRequest, type Cause } from '../cause.ts';
import { AppError } from '../errors.ts';
import type { NowOrLater } from '../now-or-later.ts';
import type { OperatorPrincipal, Principal, ScopedPrincipal } from '../principals.ts';
import { type RequestContext, withRequest } from '../request-context.ts';
import { maxFaults } from '../schema-faults.ts';
import { exampleDetail, refusalDetail } from './error-catalogue.ts';
import { findUnknownIn, listPlaces, type Place, prefersStrictHandling } from './unknown-members.ts';
import { type PartCompiler, UnreadableBody } from './validation.ts';

/**
 * Who may call a route. Beside those of operations, platform: guarded by the bundled platform itself; channel: the
 * platform's own process, which asks for tokens (credentials/tokens/credential-channel.routes.ts).
 */
export const accessPolicies = ['public', 'operator', 'scoped', 'platform', 'channel'] as const;
export type Access = (typeof accessPolicies)[number];

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    isRepeatable?: boolean;
    /** Whether an operator token needs the permission `full` even among those that may write. */
    isAdministration?: boolean;
    /** Whether a body of YAML is taken as well, as the member `manifest`. */
    takesYaml?: boolean;
    /** The answers by status, for the API reference. Called when the reference is made, not at the start. */
    describeResponses?: () => Record<string, object>;
  }
  interface FastifySchema {
    hide?: boolean;
  }
  interface FastifyRequest {
    principal: Principal | null;
    beforeCommit: RequestContext['beforeCommit'];
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
/** What the schema of a part of the request lets through. */
type PartOf<O extends Operation, Part extends 'params' | 'query' | 'body'> = O extends {
  readonly [P in Part]: infer S extends TSchema;
}
  ? Static<S>
  : undefined;

export type Handle<O extends Operation> = (input: {
  params: PartOf<O, 'params'>;
  query: PartOf<O, 'query'>;
  body: PartOf<O, 'body'>;
  principal: PrincipalOf<O['access']>;
  /** Who asks, for the entries of the log. */
  cause: Cause;
  request: FastifyRequest;
  reply: FastifyReply;
}) => NowOrLater<Static<O['answer']>>;

/** What a handler gets. A class, because most handlers need no cause: the getter makes it for those that do. */
class Input {
  constructor(
    readonly params: unknown,
    readonly query: unknown,
    readonly body: unknown,
    readonly principal: Principal | null,
    readonly request: FastifyRequest,
    readonly reply: FastifyReply,
  ) {}

  get cause(): Cause {
    return byRequest(this.request);
  }
}

/** Registers the routes of some operations of a group, in the order of their handlers. */
export function serve<Group extends Record<string, Operation>>(
  app: FastifyInstance,
  operations: Group,
  handlers: { [Name in keyof Group & string]?: Handle<Group[Name]> },
): void {
  for (const [name, handle] of Object.entries(handlers)) {
    endpoint(app, operations[name] as Operation, handle as AnyHandle);
  }
}

type AnyHandle = (input: Input) => unknown;

function endpoint(app: FastifyInstance, operation: Operation, handle: AnyHandle): void {
  const { access, params, query, body, answer, status = 200 } = operation;
  const { method, path } = methodAndPath(operation);
  const checkParams = params && app.compilePart('path', params);
  const checkQuery = query && app.compilePart('query', query);
  const checkBody = body && app.compilePart('body', body);

  const findInQuery = findUnknownIn(query);
  const findInBody = findUnknownIn(body);

  /** Names the members of the request that the endpoint does not know, in a header; with strict handling, as faults. */
  function reportUnknown({ query, body, headers }: FastifyRequest, reply: FastifyReply, faults: Fault[]): void {
    const unknown: Place[] = [];
    findInQuery(query, ['query'], unknown);
    if (!(body instanceof UnreadableBody)) findInBody(body, ['body'], unknown);
    if (prefersStrictHandling(headers.prefer)) {
      reply.header('preference-applied', 'handling=strict');
      for (const loc of unknown.slice(0, maxFaults - faults.length)) faults.push({ loc, ...extra });
    } else if (unknown.length > 0) {
      reply.header('x-inlay-unknown', listPlaces(unknown));
    }
  }

  /** One fault as an example: of a request with an empty body, or with wrong values everywhere. */
  function exampleFault(): Fault[] {
    const faults: Fault[] = [];
    checkBody?.({}, faults);
    checkParams?.(nonsenseFor(params), faults);
    checkQuery?.(nonsenseFor(query), faults);
    checkBody?.(nonsenseFor(body), faults);
    faults.push({ loc: ['query', 'surprise'], ...extra });
    return faults.slice(0, 1);
  }

  const success = { 'x-response-description': titleOf(answer), ...answer };

  app.route({
    method,
    url: path.replace(/{(\w+)}/g, ':$1'),
    ...(operation.maxBodyBytes !== undefined && { bodyLimit: operation.maxBodyBytes }),
    config: {
      access,
      isRepeatable: operation.isRepeatable ?? false,
      ...(operation.isAdministration && { isAdministration: true }),
      ...(operation.takesYaml && { takesYaml: true }),
      describeResponses: () => ({
        [status]: describedAnswer(success, operation.answerType, successHeaders(operation)),
        ...errorAnswers(impliedErrors(operation), exampleFault(), access),
      }),
    },
    schema: {
      tags: [operation.tag],
      summary: operation.summary,
      ...(operation.description ? { description: operation.description } : {}),
      ...(operation.deprecated ? { deprecated: true } : {}),
      ...(params ? { params } : {}),
      ...(query ? { querystring: query } : {}),
      ...(body ? { body } : {}),
      ...(takesKey(operation) ? { headers: KeyHeader } : {}),
      // An error has the one form that error-reply.ts gives it, and needs no serializer of its own.
      response: { [status]: success } as Record<string, object>,
      security: securityOf(operation),
    },
    handler: (request, reply) => {
      const faults: Fault[] = [];
      const checkedParams = checkParams?.(request.params, faults);
      const checkedQuery = checkQuery?.(request.query, faults);
      const checkedBody = checkBody?.(request.body, faults);
      reportUnknown(request, reply, faults);
      if (faults.length > 0) throw new AppError('invalid_request', { faults });
      reply.code(status);
      const input = new Input(checkedParams, checkedQuery, checkedBody, request.principal, request, reply);
      const { id: requestId, trace, beforeCommit } = request;
      // Only where someone needs it: on Node.js 20 it makes every promise more expensive (docs/adr/0018-trace-context.md).
      if (!request.isFollowed && beforeCommit === undefined) return handle(input);
      return withRequest({ requestId, trace, beforeCommit }, () => handle(input));
    },
  });
}

/** Every POST that needs a token; see idempotency/. */
function takesKey({ route, access }: Operation): boolean {
  return route.startsWith('POST ') && access !== 'public';
}

const KeyHeader = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Unique value of your choice, such as a UUID. For 24 hours, repeated requests with the same key and body return the stored response.',
      examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
    }),
  ),
});

function describedAnswer(schema: object, type: string | undefined, names: ResponseHeaderName[]): object {
  const headers = asHeaders(names);
  if (type === undefined) return { ...schema, headers };
  const { 'x-response-description': description } = schema as Record<string, unknown>;
  return { 'x-response-description': description, description, content: { [type]: { schema } }, headers };
}

const extra = { msg: 'extra fields not permitted', type: 'value_error.extra' } as const;

function nonsenseFor(schema: TSchema | undefined): Record<string, string> {
  const { properties = {} } = (schema ?? {}) as { properties?: object };
  return Object.fromEntries(Object.keys(properties).map((name) => [name, '?']));
}

function titleOf(schema: TSchema): string {
  return (schema as { title?: string }).title ?? 'Success';
}

/** The `security` of OpenAPI: the kind of token and, in the list, the permission that the token must have. */
function securityOf({ access, route, isAdministration }: Operation): Record<string, string[]>[] {
  if (access === 'public') return [];
  const writes = access === 'operator' && !route.startsWith('GET ');
  return [{ [`${access}Token`]: writes ? [isAdministration ? 'full' : 'operator'] : [] }];
}

const rateLimitHeaders: ResponseHeaderName[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

function successHeaders(operation: Operation): ResponseHeaderName[] {
  const { access, deprecated, answerHeaders = [] } = operation;
  return [
    'X-Request-Id',
    'X-Trace-Id',
    'X-Inlay-Unknown',
    'Preference-Applied',
    ...(access === 'public' ? [] : rateLimitHeaders),
    ...(takesKey(operation) ? (['Idempotency-Replayed'] as const) : []),
    ...(deprecated ? (['Deprecation', 'Link'] as const) : []),
    ...answerHeaders,
  ];
}

function asHeaders(names: ResponseHeaderName[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, {}]));
}

function impliedErrors(operation: Operation): (ErrorCode | RefusalCode)[] {
  const codes = new Set<ErrorCode | RefusalCode>();
  const isPublic = operation.access === 'public';
  if (!isPublic) codes.add('unauthenticated').add('forbidden').add('rate_limited');
  // Every endpoint refuses unknown parameters when a request asks for it.
  codes.add('invalid_request');
  if (operation.body) codes.add('body_too_large').add('unsupported_media_type');
  for (const code of operation.errors ?? []) codes.add(code);
  if (takesKey(operation)) {
    codes.add('idempotency_key_in_use').add('idempotency_answer_lost').add('idempotency_key_reused');
  }
  // An endpoint that asks for a token looks the token up in the store.
  if (!isPublic) codes.add('storage_unavailable');
  return [...codes];
}

interface ErrorAnswer {
  'x-examples': Record<string, { summary: string; value: object }>;
  headers: Record<string, object>;
}

/**
 * One answer for each status. Its examples are the errors with that status, each under its code and with its reason.
 */
function errorAnswers(
  codes: (ErrorCode | RefusalCode)[],
  exampleFault: Fault[],
  access: Access,
): Record<string, object> {
  const answers: Record<string, ErrorAnswer> = {};
  const isLimited = access !== 'public';
  for (const code of codes) {
    const { statuses, when, detail, canRetry, hasParameters } = describeError(code, access === 'scoped');
    for (const status of statuses) {
      const body = status === 422 ? ValidationErrorBody : ErrorBody;
      answers[status] ??= { ...body, 'x-examples': {}, headers: asHeaders(errorHeaders(status, isLimited)) };
      const answer = answers[status];
      if (canRetry) answer.headers['Retry-After'] = {};
      if (hasParameters) answer.headers['X-Inlay-Error-Parameters'] = {};
      answer['x-examples'][code] = { summary: when, value: { detail: status === 422 ? exampleFault : detail } };
    }
  }
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => {
      const cases = Object.values(answer['x-examples']).map(({ summary }) => summary);
      return [status, { ...answer, 'x-response-description': cases.join(' ') }];
    }),
  );
}

function errorHeaders(status: number, isLimited: boolean): ResponseHeaderName[] {
  return [
    'X-Request-Id',
    'X-Trace-Id',
    'X-Inlay-Error',
    ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
    // A token that is refused is not counted.
    ...(isLimited && status !== 401 ? rateLimitHeaders : []),
  ];
}

function describeError(code: ErrorCode | RefusalCode, isForCustomers: boolean) {
  if (isRefusal(code)) {
    const { status, when } = refusals[code];
    return { statuses: [status], when, detail: refusalDetail(code), canRetry: false, hasParameters: false };
  }
  const { statuses, when, retryAfterSeconds, parameters } = errorCatalogue[code];
  const canRetry = retryAfterSeconds !== undefined || code === 'rate_limited';
  const hasParameters = parameters !== undefined;
  return { statuses, when, detail: exampleDetail(code, isForCustomers), canRetry, hasParameters };
}

function isRefusal(code: ErrorCode | RefusalCode): code is RefusalCode {
  return code in refusals;
}
