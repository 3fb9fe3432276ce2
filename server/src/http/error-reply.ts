/** Turns any error into its reply: an AppError by the catalogue, a fault of HTTP by its own status, the rest as a 500 that tells nothing. */
import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isStorageFailure } from '../db/storage-failure.ts';
import { AppError } from '../errors.ts';
import { detailOf, errorCatalogue, statusOf } from './error-catalogue.ts';

export function replyToErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => sendError(asAppError(error), request, reply));
  app.setNotFoundHandler((request, reply) =>
    // TRACE is allowed nowhere, whether there is such a path or not.
    request.method === 'TRACE' ? sendStatus(reply, 405) : sendError(new AppError('route_not_found'), request, reply),
  );
}

function asAppError(error: unknown): unknown {
  return isStorageFailure(error) ? new AppError('storage_unavailable', {}, { cause: error }) : error;
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof AppError) {
    const { code, facts } = error;
    const status = statusOf(code, facts);
    if (status >= 500) request.log.warn({ err: error, code }, 'request failed');
    if (status === 401) reply.header('www-authenticate', 'Bearer');
    const retryAfter = facts.retryAfterSeconds ?? errorCatalogue[code].retryAfterSeconds;
    if (retryAfter !== undefined) reply.header('retry-after', Math.max(1, Math.ceil(retryAfter)));
    return reply.code(status).send({ detail: facts.faults ?? detailOf(code, facts) });
  }
  const status = httpStatusOf(error);
  if (status !== undefined) return sendStatus(reply, status);
  request.log.error({ err: error }, 'unexpected error');
  return sendStatus(reply, 500);
}

/** Fastify's own refusals (body too large, unsupported media type, bad length, …) carry a 4xx status and an FST_ code. */
function httpStatusOf(error: unknown): number | undefined {
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (typeof code !== 'string' || !code.startsWith('FST_') || typeof statusCode !== 'number') return undefined;
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') return 400;
  return statusCode >= 400 && statusCode < 500 ? statusCode : undefined;
}

export function sendStatus(reply: FastifyReply, status: number) {
  return reply.code(status).send({ detail: STATUS_CODES[status] ?? 'Error' });
}

/** What Node would refuse with an empty body: a request without Host, or with an expectation that nobody can meet. */
export function refuseOddRequests(app: FastifyInstance): void {
  app.addHook('onRequest', ({ headers }, reply, done) => {
    if (headers.host === undefined) sendStatus(reply.header('connection', 'close'), 400);
    else done();
  });
  app.server.on('checkExpectation', (_request, response: ServerResponse) => {
    response.writeHead(417, { 'content-type': 'application/json; charset=utf-8', 'x-request-id': randomUUID() });
    response.end(JSON.stringify({ detail: STATUS_CODES[417] }));
  });
}

/** Answers what never became a request: broken framing, headers too large or too slow. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const body = JSON.stringify({ detail: STATUS_CODES[status] });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `X-Request-Id: ${randomUUID()}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
