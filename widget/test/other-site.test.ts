/**
 * Signing in from a product on another site than the service, over https, in browsers with the defaults that customers have:
 * storage is kept apart for each site, popups are blocked, and third-party cookies may be. The short run signs in once in
 * Chromium; the long run tries every case in Chromium and in Firefox.
 */
import type { AddressInfo } from 'node:net';
import type { Credential } from '@inlay/contract/credentials';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { widgetToken } from '../../server/test/security/support.ts';
import { startTestApp, type TestApp } from '../../server/test/support/app.ts';
import { isLongRun } from '../../server/test/support/long-run.ts';
import { httpApi } from '../../server/test/support/pipelines.ts';
import { makeClient } from '../../server/test/support/providers.ts';
import { launchChromium } from './support/chromium.ts';
import { launchFirefox } from './support/firefox.ts';
import { type Provider, startProvider } from './support/provider.ts';
import { type Engine, type EngineOptions, Tab } from './support/real-browsers.ts';
import { handOnTo, hosts, openSites, type Sites } from './support/sites.ts';

let sites: Sites;
let provider: Provider;
let test: TestApp;
let templateId: string;
const pages = new Map<string, { body: string; headers: Record<string, string> }>();

beforeAll(async () => {
  sites = await openSites();
  provider = await startProvider();
  const { origins } = sites;
  test = await startTestApp('sqlite', {
    env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true', INLAY_PUBLIC_URL: origins.service },
    overrides: { signInPatienceMs: 1_000 },
  });
  await test.app.http.listen({ host: '127.0.0.1', port: 0 });
  sites.serve('service', handOnTo(`http://127.0.0.1:${(test.app.http.server.address() as AddressInfo).port}`));
  sites.serve('provider', handOnTo(provider.url));
  sites.serve('product', ({ url = '' }, response) => {
    const { body = '', headers = {} } = pages.get(url) ?? {};
    response
      .writeHead(200, { 'content-type': 'text/html', ...headers })
      .end(`<!doctype html><title>App</title>${body}`);
  });
  const authorization_url = `${origins.provider}/authorize`;
  const client = await makeClient(test, { ...provider.endpoints, authorization_url }, { name: 'Acme CRM' });
  const template = {
    actor_definition_id: httpApi,
    name: 'Acme CRM',
    partial_default_config: {
      base_url: provider.url,
      authentication: { type: 'bearer' },
      streams: [{ name: 'items', path: '/items' }],
    },
    oauth: {
      oauth_client_id: client.id,
      scopes: ['contacts.read'],
      fields: { access_token: ['authentication', 'token'] },
    },
  };
  const made = await test.request('POST', '/api/v1/integrations/templates/sources', { body: template });
  expect(made.status, made.text).toBe(201);
  templateId = made.body.id;
});
afterAll(async () => {
  await test?.stop();
  provider?.close();
  sites?.close();
});

/** The product's page with the widget in it. */
async function showWidget(
  engine: Engine,
  options: object = { template: templateId },
  headers: Record<string, string> = {},
): Promise<Tab> {
  const { origins } = sites;
  const request = { workspace_name: engine.name, allowed_origin: origins.product };
  const { whole } = await widgetToken(test, request);
  const path = `/${pages.size}`;
  const mount = `events = []; Inlay.mount(document.querySelector('main'), { token: ${JSON.stringify(whole)},
    locale: 'en', onEvent: (event) => events.push(event), ...${JSON.stringify(options)} })`;
  const body = `<main></main><script src="${origins.service}/embed.js"></script><script>${mount}</script>`;
  pages.set(path, { body, headers });
  return await Tab.open(engine, origins.product + path);
}

const signIn = 'Sign in with Acme CRM';
const connected = 'Connected as ada@example.com';

const steps = (tab: Tab) =>
  tab.value(`events.filter(({ type }) => type.startsWith('sign_in_')).map(({ type }) => type.slice(8)).join()`);

/** Signs in with the window that opens at a click. */
async function signInWith(tab: Tab, name = signIn): Promise<void> {
  const popup = await tab.opened(() => tab.click(name));
  await popup.click('Allow');
}

