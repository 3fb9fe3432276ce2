/**
 * Signing in from a product on another site than the service, over https, in browsers with the defaults that customers have:
 * storage is kept apart for each site, popups are blocked, and third-party cookies may be. The short run signs in once in
 * Chromium; the long run tries every case in Chromium and in Firefox.
 */
import type { AddressInfo } from 'node:net';
import type { Credential } from '@inlay/contract/credentials/credentials';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isLongRun } from '../../scripts/long-run.ts';
import { wordsFor } from '../../server/src/credentials/sign-in/page-words.ts';
import { addTenant, type Tenant, widgetToken } from '../../server/test/security/support.ts';
import { startTestApp, type TestApp } from '../../server/test/support/app.ts';
import { httpApi } from '../../server/test/support/pipelines.ts';
import { makeClient } from '../../server/test/support/providers.ts';
import words from '../src/sign-in/sign-in-en.ts';
import { launchChromium } from './support/chromium.ts';
import { launchFirefox } from './support/firefox.ts';
import { type HostileProvider, startHostileProvider } from './support/hostile-provider.ts';
import { type Provider, startProvider } from './support/provider.ts';
import { type Engine, type EngineOptions, Tab } from './support/real-browsers.ts';
import { handOnTo, hosts, openSites, type Sites } from './support/sites.ts';

type Client = Awaited<ReturnType<typeof makeClient>>;

let sites: Sites;
let provider: Provider;
let test: TestApp;
let client: Client;
let templateId: string;
/** Another organization of the same service, and its provider. */
let stranger: Tenant;
let hostile: HostileProvider;
let hostileClient: Client;
let hostileTemplateId: string;
const pages = new Map<string, { body: string; headers: Record<string, string> }>();
/** Where customers come back to without a popup. */
const backPath = '/back';

beforeAll(async () => {
  sites = await openSites();
  provider = await startProvider();
  hostile = await startHostileProvider();
  const { origins } = sites;
  test = await startTestApp('sqlite', {
    env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true', INLAY_PUBLIC_URL: origins.service },
    overrides: { signInPatienceMs: 1_000 },
  });
  await test.app.http.listen({ host: '127.0.0.1', port: 0 });
  sites.serve('service', handOnTo(`http://127.0.0.1:${(test.app.http.server.address() as AddressInfo).port}`));
  sites.serve('provider', handOnTo(provider.url));
  sites.serve('product', ({ url = '' }, response) => {
    const { body = '', headers = {} } = pages.get(url.replace(/[?].*/, '')) ?? {};
    response
      .writeHead(200, { 'content-type': 'text/html', ...headers })
      .end(`<!doctype html><title>App</title>${body}`);
  });
  const authorization_url = `${origins.provider}/authorize`;
  client = await makeClient(test, { ...provider.endpoints, authorization_url }, { name: 'Acme CRM' });
  provider.redirectUrl = client.redirect_url;
  templateId = await makeTemplate(test, client.id, 'Acme CRM');
  sites.serve('hostile', handOnTo(hostile.url));
  stranger = await addTenant(test, 'stranger');
  hostileClient = await makeClient(stranger, hostile.endpointsAt(origins.hostile), { name: 'Free Gifts' });
  hostileTemplateId = await makeTemplate(stranger, hostileClient.id, 'Free Gifts');
});
afterAll(async () => {
  await test?.stop();
  provider?.close();
  hostile?.close();
  sites?.close();
});

async function makeTemplate({ request }: Pick<TestApp, 'request'>, oauth_client_id: string, name: string) {
  const body = {
    actor_definition_id: httpApi,
    name,
    partial_default_config: {
      base_url: provider.url,
      authentication: { type: 'bearer' },
      streams: [{ name: 'items', path: '/items' }],
    },
    oauth: {
      oauth_client_id,
      scopes: ['contacts.read'],
      fields: { access_token: ['authentication', 'token'] },
      return_to: [`${sites.origins.product}${backPath}`],
    },
  };
  const made = await request('POST', '/api/v1/integrations/templates/sources', { body });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}

/** The product's page with the widget in it. */
async function showWidget(
  engine: Engine,
  options: object = { template: templateId },
  headers: Record<string, string> = {},
  operator: Pick<TestApp, 'request'> = test,
  workspace_name = engine.name,
): Promise<Tab> {
  const { origins } = sites;
  const request = { workspace_name, allowed_origin: origins.product };
  const { whole } = await widgetToken(operator, request);
  const path = `/${pages.size}`;
  const mount = `events = []; Inlay.mount(document.querySelector('main'), { token: ${JSON.stringify(whole)},
    locale: 'en', onEvent: (event) => events.push(event), ...${JSON.stringify(options)} })`;
  const body = `<main></main><script src="${origins.service}/embed.js"></script><script>${mount}</script>`;
  pages.set(path, { body, headers });
  // The same page as any other of the product.
  pages.set(backPath, { body, headers });
  return await Tab.open(engine, origins.product + path);
}

