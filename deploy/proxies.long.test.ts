/** People behind nginx and Caddy: an operator in the console and a customer in the widget, in Chromium over TLS. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chromiumArguments, findChromium } from '../scripts/chromium.mjs';
import { freePort } from '../scripts/disposable.mjs';
import { proxyCases, type StartedProxy } from '../scripts/proxies.mjs';
import { localFiles, sampleData } from '../server/test/support/pipelines.ts';
import { type Service, startService } from '../server/test/support/service.ts';
import {
  chromiumArgumentsForSites,
  hosts,
  makeCertificate,
  openSites,
  type Sites,
} from '../widget/test/support/sites.ts';

const operatorToken = 'an-operator-token-only-for-these-tests';
const certificate = makeCertificate();
let browser: Browser;
let sites: Sites;

beforeAll(async () => {
  sites = await openSites(certificate);
  browser = await chromium.launch({
    executablePath: await findChromium({ install: true }),
    args: [...chromiumArguments, ...chromiumArgumentsForSites(certificate.certificate)],
  });
});
afterAll(async () => {
  await browser?.close();
  sites?.close();
});

describe.each(proxyCases)('Behind $name at "$path/"', ({ start, path }) => {
  let dataDir: string;
  let service: Service;
  let proxy: StartedProxy;
  let publicUrl: string;
  let context: BrowserContext;
  let page: Page;
  let problems: string[] = [];

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'inlay-proxied-'));
    const publicPort = await freePort();
    publicUrl = `https://${hosts.service}:${publicPort}${path}`;
    const env = {
      INLAY_PUBLIC_URL: publicUrl,
      INLAY_TRUSTED_PROXIES: '127.0.0.1',
      INLAY_OPERATOR_TOKEN: operatorToken,
    };
    service = await startService({ dataDir, env });
    const site = { host: hosts.service, port: service.port, publicPort, ...certificate };
    proxy = await start({ ...site, ...(path !== '' && { path }) });
  });
  afterAll(async () => {
    await proxy?.stop();
    await service?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce' });
    context.setDefaultTimeout(300_000);
    page = await context.newPage();
    page.on('pageerror', (error) => problems.push(String(error.stack ?? error.message)));
    page.on('requestfailed', (request) => {
      // A page that is left ends its requests.
      const reason = request.failure()?.errorText;
      if (reason !== 'net::ERR_ABORTED') problems.push(`${request.url()}: ${reason}`);
    });
    page.on('response', (response) => {
      // Before the sign-in, nobody is signed in.
      const isExpected = response.status() === 401 && response.url() === `${publicUrl}/console/session`;
      if (response.status() >= 400 && !isExpected) problems.push(`${response.url()}: ${response.status()}`);
    });
  });
  afterEach(async () => {
    await context.close();
    const found = problems;
    problems = [];
    expect(found).toEqual([]);
  });

  async function operator(route: string, body: object): Promise<{ token: string }> {
    const response = await fetch(`${service.url}/api/v1${route}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${route}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { token: string };
  }

  it('an operator signs in to the console, and sees a new customer without reloading', async () => {
    await page.goto(`${publicUrl}/console/customers`);
    await page.getByLabel('Operator token').fill(operatorToken);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Customers' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`${path}/console/customers`);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ name: '__Host-inlay_console', secure: true, sameSite: 'Strict' });
    await page.reload();
    await page.getByRole('heading', { name: 'Customers' }).waitFor();
    await operator('/embedded/scoped-token', { workspace_name: 'Ledgerline' });
    await page.getByText('Ledgerline').first().waitFor();
  });

  it('a customer connects a source in the widget on a page of the product', async () => {
    await operator('/integrations/templates/sources', {
      ...{ actor_definition_id: sampleData, name: 'Demo shop', partial_default_config: { seed: 7 } },
    });
    await operator('/integrations/templates/connections', {
      ...{ destination_name: 'Warehouse', destination_definition_id: localFiles },
      ...{ destination_config: { path: 'exports' }, cron_expression: null, namespace_format: '' },
    });
    const { token } = await operator('/embedded/widget-token', {
      ...{ workspace_name: 'widget', allowed_origin: sites.origins.product },
    });
    const { widgetUrl } = JSON.parse(Buffer.from(token, 'base64').toString());
    expect(widgetUrl.startsWith(`${publicUrl}/`)).toBe(true);
    sites.serve('product', (asked, response) => {
      if (asked.url !== '/') return void response.writeHead(204).end();
      const frame = `<iframe title="Widget" width="500" height="700" src="${widgetUrl.replaceAll('&', '&amp;')}"></iframe>`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Product</title>${frame}`);
    });
    await page.goto(sites.origins.product);
    const frame = page.frameLocator('iframe');
    await frame.getByLabel('Users').fill('20');
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    await frame.getByText(/rows synced/).waitFor();
    expect(await frame.locator('[data-screen]').getAttribute('data-screen')).toBe('connected');
  });
});
