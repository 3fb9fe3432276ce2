/**
 * The console's page and its sign-in. The page is the same for everyone and holds no data: a cookie with SameSite=Strict is
 * missing when someone comes from another page. What the page shows comes from the API (console.hooks.ts).
 */
import { GuessLimit, networkOf } from '@inlay/schedule/guess-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { byRequest } from '../../kernel/cause.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { ConsoleSessionRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { html } from '../../kernel/html.ts';
import { sendNotFound } from '../../kernel/http/error-reply.ts';
import { sendPage } from '../../kernel/http/html.ts';
import { sendBuiltFile } from '../../kernel/http/send-built-file.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { OperatorTokens } from '../../tenancy/tokens/operator-tokens.ts';
import { noticePage } from '../notice-page.ts';
import type { BuiltConsole } from './built-console.ts';
import type { ConsoleRequests } from './console-requests.ts';
import { spendConsoleLink } from './links.ts';
import { type ConsoleSessions, placeOf } from './sessions.ts';

export interface ConsoleRoutesContext {
  store: Store;
  sessions: ConsoleSessions;
  requests: ConsoleRequests<FastifyRequest>;
  operatorTokens: Pick<OperatorTokens, 'authenticate'>;
  organizationName(id: string): Promise<string>;
  /** Page of a customer in the organization's own system. */
  customerUrl(organizationId: string): string | undefined;
  files: BuiltConsole | undefined;
  publicUrl: string;
  /** Whether people can sign in with the operator's own provider. */
  hasOidc: boolean;
  elapsed(): number;
  /** Records a failed sign-in in the audit trail. */
  badToken(address: string): void;
}

const TokenBody = Type.Object({ token: Type.String({ minLength: 1, maxLength: 512 }) });
const LinkBody = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 512 }),
  replace: Type.Optional(Type.Boolean()),
});

const options = { config: { access: 'public' as const }, schema: { hide: true } };
/** Folders below `/console` that are no pages. */
const noPages = /^(api|assets|session|oidc)(\/|$)/;

