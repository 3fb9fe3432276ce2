import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { freePort } from '../../scripts/disposable.mjs';
import { startHostApp } from './server.mjs';
import { ensureTemplates } from './templates.mjs';

const operatorToken = 'the-operator-token-of-this-test-0123456789';

/** A stand-in for Inlay that records all requests. */
let inlay: Server;
let inlayUrl: string;
let asked: { url: string; authorization: string | undefined; body: Record<string, unknown> }[];
let status: number;
let app: Awaited<ReturnType<typeof startHostApp>>;

const made: Record<string, Record<string, unknown>[]> = { sources: [], connections: [] };

beforeAll(async () => {
  inlay = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const body = text ? JSON.parse(text) : {};
    const url = request.url ?? '';
    asked.push({ url, authorization: request.headers.authorization, body });
    const list = made[url.slice(url.lastIndexOf('/') + 1)];
    if (list && text) list.push(body);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(list && !text ? { data: list } : { token: 'a-widget-token', detail: operatorToken }));
  }).listen(0, '127.0.0.1');
  await once(inlay, 'listening');
  inlayUrl = `http://127.0.0.1:${(inlay.address() as AddressInfo).port}`;
  app = await startHostApp({ port: await freePort(), inlayUrl, operatorToken });
});
beforeEach(() => {
  asked = [];
  status = 200;
});
afterAll(async () => {
  await app?.close();
  inlay?.close();
});

const ask = (body: unknown) =>
  fetch(`${app.url}/api/widget-token`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

it('asks Inlay in the name of the customer, for its own origin and the tags of the plan', async () => {
  const response = await ask({ customer: 'atelier-riviere', plan: 'pro', theme: 'brand', locale: 'fr' });
  expect([response.status, await response.json()]).toEqual([200, { token: 'a-widget-token' }]);
  expect(asked).toMatchObject([
    {
      url: '/api/v1/embedded/widget-token',
      authorization: `Bearer ${operatorToken}`,
      body: {
        workspace_name: 'atelier-riviere',
        allowed_origin: app.url,
        selected_source_template_tags: ['pro'],
        theme: { primary_color: '#0f6b5c', logo_url: `${app.url}/logo.svg` },
        locale: 'fr',
      },
    },
  ]);
});

it('leaves theme and language out when they are not chosen', async () => {
  await ask({ customer: 'atelier-riviere', plan: 'free' });
  expect(asked[0]?.body).toEqual({
    workspace_name: 'atelier-riviere',
    allowed_origin: app.url,
    selected_source_template_tags: ['free'],
  });
});

it.each([
  ['no customer of ours', { customer: 'somebody', plan: 'pro' }],
  ['no plan', { customer: 'atelier-riviere', plan: 'constructor' }],
  ['no theme', { customer: 'atelier-riviere', plan: 'pro', theme: '__proto__' }],
  ['no language', { customer: 'atelier-riviere', plan: 'pro', locale: 'tlh' }],
  ['null', null],
  ['no JSON', '{'],
  ['too much', 'x'.repeat(20_000)],
])('refuses what is %s, without asking Inlay', async (_, body) => {
  expect((await ask(body)).status).toBe(400);
  expect(asked).toEqual([]);
});

it('says only that it did not work when Inlay refuses, and why in its own log', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  status = 401;
  const response = await ask({ customer: 'atelier-riviere', plan: 'free' });
  expect(response.status).toBe(502);
  expect(await response.text()).not.toContain(operatorToken);
  expect(String(log.mock.calls[0]?.[0])).toContain('Inlay answered 401');
  log.mockRestore();
});

it('sends a browser that came by another name to its own origin', async () => {
  const port = Number(new URL(app.url).port);
  const asked = httpRequest({ host: '127.0.0.1', port, path: '/page.js', headers: { host: `127.0.0.1:${port}` } });
  asked.end();
  const [response] = await once(asked, 'response');
  response.resume();
  expect([response.statusCode, response.headers.location]).toEqual([307, `${app.url}/page.js`]);
});

it('lets nothing into its page but itself and Inlay', async () => {
  const page = await fetch(app.url);
  expect(page.headers.get('content-security-policy')).toBe(
    `default-src 'none'; script-src 'self' ${inlayUrl}; frame-src ${inlayUrl}; style-src 'self'; img-src 'self'; ` +
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(await page.text()).toContain(`<script src="${inlayUrl}/embed.js"></script>`);
  for (const path of ['/server.mjs', '/../server.mjs', '/%2e%2e/server.mjs', '/constructor']) {
    expect((await fetch(app.url + path)).status).toBe(404);
  }
});

it('makes each template once, however often it is run', async () => {
  for (let run = 0; run < 2; run += 1) {
    await ensureTemplates({ inlayUrl, operatorToken, ordersFile: '/samples/orders.csv' });
  }
  expect(made.sources?.map(({ name, tags }) => [name, tags])).toEqual([
    ['Online shop', ['free', 'pro']],
    ['Loyalty program', ['free', 'pro']],
    ['Cash register', ['free', 'pro']],
    ['CSV or JSON file', ['free', 'pro']],
    ['PostgreSQL', ['pro']],
    ['JSON API', ['pro']],
  ]);
  expect(made.connections?.map(({ destination_name }) => destination_name)).toEqual(['Harbor']);
});
