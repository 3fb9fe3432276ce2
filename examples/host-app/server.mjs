// Harbor, a fictional product that embeds Inlay: its page and its backend. The backend holds the operator token, knows
// the customer, and requests a widget token for them. Copy `requestWidgetToken` into your own backend.
//
//   INLAY_URL=http://localhost:8080 INLAY_OPERATOR_TOKEN=… node examples/host-app/server.mjs

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

/** Customers, by the name of their workspace in Inlay. */
const customers = {
  'kestrel-coffee': 'Kestrel Coffee',
  'atelier-riviere': 'Atelier Rivière',
  'sakura-stationery': 'Sakura Stationery',
};

/** Each plan offers the templates with one of these tags. */
const plans = { free: ['free'], pro: ['pro'] };

const locales = ['en', 'de', 'fr', 'es', 'ja'];

/** The widget's theme for each theme of the page. @param {string} pageUrl */
const themesOf = (pageUrl) => ({
  light: { color_scheme: 'light', primary_color: '#1d4ed8', radius: 10 },
  dark: { color_scheme: 'dark', primary_color: '#93c5fd', background_color: '#151b27', radius: 10 },
  brand: {
    color_scheme: 'light',
    primary_color: '#0f6b5c',
    background_color: '#fffdf8',
    text_color: '#20302c',
    radius: 18,
    font_family: 'Georgia, "Noto Serif", serif',
    logo_url: `${pageUrl}/logo.svg`,
  },
});

/**
 * @typedef {object} Settings
 * @property {number} port
 * @property {string} inlayUrl where browsers and this backend reach Inlay
 * @property {string} operatorToken
 * @property {string} [pageUrl] where browsers reach this page; http://localhost and the port by default
 */

/** @param {Settings} settings */
export async function startHostApp({ port, inlayUrl, operatorToken, pageUrl = `http://localhost:${port}` }) {
  const themes = themesOf(pageUrl);

  /**
   * Returns a widget token for one customer, bound to this page.
   * @param {{ customer: string, plan: keyof typeof plans, theme?: keyof ReturnType<typeof themesOf>, locale?: string }} wish
   * @returns {Promise<string>}
   */
  async function requestWidgetToken({ customer, plan, theme, locale }) {
    const response = await fetch(`${inlayUrl}/api/v1/embedded/widget-token`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        workspace_name: customer,
        allowed_origin: new URL(pageUrl).origin,
        selected_source_template_tags: plans[plan],
        ...(theme && { theme: themes[theme] }),
        ...(locale && { locale }),
      }),
      signal: AbortSignal.timeout(15_000),
    });
    if (!response.ok) throw new Error(`Inlay answered ${response.status}: ${await response.text()}`);
    return (await response.json()).token;
  }

  /** @type {Record<string, [type: string, content: Buffer | string]>} */
  const files = {
    '/': ['text/html', read('index.html').toString().replaceAll('{{inlayUrl}}', inlayUrl)],
    '/page.js': ['text/javascript', read('page.js')],
    '/style.css': ['text/css', read('style.css')],
    '/logo.svg': ['image/svg+xml', read('logo.svg')],
  };
  const inlayOrigin = new URL(inlayUrl).origin;
  const securityPolicy = [
    "default-src 'none'",
    `script-src 'self' ${inlayOrigin}`,
    `frame-src ${inlayOrigin}`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

  const server = createServer(async (request, response) => {
    try {
      const path = new URL(request.url ?? '/', pageUrl).pathname;
      if (request.headers.host !== new URL(pageUrl).host) {
        // Inlay shows the widget on exactly one origin: 127.0.0.1 is not localhost.
        response.writeHead(307, { location: pageUrl + path }).end();
      } else if (request.method === 'POST' && path === '/api/widget-token') {
        const wish = readWish(await readJson(request));
        if (wish) sendJson(response, 200, { token: await requestWidgetToken(wish) });
        else sendJson(response, 400, { message: 'Unknown customer, plan, theme or language.' });
      } else if ((request.method === 'GET' || request.method === 'HEAD') && Object.hasOwn(files, path)) {
        const [type, content] = files[path];
        response.writeHead(200, {
          'content-type': `${type}; charset=utf-8`,
          'cache-control': 'no-cache',
          'content-security-policy': securityPolicy,
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
        });
        response.end(request.method === 'HEAD' ? undefined : content);
      } else {
        sendJson(response, 404, { message: 'Not found.' });
      }
    } catch (error) {
      // The reason may contain details that must not reach the browser, so it is only logged.
      console.error(error);
      sendJson(response, 502, { message: 'Inlay issued no token. See the server log.' });
    }
  });

  /**
   * Returns the requested customer and plan, if they exist. A product takes both from its session, never from the request;
   * this example lets you choose them to show the difference.
   * @param {any} body
   */
  function readWish(body) {
    const { customer, plan, theme, locale } = body ?? {};
    const isKnown =
      Object.hasOwn(customers, customer) &&
      Object.hasOwn(plans, plan) &&
      (theme === undefined || Object.hasOwn(themes, theme)) &&
      (locale === undefined || locales.includes(locale));
    return isKnown ? { customer, plan, theme, locale } : undefined;
  }

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: pageUrl,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** @param {string} name */
function read(name) {
  return readFileSync(new URL(`public/${name}`, import.meta.url));
}

/** The body as JSON, or undefined. @param {import('node:http').IncomingMessage} request @returns {Promise<unknown>} */
async function readJson(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > 10_000) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {import('node:http').ServerResponse} response @param {number} status @param {object} body */
function sendJson(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { PORT = '8090', INLAY_URL = 'http://localhost:8080', INLAY_OPERATOR_TOKEN, PAGE_URL } = process.env;
  if (!INLAY_OPERATOR_TOKEN) {
    console.error('Set INLAY_OPERATOR_TOKEN to an operator token, or use "npm run demo", which sets up everything.');
    process.exit(1);
  }
  const app = await startHostApp({
    port: Number(PORT),
    inlayUrl: INLAY_URL.replace(/\/+$/, ''),
    operatorToken: INLAY_OPERATOR_TOKEN,
    pageUrl: PAGE_URL,
  });
  console.log(app.url);
}
