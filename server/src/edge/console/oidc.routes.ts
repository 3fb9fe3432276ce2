/** The way to the operator's own provider and back, for people who sign in to the console. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { byRequest } from '../cause.ts';
import { AppError } from '../errors.ts';
import { html } from '../html.ts';
import { sendPage } from '../http/html.ts';
import { GuessLimit } from './guess-limit.ts';
import { OidcRefused, type OidcSignIns } from './oidc.ts';
import type { OpenSession } from './sessions.ts';

/** See console.hooks.ts. */
interface ConsoleRequests {
  findSession(request: FastifyRequest): Promise<OpenSession | undefined>;
  assertOwnPage(request: FastifyRequest): void;
  assertPrivate(request: FastifyRequest): void;
  cookie(secret: string | undefined, maxAgeSeconds: number): string;
  signInCookie(secret: string | undefined): string;
  findSignInCookie(request: FastifyRequest): string | undefined;
}

interface OidcRoutesContext {
  signIns: OidcSignIns;
  requests: ConsoleRequests;
  publicUrl: string;
  elapsed(): number;
}

const options = { config: { access: 'public' as const }, schema: { hide: true }, exposeHeadRoute: false };

export function oidcRoutes(app: FastifyInstance, { signIns, requests, publicUrl, elapsed }: OidcRoutesContext): void {
  // Each start is a row for ten minutes.
  const starts = new GuessLimit(elapsed);

  const protect = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store');
    requests.assertOwnPage(request);
    requests.assertPrivate(request);
  };

  app.post('/console/oidc', { ...options, onRequest: protect }, async (request, reply) => {
    const retryAfterSeconds = starts.waitSeconds(request.ip);
    if (retryAfterSeconds !== undefined) throw new AppError('rate_limited', { retryAfterSeconds });
    starts.recordWrong(request.ip);
    const begun = await signIns.start(await requests.findSession(request)).catch((error) => {
      request.log.warn({ err: error }, 'the provider of the console does not answer');
      throw new AppError('console_provider_unavailable');
    });
    reply.header('set-cookie', requests.signInCookie(begun.cookie));
    return { url: begun.url };
  });

  app.get('/console/oidc/callback', options, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    requests.assertPrivate(request);
    const { url = '' } = request.raw;
    const address = new URL(
      `${publicUrl}/console/oidc/callback${url.includes('?') ? url.slice(url.indexOf('?')) : ''}`,
    );
    const forget = requests.signInCookie(undefined);
    try {
      const { secret, session } = await signIns.finish(address, requests.findSignInCookie(request), byRequest(request));
      const maxAgeSeconds = Math.floor((session.ends_at - session.created_at) / 1000);
      // Two headers, because a browser takes one cookie from each.
      reply.header('set-cookie', [requests.cookie(secret, maxAgeSeconds), forget]);
      return reply.redirect(`${publicUrl}/console`, 303);
    } catch (error) {
      if (!(error instanceof OidcRefused)) throw error;
      request.log.info({ err: error }, 'a sign-in to the console was refused');
      reply.header('set-cookie', forget);
      return sendPage(reply, { status: 403, error: 'forbidden', page: refusedPage(publicUrl, error.message) });
    }
  });
}

const refusedPage = (publicUrl: string, words: string) => html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>You are not signed in</title>
<link rel="stylesheet" href="${publicUrl}/docs/style.css">
<body class="notice">
<main>
<h1>You are not signed in</h1>
<p>${words}</p>
<p><a href="${publicUrl}/console/sign-in">Back to the sign-in</a></p>
</main>
</body>
</html>
`;