/** The window in which a customer signs in with the provider of the other organization. */
async function openHostile(engine: Engine): Promise<{ tab: Tab; popup: Tab }> {
  const tab = await showWidget(engine, { template: hostileTemplateId }, {}, stranger);
  return { tab, popup: await tab.opened(() => tab.click('Sign in with Free Gifts')) };
}

const signIn = words.signIn('Acme CRM');
const { words: pageWords } = wordsFor('en');
const over = pageWords.overTitle;
/** What a frame of another site may keep. */
const cookieOfFrame = `document.cookie = 'third=party; SameSite=None; Secure'; document.cookie`;
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
  await tab.see(words.waiting('Acme CRM'));
  await popup.click('Allow');
  await tab.see(connected);
}

/** Every popup is blocked: the whole page goes to the provider, and comes back. */
async function signInWithoutPopup(engine: Engine): Promise<void> {
  // The sign-in waits in the form, so another test must not find it.
  const tab = await showWidget(engine, { template: templateId }, {}, test, `${engine.name} ${pages.size}`);
  await tab.see(signIn);
  await tab.clickByScript(signIn);
  await tab.click(words.useThisWindow);
  await tab.click('Allow');
  await tab.see(connected);
  expect(await tab.value('location.pathname + location.search')).toBe(backPath);
  expect(await steps(tab)).toBe('succeeded');
  await tab.window.reload();
  await tab.see(connected);
}

async function reopenWindow(engine: Engine): Promise<void> {
  const tab = await showWidget(engine);
  const popup = await tab.opened(() => tab.click(signIn));
  await popup.see('contacts.read');
  await popup.window.close();
  const again = await tab.opened(() => tab.click(words.reopenWindow));
  await again.click('Allow');
  await tab.see(connected);
  expect(await steps(tab)).toBe('started,succeeded');
}

