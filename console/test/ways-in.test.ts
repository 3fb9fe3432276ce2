/** Signing in to the console in Chromium, over https: with a token, a one-time link, and the operator's own provider. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chromiumArguments, findChromium } from '../../scripts/chromium.mjs';
import { itInLongRun } from '../../scripts/long-run.ts';
import { makeConsoleLink } from '../../server/src/edge/console/links.ts';
import { systemRuntime } from '../../server/src/kernel/runtime.ts';
import { createOrganization } from '../../server/src/tenancy/organizations/organizations.ts';
import { logOfTest } from '../../server/test/security/support.ts';
import { startTestApp, type TestApp } from '../../server/test/support/app.ts';
import { sampleData } from '../../server/test/support/pipelines.ts';
import { chromiumArgumentsForSites, handOnTo, hosts, openSites, type Sites } from '../../widget/test/support/sites.ts';
import { words } from '../src/words/words.ts';

let sites: Sites;
let test: TestApp;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let provider: Server;
let otherOrganization: string;
let handle: RequestListener = (_request, response) => response.writeHead(404).end();
const problems: string[] = [];
const cookieName = '__Host-inlay_console';

beforeAll(async () => {
  sites = await openSites();
  const { service } = sites.origins;
  provider = createServer((request, response) => handle(request, response));
  await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  handle = openProvider(issuer, `${service}/console/oidc/callback`);
  otherOrganization = crypto.randomUUID();
  test = await startTestApp('sqlite', {
    env: {
      INLAY_PUBLIC_URL: service,
      INLAY_CONSOLE_OIDC_ISSUER: issuer,
      INLAY_CONSOLE_OIDC_CLIENT_ID: 'console',
      INLAY_CONSOLE_OIDC_CLIENT_SECRET: 'a secret of the test',
      INLAY_CONSOLE_OIDC_SCOPES: 'openid email groups',
      INLAY_CONSOLE_OIDC_RULES: JSON.stringify([
        { claim: 'groups', value: 'admins', permission: 'full' },
        { claim: 'groups', value: 'support', permission: 'read', organization: otherOrganization },
      ]),
    },
  });
  const runtime = { ...systemRuntime, newId: () => otherOrganization };
  await createOrganization(test.app.store, runtime, { name: 'Branch' });
  await test.app.http.listen({ host: '127.0.0.1', port: 0 });
  sites.serve('service', handOnTo(`http://127.0.0.1:${(test.app.http.server.address() as AddressInfo).port}`));
  sites.serve('product', (_asked, response) => {
    const body = '<!doctype html><title>Mail</title><main></main>';
    response.writeHead(200, { 'content-type': 'text/html' }).end(body);
  });
  browser = await chromium.launch({
    executablePath: await findChromium({ install: true }),
    args: [...chromiumArguments, ...chromiumArgumentsForSites(sites.certificate)],
  });
});
afterEach(async () => {
  await context?.close();
  expect(problems.splice(0)).toEqual([]);
});
afterAll(async () => {
  await browser?.close();
  await test?.stop();
  sites?.close();
  provider?.close();
  provider?.closeAllConnections();
});

function openProvider(issuer: string, redirectUrl: string): RequestListener {
  const groups: Record<string, string[]> = { ada: ['staff', 'admins'], bob: ['support'] };
  return new Provider(issuer, {
    clients: [
      {
        client_id: 'console',
        client_secret: 'a secret of the test',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    scopes: ['openid', 'email', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    conformIdTokenClaims: false,
    findAccount: (_context, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: `${id}@example.com`, email_verified: true, groups: groups[id] ?? [] }),
    }),
    cookies: { keys: ['of a test'] },
  }).callback();
}

/** A new browser profile. */
async function visit(path: string): Promise<void> {
  context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce' });
  context.setDefaultTimeout(300_000);
  page = await context.newPage();
  page.on('pageerror', (error) => problems.push(String(error.stack ?? error.message)));
  await page.goto(`${sites.origins.service}/console${path}`);
}

