/**
 * Knows every route. Refuses a route without an access policy while the service is put together. Answers the other
 * methods of each known path: a preflight where cross-origin calls are allowed, otherwise 405 with the methods that are
 * allowed.
 */
import { METHODS } from 'node:http';
import type { FastifyInstance, HTTPMethods } from 'fastify';
import { type Access, accessPolicies } from './endpoint.ts';
import { refuse } from './error-reply.ts';

export interface KnownRoute {
  url: string;
  method: string;
  access: Access;
}

export interface RouteTable {
  readonly routes: readonly KnownRoute[];
  /** Call this after all routes are added. */
  complete(): void;
}

const preflightMaxAgeSeconds = 600;

export function keepRouteTable(app: FastifyInstance): RouteTable {
  const routes: KnownRoute[] = [];
  let completing = false;

  app.addHook('onRoute', ({ url, method, config }) => {
    const access = config?.access;
    if (access === undefined || !accessPolicies.includes(access)) {
      throw new Error(`The route ${method} ${url} does not say who may call it (config.access).`);
    }
    if (completing) return;
    for (const one of [method].flat()) routes.push({ url, method: one, access });
  });

  function complete(): void {
    completing = true;
    // Every method that Node can read, so that each gets its 405. CONNECT never becomes a request.
    for (const method of METHODS) {
      if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
    }
    for (const [url, known] of groupByUrl(routes)) {
      // The bundled platform answers for its own paths.
      if (known.some((route) => route.access === 'platform')) continue;
      const allowed = known.map((route) => route.method);
      const isScoped = known.some((route) => route.access === 'scoped');
      const missing = app.supportedMethods.filter((method) => !allowed.includes(method)) as HTTPMethods[];
      app.route({
        url,
        method: missing,
        config: { access: 'public' },
        schema: { hide: true },
        handler: async (request, reply) => {
          if (isScoped && request.method === 'OPTIONS') {
            return await reply
              .code(204)
              .header('access-control-allow-origin', '*')
              .header('access-control-allow-methods', allowed.join(', '))
              .header('access-control-allow-headers', 'authorization, content-type, prefer')
              .header('access-control-max-age', preflightMaxAgeSeconds)
              .send();
          }
          reply.header('allow', allowed.join(', '));
          return await refuse(reply, 'method_not_allowed');
        },
      });
    }
  }

  return { routes, complete };
}

function groupByUrl(routes: KnownRoute[]): Map<string, KnownRoute[]> {
  const groups = new Map<string, KnownRoute[]>();
  for (const route of routes) groups.set(route.url, [...(groups.get(route.url) ?? []), route]);
  return groups;
}
