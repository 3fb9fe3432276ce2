/**
 * Widgets in the console, in Chromium: what they show, and that nothing in them reaches the console. The long run proves the
 * latter in Firefox as well.
 */
import type { Frame, Page } from 'playwright-core';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { isLongRun, itInLongRun } from '../../scripts/long-run.ts';
import widgetWords from '../../widget/src/words/en.ts';
import { launchFirefox } from '../../widget/test/support/firefox.ts';
import { Tab } from '../../widget/test/support/real-browsers.ts';
import { frameOf, useStage, widgetFrame } from '../../widget/test/support/stage.ts';
import { words as frameWords } from '../src/parts/frames/frame-words.ts';
import { words as playground } from '../src/screens/playground/words.ts';
import { words as templates } from '../src/screens/templates/words.ts';
import { expectGoodLooks, openConsole } from './support/signed-in.ts';

const stage = useStage();
const hostile = `<img src=x onerror="document.title='markup'">`;
let workspaceId: string;

beforeAll(async () => {
  await stage.connectionTemplate({ cron_expression: null });
  const template = await stage.sourceTemplate({ name: hostile });
  const { token } = await stage.widgetToken({ workspace_name: hostile });
  const made = await fetch(`${stage.service.url}/api/v1/embedded/sources`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ source_template_id: template, name: `Shop ${hostile}`, source_config: { count: 10 } }),
  });
  if (!made.ok) throw new Error(await made.text());
  workspaceId = ((await made.json()) as { workspace_id: string }).workspace_id;
});

async function openView(page: Page): Promise<Frame> {
  await page.getByRole('button', { name: 'See what they see' }).click();
  const frame = await widgetFrame(page);
  await frame.getByRole('heading', { name: 'Your sources' }).waitFor();
  return frame;
}

it('An operator sees what the customer sees, and a button that would change something says that nothing can be changed', async () => {
  const page = await openConsole(stage, `customers/${workspaceId}`, { permission: 'operator' });
  const length = await page.evaluate(() => history.length);
  const written: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/embedded/') && request.method() !== 'GET') written.push(request.url());
  });
  const frame = await openView(page);
  await page.getByRole('dialog').getByText('Read-only').waitFor();
  await expectGoodLooks(page, 'customer-view');
  // No address has the token, and the frame is as high as its content.
  const token = /eyJ[\w-]+\.eyJ/;
  expect(page.frames().map((one) => one.url())).not.toContainEqual(expect.stringMatching(token));
  expect(await page.locator('iframe').getAttribute('src')).not.toMatch(token);
  expect(await page.evaluate(() => history.length)).toBe(length);
  const heightOf = async () => (await page.locator('iframe').boundingBox())?.height ?? 0;
  const listHeight = await heightOf();
  expect(listHeight).toBeGreaterThan(100);

  await frame.getByRole('button', { name: /Shop/ }).click();
  await frame.getByRole('button', { name: 'Sync now' }).click();
  const sentence = widgetWords.failures.only_view.text;
  await frame.getByText(sentence).waitFor();
  await expect.poll(heightOf).toBeGreaterThan(listHeight);
  await frame.getByRole('button', { name: /Your sources/ }).click();
  await frame.getByRole('button', { name: widgetWords.list.add }).click();
  await frame.getByRole('button', { name: hostile }).click();
  await frame.getByLabel('Users').fill('5');
  await frame.getByRole('button', { name: 'Test and connect' }).click();
  await frame.getByText(sentence).waitFor();
  await expectGoodLooks(page, 'customer-view-form');
  expect(written).toEqual([]);

  await page.getByLabel('Language', { exact: true }).selectOption('de');
  await (await widgetFrame(page)).getByRole('heading', { name: 'Ihre Quellen' }).waitFor();
  expect(await page.title()).not.toBe('markup');
  const { data } = await stage.operator('GET', '/audit-events?types=view_token.created');
  expect(data.length).toBeGreaterThan(0);
  // Escape reaches the dialog from within the frame, too.
  await (await widgetFrame(page)).locator('h1').press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('A German browser shows the customer’s widget in German, unless another language is chosen', async () => {
  const page = await openConsole(stage, `customers/${workspaceId}`, { locale: 'de-DE' });
  await page.getByRole('button', { name: 'See what they see' }).click();
  await (await widgetFrame(page)).getByRole('heading', { name: 'Ihre Quellen' }).waitFor();
  await page.getByLabel('Language', { exact: true }).selectOption('English');
  await (await widgetFrame(page)).getByRole('heading', { name: 'Your sources' }).waitFor();
});

