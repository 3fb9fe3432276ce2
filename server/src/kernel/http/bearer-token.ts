/** The token of a request: from its one Authorization header, and from nowhere else. */
import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';

const headerName = 'authorization';
const scheme = /^bearer ([\x21-\x7e]+)$/i;

export function bearerToken(request: FastifyRequest): string {
  const { rawHeaders } = request.raw;
  let found: string | undefined;
  // Node keeps only the first of several such headers. They are counted here so that a request with two is rejected.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length !== headerName.length || name.toLowerCase() !== headerName) continue;
    if (found !== undefined) throw new AppError('unauthenticated');
    found = rawHeaders[i + 1] ?? '';
  }
  const token = scheme.exec(found ?? '')?.[1];
  if (token === undefined) throw new AppError('unauthenticated');
  return token;
}
