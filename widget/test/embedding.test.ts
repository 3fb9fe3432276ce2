/** The widget in a page, by the embed library and without it: who may show it, talk to it, and what happens to tokens. */
import type { Frame, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { itInLongRun } from '../../scripts/long-run.ts';
import words from '../src/words/en.ts';
import { frameOf, takePicture, useStage, widgetFrame } from './support/stage.ts';

const stage = useStage();

beforeAll(async () => {
  for (const [name, tags] of [
    ['Spreadsheet', ['free', 'pro']],
    ['Survey', ['free', 'pro']],
    ['Database', ['pro']],
  ] as const) {
    await stage.sourceTemplate({ name, tags });
  }
  await stage.connectionTemplate();
});

interface Handle {
  close(): void;
  updateToken(token: string): void;
  destroy(): void;
}

interface Options {
  token?: string;
  getToken?: () => Promise<string>;
  onEvent?: (event: { type: string }) => void;
}

declare global {
  interface Window {
    Inlay: { open(options: Options): Handle; mount(element: Element, options: Options): Handle };
    events: { type: string; [field: string]: unknown }[];
    handles: Handle[];
  }
}

/** A page that has the library, and keeps the events. */
async function openHost(page: Page, body = ''): Promise<void> {
  const script = `<script src="${stage.publicUrl}/embed.js"></script><script>events = []; handles = [];</script>`;
  await page.goto(stage.origin + stage.hostPage(`${body}${script}`));
}

/** `index` among the frames of the page. */
async function openModal(page: Page, token: string, index = 0): Promise<Frame> {
  await page.evaluate((token) => {
    window.handles.push(window.Inlay.open({ token, onEvent: (event) => window.events.push(event) }));
  }, token);
  return await widgetFrame(page, index);
}

const eventTypes = (page: Page) => page.evaluate(() => window.events.map(({ type }) => type));
const offered = async (frame: Frame) => {
  await frame.waitForSelector('[data-screen="choose"]');
  const names = ['Spreadsheet', 'Survey', 'Database'];
  const counts = await Promise.all(names.map((name) => frame.getByRole('button', { name: new RegExp(name) }).count()));
  return names.filter((_, index) => counts[index] === 1);
};

describe('The dialog', () => {
  it('opens, reports what happens, closes by Escape inside the widget, and gives the focus back', async () => {
    const page = await stage.newPage();
    await openHost(page, '<button id="connect">Connect</button>');
    await page.locator('#connect').focus();
    const frame = await openModal(page, (await stage.widgetToken()).whole);
    await frame.waitForSelector('[data-screen="choose"]');
    await takePicture(page, 'dialog');
    await frame.getByRole('button', { name: /Spreadsheet/ }).click();
    await frame.waitForSelector('[data-screen="form"]');
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    await frame.waitForSelector('[data-screen="connected"]');
    await expect.poll(() => eventTypes(page)).toEqual(['ready', 'source_created', 'sync_finished']);
    const [, created, finished] = await page.evaluate(() => window.events);
    expect(created).toMatchObject({ source: { name: 'Spreadsheet', id: expect.any(String) } });
    expect(finished).toMatchObject({ sync: { status: 'succeeded', rows: 3100 } });
    await frame.locator('h1').press('Escape');
    await expect.poll(() => page.locator('iframe').count()).toBe(0);
    expect((await eventTypes(page)).at(-1)).toBe('closed');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('connect');
  });

  itInLongRun('stays in sight on a long page, whatever is scrolled inside', async () => {
    const page = await stage.newPage({ viewport: { width: 800, height: 420 } });
    await openHost(page, '<div style="height: 3000px"></div>');
    await page.evaluate(() => window.scrollTo(0, 1_000));
    const frame = await openModal(page, (await stage.widgetToken()).whole);
    const top = () => page.locator('dialog').evaluate((dialog) => dialog.getBoundingClientRect().top);
    const before = await top();
    expect(before).toBeGreaterThanOrEqual(0);
    await frame.getByRole('button', { name: /Survey/ }).click();
    await frame.getByRole('button', { name: 'Test and connect' }).evaluate((button) => button.scrollIntoView());
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    await frame.waitForSelector('[data-screen="connected"]');
    expect(await page.evaluate(() => window.scrollY)).toBe(1_000);
    expect(await top()).toBe(before);
  });

  itInLongRun('may be opened twice, and leaves nothing behind', async () => {
    const page = await stage.newPage();
    await openHost(page);
    const before = await page.evaluate(() => document.documentElement.outerHTML);
    await openModal(page, (await stage.widgetToken()).whole);
    await openModal(page, (await stage.widgetToken()).whole);
    expect(await page.locator('iframe').count()).toBe(2);
    await page.evaluate(() => {
      for (const handle of window.handles) {
        handle.destroy();
        handle.destroy();
        handle.close();
      }
    });
    expect(await page.evaluate(() => document.documentElement.outerHTML)).toBe(before);
    expect(await page.evaluate(() => document.adoptedStyleSheets.length)).toBe(0);
  });

  itInLongRun('destroyed while it loads is gone for good', async () => {
    const page = await stage.newPage();
    await openHost(page);
    const { whole } = await stage.widgetToken();
    await page.evaluate((token) => {
      const onEvent = (event: { type: string }) => window.events.push(event);
      window.Inlay.open({ token, onEvent }).destroy();
      window.Inlay.open({ getToken: async () => token, onEvent }).destroy();
    }, whole);
    // A third widget that stays: by then, everything from the others has arrived.
    await openModal(page, whole);
    await expect.poll(() => eventTypes(page)).toEqual(['ready']);
    expect(await page.locator('iframe').count()).toBe(1);
  });
});

describe('In place', () => {
  it('is as high as its content, and two of them do not disturb each other', async () => {
    const page = await stage.newPage();
    await openHost(page, '<div id="a"></div><div id="b"></div>');
    const tokens = [
      (await stage.widgetToken({ selected_source_template_tags: ['free'] })).whole,
      (await stage.widgetToken({ selected_source_template_tags: ['pro'] })).whole,
    ];
    await page.evaluate(([a, b]) => {
      for (const [id, token] of [
        ['a', a],
        ['b', b],
      ] as const) {
        const element = document.getElementById(id);
        if (element && token) window.handles.push(window.Inlay.mount(element, { token }));
      }
    }, tokens);
    const [first, second] = [await widgetFrame(page, 0), await widgetFrame(page, 1)];
    expect(await offered(first)).toEqual(['Spreadsheet', 'Survey']);
    expect(await offered(second)).toEqual(['Spreadsheet', 'Survey', 'Database']);
    const overflow = () => first.evaluate(() => document.documentElement.scrollHeight - window.innerHeight);
    await expect.poll(overflow).toBeLessThanOrEqual(0);
    const heightBefore = await page
      .locator('iframe')
      .first()
      .evaluate((frame) => frame.clientHeight);
    await first.getByRole('button', { name: /Survey/ }).click();
    await first.waitForSelector('[data-screen="form"]');
    await first.getByLabel('Users').waitFor();
    await expect.poll(overflow).toBeLessThanOrEqual(0);
    expect(
      await page
        .locator('iframe')
        .first()
        .evaluate((frame) => frame.clientHeight),
    ).not.toBe(heightBefore);
    expect(await second.getAttribute('[data-screen]', 'data-screen')).toBe('choose');
    await takePicture(page, 'in-place');
  });
});

describe('What is offered', () => {
  it('follows the tags in the signed token, whatever the address says', async () => {
    const page = await stage.newPage();
    const free = await stage.widgetToken({ selected_source_template_tags: ['free'] });
    const pro = await stage.widgetToken({ selected_source_template_tags: ['pro'] });
    // The address of one with the token of the other.
    await page.goto(stage.origin + stage.hostPage(frameOf(`${pro.widgetUrl.split('#')[0]}#${free.token}`)));
    expect(await offered(await widgetFrame(page))).toEqual(['Spreadsheet', 'Survey']);
  });
});

describe('A source whose template is no longer offered', () => {
  it('can still be changed', async () => {
    const request = { workspace_name: 'downgraded' };
    const { token } = await stage.widgetToken({ ...request, selected_source_template_tags: ['pro'] });
    const { data } = await stage.operator('GET', '/integrations/templates/sources?tags=pro');
    const template = data.find(({ name }: { name: string }) => name === 'Database');
    await fetch(`${stage.service.url}/api/v1/embedded/sources`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ source_template_id: template.id, name: 'Ours', source_config: { count: 3 } }),
    });
    const { widgetUrl } = await stage.widgetToken({ ...request, selected_source_template_tags: ['free'] });
    const page = await stage.newPage();
    await page.goto(stage.origin + stage.hostPage(frameOf(widgetUrl)));
    const frame = await widgetFrame(page);
    await frame.getByRole('button', { name: /Ours/ }).click();
    await frame.getByRole('tab', { name: 'Settings' }).click();
    await frame.getByLabel('Users').fill('4');
    await frame.getByRole('button', { name: 'Test and save' }).click();
    await frame.getByText(words.source.saved).waitFor();
  });
});