export function consoleRoutes(app: FastifyInstance, ctx: ConsoleRoutesContext): void {
  const { sessions, requests, files, publicUrl } = ctx;
  // Tokens and codes have 256 bits, so what is limited is the work, not the chance.
  const guesses = new GuessLimit(ctx.elapsed);
  const base = new URL(publicUrl).pathname.replace(/\/$/, '');
  const readToken = bodyReader(app, TokenBody);
  const readLink = bodyReader(app, LinkBody);

  function sendShell(reply: FastifyReply) {
    reply.header('x-frame-options', 'DENY').header('cross-origin-opener-policy', 'same-origin');
    if (!files) return sendPage(reply, { status: 404, error: 'route_not_found', page: missingPage(base) });
    return sendPage(reply, {
      status: 200,
      page: shell(files, base),
      runsScripts: true,
      frames: `'self' ${new URL(publicUrl).origin}`,
    });
  }

  app.get('/console', options, async (_request, reply) => sendShell(reply));
  app.get<{ Params: { '*': string } }>('/console/*', options, async (request, reply) =>
    noPages.test(request.params['*']) ? sendNotFound(reply) : sendShell(reply),
  );
  app.get<{ Params: { name: string } }>('/console/assets/:name', options, async (request, reply) => {
    const file = files?.assets.get(request.params.name);
    if (!file) return sendNotFound(reply);
    reply.header('cross-origin-resource-policy', 'same-origin');
    return sendBuiltFile(request, reply.header('cache-control', 'public, max-age=31536000, immutable'), file);
  });

  async function present(session: ConsoleSessionRow, permission = session.permission) {
    const { id, kind, label, organization_id, ends_at } = session;
    return {
      id,
      kind,
      label,
      permission,
      organization: { id: organization_id, name: await ctx.organizationName(organization_id) },
      expires_at: isoTime(ends_at),
      customer_url: ctx.customerUrl(organization_id) ?? null,
    };
  }

  /** Gives the browser a new session, unless too many tries were wrong. */
  async function signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    begin: () => Promise<{ secret: string; session: ConsoleSessionRow }>,
  ) {
    const retryAfterSeconds = guesses.waitSeconds(networkOf(request.ip));
    if (retryAfterSeconds !== undefined) throw new AppError('rate_limited', { retryAfterSeconds });
    try {
      const { secret, session } = await begin();
      const maxAgeSeconds = Math.floor((session.ends_at - session.created_at) / 1000);
      reply.header('set-cookie', requests.cookie(secret, maxAgeSeconds));
      return await present(session);
    } catch (error) {
      if (error instanceof AppError && error.code === 'console_sign_in_failed') {
        guesses.recordWrong(networkOf(request.ip));
        ctx.badToken(request.ip);
      }
      throw error;
    }
  }

  const protect = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store');
    requests.assertOwnPage(request);
    if (request.method === 'POST') requests.assertPrivate(request);
  };
  const guarded = { ...options, onRequest: protect };

  app.post('/console/session', guarded, async (request, reply) => {
    const { token } = readToken(request);
    return await signIn(request, reply, async () => {
      const authenticate = async () => await ctx.operatorTokens.authenticate(token);
      const principal = await authenticate().catch(asFailedSignIn);
      const replaces = placeOf(await requests.findSession(request));
      const { organizationId, permission, tokenName: label, tokenId } = principal;
      const begun = await ctx.store.transaction((tx) =>
        sessions.begin(
          tx,
          { organizationId, kind: 'token', permission, label, tokenId },
          { cause: byRequest(request), replaces },
        ),
      );
      sessions.forget();
      return begun;
    });
  });

  app.post('/console/session/link', guarded, async (request, reply) => {
    const { code, replace = false } = readLink(request);
    return await signIn(request, reply, async () =>
      spendConsoleLink(ctx, code, {
        cause: byRequest(request),
        present: await requests.findSession(request),
        replace,
      }),
    );
  });

  app.get('/console/session', guarded, async (request) => {
    const found = await requests.findSession(request);
    if (!found) throw new AppError('unauthenticated');
    return await present(found.session, found.principal.permission);
  });

  app.delete('/console/session', guarded, async (request, reply) => {
    const found = await requests.findSession(request);
    reply.header('set-cookie', requests.cookie(undefined, 0));
    if (!found) return reply.code(204).send();
    const { session, principal } = found;
    await sessions.end(
      session.organization_id,
      session.id,
      'signed_out',
      byRequest({ ...causing(request), principal }),
    );
    return reply.code(204).send();
  });

  app.get('/console/session/ways', guarded, async () => ({
    token: true,
    link: true,
    oidc: ctx.hasOidc,
    product: 'Inlay',
  }));
}

/** What a cause needs of a request whose principal is known only now. */
function causing({ id, trace, ip, headers }: Parameters<typeof byRequest>[0]) {
  return { id, trace, ip, headers };
}

function asFailedSignIn(error: unknown): never {
  if (error instanceof AppError && error.code === 'unauthenticated') throw new AppError('console_sign_in_failed');
  throw error;
}

function bodyReader<S extends TSchema>(app: FastifyInstance, schema: S): (request: FastifyRequest) => Static<S> {
  const check = app.compilePart('body', schema);
  return ({ body }) => {
    const faults: Parameters<typeof check>[1] = [];
    const value = check(body, faults);
    if (faults.length > 0) throw new AppError('invalid_request', { faults });
    return value as Static<S>;
  };
}

const shell = ({ script, styles }: BuiltConsole, base: string) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="inlay-base" content="${base}">
<title>Inlay</title>
<link rel="icon" href="${base}/docs/icon.svg">
${styles.map((file) => html`<link rel="stylesheet" href="${base}/console/${file}">`)}
<script type="module" src="${base}/console/${script}"></script>
</head>
<body>
<div id="inlay"></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;

const missingPage = (base: string) =>
  noticePage(`${base}/docs`, 'The console is not built', 'Run "npm run build", then restart the service.');
