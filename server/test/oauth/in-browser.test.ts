/** Signing in with a real OpenID provider, in a real Chromium: from a widget in a frame of another site, and with a link. */

import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedBrowser } from '../../../widget/test/support/shared-browser.ts';
import { wordsFor } from '../../src/credentials/sign-in/page-words.ts';
import { widgetToken } from '../security/support.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { makeSignInTemplate } from '../support/providers.ts';

let test: TestApp;
let browser: Browser;
const servers: Server[] = [];
let provider: RequestListener = (_request, response) => response.writeHead(404).end();
let issuer: string;
let hop: string;
let host: string;
let ours: string;
let templateId: string;
let redirectUrl: string;
/** What the pages of providers and hosts are asked with. */
const referrers: string[] = [];

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    if (request.headers.referer !== undefined) referrers.push(request.headers.referer);
    handle(request, response);
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function openProvider(clients: Configuration['clients']): RequestListener {
  const configuration: Configuration = {
    clients,
    scopes: ['openid', 'offline_access', 'contacts.read', 'deals.read'],
    claims: { openid: ['sub', 'email'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: `${id}@example.com` }),
    }),
    cookies: { keys: ['of a test'] },
  };
  return new Provider(issuer, configuration).callback();
}

beforeAll(async () => {
  issuer = await listen((request, response) => provider(request, response));
  // As many providers do, it sends customers on to another host of its own.
  hop = await listen((request, response) => {
    response.writeHead(302, { location: `${issuer}/auth${(request.url ?? '').replace(/^[^?]*/, '')}` }).end();
  });
  host = await listen((request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(
        `<!doctype html><title>Product</title><iframe id="widget" width="600" height="400" allow="" src="${
          new URL(request.url ?? '', host).searchParams.get('widget') ?? ''
        }"></iframe>`,
      );
  });
  provider = openProvider([]);
  const port = Number(new URL(await listen(() => {})).port);
  await new Promise((closed) => servers.pop()?.close(closed));
  // Another site than 127.0.0.1, where the product and the provider are.
  ours = `http://localhost:${port}`;
  test = await startTestApp('sqlite', { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true', INLAY_PUBLIC_URL: ours } });
  await test.app.http.listen({ host: '127.0.0.1', port });
  const described = {
    ...{ name: 'Real Provider', client_id: 'inlay', client_secret: 'a secret of the test', issuer },
    authorization_params: { prompt: 'consent' },
  };
  const made = await test.request('POST', '/api/v1/integrations/oauth/clients', { body: described });
  expect(made.status, made.text).toBe(201);
  redirectUrl = made.body.redirect_url;
  provider = openProvider([
    {
      client_id: 'inlay',
      client_secret: described.client_secret,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  ]);
  templateId = await makeSignInTemplate(test, made.body.id);
  browser = await sharedBrowser();
});
afterAll(async () => {
  await test?.stop();
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

/** Signs in on the pages of the provider, and waits for our last page. */
async function signInAs(page: Page, name: string): Promise<void> {
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(/\/oauth\/done\//);
}

/** The addresses that the browser keeps of a page. */
async function historyOf(context: BrowserContext, page: Page): Promise<string[]> {
  const session = await context.newCDPSession(page);
  const { entries } = await session.send('Page.getNavigationHistory');
  return entries.map(({ url }) => url);
}

it('a widget in a frame of another site opens a window that goes to the provider at once, and learns the outcome', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const { url, inner } = await widgetToken(test, { workspace_name: 'acme', allowed_origin: host });
  await page.goto(`${host}/?widget=${encodeURIComponent(url.href)}`);
  const frame = page.frames().find((one) => one.url().startsWith(ours)) as Frame;
  // What the widget does when its button is clicked.
  const begin = `(async () => {
    const token = '${inner}';
    const call = (path, options = {}) => fetch('/api/v1/embedded/oauth/flows' + path, {
      ...options, headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
    }).then((answer) => answer.json());
    const frame_proof = document.querySelector('meta[name=inlay-frame-proof]').content;
    const body = JSON.stringify({ source_template_id: '${templateId}', frame_proof });
    const flow = await call('', { method: 'POST', body });
    if (!flow.start_url) throw new Error(JSON.stringify(flow));
    window.open(flow.start_url);
    let now = flow;
    while (!['connected', 'failed'].includes(now.state)) now = await call('/' + flow.id + '?wait=20&known=' + now.state);
    return now;
  })()`;
  const opened = context.waitForEvent('page');
  const ended = frame.evaluate(begin);
  const popup = await opened;
  await popup.waitForURL((address) => address.href.startsWith(issuer));
  await signInAs(popup, 'ada').catch((error) => {
    // Our last page closes itself.
    if (!popup.isClosed()) throw error;
  });
  expect(await ended).toMatchObject({ state: 'connected', account: 'ada@example.com', missing_scopes: [] });
  await context.close();
});

it('a link asks first; its button works after a second; and nothing of the sign-in stays in the browser', async () => {
  // Through another host of the provider: the answer to the click must not be stopped by our own policy.
  const { db } = test.app.store;
  const row = await db.selectFrom('oauth_clients').selectAll().executeTakeFirstOrThrow();
  const described = { ...JSON.parse(row.provider ?? '{}'), authorization_url: `${hop}/auth` };
  await db
    .updateTable('oauth_clients')
    .set({ provider: JSON.stringify(described) })
    .execute();
  const body = { workspace_id: await test.workspaceId('acme'), source_template_id: templateId, customer_label: 'Acme' };
  const link = await test.request('POST', '/api/v1/integrations/oauth/links', { body });
  const context = await browser.newContext({ colorScheme: 'dark', locale: 'de' });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1_000);
  await page.goto(link.body.url);
  const button = page.getByRole('button', { name: 'Weiter zu Real Provider' });
  expect(await button.isDisabled()).toBe(true);
  await page.clock.runFor(900);
  expect(await button.isDisabled()).toBe(true);
  // The window comes to the front: the second starts over.
  await page.evaluate("window.dispatchEvent(new Event('focus'))");
  await page.clock.runFor(900);
  expect(await button.isDisabled()).toBe(true);
  await page.clock.runFor(200);
  expect(await button.isEnabled()).toBe(true);
  for (const width of [1000, 320]) {
    await page.setViewportSize({ width, height: 700 });
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), String(width)).toBe(true);
    const { x = 0, width: own = 0 } = (await page.locator('main').boundingBox()) ?? {};
    expect(Math.abs(x + own / 2 - width / 2), `the middle of ${width}`).toBeLessThan(2);
  }
  expect(problems).toEqual([]);
  await page.clock.resume();
  await button.click();
  await signInAs(page, 'bob');
  expect(await page.locator('h1').textContent()).toBe(wordsFor('de').words.connectedTitle);
  const kept = await historyOf(context, page);
  for (const address of kept.filter((one) => one.startsWith(ours))) expect(address).not.toMatch(/code=|state=/);
  expect(kept.at(-1)).toMatch(new RegExp(`^${ours}/oauth/done/[0-9a-f-]{36}$`));
  expect(await page.evaluate('document.referrer')).toBe('');
  expect(referrers.filter((one) => one.startsWith(ours))).toEqual([]);
  const [cookie] = await context.cookies(ours);
  expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', path: '/' });
  const { data } = (await test.request('GET', `/api/v1/integrations/sources?workspace_id=${body.workspace_id}`)).body;
  expect(data).toHaveLength(1);
  await context.close();
});
