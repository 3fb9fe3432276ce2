/**
 * What a customer's browser loads: the page that a widget token leads to, the files of that page, and the embed
 * library. The page is the same for everyone. Its signed address decides who may frame it. The token decides what it
 * may see; the token is in the fragment of the address, which browsers never send.
 */
import type { FastifyInstance } from 'fastify';
import { html } from '../../kernel/html.ts';
import { statusOf } from '../../kernel/http/error-catalogue.ts';
import { sendNotFound } from '../../kernel/http/error-reply.ts';
import { sendPage } from '../../kernel/http/html.ts';
import { sendBuiltFile } from '../../kernel/http/send-built-file.ts';
import type { FrameProofs } from '../../tenancy/tokens/frame-proofs.ts';
import type { WidgetTokens } from '../../tenancy/tokens/widget-tokens.ts';
import { noticePage } from '../notice-page.ts';
import { type BuiltFiles, embedFiles } from './built-files.ts';

interface WidgetRouteOptions {
  widgetTokens: WidgetTokens;
  frameProofs: FrameProofs;
  /** Whether a workspace is there and not deleted. */
  isLive(workspaceId: string): Promise<boolean>;
  files: BuiltFiles;
  /** The origin of the console. Undefined: there is no console. */
  consoleOrigin: string | undefined;
}

export function widgetRoutes(
  app: FastifyInstance,
  { widgetTokens, frameProofs, isLive, files, consoleOrigin }: WidgetRouteOptions,
): void {
  const options = { config: { access: 'public' as const }, schema: { hide: true } };

  app.get('/widget', options, async (request, reply) => {
    const { url = '' } = request.raw;
    const address = widgetTokens.readAddress(url.slice(url.indexOf('?') + 1));
    if (!address) return sendPage(reply, notice('forbidden', "This link isn't valid", changed));
    const { allowedOrigin, isView } = address;
    if (!(await isLive(address.workspaceId))) {
      return sendPage(reply, {
        ...notice('workspace_not_found', 'This workspace no longer exists', 'It was deleted.'),
        frameAncestors: allowedOrigin,
      });
    }
    // Nobody signs in with a provider while an operator only looks.
    const isFramed = request.headers['sec-fetch-dest'] === 'iframe' && !isView;
    return sendPage(reply, {
      status: 200,
      page: widgetPage(files, { proof: isFramed ? frameProofs.make(address) : undefined }),
      frameAncestors: allowedOrigin,
      // The operator's logo, if the theme names one.
      images: allowedOrigin,
      runsScripts: true,
      isSandboxed: isView,
    });
  });

  if (consoleOrigin !== undefined) {
    // Holds no data and has no token: the console around it says what to show.
    app.get('/widget/preview', options, async (_request, reply) =>
      sendPage(reply, {
        status: 200,
        page: widgetPage(files, { isPreview: true }),
        frameAncestors: consoleOrigin,
        runsScripts: true,
        isSandboxed: true,
      }),
    );
  }

  app.get<{ Params: { name: string } }>('/widget/assets/:name', options, async (request, reply) => {
    const file = files.assets.get(request.params.name);
    if (!file) return sendNotFound(reply);
    // A page without an origin loads modules only with this. The files are the same for everyone.
    reply.header('access-control-allow-origin', '*');
    return sendBuiltFile(request, reply.header('cache-control', 'public, max-age=31536000, immutable'), file);
  });

  for (const name of embedFiles) {
    app.get(`/${name}`, options, async (request, reply) => {
      // Pages of any origin load this script. The short cache time lets a new release reach them within minutes.
      reply.header('cross-origin-resource-policy', 'cross-origin').header('access-control-allow-origin', '*');
      // A tool that imports the module from this address finds its types here.
      if (name === 'embed.mjs') reply.header('x-typescript-types', './embed.d.ts');
      return sendBuiltFile(request, reply.header('cache-control', 'public, max-age=300'), files.embedLibrary[name]);
    });
  }
}

interface PageOptions {
  proof?: string | undefined;
  isPreview?: boolean;
}

const widgetPage = ({ script, styles }: BuiltFiles, { proof, isPreview = false }: PageOptions) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${proof === undefined ? [] : html`<meta name="inlay-frame-proof" content="${proof}">\n`}<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Inlay</title>
<link rel="icon" href="${isPreview ? '../' : ''}docs/icon.svg">
${styles.map((file) => html`<link rel="stylesheet" href="${isPreview ? '' : 'widget/'}${file}">`)}
<script type="module" src="${isPreview ? '' : 'widget/'}${script}"></script>
</head>
<body>
${isPreview ? html`<div id="inlay" data-preview></div>` : html`<div id="inlay"></div>`}
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;

const changed = 'The link is incomplete or was changed. Go back to the app that you came from and open it again.';

const notice = (error: 'forbidden' | 'workspace_not_found', title: string, text: string) => ({
  status: statusOf(error, {}),
  error,
  page: noticePage('docs', title, text),
});
