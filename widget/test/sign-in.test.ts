/** How a customer signs in with a provider inside the widget, in Chromium, with the real service and a provider of our own. */
import type { SourceSummary } from '@inlay/contract/pipelines/sources';
import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { isLongRun, itInLongRun } from '../../scripts/long-run.ts';
import { wordsFor } from '../../server/src/credentials/sign-in/page-words.ts';
import { httpApi } from '../../server/test/support/pipelines.ts';
import signInWords from '../src/sign-in/sign-in-en.ts';
import words from '../src/words/en.ts';
import { expectAccessible, expectToFit } from './support/looks.ts';
import { type Provider, startProvider } from './support/provider.ts';
import { takePicture, useStage, widgetFrame } from './support/stage.ts';

const { words: pageWords } = wordsFor('en');
const stage = useStage();
let provider: Provider;
const templates = { plain: '', crm: '', desk: '', asking: '' };
/** Pages to which the provider sends customers back: one with the embed library, the other with a frame and nothing else. */
const back = { embed: '', frame: '' };

interface Told {
  type: string;
  sign_in?: { source_template_id: string; source_id: string | null; code?: string };
}

beforeAll(async () => {
  provider = await startProvider();
  const client = async (body: object) =>
    (await stage.operator('POST', '/integrations/oauth/clients', { client_id: 'us', client_secret: 'secret', ...body }))
      .id;
  const template = async (name: string, oauth: object, defaults: object = {}) =>
    await stage.sourceTemplate({
      name,
      tags: [name],
      actor_definition_id: httpApi,
      partial_default_config: {
        base_url: provider.url,
        authentication: { type: 'bearer' },
        streams: [{ name: 'items', path: '/items' }],
        ...defaults,
      },
      oauth: { fields: { access_token: ['authentication', 'token'] }, ...oauth },
    });
  templates.plain = await stage.sourceTemplate({ tags: ['plain'] });
  back.embed = stage.hostPage(`<main></main><script src="${stage.publicUrl}/embed.js"></script><script>events = [];
    Inlay.mount(document.querySelector('main'), { getToken: newToken, onEvent: (event) => events.push(event) })</script>`);
  back.frame = stage.hostPage(`<iframe width="320" height="700" title="Widget"></iframe><script>(async () => {
    const { widgetUrl } = JSON.parse(atob(await newToken()));
    const signIn = new URLSearchParams(location.search).get('inlay_sign_in');
    const isTold = signIn && !location.hash.includes('untold');
    document.querySelector('iframe').src = widgetUrl + (isTold ? '&sign_in=' + signIn : '');
  })()</script>`);
  const acme = await client({ name: 'Acme CRM', endpoints: provider.endpoints });
  templates.crm = await template('Acme CRM', {
    oauth_client_id: acme,
    scopes: ['contacts.read', 'deals.read'],
    return_to: [`${stage.origin}${back.embed}?tab=a%20b&on#sources`],
  });
  const framed = { oauth_client_id: acme, return_to: [`${stage.origin}${back.frame}`] };
  templates.asking = await template('Ledger', framed, { base_url: undefined });
  templates.desk = await template('Help desk', {
    oauth_client_id: await client({ name: 'Zendesk', provider: 'zendesk' }),
    may_paste: true,
  });
});
afterAll(() => provider?.close());
beforeEach(() => {
  provider.account = { id: 1, email: 'ada@example.com' };
  provider.scope = undefined;
  provider.cutsTies = true;
  provider.visits = 0;
});

const size = { width: 320, height: 700 };
const said = (page: Page) => page.evaluate(() => (window as unknown as { events: Told[] }).events);
const steps = async (page: Page) =>
  (await said(page)).flatMap(({ type, sign_in }) => (sign_in ? [`${type} ${sign_in.code ?? ''}`.trim()] : []));