async function goOnAfterReload(engine: Engine): Promise<void> {
  const tab = await showWidget(engine);
  const popup = await tab.opened(() => tab.click(signIn));
  await popup.see('contacts.read');
  await tab.window.reload();
  await tab.see('Go on in the window of');
  await popup.click('Allow');
  await tab.see(connected);
}

const cases: Record<string, (engine: Engine) => Promise<void>> = {
  async 'signs in with a popup'(engine) {
    const tab = await showWidget(engine);
    const popup = await tab.opened(() => tab.click(signIn));
    await popup.see('contacts.read');
    expect(await popup.value('location.origin')).toBe(sites.origins.provider);
    expect(await tab.shows('If no new window has opened')).toBe(false);
    await popup.click('Allow');
    await tab.see(connected);
    expect(await steps(tab)).toBe('started,succeeded');
  },

  async 'is driven with its own defaults: storage is kept apart for each site'(engine) {
    const tab = await showWidget(engine);
    await tab.see(signIn);
    await tab.value(`localStorage.setItem('kept', 'in the frame')`, 'frame');
    expect(await tab.value(`localStorage.getItem('kept')`, 'frame')).toBe('in the frame');
    const own = await Tab.open(engine, `${sites.origins.service}/docs/style.css`);
    expect(await own.value(`String(localStorage.getItem('kept'))`)).toBe('null');
  },

  async 'shows a link where the browser blocks the popup'(engine) {
    const tab = await showWidget(engine);
    await tab.see(signIn);
    const before = (await engine.windows()).map(({ id }) => id);
    await tab.clickByScript(signIn);
    await tab.see('If no new window has opened');
    expect((await engine.windows()).filter(({ id }) => !before.includes(id))).toEqual([]);
    await signInWith(tab, 'Open the sign-in');
    await tab.see(connected);
  },

  async 'signs in from a page with an opener policy'(engine) {
    const headers = { 'cross-origin-opener-policy': 'same-origin' };
    const tab = await showWidget(engine, { template: templateId }, headers);
    const popup = await tab.opened(() => tab.click(signIn));
    await popup.see('contacts.read');
    await tab.see('Go on in the window of');
    expect(await tab.shows('If no new window has opened'), 'the server says that it started').toBe(false);
    await popup.click('Allow');
    await tab.see(connected);
  },

  async 'says that the customer did not agree, and begins again'(engine) {
    const tab = await showWidget(engine);
    const popup = await tab.opened(() => tab.click(signIn));
    await popup.click('Deny');
    await tab.see('You did not agree to what is asked for');
    await signInWith(tab, 'Sign in again');
    await tab.see(connected);
    expect(await steps(tab)).toBe('started,failed,started,succeeded');
  },

  async 'opens one window for a double click'(engine) {
    const tab = await showWidget(engine);
    const before = (await engine.windows()).map(({ id }) => id);
    const popup = await tab.opened(() => tab.click(signIn, 2));
    await popup.see('contacts.read');
    expect((await engine.windows()).filter(({ id }) => !before.includes(id))).toHaveLength(1);
    await popup.click('Allow');
    await tab.see(connected);
    expect(provider.visits).toBe(1);
    expect(await steps(tab)).toBe('started,succeeded');
  },

  async 'keeps two tabs apart'(engine) {
    const one = await showWidget(engine);
    const popupOfOne = await one.opened(() => one.click(signIn));
    await popupOfOne.see('contacts.read');
    const other = await showWidget(engine);
    const popupOfOther = await other.opened(() => other.click(signIn));
    await popupOfOther.see('contacts.read');
    await popupOfOne.click('Allow');
    await one.see(connected);
    expect(await other.shows(connected)).toBe(false);
    await popupOfOther.click('Allow');
    await other.see(connected);
  },

  'goes on after a reload': (engine) => goOnAfterReload(engine),

  async 'says that it took too long, in the window and in the widget, and begins again'(engine) {
    const tab = await showWidget(engine);
    const popup = await tab.opened(() => tab.click(signIn));
    await popup.see('contacts.read');
    await test.app.store.db.updateTable('oauth_flows').set({ expires_at: 1 }).where('state', '=', 'started').execute();
    await popup.click('Allow');
    await popup.see('This address cannot be used any more');
    await tab.see('The sign-in took too long');
    await signInWith(tab, 'Sign in again');
    await tab.see(connected);
  },

  async 'says in the window and in the widget that a provider is slow, or does not answer, and begins again'(engine) {
    const tab = await showWidget(engine);
    let answer: (isGiven: boolean) => void = () => {};
    for (const isGiven of [false, true]) {
      provider.held = new Promise((resolve) => {
        answer = resolve;
      });
      const popup = await tab.opened(() => tab.click(isGiven ? 'Sign in again' : signIn));
      await popup.click('Allow');
      await popup.see('The provider has not answered yet. This page goes on by itself.');
      await tab.see('Finishing the sign-in');
      await tab.see('Cancel');
      answer(isGiven);
      // The window closes itself soon: what came of it is said in the widget.
      await tab.see(isGiven ? connected : 'The provider does not answer at the moment. Try again later.');
    }
    expect(await steps(tab)).toBe('started,failed,started,succeeded');
  },

  async 'asks before a source brings the data of another account'(engine) {
    const tab = await showWidget(engine);
    await signInWith(tab);
    await tab.see(connected);
    await tab.click('Test and connect');
    const madeOf = async () => {
      const workspace = await test.workspaceId(engine.name);
      return (await test.request('GET', `/api/v1/integrations/sources?workspace_id=${workspace}`)).body.data;
    };
    await expect.poll(async () => (await madeOf()).length).toBe(1);
    const accounts = async () =>
      (await test.request('GET', '/api/v1/integrations/credentials')).body.data
        .filter((one: Credential) => one.source_ids.includes(source.id))
        .map((one: Credential) => one.account);
    const [source] = await madeOf();
    const again = await showWidget(engine, { source: source.id });
    await again.click('Settings');
    await again.see(connected);
    provider.account = { id: 2, email: 'bob@example.com' };
    await signInWith(again, 'Use another account');
    await again.see('You have signed in as bob@example.com');
    expect(await accounts()).toEqual(['ada@example.com']);
    await again.click('Use this account');
    await again.see('Connected as bob@example.com');
    expect(await accounts()).toEqual(['bob@example.com']);
  },
};