it('A viewer has no such button', async () => {
  const page = await openConsole(stage, `customers/${workspaceId}`, { permission: 'read' });
  await page.getByText('Timeline').waitFor();
  expect(await page.getByRole('button', { name: 'See what they see' }).count()).toBe(0);
});

it('A script in the frame reaches neither the page of the console, nor its session, nor anything of the browser', async () => {
  const page = await openConsole(stage, `customers/${workspaceId}`);
  const frame = await openView(page);
  const cookies: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/console/') && request.frame() === frame) {
      void request.allHeaders().then((headers) => cookies.push(headers.cookie));
    }
  });
  expect(await frame.evaluate(reach)).toEqual(nothing);
  await expect.poll(() => cookies.length).toBeGreaterThanOrEqual(2);
  expect(cookies.filter((cookie) => cookie !== undefined)).toEqual([]);
  // The frame cannot become a page of the console either.
  const address = page.url();
  await frame.evaluate((url) => location.assign(url), `${stage.publicUrl}/console/customers`);
  await expect
    .poll(() => page.frames().map((one) => one.url()))
    .toContainEqual(expect.stringMatching(/^chrome-error:/));
  expect(page.url()).toBe(address);
  const problems = stage.takeProblems();
  expect(problems.filter((problem) => problem.startsWith('an exception'))).toEqual([]);
  expect(problems.join('\n')).toMatch(/blocked by CORS policy/);
});

const nothing = {
  origin: 'null',
  parent: 'SecurityError',
  top: 'SecurityError',
  opener: 'refused',
  cookie: 'SecurityError',
  localStorage: 'SecurityError',
  sessionStorage: 'SecurityError',
  read: 'TypeError',
  write: 'TypeError',
  blind: 'opaque',
  popup: 'null',
};

/** What a script that someone has got into the frame would try. */
async function reach() {
  const outcome = (act: () => unknown): string => {
    try {
      return String(act());
    } catch (error) {
      return (error as Error).name;
    }
  };
  const asks = async (init: RequestInit): Promise<string> => {
    try {
      return (await fetch('/console/api/v1/workspaces', { credentials: 'include', ...init })).type;
    } catch (error) {
      return (error as Error).name;
    }
  };
  return {
    origin: self.origin,
    parent: outcome(() => parent.document.title),
    top: outcome(() => {
      top?.location.assign('/console/customers');
    }),
    opener: outcome(() => (window.opener === null ? 'refused' : 'reached')),
    cookie: outcome(() => document.cookie),
    localStorage: outcome(() => localStorage.length),
    sessionStorage: outcome(() => sessionStorage.length),
    read: await asks({}),
    write: await asks({ method: 'POST', headers: { 'x-inlay-console': '1' }, body: '{}' }),
    // A request that asks for no answer is sent, and refused for want of a cookie.
    blind: await asks({ mode: 'no-cors' }),
    popup: outcome(() => window.open('/console')),
  };
}