const cases: Record<string, (engine: Engine) => Promise<void>> = {
  async 'signs in with a popup'(engine) {
    const tab = await showWidget(engine);
    const popup = await tab.opened(() => tab.click(signIn));
    await popup.see('contacts.read');
    expect(await popup.value('location.origin')).toBe(sites.origins.provider);
    expect(await tab.shows(words.noWindow)).toBe(false);
    await popup.click('Allow');
    await tab.see(connected);
    expect(await steps(tab)).toBe('started,succeeded');
  },

  async 'is driven with its own defaults: a frame may keep cookies, and storage is kept apart for each site'(engine) {
    const tab = await showWidget(engine);
    await tab.see(signIn);
    // Otherwise the case without third-party cookies would pass for nothing.
    expect(await tab.value(cookieOfFrame, 'frame')).toBe('third=party');
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
    await tab.see(words.noWindow);
    expect((await engine.windows()).filter(({ id }) => !before.includes(id))).toEqual([]);
    await signInWith(tab, words.openWindow);
    await tab.see(connected);
  },

  async 'signs in from a page with an opener policy'(engine) {
    const headers = { 'cross-origin-opener-policy': 'same-origin' };
    const tab = await showWidget(engine, { template: templateId }, headers);
    const popup = await tab.opened(() => tab.click(signIn));
    await popup.see('contacts.read');
    await tab.see(words.waiting('Acme CRM'));
    expect(await tab.shows(words.noWindow), 'the server says that it started').toBe(false);
    await popup.click('Allow');
    await tab.see(connected);
  },

  async 'says that the customer did not agree, and begins again'(engine) {
    const tab = await showWidget(engine);
    const popup = await tab.opened(() => tab.click(signIn));
    await popup.click('Deny');
    await tab.see(words.failures.denied);
    await signInWith(tab, words.again);
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

  'resumes after a reload': goOnAfterReload,
  'comes back to the page where every popup is blocked': signInWithoutPopup,
  'opens a window again that was closed': reopenWindow,

  async 'says that it took too long, in the window and in the widget, and begins again'(engine) {
    const tab = await showWidget(engine);
    const popup = await tab.opened(() => tab.click(signIn));
    await popup.see('contacts.read');
    await test.app.store.db.updateTable('oauth_flows').set({ expires_at: 1 }).where('state', '=', 'started').execute();
    await popup.click('Allow');
    await popup.see(over);
    await tab.see(words.failures.expired);
    await signInWith(tab, words.again);
    await tab.see(connected);
  },

  async 'says in the window and in the widget that a provider is slow, or does not answer, and begins again'(engine) {
    const tab = await showWidget(engine);
    let answer: (isGiven: boolean) => void = () => {};
    for (const isGiven of [false, true]) {
      provider.held = new Promise((resolve) => {
        answer = resolve;
      });
      const popup = await tab.opened(() => tab.click(isGiven ? words.again : signIn));
      await popup.click('Allow');
      await popup.see(pageWords.waiting);
      await tab.see(words.finishing);
      await tab.see('Cancel');
      answer(isGiven);
      // The window closes soon, so the widget shows the outcome.
      await tab.see(isGiven ? connected : words.failures.unreachable);
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
    await signInWith(again, words.otherAccount);
    await again.see(words.unconfirmed);
    expect(await accounts()).toEqual(['ada@example.com']);
    await again.click(words.confirm);
    await again.see('Connected as bob@example.com');
    expect(await accounts()).toEqual(['bob@example.com']);
  },

  // A customer of two organizations; the provider of the second wants the codes that the provider of the first gives.
  async 'gives no code of one organization to the provider of another'(engine) {
    hostile.seen.length = 0;
    const atFirstProvider = (asked: URLSearchParams, redirect_uri: string) => {
      const like = { response_type: 'code', client_id: 'our app', scope: 'contacts.read', redirect_uri };
      return `${sites.origins.provider}/authorize?${new URLSearchParams({ ...like, state: asked.get('state') ?? '' })}`;
    };

    // It sends its own customer on to the first provider, which gives a code to the address that it knows.
    hostile.lure = (asked) => atFirstProvider(asked, client.redirect_url);
    const { popup: misled } = await openHostile(engine);
    await misled.click('Allow');
    await misled.see(over);

    // The address of the second has no place at the first provider.
    hostile.lure = (asked) => atFirstProvider(asked, hostileClient.redirect_url);
    const { popup: refused } = await openHostile(engine);
    await refused.see('This address is not registered.');

    // It has learnt what the first provider answers to a sign-in in this browser, and has that sent to its own address.
    const tab = await showWidget(engine);
    const popup = await tab.opened(() => tab.click(signIn));
    await popup.see('contacts.read');
    const answer = new URL(String(await popup.value(`document.querySelector('a').href`)));
    hostile.lure = () => hostileClient.redirect_url + answer.search;
    const { popup: swapped } = await openHostile(engine);
    await swapped.see(over);
    // The first customer's sign-in continues undisturbed.
    await popup.click('Allow');
    await tab.see(connected);

    // Its own codes do reach it, so what is looked through here is everything that it got.
    hostile.lure = (asked) => `${hostileClient.redirect_url}?code=own-code&state=${asked.get('state')}`;
    const { tab: own } = await openHostile(engine);
    await own.see('Connected');
    const told = hostile.seen.join('\n');
    expect(told).toContain('code=own-code');
    expect(provider.given.length).toBeGreaterThan(2);
    for (const secret of [...provider.given, answer.searchParams.get('state') ?? '']) {
      expect(secret.length).toBeGreaterThan(20);
      expect(told.includes(secret), secret).toBe(false);
    }
  },
};

const casesWithoutCookies: typeof cases = {
  async 'signs in with a popup'(engine) {
    const tab = await showWidget(engine);
    await tab.see(signIn);
    expect(await tab.value(cookieOfFrame, 'frame'), 'the browser blocks them').toBe('');
    await signInWith(tab);
    await tab.see(connected);
  },

  'resumes after a reload': goOnAfterReload,
  'comes back to the page where every popup is blocked': signInWithoutPopup,
};

const casesWithoutStorage: typeof cases = {
  async 'signs in with a popup'(engine) {
    const tab = await showWidget(engine);
    await tab.see(signIn);
    const storage = `(() => { try { return String(sessionStorage.length) } catch ({ name }) { return name } })()`;
    expect(await tab.value(storage, 'frame'), 'the browser denies it').toBe('SecurityError');
    await signInWith(tab);
    await tab.see(connected);
  },

  'resumes after a reload': goOnAfterReload,
  'comes back to the page where every popup is blocked': signInWithoutPopup,
  'opens a window again that was closed': reopenWindow,
};

const engines: Record<string, (options: EngineOptions) => Promise<Engine>> = {
  Chromium: (options) => launchChromium({ ...options, whole: isLongRun }),
  // In the long run only: its start, one sign-in and its end take 13 s of CPU time, and a machine without it has to install
  // 280 MB first.
  ...(isLongRun && { Firefox: launchFirefox }),
};
const cheap = /signs in with a popup|storage is kept apart|provider is slow/;

for (const [name, launch] of Object.entries(engines)) {
  const runIn = (
    title: string,
    table: typeof cases,
    blocksThirdPartyCookies: boolean,
    deniedStorage?: EngineOptions['deniedStorage'],
  ) =>
    describe(title, () => {
      let engine: Engine;
      beforeAll(async () => {
        engine = await launch({
          hosts: Object.values(hosts),
          certificate: sites.certificate,
          blocksThirdPartyCookies,
          deniedStorage,
        });
      });
      afterAll(() => engine?.close());
      beforeEach(() => {
        provider.account = { id: 1, email: 'ada@example.com' };
        provider.held = undefined;
        provider.visits = 0;
        provider.given = [];
      });
      for (const [sentence, run] of Object.entries(table)) it(sentence, () => run(engine));
    });
  runIn(name, isLongRun ? cases : Object.fromEntries(Object.entries(cases).filter(([one]) => cheap.test(one))), false);
  if (!isLongRun) continue;
  runIn(`${name} without third-party cookies`, casesWithoutCookies, true);
  // In Firefox the storage of such frames goes with their cookies.
  if (name === 'Chromium') {
    const denied = { host: hosts.service, inPagesOf: hosts.product };
    runIn(`${name} without storage in frames`, casesWithoutStorage, false, denied);
  }
}