/** A page with the embed library, which shows the widget in place. */
async function show(page: Page, workspace_name: string, options: object, headers: Record<string, string> = {}) {
  const { whole } = await stage.widgetToken({ workspace_name });
  const script = `events = []; Inlay.mount(document.querySelector('main'), { token: ${JSON.stringify(whole)},
    onEvent: (event) => events.push(event), ...${JSON.stringify(options)} })`;
  const body = `<main></main><script src="${stage.publicUrl}/embed.js"></script><script>${script}</script>`;
  const path = stage.hostPage(body, headers);
  await page.goto(stage.origin + path);
  return await widgetFrame(page);
}

/** Clicks, and gives the window that opens. */
async function popupAfter(page: Page, act: () => Promise<void>): Promise<Page> {
  const [popup] = await Promise.all([page.context().waitForEvent('page'), act()]);
  await popup.waitForSelector('h1');
  return popup;
}

const button = (frame: Frame, name: string | RegExp) => frame.getByRole('button', { name });
const signInWith = (frame: Frame) => button(frame, /^Sign in with /);

async function lookAt(page: Page, frame: Frame, name: string): Promise<void> {
  await takePicture(page, `sign-in-${name}`);
  await expectAccessible(frame, name);
  await expectToFit(frame, name);
}

it('signs in with a popup, says what is missing or went wrong, and connects with the account that is shown', async () => {
  const page = await stage.newPage({ viewport: size, colorScheme: 'dark' });
  const scripts: string[] = [];
  const posted: { path: string; body: Record<string, unknown> }[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.includes('/sign-in-')) scripts.push(pathname);
    if (request.method() === 'POST') posted.push({ path: pathname, body: request.postDataJSON() });
  });
  const flows = () => posted.filter(({ path }) => path.endsWith('/oauth/flows'));
  let frame = await show(page, 'popup', { template: templates.plain });
  await button(frame, 'Test and connect').waitFor();
  expect(scripts, 'a form without a sign-in').toEqual([]);

  frame = await show(page, 'popup', { template: templates.crm });
  await signInWith(frame).waitFor();
  expect(scripts.length).toBe(2);
  expect(await frame.getByLabel(/token/i).count(), 'the sign-in takes the place of the field').toBe(0);
  await button(frame, 'Test and connect').click();
  await frame.getByText(signInWords.missing).waitFor();
  await expect.poll(() => signInWith(frame).evaluate((element) => element === document.activeElement)).toBe(true);
  await lookAt(page, frame, 'open');

  let popup = await popupAfter(page, () => signInWith(frame).dblclick());
  await frame.getByText(signInWords.waiting('Acme CRM')).waitFor();
  expect(flows().length, 'a double click starts one sign-in').toBe(1);
  expect(flows()[0]?.body).toMatchObject({ source_template_id: templates.crm, frame_proof: expect.any(String) });
  expect(popup.url(), 'the widget in a frame needs no further question').toContain(`${provider.url}/authorize`);
  expect(await frame.getByText(signInWords.noWindow).count()).toBe(0);
  await lookAt(page, frame, 'waiting');
  await popup.getByRole('link', { name: 'Deny' }).click();
  await frame.getByText(signInWords.failures.denied).waitFor();
  await lookAt(page, frame, 'denied');

  provider.scope = 'contacts.read';
  popup = await popupAfter(page, () => button(frame, signInWords.again).click());
  await popup.getByRole('link', { name: 'Allow' }).click();
  await frame.getByRole('listitem').getByText('deals.read').waitFor();
  await lookAt(page, frame, 'scopes-missing');

  await popupAfter(page, () => button(frame, signInWords.grantAgain).click());
  await button(frame, 'Cancel').click();
  await signInWith(frame).waitFor();

  provider.scope = undefined;
  popup = await popupAfter(page, () => signInWith(frame).click());
  expect(await popup.evaluate(() => window.opener)).toBeNull();
  await popup.getByRole('link', { name: 'Allow' }).click();
  await frame.getByText('Connected as ada@example.com').waitFor();
  await button(frame, signInWords.otherAccount).waitFor();
  await lookAt(page, frame, 'connected');
  expect(await steps(page)).toEqual([
    'sign_in_started',
    'sign_in_failed denied',
    'sign_in_started',
    'sign_in_failed scopes_missing',
    'sign_in_started',
    'sign_in_failed cancelled',
    'sign_in_started',
    'sign_in_succeeded',
  ]);
  expect(JSON.stringify(await said(page))).not.toMatch(/ada@|token-/);

  await button(frame, 'Test and connect').click();
  await frame.waitForSelector('[data-screen="connected"]');
  const credential_id = expect.stringMatching(/^[\da-f-]{36}$/);
  expect(posted.find(({ path }) => path.endsWith('/sources/check'))?.body).toMatchObject({ credential_id });
  expect(posted.find(({ path }) => path.endsWith('/sources'))?.body).toMatchObject({ credential_id });
});