const casesWithoutCookies: typeof cases = {
  async 'signs in with a popup'(engine) {
    const tab = await showWidget(engine);
    await tab.see(signIn);
    const cookie = `document.cookie = 'third=party; SameSite=None; Secure'; document.cookie`;
    expect(await tab.value(cookie, 'frame'), 'the browser blocks them').toBe('');
    await signInWith(tab);
    await tab.see(connected);
  },

  'goes on after a reload': (engine) => goOnAfterReload(engine),
};

const engines: Record<string, (options: EngineOptions) => Promise<Engine>> = {
  Chromium: (options) => launchChromium({ ...options, whole: isLongRun }),
  // A machine without it takes longer to install and start it than for all other cases together.
  ...(isLongRun && { Firefox: launchFirefox }),
};
const cheap = /signs in with a popup|storage is kept apart|provider is slow/;

for (const [name, launch] of Object.entries(engines)) {
  const runIn = (title: string, table: typeof cases, blocksThirdPartyCookies: boolean) =>
    describe(title, () => {
      let engine: Engine;
      beforeAll(async () => {
        engine = await launch({ hosts: Object.values(hosts), certificate: sites.certificate, blocksThirdPartyCookies });
      });
      afterAll(() => engine?.close());
      beforeEach(() => {
        provider.account = { id: 1, email: 'ada@example.com' };
        provider.held = undefined;
        provider.visits = 0;
      });
      for (const [sentence, run] of Object.entries(table)) it(sentence, () => run(engine));
    });
  runIn(name, isLongRun ? cases : Object.fromEntries(Object.entries(cases).filter(([one]) => cheap.test(one))), false);
  if (isLongRun) runIn(`${name} without third-party cookies`, casesWithoutCookies, true);
}
