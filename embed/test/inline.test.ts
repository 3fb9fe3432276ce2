import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventTypes, type Host, startHost, traces, waitForEvent, widgetFrame } from './host-page.ts';

let host: Host;
let page: Page;

beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host?.close());

async function mountWidget(token = host.token()): Promise<void> {
  await page.evaluate((token) => {
    const place = document.querySelector('#place') as HTMLElement;
    window.handle = window.Inlay.mount(place, { token, onEvent: window.record });
  }, token);
}

const frameBox = (nth = 0) => page.locator('inlay-widget iframe').nth(nth).boundingBox();

it('is as wide as its element and as high as the widget says', async () => {
  page = await host.openPage({ viewport: { width: 700, height: 600 } });
  await mountWidget();
  await waitForEvent(page, 'ready');
  const frame = await widgetFrame(page);

  for (const height of [312.4, 900, 120]) {
    await frame.evaluate((height) => window.say({ type: 'resize', height }), height);
    await page.waitForFunction(
      (height) => document.querySelector('inlay-widget')?.clientHeight === Math.ceil(height),
      height,
    );
  }
  const place = await page.locator('#place').boundingBox();
  expect(await frameBox()).toEqual({ ...place, height: 120 });
  expect(await page.getByRole('button', { name: 'Close' }).count()).toBe(0);
});

it('ignores a height that is no valid number', async () => {
  page = await host.openPage();
  await mountWidget();
  await waitForEvent(page, 'ready');
  const frame = await widgetFrame(page);
  await frame.evaluate(() => {
    for (const height of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1e9, '700', null, {}, undefined]) {
      window.say({ type: 'resize', height });
    }
    window.say({ type: 'token_expired' });
  });
  await waitForEvent(page, 'token_expired');
  expect((await frameBox())?.height).toBe(480);
});

it('takes no focus, and Escape in the widget does not take it away', async () => {
  page = await host.openPage();
  await page.locator('#opener').focus();
  await mountWidget();
  await waitForEvent(page, 'ready');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('opener');

  const frame = await widgetFrame(page);
  await frame.locator('#inside').focus();
  await page.keyboard.press('Escape');
  await frame.evaluate(() => window.say({ type: 'token_expired' }));
  await waitForEvent(page, 'token_expired');
  expect(await eventTypes(page)).toEqual(['ready', 'token_expired']);
});

it.each(['close', 'destroy'] as const)('leaves nothing behind after %s', async (ending) => {
  page = await host.openPage();
  const before = await traces(page);
  await mountWidget();
  await waitForEvent(page, 'ready');
  await page.evaluate((ending) => {
    window.handle[ending]();
    window.handle[ending]();
  }, ending);
  expect(await traces(page)).toEqual(before);
  expect(await eventTypes(page)).toEqual(ending === 'close' ? ['ready', 'closed'] : ['ready']);
});

it('shows two on one page that know nothing of each other', async () => {
  page = await host.openPage();
  await page.evaluate(
    ([first, second]) => {
      for (const [selector, token] of [
        ['#place', first],
        ['#other-place', second],
      ] as const) {
        window.Inlay.mount(document.querySelector(selector) as HTMLElement, {
          token,
          onEvent: (event) => window.record({ ...event, selector } as unknown as typeof event),
        });
      }
    },
    [host.token(), host.token({ workspaceId: 'w2' })] as const,
  );
  await waitForEvent(page, 'ready', 2);
  await (await widgetFrame(page, 1)).evaluate(() => {
    window.say({ type: 'resize', height: 222 });
    window.say({ type: 'token_expired' });
  });
  await waitForEvent(page, 'token_expired');
  expect((await frameBox(0))?.height).toBe(480);
  expect((await frameBox(1))?.height).toBe(222);
  expect(await page.evaluate(() => window.events.at(-1))).toEqual({ type: 'token_expired', selector: '#other-place' });
});

it('says what is missing when there is no element', async () => {
  page = await host.openPage();
  const message = await page.evaluate((token) => {
    try {
      window.Inlay.mount(document.querySelector('#nowhere') as HTMLElement, { token });
    } catch (error) {
      return (error as Error).message;
    }
  }, host.token());
  expect(message).toMatch(/^mount\(\) needs/);
});
