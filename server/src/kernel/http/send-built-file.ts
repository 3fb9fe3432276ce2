/**
 * Sends a file that the build has made: in the smallest encoding that the client accepts, and only if the client lacks
 * it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BuiltFile, preferredEncoding } from '../built-file.ts';

export function sendBuiltFile(request: FastifyRequest, reply: FastifyReply, file: BuiltFile) {
  reply.header('etag', file.etag).header('vary', 'accept-encoding');
  if (hasCurrent(request.headers['if-none-match'], file.etag)) return reply.code(304).send();
  const encoding = preferredEncoding(file, request.headers['accept-encoding']);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type(file.mediaType).send(file.content.get(encoding));
}

/** A list of tags, or any. Proxies that compress make tags weak, which does not matter here (RFC 9110, 13.1.2). */
function hasCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