async function link({ permission = 'full' as 'full' | 'read', label = 'Ada', organizationId = test.organizationId }) {
  const ctx = { store: test.app.store, runtime: systemRuntime, ...logOfTest, publicUrl: sites.origins.service };
  return (await makeConsoleLink(ctx, { organizationId, permission, label })).url;
}

async function giveToken(token = test.operatorToken): Promise<void> {
  await page.getByLabel('Operator token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation').waitFor();
}

const useLink = () => page.getByRole('button', { name: words.signIn.useLink }).click();
const who = () => page.locator('.c-settings-who span').first().innerText();
const sessionCookie = async () => (await context.cookies()).find(({ name }) => name === cookieName);

/** The addresses that the browser keeps of the page. */
async function history(): Promise<string[]> {
  const session = await context.newCDPSession(page);
  const { entries } = await session.send('Page.getNavigationHistory');
  return entries.map(({ url }) => url);
}

describe('The cookie of a session', () => {
  it('is for https and for this host alone, and no script reads it', async () => {
    await visit('/customers');
    await giveToken();
    expect(await sessionCookie()).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Strict', path: '/' });
    expect((await sessionCookie())?.domain).toBe(hosts.service);
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await page.getByRole('heading', { name: 'Customers' }).waitFor();
  });

  it('that someone has planted is worth nothing after the sign-in', async () => {
    await visit('');
    const value = 'A'.repeat(43);
    await page.evaluate((planted) => {
      // biome-ignore lint/suspicious/noDocumentCookie: as a script of someone else would do it
      document.cookie = planted;
    }, `${cookieName}=${value}; Path=/; Secure`);
    expect((await sessionCookie())?.value).toBe(value);
    await giveToken();
    const cookie = await sessionCookie();
    expect(cookie?.value).not.toBe(value);
    expect(cookie?.httpOnly).toBe(true);
    expect((await context.cookies()).filter(({ name }) => name === cookieName)).toHaveLength(1);
  });

  it('is missing when someone comes from another site, and the page shows the session all the same', async () => {
    await visit('');
    await giveToken();
    await page.goto(sites.origins.product);
    await page.evaluate((href) => {
      const anchor = Object.assign(document.createElement('a'), { href, textContent: 'to the console' });
      document.querySelector('main')?.append(anchor);
    }, `${sites.origins.service}/console/jobs`);
    await page.getByRole('link', { name: 'to the console' }).click();
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
  });
});

