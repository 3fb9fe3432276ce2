/**
 * The pages of a sign-in: where it starts, where the provider sends the customer back to, and where it ends. Browsers open
 * them, and no token comes with them; what protects them is in sign-in.ts.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findAnySourceTemplate } from '../../catalog/templates/source-templates.ts';
import { byRequest } from '../../kernel/cause.ts';
import type { OAuthFlowRow } from '../../kernel/db/tables.ts';
import { sendPage } from '../../kernel/http/html.ts';
import { causedBy } from '../../log/events/journal.ts';
import { hashOf, newSecret } from './flow-secrets.ts';
import { listUnusedCredentials } from './flows.store.ts';
import { type FlowsContext, previousAccount, productOf } from './flows.ts';
import { askingPage, donePage, goingPage, impossiblePage, overPage, pageScript, type Reader } from './pages.ts';
import {
  byVisitor,
  type CameBack,
  comeBack,
  cookieName,
  findOwnFlow,
  goToProvider,
  openStart,
  useOtherAccount,
  type Visit,
} from './sign-in.ts';

const options = { config: { access: 'public' as const }, schema: { hide: true }, exposeHeadRoute: false };
const cookieSeconds = 15 * 60;
const usualPatienceMs = 3_000;
const maxFormBytes = 2_048;
const statuses = { done: 200, gone: 410, impossible: 409, refused: 403 };

export function signInPages(root: FlowsContext) {
  return async (app: FastifyInstance): Promise<void> => {
    // Only here: no endpoint of the API takes forms.
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: maxFormBytes },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    const by = (request: FastifyRequest) => causedBy(root, byRequest(request));
    const ownOrigin = new URL(root.publicUrl).origin;
    const exchanges = new Set<Promise<unknown>>();
    // Tokens that a provider is about to give must not be lost.
    app.addHook('onClose', async () => void (await Promise.allSettled(exchanges)));

    app.get('/oauth/page.js', options, (_request, reply) =>
      reply.type('text/javascript; charset=utf-8').header('cache-control', 'public, max-age=300').send(pageScript),
    );

    app.get<{ Params: { handle: string } }>('/oauth/start/:handle', options, async (request, reply) => {
      const ctx = by(request);
      const visit = visitOf(request);
      const opened = await openStart(ctx, request.params.handle, visit);
      if (opened.kind !== 'question') return sendEnd(request, reply, opened.kind);
      const { flow, provider, scopes, providerOrigin } = opened;
      const cookie = visit.cookie(cookieName(flow.id)) ?? newSecret();
      if (flow.is_framed === 1 && isOpenedByOurselves(request)) {
        const address = await goToProvider(ctx, flow, cookie);
        if (address === undefined) return sendEnd(request, reply, 'over');
        setCookie(reply, flow, cookie);
        return reply.header('cache-control', 'no-store').redirect(address, 302);
      }
      setCookie(reply, flow, cookie);
      return sendPage(reply, {
        status: statuses.done,
        page: askingPage(readerOf(request), {
          provider,
          scopes,
          product: await productOf(root, flow),
          customer: flow.customer_label,
          proof: hashOf(cookie),
        }),
        runsScripts: true,
        formTargets: `'self' ${providerOrigin}`,
      });
    });

    app.post<{ Params: { handle: string } }>('/oauth/start/:handle', options, async (request, reply) => {
      const ctx = by(request);
      const visit = visitOf(request);
      const opened = await openStart(ctx, request.params.handle, visit);
      if (opened.kind !== 'question') return sendEnd(request, reply, opened.kind);
      const { flow, provider } = opened;
      const cookie = clickedOnOurPage(request, flow, visit);
      if (cookie === undefined) return sendEnd(request, reply, 'refused');
      const address = await goToProvider(ctx, flow, cookie);
      if (address === undefined) return sendEnd(request, reply, 'over');
      setCookie(reply, flow, cookie);
      const page = goingPage(readerOf(request), { provider, address });
      return sendPage(reply, { status: statuses.done, page, runsScripts: true });
    });

    app.get<{ Params: { key: string } }>('/oauth/callback/:key', options, async (request, reply) => {
      const { url = '' } = request.raw;
      const params = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
      const back = await comeBack(by(request), request.params.key, params, visitOf(request));
      if (!back) return sendEnd(request, reply, 'over');
      const flow = await withPatience(back);
      // The address of this page holds the code; the next one does not, and takes its place in the history.
      return reply.header('cache-control', 'no-store').redirect(nextAddress(flow), 303);
    });

    app.get<{ Params: { flow_id: string } }>('/oauth/done/:flow_id', options, async (request, reply) => {
      const visit = visitOf(request);
      const flow = await findOwnFlow(root, request.params.flow_id, visit);
      if (!flow) return sendEnd(request, reply, 'over');
      return await sendDone(request, reply, flow, visit);
    });

    app.post<{ Params: { flow_id: string } }>('/oauth/done/:flow_id', options, async (request, reply) => {
      const visit = visitOf(request);
      const flow = await findOwnFlow(root, request.params.flow_id, visit);
      if (!flow) return sendEnd(request, reply, 'over');
      // With a widget, the widget asks.
      if (flow.token_id !== null || clickedOnOurPage(request, flow, visit) === undefined) {
        return sendEnd(request, reply, 'refused');
      }
      // A second click finds that the first has done it.
      if (flow.state === 'unconfirmed') await useOtherAccount(byVisitor(by(request), flow), flow);
      return reply.header('cache-control', 'no-store').redirect(doneAddress(flow), 303);
    });

    async function sendDone(request: FastifyRequest, reply: FastifyReply, flow: OAuthFlowRow, visit: Visit) {
      const isExpired = !['connected', 'failed'].includes(flow.state) && flow.expires_at <= (await root.store.now());
      const cookie = visit.cookie(cookieName(flow.id)) ?? '';
      const page = donePage(readerOf(request), {
        flow,
        isExpired,
        previousAccount: flow.state === 'unconfirmed' ? await previousAccount(root, flow) : null,
        proof: flow.token_id === null ? hashOf(cookie) : undefined,
        unfinished: await unfinishedBy(flow),
      });
      return sendPage(reply, { status: statuses.done, page, runsScripts: true, formTargets: "'self'" });
    }

    /** The sign-in as it is after a short time: with a slow provider, the customer reads that it has not answered yet. */
    async function withPatience({ flow, ended }: CameBack): Promise<OAuthFlowRow> {
      exchanges.add(ended);
      const enough = new AbortController();
      let isLate = false;
      const settled = ended.finally(() => {
        exchanges.delete(ended);
        enough.abort();
      });
      settled.catch(
        (error) => isLate && root.log.error({ err: error, flowId: flow.id }, 'Sign-in failed unexpectedly'),
      );
      const late = root.runtime.timeLimit(root.patienceMs ?? usualPatienceMs, enough.signal).then(() => {
        isLate = true;
        return flow;
      });
      return await Promise.race([settled, late]);
    }

    /**
     * A link creates the source automatically, unless its template requires more input. Then the customer finishes in
     * the widget.
     */
    async function unfinishedBy(flow: OAuthFlowRow): Promise<string | undefined> {
      const { organization_id, workspace_id, source_template_id: templateId, credential_id: id } = flow;
      if (flow.link_until === null || flow.source_id !== null || id === null) return undefined;
      const unused = await listUnusedCredentials(root.store.db, organization_id, workspace_id, {
        templateId,
        origin: undefined,
      });
      if (!unused.some((credential) => credential.id === id)) return undefined;
      return (await findAnySourceTemplate(root, organization_id, templateId))?.name;
    }

    const doneAddress = (flow: OAuthFlowRow) => `${root.publicUrl}/oauth/done/${flow.id}`;

    /** Without a popup the browser goes back to the product, which asks the service for the outcome of the sign-in. */
    function nextAddress(flow: OAuthFlowRow): string {
      if (flow.return_to === null) return doneAddress(flow);
      const url = new URL(flow.return_to);
      // Not through `searchParams`, which would write the rest of the query in another way.
      url.search += `${url.search === '' ? '?' : '&'}inlay_sign_in=${flow.id}`;
      return url.href;
    }

    /** The value of the cookie, if the click was on a page that we have sent to this very browser. */
    function clickedOnOurPage(request: FastifyRequest, flow: OAuthFlowRow, visit: Visit): string | undefined {
      const { origin, 'sec-fetch-site': site } = request.headers;
      const cookie = visit.cookie(cookieName(flow.id));
      const proof = request.body instanceof URLSearchParams ? request.body.get('proof') : null;
      // With our referrer policy, browsers write `null` for our own origin.
      const isOwn = (site === undefined || site === 'same-origin') && [undefined, 'null', ownOrigin].includes(origin);
      return isOwn && cookie !== undefined && proof === hashOf(cookie) ? cookie : undefined;
    }
  };
}

