/**
 * What every route of the platform declares: who may call it, and the types of its input. Nothing here is set on an
 * app; api.ts installs these pieces in its own encapsulation, so the surrounding app can differ in all of them.
 */
import type { FastifyContextConfig, FastifyRequest, FastifyTypeProvider } from 'fastify';
import type { Static, TSchema } from 'typebox';

/** Derives the types of handlers from their route's schemas. */
export interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

/** What a manifest of 4 MiB may grow to when its aliases are put in place, as JSON. */
export const manifestBodyLimit = 20 * 1024 ** 2;

type Access = 'public' | 'platform';

/** A route says who may call it. The cast is here because Fastify leaves declaring `access` to the app around us. */
export function access(who: Access): { config: FastifyContextConfig } {
  return { config: { access: who } as FastifyContextConfig };
}

/** A route that a worker calls with its own token, which the route checks. */
export function accessOfWorkers(): { config: FastifyContextConfig } {
  return { config: { access: 'platform', isForWorkers: true } as FastifyContextConfig };
}

export function isForWorkers(request: FastifyRequest): boolean {
  return (request.routeOptions.config as { isForWorkers?: boolean }).isForWorkers === true;
}

export function isPublic(request: FastifyRequest): boolean {
  return (request.routeOptions.config as { access?: string }).access === 'public';
}
