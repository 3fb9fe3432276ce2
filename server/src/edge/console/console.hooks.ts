/**
 * Requests of the console's page to the API. They come to `/console/api/v1/…` and are answered by the routes of `/api/v1/…`:
 * there is no second set of routes. The difference is who may ask. Here the cookie of a session counts and nothing else;
 * everywhere else a token counts, and cookies never do. Only routes for operators are reached in this way.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type ConsoleSettings, isLoopback } from '../../kernel/config/config.ts';
import { AppError } from '../../kernel/errors.ts';
import type { OperatorPrincipal } from '../../kernel/principals.ts';
import type { ConsoleSessions, OpenSession } from './sessions.ts';

const alias = '/console';
const rewritten = `${alias}/api/v1/`;
const signInSeconds = 10 * 60;
const marked = new WeakSet<object>();

/** For the option `rewriteUrl` of the server. */
export function rewriteConsoleUrl(request: IncomingMessage): string {
  const { url = '' } = request;
  if (!url.startsWith(rewritten)) return url;
  marked.add(request);
  return url.slice(alias.length);
}

/** What the cookie of a session lets someone read stays in no cache, where the next person at the browser could find it. */
export function forbidStoring(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (request.originalUrl.startsWith(`${alias}/api`)) reply.header('cache-control', 'no-store');
    done();
  });
}

interface RequestsContext {
  sessions: ConsoleSessions;
  publicUrl: string;
  settings: ConsoleSettings;
}

export function createConsoleRequests({ sessions, publicUrl, settings }: RequestsContext) {
  const ownOrigin = new URL(publicUrl).origin;
  const isSecure = settings.isSecure === true;
  const cookieName = isSecure ? '__Host-inlay_console' : 'inlay_console';

  const signInName = `${cookieName}_oidc`;

  function secretIn({ headers }: FastifyRequest, name = cookieName): string | undefined {
    const values = (headers.cookie ?? '')
      .split(/;\s*/)
      .filter((one) => one.startsWith(`${name}=`))
      .map((one) => one.slice(name.length + 1));
    // A second one would be someone else's.
    return values.length === 1 ? values[0] : undefined;
  }

  const cookieOf = (name: string, secret: string | undefined, maxAgeSeconds: number, sameSite: 'Strict' | 'Lax') =>
    [
      `${name}=${secret ?? ''}`,
      'Path=/',
      `Max-Age=${secret === undefined ? 0 : maxAgeSeconds}`,
      ...(isSecure ? ['Secure'] : []),
      'HttpOnly',
      `SameSite=${sameSite}`,
    ].join('; ');

  async function findSession(request: FastifyRequest): Promise<OpenSession | undefined> {
    const secret = secretIn(request);
    return secret === undefined ? undefined : await sessions.find(secret);
  }

  function assertOwnPage({ method, headers }: FastifyRequest): void {
    const site = headers['sec-fetch-site'];
    const reads = method === 'GET' || method === 'HEAD';
    // A browser says `none` for an address that its user has typed.
    if (reads && (site === undefined || site === 'same-origin' || site === 'none')) return;
    const isOwn = site === undefined ? headers.origin === ownOrigin : site === 'same-origin';
    // Other pages cannot send this header without asking first, and nobody answers that question.
    if (reads || !isOwn || headers['x-inlay-console'] !== '1') throw new AppError('console_origin');
  }

  async function getSession(request: FastifyRequest): Promise<OpenSession> {
    const found = request.headers.authorization === undefined ? await findSession(request) : undefined;
    if (!found) throw new AppError('unauthenticated');
    return found;
  }

  return {
    /** Whether a request came by the path of the console. */
    isMarked: ({ raw }: FastifyRequest) => marked.has(raw),
    /** Throws unless the request comes from the console's own page, with the cookie of a session that works now. */
    async authenticate(request: FastifyRequest): Promise<OperatorPrincipal> {
      assertOwnPage(request);
      const { session, principal } = await getSession(request);
      await sessions.use(session);
      return principal;
    },
    /** Asks again, for answers that take long. That is no use of the session. */
    async reauthenticate(request: FastifyRequest): Promise<void> {
      await getSession(request);
    },
    findSession,
    assertOwnPage,
    assertPrivate({ headers }: FastifyRequest): void {
      const host = `http://${headers.host}`;
      const isLocal = URL.canParse(host) && isLoopback(new URL(host).hostname);
      if (!isSecure && !(settings.isSecure === false && isLocal)) throw new AppError('console_needs_https');
    },
    cookie: (secret: string | undefined, maxAgeSeconds: number): string =>
      cookieOf(cookieName, secret, maxAgeSeconds, 'Strict'),
    /** For the way to a provider and back: a browser that comes from there sends no strict cookie. */
    signInCookie: (secret: string | undefined): string => cookieOf(signInName, secret, signInSeconds, 'Lax'),
    findSignInCookie: (request: FastifyRequest) => secretIn(request, signInName),
  };
}
