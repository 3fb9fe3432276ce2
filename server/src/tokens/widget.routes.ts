/** The address that a widget token leads to. A plain page for now: it names the workspace and proves that framing is bound to the origin. */
import type { FastifyInstance } from 'fastify';
import { html } from '../html.ts';
import { sendPage } from '../http/html.ts';
import type { WidgetTokens } from './widget-tokens.ts';

export interface WidgetRouteOptions {
  widgetTokens: WidgetTokens;
  /** The name of a live workspace. */
  findWorkspaceName(workspaceId: string): Promise<string | undefined>;
}

export function widgetRoute(app: FastifyInstance, { widgetTokens, findWorkspaceName }: WidgetRouteOptions): void {
  app.get('/widget', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    const { url = '' } = request.raw;
    const address = widgetTokens.readAddress(url.slice(url.indexOf('?') + 1));
    if (!address) {
      return sendPage(
        reply,
        403,
        page(
          'This address is not valid',
          'It was changed, or it is not complete. Ask the application you came from for a new one.',
        ),
      );
    }
    const name = await findWorkspaceName(address.workspaceId);
    if (name === undefined) {
      return sendPage(reply, 404, page('This workspace is gone', 'It was deleted.'), address.allowedOrigin);
    }
    return sendPage(
      reply,
      200,
      page(name, 'The data sources of this workspace will be set up here.'),
      address.allowedOrigin,
    );
  });
}

const page = (title: string, text: string) => html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="docs/style.css">
<body class="notice">
<main>
<h1>${title}</h1>
<p>${text}</p>
</main>
</body>
</html>
`;