// Chromium and Firefox have each their own idea of what a page without an origin may do.
if (isLongRun) {
  it('The same holds in Firefox', async () => {
    const engine = await launchFirefox({ hosts: [], certificate: '', blocksThirdPartyCookies: false });
    onTestFinished(() => engine.close());
    const { token } = await stage.operator('POST', '/operator-tokens', { name: 'in Firefox', permission: 'full' });
    const tab = await Tab.open(engine, `${stage.publicUrl}/console/sign-in`);
    const headers = { 'content-type': 'application/json', 'x-inlay-console': '1' };
    const init = JSON.stringify({ method: 'POST', headers, body: JSON.stringify({ token }) });
    expect(await tab.value(`fetch('/console/session', ${init}).then(({ status }) => status)`)).toBe(200);
    const address = `${stage.publicUrl}/console/customers/${workspaceId}`;
    await tab.window.goto(address);
    await tab.click('See what they see');
    await tab.see('Your sources');
    expect(await tab.value('document.documentElement.scrollWidth <= innerWidth', 'frame')).toBe(true);
    // What the console itself can ask for, a script in the frame cannot.
    const asked = () => [
      ...stage.service.output().matchAll(/"method":"GET","route":"\/api\/v1\/workspaces","status":(\d+)/g),
    ];
    const ask = `fetch('/console/api/v1/workspaces').then(({ status }) => status)`;
    expect(await tab.value(ask)).toBe(200);
    await expect.poll(() => asked().length).toBe(1);
    const tried = `(${reach})().then(JSON.stringify)`;
    expect(JSON.parse(String(await tab.value(tried, 'frame')))).toEqual(nothing);
    // Both requests arrived, and the service refused them: they come from no page of the console.
    await expect.poll(() => asked().map(([, status]) => status)).toEqual(['200', '403', '403']);
    // The frame cannot become a page of the console either.
    await tab.value(`location.assign('/console/customers')`, 'frame');
    await expect.poll(() => tab.value('document.documentURI', 'frame')).toMatch(/^about:/);
    expect(await tab.value('location.href')).toBe(address);
  });
}

itInLongRun('The frame goes when the session ends, and comes back with the next sign-in', async () => {
  const page = await openConsole(stage, `customers/${workspaceId}`);
  await openView(page);
  const { data } = await stage.operator('GET', '/console-sessions');
  await stage.operator('DELETE', `/console-sessions/${data[0].id}`);
  await page.getByText(frameWords.ended).waitFor();
  expect(await page.locator('iframe').count()).toBe(0);
  const again = page.getByRole('dialog', { name: 'Your session has ended' });
  const { token: secret } = await stage.operator('POST', '/operator-tokens', { name: 'again', permission: 'full' });
  await again.getByLabel('Operator token').fill(secret);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await (await widgetFrame(page)).getByRole('heading', { name: 'Your sources' }).waitFor();
  const others = stage.takeProblems().filter((problem) => !/status of 401/.test(problem));
  expect(others).toEqual([]);
});

it('A view whose token no longer works gets another one automatically', async () => {
  const page = await openConsole(stage, `customers/${workspaceId}`);
  const frame = await openView(page);
  const asked = page.waitForRequest((request) => request.url().endsWith('/view-token'));
  await stage.operator('POST', `/workspaces/${workspaceId}/tokens/revoke`);
  await frame.getByRole('button', { name: /Shop/ }).click();
  await frame.getByText('Completed').first().waitFor();
  await asked;
  expect(await frame.getByText(widgetWords.expired.title).count()).toBe(0);
  expect(stage.takeProblems().filter((problem) => !/status of 401/.test(problem))).toEqual([]);
});

