/**
 * Turns any error into its reply: an AppError by the catalog, a fault of HTTP by its own status, every other error
 * into a 500 without details.
 */
import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import {
  type ErrorCode,
  errorCatalogue,
  type FactsOf,
  type RefusalCode,
  refusals,
} from '@inlay/contract/error-catalogue';
import { isStorageFailure } from '@inlay/database/storage-failure';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { detailOf, refusalDetail, refusalWith, statusOf } from './error-catalogue.ts';

/** Carries the code of every error, because the body has no place for the code. */
export const codeHeader = 'x-inlay-error';

/** Larger bodies, and those that don't declare their length, are cut off. */
const maxDiscardedBytes = 16 * 1024 ** 2;

export function replyToErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    // The client broke off. This error has the same code as a lost database connection, so it is recognized first.
    if (error === request.raw.errored) {
      request.log.debug('Client disconnected before the request was complete');
      return refuse(reply, 'bad_request');
    }
    return sendError(asAppError(error), request, reply);
  });
}

/** `answerKnown` may answer for a path that is known with other methods. */
export function replyToUnknownPaths(
  app: FastifyInstance,
  answerKnown: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined = () => undefined,
): void {
  app.setNotFoundHandler((request, reply) => {
    const answered = answerKnown(request, reply);
    if (answered) return answered;
    // TRACE is allowed on no path, whether the path exists or not.
    if (request.method === 'TRACE') return refuse(reply, 'method_not_allowed');
    return sendError(new AppError('route_not_found'), request, reply);
  });
}

function asAppError(error: unknown): unknown {
  return isStorageFailure(error) ? new AppError('storage_unavailable', {}, { cause: error }) : error;
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof AppError) {
    const { code, facts }: AppError = error;
    const status = statusOf(code, facts);
    if (status >= 500) request.log.warn({ err: error, code }, 'Request failed');
    if (status === 401) reply.header('www-authenticate', 'Bearer');
    const given = 'retryAfterSeconds' in facts ? facts.retryAfterSeconds : undefined;
    const retryAfter = given ?? errorCatalogue[code].retryAfterSeconds;
    if (retryAfter !== undefined) reply.header('retry-after', Math.max(1, Math.ceil(retryAfter)));
    reply.header(codeHeader, code);
    const parameters = parametersOf(code, facts);
    if (parameters !== '') reply.header('x-inlay-error-parameters', parameters);
    return reply.code(status).send({ detail: 'faults' in facts ? facts.faults : detailOf(code, facts) });
  }
  const refusal = refusalOf(error);
  if (refusal !== undefined) {
    // Fastify closes the connection on a body that it has not read. A proxy that is still sending takes that for a failure and
    // answers 502. Without the header, Node.js discards the rest, for as long as a request may take.
    if (Number(request.headers['content-length']) <= maxDiscardedBytes) reply.removeHeader('connection');
    return refuse(reply, refusal);
  }
  request.log.error({ err: error }, 'Unexpected error');
  return refuse(reply, 'internal_error');
}

function parametersOf<Code extends ErrorCode>(code: Code, facts: FactsOf<Code>): string {
  const given = (errorCatalogue[code].parameters ?? []).filter((name) => facts[name] !== undefined);
  return given.map((name) => `${name}=${facts[name]}`).join('; ');
}

/**
 * Fastify's own refusals (body too large, unsupported media type, bad length, …) carry a 4xx status and an FST_ code.
 */
function refusalOf(error: unknown): RefusalCode | undefined {
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (typeof code !== 'string' || !code.startsWith('FST_') || typeof statusCode !== 'number') return undefined;
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') return 'bad_request';
  return statusCode >= 400 && statusCode < 500 ? refusalWith(statusCode) : undefined;
}

export function refuse(reply: FastifyReply, code: RefusalCode, detail = refusalDetail(code)) {
  return reply.code(refusals[code].status).header(codeHeader, code).send({ detail });
}

/** Answers an unknown path where no handler runs that could throw the error. */
export function sendNotFound(reply: FastifyReply) {
  const code = 'route_not_found';
  return reply
    .code(statusOf(code, {}))
    .header(codeHeader, code)
    .send({ detail: detailOf(code, {}) });
}

/** Node would refuse such a request with an empty body. */
export function refuseWithoutHost(reply: FastifyReply): void {
  refuse(reply.header('connection', 'close'), 'bad_request');
}

/** Refuses an expectation that we cannot meet; Node would do it with an empty body. */
export function refuseExpectations(app: FastifyInstance): void {
  app.server.on('checkExpectation', (_request, response: ServerResponse) => {
    const code = 'expectation_failed';
    response.writeHead(refusals[code].status, {
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': randomUUID(),
      [codeHeader]: code,
    });
    response.end(JSON.stringify({ detail: refusalDetail(code) }));
  });
}

/** Answers bytes that never became a request: broken HTTP, headers that are too large or too slow. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = connectionRefusals[error.code ?? ''] ?? 'bad_request';
  const { status } = refusals[code];
  const body = JSON.stringify({ detail: refusalDetail(code) });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `X-Request-Id: ${randomUUID()}\r\nX-Inlay-Error: ${code}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** The refusals by the codes of Node's errors. */
const connectionRefusals: Record<string, RefusalCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};