describe('A one-time link', () => {
  it('is spent by the button alone, and its code is then in neither the address nor the history', async () => {
    const url = await link({});
    const code = new URL(url).hash.slice(1);
    await visit('');
    // What mail scanners, previews and browsers do with a link.
    await page.evaluate(async (href) => {
      await fetch(href);
      for (const rel of ['prefetch', 'prerender'])
        document.head.append(Object.assign(document.createElement('link'), { rel, href }));
    }, url);
    await page.goto(url);
    await page.reload();
    expect(page.url()).not.toContain(code);
    // A page that is reloaded does not know the code any more: the link is opened again.
    await page.goto('about:blank');
    await page.goto(url);
    await page.getByRole('heading', { name: words.signIn.linkTitle }).waitFor();
    expect(page.url()).not.toContain(code);
    await useLink();
    await page.getByRole('navigation').waitFor();
    expect(await who()).toBe('Ada');
    expect((await history()).filter((address) => address.includes(code))).toEqual([]);
  });

  itInLongRun('that was spent, or is too old, says so, and there is another way', async () => {
    const url = await link({});
    await visit('');
    await page.goto(url);
    await test.app.store.db.updateTable('console_links').set({ expires_at: 0 }).where('used_at', 'is', null).execute();
    await useLink();
    await page.getByRole('alert').waitFor();
    await page.getByText(words.signIn.linkFailed).waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('console_sign_in_failed');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await giveToken();
  });

  it('asks before it replaces a session, and leaves it where the answer is no', async () => {
    await visit('');
    await giveToken();
    const before = await sessionCookie();
    const url = await link({ permission: 'read', label: 'Grace' });
    await page.goto(url);
    await useLink();
    await page.getByText(words.signIn.replaceTitle).waitFor();
    expect(await sessionCookie()).toEqual(before);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('navigation').waitFor();
    expect(await who()).toBe('first');

    // The console is open at the address of links: the browser does not load the page again.
    await page.goto(url);
    await useLink();
    await page.getByRole('button', { name: words.signIn.replace }).click();
    await expect.poll(who).toBe('Grace');
    expect((await sessionCookie())?.value).not.toBe(before?.value);
    const next = await link({ permission: 'full', label: 'Linus' });
    await page.goto(next);
    await useLink();
    await page.getByText(words.signIn.replaceTitle).waitFor();
    expect(page.url()).not.toContain('code=');
  });

  itInLongRun('names the person who changes something, as no token is behind it', async () => {
    await visit('');
    await page.goto(await link({ label: 'Hedy' }));
    await useLink();
    await page.getByRole('navigation').waitFor();
    const id = await page.evaluate(
      async (body) => {
        const headers = { 'content-type': 'application/json', 'x-inlay-console': '1' };
        const path = '/console/api/v1/integrations/templates/sources';
        return (await (await fetch(path, { method: 'POST', headers, body })).json()).id;
      },
      JSON.stringify({ name: 'Shop', actor_definition_id: sampleData }),
    );
    await page.goto(`${sites.origins.service}/console/templates/${id}`);
    await expect.poll(() => page.getByRole('table', { name: 'Versions' }).innerText()).toContain('Hedy (console)');
  });

  it('changes every tab of the browser', async () => {
    await visit('/customers');
    await giveToken();
    const other = await context.newPage();
    await other.goto(await link({ organizationId: otherOrganization, label: 'Branch office' }));
    await other.getByRole('button', { name: words.signIn.useLink }).click();
    await other.getByRole('button', { name: words.signIn.replace }).click();
    await expect.poll(who).toBe('Branch office');
    expect(await page.locator('.c-brand-place').innerText()).toBe('Branch');
  });
});

describe('The provider of the organization', () => {
  const begin = () => page.getByRole('button', { name: words.signIn.oidc });

  async function signInAs(name: string): Promise<void> {
    await page.locator('input[name=login]').fill(name);
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  it('signs in and returns to the page, and again after twelve hours', async () => {
    await visit('/customers?sort=name');
    await begin().dblclick();
    await signInAs('ada');
    await page.getByRole('heading', { name: 'Customers' }).waitFor();
    expect(page.url()).toBe(`${sites.origins.service}/console/customers?sort=name`);
    expect(await who()).toBe('ada@example.com');
    expect(await sessionCookie()).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Strict' });

    const twelveHoursMs = 12 * 3_600_000;
    await test.app.store.db
      .updateTable('console_sessions')
      .set(({ eb }) => ({ ends_at: eb('ends_at', '-', twelveHoursMs) }))
      .where('kind', '=', 'oidc')
      .execute();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await dialog.getByRole('button', { name: words.signIn.oidc }).click();
    await page.waitForURL(/console\/customers/);
    await page.getByRole('heading', { name: 'Customers' }).waitFor();
    expect(page.url()).toBe(`${sites.origins.service}/console/customers?sort=name`);
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  it('gives the organization and the role by rule, and refuses in words who fits none', async () => {
    await visit('');
    await begin().click();
    await signInAs('bob');
    await page.getByRole('navigation').waitFor();
    expect(await page.locator('.c-brand-place').innerText()).toBe('Branch');
    expect(await page.locator('.c-settings-who').innerText()).toContain('Viewer');

    await context.close();
    await visit('');
    await begin().click();
    await signInAs('eve');
    await page.getByText(/no access/).waitFor();
    expect(await sessionCookie()).toBeUndefined();
    await page.getByRole('link', { name: 'Back to sign-in' }).click();
    await begin().waitFor();
  });
});