itInLongRun(
  'shows a link where the browser says nothing of the popup, and continues after a reload and after the end of a sign-in',
  async () => {
    const page = await stage.newPage({ viewport: size });
    const frame = await show(
      page,
      'coop',
      { template: templates.crm },
      { 'cross-origin-opener-policy': 'same-origin' },
    );
    // Until the start page is opened, the window's existence is unknown.
    let isHeld = true;
    await page.context().route('**/oauth/start/*', async (route) => {
      if (isHeld) await route.fulfill({ contentType: 'text/html', body: '<h1>Slow</h1>' });
      else await route.continue();
    });
    let popup = await popupAfter(page, () => signInWith(frame).click());
    expect(await popup.textContent('h1')).toBe('Slow');
    const link = frame.getByRole('link', { name: signInWords.openWindow });
    await link.waitFor();
    await button(frame, signInWords.useThisWindow).waitFor();
    await lookAt(page, frame, 'link');
    isHeld = false;
    popup = await popupAfter(page, () => link.click());
    await link.waitFor({ state: 'hidden' });

    await page.reload();
    const reloaded = await widgetFrame(page);
    await reloaded.getByText(signInWords.waiting('Acme CRM')).waitFor();
    await popup.getByRole('link', { name: 'Allow' }).click();
    await reloaded.getByText('Connected as ada@example.com').waitFor();

    // It took too long.
    await page.route('**/api/v1/embedded/oauth/flows/*', async (route) => {
      const response = await route.fetch({ url: route.request().url().split('?')[0] as string });
      await route.fulfill({ response, json: { ...(await response.json()), state: 'failed', failure: 'expired' } });
    });
    await popupAfter(page, () => button(reloaded, signInWords.otherAccount).click());
    await reloaded.getByText(signInWords.failures.expired).waitFor();
    await button(reloaded, signInWords.again).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  },
);

/** Browsers may deny a frame of another site every kind of storage. */
async function denyStorage(page: Page): Promise<void> {
  await page.context().addInitScript((product) => {
    if (location.origin === product) return;
    const deny = () => {
      throw new DOMException('Denied', 'SecurityError');
    };
    for (const name of ['sessionStorage', 'localStorage', 'indexedDB', 'caches']) {
      Object.defineProperty(window, name, { get: deny });
    }
    Object.defineProperty(document, 'cookie', { get: deny, set: deny });
  }, stage.origin);
}

/** The backend of the product. */
const giveTokens = (page: Page, workspace_name: string) =>
  page.exposeFunction('newToken', async () => (await stage.widgetToken({ workspace_name })).whole);

