/** The way to the operator's own provider and back, for people who sign in to the console. */
import { GuessLimit, networkOf } from '@inlay/schedule/guess-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { byRequest } from '../../kernel/cause.ts';
import { AppError } from '../../kernel/errors.ts';
import { html } from '../../kernel/html.ts';
import { sendPage } from '../../kernel/http/html.ts';
import { noticePage } from '../notice-page.ts';
import type { ConsoleRequests } from './console-requests.ts';
import { OidcRefused, type OidcSignIns } from './oidc.ts';

interface OidcRoutesContext {
  signIns: OidcSignIns;
  requests: ConsoleRequests<FastifyRequest>;
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
    const retryAfterSeconds = starts.waitSeconds(networkOf(request.ip));
    if (retryAfterSeconds !== undefined) throw new AppError('rate_limited', { retryAfterSeconds });
    starts.recordWrong(networkOf(request.ip));
    const begun = await signIns.start(await requests.findSession(request)).catch((error) => {
      request.log.warn({ err: error }, 'Console sign-in provider not responding');
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
      request.log.info({ err: error }, 'Console sign-in refused');
      reply.header('set-cookie', forget);
      return sendPage(reply, { status: 403, error: 'forbidden', page: refusedPage(publicUrl, error.message) });
    }
  });
}

const refusedPage = (publicUrl: string, words: string) =>
  noticePage(
    `${publicUrl}/docs`,
    "You're not signed in",
    html`${words}</p>\n<p><a href="${publicUrl}/console/sign-in">Back to sign-in</a>`,
  );