itInLongRun(
  'The playground shows the widget with its choices, as a new customer or the one that is named would see it',
  async () => {
    const page = await openConsole(stage, 'playground', { permission: 'operator' });
    // The frame that is there now: another customer or another look gets another one.
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: `Connect ${hostile}` }).waitFor();
    await frame.getByLabel('Users').fill('5');
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    await frame.getByText(widgetWords.failures.only_view.title).waitFor();

    // However quickly someone types, the service is asked when the typing stops.
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/templates/explain')) asked.push(String(request.postData()));
    });
    await page.getByLabel(playground.tags).evaluate((field) => {
      for (const text of ['g', 'go', 'gol', 'gold']) {
        (field as HTMLInputElement).value = text;
        field.dispatchEvent(new Event('input', { bubbles: true }));
      }
    });
    await frame.getByRole('heading', { name: widgetWords.empty.title }).waitFor();
    expect(asked).toEqual([expect.stringContaining('"gold"')]);
    await page.getByLabel(playground.tags).fill('');

    await page.getByLabel(playground.color).fill('#0f766e');
    await page.getByLabel('Language', { exact: true }).selectOption('de');
    // A hundred others, whose names contain this one, are before it in the list of suggestions.
    await page.route(/workspaces\?.*name_contains=/, (route) => route.fulfill({ json: { data: [], next: null } }));
    await page.getByLabel(playground.customer).fill(hostile);
    const primary = () => frame.locator('html').evaluate((root) => root.style.getPropertyValue('--inlay-primary'));
    await frame.getByRole('heading', { name: 'Ihre Quellen' }).waitFor();
    await expect.poll(primary).toBe('rgb(15 118 110)');
    await expectGoodLooks(page, 'playground-customer');
    // What was chosen stays in this browser, and is how widgets look in the whole console.
    await page.goto(`${stage.publicUrl}/console/customers/${workspaceId}`);
    await page.getByRole('button', { name: 'See what they see' }).click();
    await frame.getByRole('heading', { name: 'Ihre Quellen' }).waitFor();
    await expect.poll(primary).toBe('rgb(15 118 110)');
  },
);

itInLongRun('The editor of a template previews what customers would see before it is saved', async () => {
  const id = await stage.sourceTemplate({ name: 'Drafted', description: 'The shop in Berlin' });
  const page = await openConsole(stage, `templates/${id}`, { permission: 'operator' });
  const frame = page.frameLocator('iframe');
  await frame.getByRole('heading', { name: 'Connect Drafted' }).waitFor();
  await frame.getByText('The shop in Berlin').waitFor();
  await frame.getByLabel('Users').waitFor();
  const editor = page.getByLabel(templates.json).and(page.locator('textarea'));
  const saved = JSON.parse(await editor.inputValue());
  const write = (change: object) => editor.fill(JSON.stringify({ ...saved, ...change }, null, 2));
  await write({ name: hostile, partial_default_config: { seed: 7, count: 3 } });
  await frame.getByRole('heading', { name: `Connect ${hostile}` }).waitFor();
  expect(await frame.getByLabel('Users').count()).toBe(0);
  await expectGoodLooks(page, 'template-preview');
  // What is not possible keeps the last picture, whether it is no JSON or no template.
  const kept = page.getByText(frameWords.lastGood);
  await editor.fill('{ "name": ');
  await kept.waitFor();
  await frame.getByRole('heading', { name: `Connect ${hostile}` }).waitFor();
  await write({ name: 'Possible again' });
  await frame.getByRole('heading', { name: 'Connect Possible again' }).waitFor();
  await kept.waitFor({ state: 'detached' });
  await write({ name: 'Wrong', partial_default_config: { seed: 'seven' } });
  await kept.waitFor();
  expect(await frame.getByRole('heading', { level: 1 }).innerText()).toBe('Connect Possible again');
  expect(await stage.operator('GET', `/integrations/templates/sources/${id}`)).toMatchObject({
    name: 'Drafted',
    version: 1,
  });
});

it('A widget with a token takes no templates from the page around it', async () => {
  const { widgetUrl } = await stage.widgetToken();
  const page = await stage.newPage();
  await page.goto(stage.origin + stage.hostPage(frameOf(widgetUrl)));
  const frame = await widgetFrame(page);
  await frame.getByRole('heading', { level: 1 }).waitFor();
  const before = await frame.locator('#inlay').innerText();
  await frame.evaluate(() => {
    addEventListener('message', () => (document.documentElement.dataset.heard = 'yes'), { once: true });
  });
  await page.evaluate(() => {
    const template = { id: 'planted', name: 'Planted', tags: [], icon: null, description: null, category: null };
    frames[0]?.postMessage({ inlay: 1, type: 'preview', templates: [template] }, '*');
  });
  await frame.waitForSelector('[data-heard]');
  expect(await frame.locator('#inlay').innerText()).toBe(before);
});