describe('Another origin', () => {
  it('cannot show the widget', async () => {
    const page = await stage.newPage();
    const { widgetUrl } = await stage.widgetToken();
    await page.goto(stage.otherOrigin + stage.hostPage(frameOf(widgetUrl)));
    await expect.poll(() => stage.takeProblems().join()).toMatch(/frame-ancestors/);
    const frame = page.frames()[1];
    expect(await frame?.locator('[data-screen]').count()).toBe(0);
  });

  it('cannot use the token either', async () => {
    const page = await stage.newPage();
    const { token } = await stage.widgetToken();
    await page.goto(stage.otherOrigin + stage.hostPage('elsewhere'));
    const outcome = await page.evaluate(
      ([url, token]) =>
        fetch(`${url}/api/v1/embedded/sources`, { headers: { authorization: `Bearer ${token}` } }).then(
          () => 'answered',
          () => 'blocked',
        ),
      [stage.publicUrl, token],
    );
    expect(outcome).toBe('blocked');
    stage.takeProblems();
  });

  it('is not served with a changed address, even to the right page', async () => {
    const page = await stage.newPage();
    const { widgetUrl } = await stage.widgetToken();
    const changed = widgetUrl.replace(/allowedOrigin=[^&]*/, `allowedOrigin=${encodeURIComponent(stage.otherOrigin)}`);
    expect(changed).not.toBe(widgetUrl);
    for (const origin of [stage.origin, stage.otherOrigin]) {
      await page.goto(origin + stage.hostPage(frameOf(changed)));
      await expect.poll(() => stage.takeProblems().join()).toMatch(/frame-ancestors/);
    }
    stage.takeProblems();
  });
});

