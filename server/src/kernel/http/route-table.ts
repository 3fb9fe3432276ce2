/**
 * Knows every route. Refuses a route without an access policy while the service is put together. Answers the other
 * methods of each known path: a preflight where cross-origin calls are allowed, otherwise 405 with the methods that are
 * allowed.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import createRouter from 'find-my-way';
import { type Access, accessPolicies } from './endpoint.ts';
import { refuse, replyToUnknownPaths } from './error-reply.ts';
import { routerOptions } from './server.ts';

export interface KnownRoute {
  url: string;
  method: string;
  access: Access;
  isAdministration: boolean;
}

export interface RouteTable {
  readonly routes: readonly KnownRoute[];
  /** Call this after all routes are added. */
  complete(): void;
}

/** What can be done at one path. */
interface KnownPath {
  methods: string[];
  isScoped: boolean;
}

const preflightMaxAgeSeconds = 600;
const allowedHeaders = 'authorization, content-type, prefer, idempotency-key, traceparent, tracestate';

export function keepRouteTable(app: FastifyInstance): RouteTable {
  const routes: KnownRoute[] = [];
  let completing = false;

  app.addHook('onRoute', ({ url, method, config }) => {
    const access = config?.access;
    if (access === undefined || !accessPolicies.includes(access)) {
      throw new Error(`The route ${method} ${url} does not say who may call it (config.access).`);
    }
    if (completing) return;
    for (const one of [method].flat())
      routes.push({ url, method: one, access, isAdministration: config?.isAdministration === true });
  });

  // A route for each of the thirty other methods of each path would take a third of the start.
  let find: ((path: string) => KnownPath | undefined) | undefined;
  replyToUnknownPaths(app, (request, reply) => {
    find ??= finderOf(groupByUrl(routes));
    const path = find(request.url);
    return path && answerOtherMethod(path, request, reply);
  });

  function complete(): void {
    completing = true;
    const paths = [...groupByUrl(routes)].map(([url, path]) => ({ url, parts: url.split('/'), path }));
    const wide = paths.filter(({ url }) => url.includes(':') || url.endsWith('/*'));
    for (const { url, parts, path } of paths) {
      // Otherwise such a request would reach the route with a parameter: GET /workspaces/sync the one of /workspaces/:id.
      const covering = wide.filter((other) => other.url !== url && covers(other.parts, parts));
      const methods = new Set(covering.flatMap((other) => other.path.methods));
      const missing = [...methods].filter((method) => !path.methods.includes(method));
      if (missing.length === 0) continue;
      app.route({
        url,
        method: missing as HTTPMethods[],
        config: { access: 'public' },
        schema: { hide: true },
        handler: (request, reply) => answerOtherMethod(path, request, reply),
      });
    }
  }

  return { routes, complete };
}

function answerOtherMethod({ methods, isScoped }: KnownPath, request: FastifyRequest, reply: FastifyReply) {
  const allowed = methods.join(', ');
  if (!isScoped || request.method !== 'OPTIONS') {
    reply.header('allow', allowed);
    return refuse(reply, 'method_not_allowed');
  }
  return reply
    .code(204)
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-methods', allowed)
    .header('access-control-allow-headers', allowedHeaders)
    .header('access-control-max-age', preflightMaxAgeSeconds)
    .send();
}

function groupByUrl(routes: KnownRoute[]): Map<string, KnownPath> {
  const paths = new Map<string, KnownPath>();
  for (const { url, method, access } of routes) {
    // The bundled platform answers for its own paths.
    if (access === 'platform') continue;
    const { methods = [], isScoped = false } = paths.get(url) ?? {};
    paths.set(url, { methods: [...methods, method], isScoped: isScoped || access === 'scoped' });
  }
  return paths;
}

/** Finds paths as Fastify does, whatever the method is. */
function finderOf(paths: Map<string, KnownPath>): (path: string) => KnownPath | undefined {
  const router = createRouter(routerOptions);
  for (const [url, path] of paths) router.on('GET', url, () => {}, path);
  return (path) => router.find('GET', path)?.store as KnownPath | undefined;
}

/** Whether every path that fits the pattern fits the wider one as well, which has parameters where the pattern has none. */
function covers(wider: string[], pattern: string[]): boolean {
  const isOpen = wider.at(-1) === '*';
  const parts = isOpen ? wider.slice(0, -1) : wider;
  if (isOpen ? pattern.length < wider.length : pattern.length !== wider.length) return false;
  return parts.every((part, at) => part === pattern[at] || part.startsWith(':'));
}