/**
 * A window that our own widget has opened. It says nothing about where the widget itself is, so the sign-in must also have been
 * begun by a widget in a frame.
 */
function isOpenedByOurselves({ headers }: FastifyRequest): boolean {
  return (
    headers['sec-fetch-site'] === 'same-origin' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  );
}

function visitOf({ headers }: FastifyRequest): Visit {
  const cookies = (headers.cookie ?? '').split(/;\s*/);
  return {
    cookie(name) {
      const values = cookies.filter((one) => one.startsWith(`${name}=`)).map((one) => one.slice(name.length + 1));
      // A second one would be someone else's.
      return values.length === 1 && /^[\w-]{43}$/.test(values[0] ?? '') ? values[0] : undefined;
    },
  };
}

function setCookie(reply: FastifyReply, flow: OAuthFlowRow, value: string): void {
  const attributes = `Path=/; Max-Age=${cookieSeconds}; Secure; HttpOnly; SameSite=Lax`;
  reply.header('set-cookie', `${cookieName(flow.id)}=${value}; ${attributes}`);
}

/** All pages are two folders deep, whatever path a proxy puts before them. */
const readerOf = ({ headers }: FastifyRequest): Reader => ({
  acceptLanguage: headers['accept-language'],
  root: '../..',
});

function sendEnd(request: FastifyRequest, reply: FastifyReply, kind: 'over' | 'impossible' | 'refused') {
  const reader = readerOf(request);
  reply.header('vary', 'accept-language');
  if (kind === 'impossible') {
    const error = 'sign_in_not_possible';
    return sendPage(reply, { status: statuses.impossible, error, page: impossiblePage(reader), runsScripts: true });
  }
  const [status, error] =
    kind === 'over' ? ([statuses.gone, 'sign_in_not_found'] as const) : ([statuses.refused, 'forbidden'] as const);
  return sendPage(reply, { status, error, page: overPage(reader), runsScripts: true });
}