/** In a browser without popups, the customer signs in on the whole page and agrees. */
async function signInWithoutPopup(page: Page, frame: Frame): Promise<void> {
  await frame.evaluate(() => {
    const { open } = window;
    window.open = (url, target, features) => (target === '_top' ? open.call(window, url, target, features) : null);
  });
  await signInWith(frame).click();
  await button(frame, signInWords.useThisWindow).click();
  await page.getByRole('link', { name: 'Allow' }).click();
  // The page has been with the provider.
  expect(stage.takeProblems()).toEqual([expect.stringContaining(new URL(provider.url).host)]);
}

const sourcesOf = async (workspace: string) => {
  const { data } = await stage.operator('GET', `/workspaces?name_contains=${workspace}`);
  return (await stage.operator('GET', `/integrations/sources?workspace_id=${data[0].id}`)).data as SourceSummary[];
};

it('leads the whole page to the provider and back, once, where there is neither a popup nor storage', async () => {
  const page = await stage.newPage({ viewport: size });
  await denyStorage(page);
  await giveTokens(page, 'redirect');
  const visited: string[] = [];
  page.on('framenavigated', (frame) => frame === page.mainFrame() && visited.push(frame.url()));
  await page.goto(stage.origin + back.embed);
  let frame = await widgetFrame(page);
  await button(frame, /Acme CRM/).click();
  await frame.getByLabel('Name').fill('Our contacts');
  await signInWithoutPopup(page, frame);
  await page.waitForURL(`${stage.origin}${back.embed}?tab=a%20b&on#sources`);
  frame = await widgetFrame(page);
  await frame.getByText('Connected as ada@example.com').waitFor();
  expect(await frame.getByLabel('Name').inputValue()).toBe('Our contacts');
  const returned = visited.find((url) => url.includes('inlay_sign_in=')) ?? '';
  expect(returned).toMatch(/\?tab=a(%20|\+)b&on=?&inlay_sign_in=[\da-f-]{36}#sources$/);
  expect(await steps(page)).toEqual(['sign_in_succeeded']);

  // Nothing is lost with a reload, and nothing is done twice.
  await page.reload();
  frame = await widgetFrame(page);
  await frame.getByText('Connected as ada@example.com').waitFor();
  await button(frame, 'Test and connect').click();
  await frame.waitForSelector('[data-screen="connected"]');
  await page.reload();
  frame = await widgetFrame(page);
  await frame.waitForSelector('[data-screen="list"]');
  await page.goto('about:blank');
  await page.goto(returned);
  frame = await widgetFrame(page);
  await frame.waitForSelector('[data-screen="source"]');
  expect((await sourcesOf('redirect')).map(({ name }) => name)).toEqual(['Our contacts']);

  // Mailed to another customer, the address does nothing.
  const victim = await stage.newPage({ viewport: size });
  await giveTokens(victim, 'victim');
  await victim.goto(returned);
  frame = await widgetFrame(victim);
  await frame.waitForSelector('[data-screen="choose"]');
  expect(victim.url()).not.toContain('inlay_sign_in');
  await button(frame, /Acme CRM/).click();
  await signInWith(frame).waitFor();
  expect(stage.takeProblems()).toEqual([expect.stringContaining('404')]);
});

itInLongRun(
  'comes back to a frame without the library, with the sign-in in its address or waiting in the form',
  async () => {
    const page = await stage.newPage({ viewport: { width: 400, height: 800 } });
    await denyStorage(page);
    await giveTokens(page, 'framed');
    for (const isTold of [true, false]) {
      await page.goto(stage.origin + back.frame);
      let frame = await widgetFrame(page);
      if (!isTold)
        await button(frame, /Connect|Add/)
          .first()
          .click();
      await button(frame, /Ledger/).click();
      await frame.getByLabel('Name').fill('Books');
      await signInWithoutPopup(page, frame);
      await page.waitForURL(/inlay_sign_in=/);
      if (!isTold) {
        await page.goto(`${stage.origin}${back.frame}#untold`);
        frame = await widgetFrame(page);
        await button(frame, /Connect|Add/)
          .first()
          .click();
        await button(frame, /Ledger/).click();
      }
      frame = await widgetFrame(page);
      await frame.getByText('Connected as ada@example.com').waitFor();
      if (isTold) expect(await frame.getByLabel('Name').inputValue()).toBe('Books');
      await frame
        .getByLabel(/address|url/i)
        .first()
        .fill(provider.url);
      await button(frame, 'Test and connect').click();
      await frame.waitForSelector('[data-screen="connected"]');
    }
    expect(await sourcesOf('framed')).toHaveLength(2);
  },
);

itInLongRun(
  'waits for a sign-in that nobody remembers, in a frame without library and storage whose page was reloaded',
  async () => {
    const page = await stage.newPage({ viewport: { width: 400, height: 800 } });
    await denyStorage(page);
    await giveTokens(page, 'forgotten');
    await page.goto(stage.origin + back.frame);
    const choose = async () => {
      const frame = await widgetFrame(page);
      await button(frame, /Ledger/).click();
      await signInWith(frame).waitFor();
      return frame;
    };
    let frame = await choose();
    const popup = await popupAfter(page, () => signInWith(frame).click());
    await page.reload();
    frame = await choose();
    await popup.getByRole('link', { name: 'Allow' }).click();
    await frame.getByText('Connected as ada@example.com').waitFor();
  },
);

it('continues after a reload of the page or of its frame without storage, with what was entered but for secrets', async () => {
  const page = await stage.newPage({ viewport: size });
  await denyStorage(page);
  let frame = await show(page, 'reloaded', { template: templates.asking });
  await frame.getByLabel('Name').fill('Books of Acme');
  await frame
    .getByLabel(/address|url/i)
    .first()
    .fill(provider.url);
  const popup = await popupAfter(page, () => signInWith(frame).click());
  await frame.getByText(signInWords.waiting('Acme CRM')).waitFor();
  const shown = async () => [
    await frame.getByLabel('Name').inputValue(),
    await frame
      .getByLabel(/address|url/i)
      .first()
      .inputValue(),
  ];
  for (const reload of [() => page.reload(), () => frame.evaluate(() => location.reload())]) {
    await Promise.all([page.waitForEvent('framenavigated', (one) => one !== page.mainFrame()), reload()]);
    frame = await widgetFrame(page);
    await frame.getByText(signInWords.waiting('Acme CRM')).waitFor();
    expect(await shown()).toEqual(['Books of Acme', provider.url]);
    expect(await frame.evaluate(() => location.href)).not.toMatch(/eyJ/);
  }
  await popup.getByRole('link', { name: 'Allow' }).click();
  await frame.getByText('Connected as ada@example.com').waitFor();
  await page.reload();
  frame = await widgetFrame(page);
  await frame.getByText('Connected as ada@example.com').waitFor();
  expect(await shown()).toEqual(['Books of Acme', provider.url]);
});

itInLongRun('notices a window that was closed, and opens it again or shows it', async () => {
  const page = await stage.newPage({ viewport: size });
  let frame = await show(page, 'closed', { template: templates.crm });
  provider.cutsTies = false;
  const closed = signInWords.windowClosed;
  let popup = await popupAfter(page, () => signInWith(frame).click());
  await button(frame, signInWords.showWindow).waitFor();
  expect(await frame.getByText(closed).count()).toBe(0);
  await lookAt(page, frame, 'window-open');
  await button(frame, signInWords.showWindow).click();
  expect(page.context().pages()).toHaveLength(2);
  await popup.close();
  await frame.getByText(closed).waitFor();
  await lookAt(page, frame, 'window-closed');

  // The same sign-in continues.
  popup = await popupAfter(page, () => button(frame, signInWords.reopenWindow).click());
  await button(frame, signInWords.showWindow).waitFor();
  expect(await frame.getByText(closed).count()).toBe(0);
  await popup.close();
  await button(frame, signInWords.reopenWindow).waitFor();
  await button(frame, 'Cancel').click();
  await expect.poll(() => signInWith(frame).evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await steps(page)).toEqual(['sign_in_started', 'sign_in_failed cancelled']);

  // After a reload, whether the window is still open is unknown.
  popup = await popupAfter(page, () => signInWith(frame).click());
  await page.reload();
  frame = await widgetFrame(page);
  await frame.getByText(signInWords.windowUnknown).waitFor();
  await lookAt(page, frame, 'window-unknown');
  await popup.close();
  popup = await popupAfter(page, () => button(frame, signInWords.reopenWindow).click());
  await popup.getByRole('link', { name: 'Allow' }).click();
  await frame.getByText('Connected as ada@example.com').waitFor();
});

itInLongRun('continues with a sign-in that was finished in the moment in which its window was closed', async () => {
  const page = await stage.newPage({ viewport: size });
  const frame = await show(page, 'race', { template: templates.crm });
  provider.cutsTies = false;
  let give: (isGiven: boolean) => void = () => {};
  provider.held = new Promise((resolve) => {
    give = resolve;
  });
  const popup = await popupAfter(page, () => signInWith(frame).click());
  const back = page.context().waitForEvent('request', (request) => request.url().includes('/oauth/callback/'));
  await popup.getByRole('link', { name: 'Allow' }).click({ noWaitAfter: true });
  await back;
  await frame.getByText(signInWords.finishing).waitFor();
  await popup.close();
  give(true);
  await frame.getByText('Connected as ada@example.com').waitFor();
  expect(await steps(page)).toEqual(['sign_in_started', 'sign_in_succeeded']);
  provider.held = undefined;
});

it('asks first for what the provider has to know, and lets customers enter keys where they may', async () => {
  const page = await stage.newPage({ viewport: size });
  const frame = await show(page, 'values', { template: templates.desk });
  await signInWith(frame).click();
  const subdomain = frame.getByLabel('Zendesk subdomain');
  await frame.getByText(words.form.faults.required).waitFor();
  await expect.poll(() => subdomain.evaluate((element) => element === document.activeElement)).toBe(true);
  await subdomain.fill('not a label/');
  await signInWith(frame).click();
  await expect.poll(() => subdomain.getAttribute('aria-invalid')).toBe('true');
  await frame.getByText(signInWords.onlyTheName).waitFor();
  await lookAt(page, frame, 'values');
  expect(stage.takeProblems()).toEqual([expect.stringContaining('422')]);
  expect(provider.visits).toBe(0);
  await button(frame, signInWords.enterKeys).click();
  await frame.getByLabel(/token/i).first().waitFor();
  expect(await subdomain.count()).toBe(0);
  await lookAt(page, frame, 'keys');
  await button(frame, signInWords.signInInstead).click();
  await subdomain.waitFor();
});

itInLongRun('resumes the sign-in of a link, in the form of a template that asks for more', async () => {
  const page = await stage.newPage({ viewport: size });
  await stage.widgetToken({ workspace_name: 'linked' });
  const { data } = await stage.operator('GET', '/workspaces?name_contains=linked');
  const request = { workspace_id: data[0].id, source_template_id: templates.asking };
  const { url } = await stage.operator('POST', '/integrations/oauth/links', request);
  await page.goto(url);
  await page.getByRole('button', { name: pageWords.continueTo('Acme CRM') }).click();
  await page.getByText('Allow').click();
  await page.getByText(pageWords.oneStepLeft('Ledger')).waitFor();
  stage.takeProblems();

  const frame = await show(page, 'linked', { template: templates.asking });
  await frame.getByText('Connected as ada@example.com').waitFor();
  expect(await signInWith(frame).count()).toBe(0);
  await frame
    .getByLabel(/address|url/i)
    .first()
    .fill(provider.url);
  await button(frame, 'Test and connect').click();
  await expect.poll(async () => (await said(page)).map(({ type }) => type)).toContain('source_created');
});

itInLongRun(
  'says that a sign-in has ended, and connects the very source again, with another account only after a question',
  async () => {
    const page = await stage.newPage({ viewport: size });
    let frame = await show(page, 'again', { template: templates.crm });
    let popup = await popupAfter(page, () => signInWith(frame).click());
    await popup.getByRole('link', { name: 'Allow' }).click();
    await frame.getByText('Connected as ada@example.com').waitFor();
    await button(frame, 'Test and connect').click();
    await frame.waitForSelector('[data-screen="connected"]');

    let known: SourceSummary[] = [];
    let hasEnded = true;
    await page.route('**/api/v1/embedded/sources', async (route) => {
      const response = await route.fetch();
      known = ((await response.json()) as { data: SourceSummary[] }).data;
      const attention = { by: 'customer', what: 'Any words.', code: 'sign_in_ended', parameters: {} } as const;
      const ended = (health: SourceSummary['health']) => ({ ...health, state: 'needs_attention' as const, attention });
      const data = known.map((source) => (hasEnded ? { ...source, health: ended(source.health) } : source));
      await route.fulfill({ response, json: { data } });
    });
    frame = await show(page, 'again', {});
    await frame.getByText(words.signInEnded).waitFor();
    await lookAt(page, frame, 'ended-list');
    const id = known[0]?.id ?? '';
    frame = await show(page, 'again', { source: id });
    await frame.getByText(signInWords.endedTitle).waitFor();
    await button(frame, signInWords.again).waitFor();
    await lookAt(page, frame, 'ended');

    provider.account = { id: 2, email: 'bob@example.com' };
    popup = await popupAfter(page, () => button(frame, signInWords.again).click());
    await popup.getByRole('link', { name: 'Allow' }).click();
    await frame.getByText(signInWords.unconfirmedText('bob@example.com', 'ada@example.com')).waitFor();
    await frame.getByText('connected as ada@example.com').waitFor();
    await lookAt(page, frame, 'other-account');
    hasEnded = false;
    await button(frame, signInWords.confirm).click();
    await frame.getByText(signInWords.restored).waitFor();
    expect(await steps(page)).toEqual(['sign_in_started', 'sign_in_unconfirmed', 'sign_in_succeeded']);
    expect((await said(page)).filter(({ sign_in }) => sign_in).map(({ sign_in }) => sign_in?.source_id)).toEqual([
      id,
      id,
      id,
    ]);
    expect((await said(page)).at(-1)).toMatchObject({ type: 'source_updated', source: { id } });

    // In the settings the account is shown, and can be changed.
    await frame.getByRole('tab', { name: 'Settings' }).click();
    await frame.getByText('Connected as bob@example.com').waitFor();
    await lookAt(page, frame, 'settings');
    popup = await popupAfter(page, () => button(frame, signInWords.otherAccount).click());
    await popup.getByRole('link', { name: 'Allow' }).click();
    await frame.getByText('Connected as bob@example.com').waitFor();
    await button(frame, 'Test and save').click();
    await frame.getByText(words.source.saved).waitFor();
    expect(known.map((source) => source.id)).toEqual([id]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  },
);

itInLongRun('says it in every language, on a narrow screen', async () => {
  const page = await stage.newPage({ viewport: size });
  const spoken = {
    de: 'Mit Zendesk anmelden',
    ja: 'Zendesk でサインイン',
    ...(isLongRun && { fr: 'Se connecter avec Zendesk', es: 'Iniciar sesión con Zendesk' }),
  };
  for (const [locale, text] of Object.entries(spoken)) {
    const frame = await show(page, 'languages', { template: templates.desk, locale });
    await button(frame, text).waitFor();
    if (locale === 'de') await frame.getByLabel('Zendesk-Subdomain').waitFor();
    await lookAt(page, frame, `language-${locale}`);
  }
});