describe('The token', () => {
  it('leaves the address as soon as it is read', async () => {
    const page = await stage.newPage();
    const { token, widgetUrl } = await stage.widgetToken();
    await page.goto(stage.origin + stage.hostPage(frameOf(widgetUrl)));
    const frame = await widgetFrame(page);
    expect(await frame.evaluate(() => location.href)).not.toContain(token.split('.')[2]);
    expect(await page.context().storageState()).toEqual({ cookies: [], origins: [] });
  });

  it('may come late', async () => {
    const page = await stage.newPage();
    await openHost(page);
    const { whole } = await stage.widgetToken();
    await page.evaluate(() => {
      const getToken = () =>
        new Promise<string>((resolve) => {
          Object.assign(window, { give: resolve });
        });
      window.handles.push(window.Inlay.open({ getToken, onEvent: (event) => window.events.push(event) }));
    });
    expect(await page.locator('iframe').count()).toBe(0);
    await page.getByRole('status').waitFor();
    await page.evaluate((token) => (window as unknown as { give(token: string): void }).give(token), whole);
    await widgetFrame(page);
    expect(await eventTypes(page)).toEqual(['ready']);
  });

  it('that is revoked is renewed by getToken, and what was typed is kept', async () => {
    const page = await stage.newPage();
    await openHost(page);
    const request = { workspace_name: 'renewed' };
    const [first, second] = [await stage.widgetToken(request), await stage.widgetToken(request)];
    await page.evaluate(
      ([first, second]) => {
        const tokens = [first, second] as string[];
        const getToken = async () => tokens.shift() ?? '';
        window.handles.push(window.Inlay.open({ getToken, onEvent: (event) => window.events.push(event) }));
      },
      [first.whole, second.whole],
    );
    const frame = await widgetFrame(page);
    await frame.getByRole('button', { name: /Survey/ }).click();
    await frame.getByLabel('Name').fill('Kept');
    await stage.operator('POST', '/embedded/tokens/revoke', { token: first.whole });
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    await frame.waitForSelector('[data-screen="connected"]');
    await frame.getByRole('heading', { name: 'Kept is connected' }).waitFor();
    expect(await eventTypes(page)).toContain('token_expired');
    expect(stage.takeProblems().join()).toMatch(/401/);
  });

  it('that has ended is not said to be renewed where the page cannot do that', async () => {
    const page = await stage.newPage();
    await openHost(page);
    const { whole } = await stage.widgetToken();
    await stage.operator('POST', '/embedded/tokens/revoke', { token: whole });
    const frame = await openModal(page, whole);
    await frame.waitForSelector('[data-screen="expired"]');
    await frame.getByText(words.expired.reload).waitFor();
    expect(stage.takeProblems().join()).toMatch(/401/);
  });

  it('that has ended in a plain frame shows the customer what to do', async () => {
    const page = await stage.newPage();
    const { whole, widgetUrl } = await stage.widgetToken();
    await stage.operator('POST', '/embedded/tokens/revoke', { token: whole });
    await page.goto(stage.origin + stage.hostPage(frameOf(widgetUrl)));
    const frame = await widgetFrame(page);
    await frame.waitForSelector('[data-screen="expired"]');
    await frame.getByText(words.expired.reload).waitFor();
    expect(stage.takeProblems().join()).toMatch(/401/);
  });
});

