/**
 * Sends a file that the build has made: in the smallest encoding that the client accepts, and only if the client lacks
 * it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BuiltFile, preferredEncoding } from '../built-file.ts';

export function sendBuiltFile(request: FastifyRequest, reply: FastifyReply, file: BuiltFile) {
  reply.header('etag', file.etag).header('vary', 'accept-encoding');
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  const encoding = preferredEncoding(file, request.headers['accept-encoding']);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type(file.mediaType).send(file.content.get(encoding));
}