describe('Messages', () => {
  it('from the wrong window, or of no shape, change nothing', async () => {
    const page = await stage.newPage();
    await openHost(page, '<iframe id="sibling" srcdoc="x"></iframe>');
    const frame = await openModal(page, (await stage.widgetToken()).whole, 1);
    const other = await stage.widgetToken({ workspace_name: 'intruder' });
    // The right origin, but not the window that framed it.
    await page.evaluate((token) => {
      const sibling = document.getElementById('sibling') as HTMLIFrameElement;
      const inner = sibling.contentWindow as Window & { eval(code: string): unknown };
      const target = document.querySelector('inlay-widget')?.shadowRoot?.querySelector('iframe')?.contentWindow;
      Object.assign(inner, { target, message: { inlay: 1, type: 'token', token } });
      inner.eval('target.postMessage(message, "*")');
      for (const message of [
        null,
        'x',
        { inlay: 1 },
        { inlay: 1, type: 'token' },
        { inlay: 1, type: 'token', token: {} },
      ]) {
        target?.postMessage(message, '*');
      }
      target?.postMessage(
        JSON.parse('{"inlay":1,"type":"token","token":"x","__proto__":{"a":1}}'.replace('"x"', '""')),
        '*',
      );
      for (let count = 0; count < 2_000; count += 1) target?.postMessage({ inlay: 1, type: 'flood', count }, '*');
    }, other.token);
    await frame.getByRole('button', { name: /Survey/ }).click();
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    await frame.waitForSelector('[data-screen="connected"]');
    const { data } = await stage.operator('GET', '/workspaces?name_contains=intruder');
    const sources = await stage.operator('GET', `/integrations/sources?workspace_id=${data[0].id}`);
    expect(sources.data).toEqual([]);
  });

  itInLongRun('of the widget reach the allowed origin only', async () => {
    const page = await stage.newPage();
    await openHost(page);
    const frame = await openModal(page, (await stage.widgetToken()).whole);
    const source = await frame.evaluate(async () => {
      const scripts = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'));
      return (await Promise.all(scripts.map(async ({ name }) => (await fetch(name)).text()))).join('\n');
    });
    expect(source).toContain('postMessage');
    expect(source).not.toMatch(/postMessage\([^)]*,\s*["'`]\*["'`]/);
  });
});
