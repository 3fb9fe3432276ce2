import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventTypes, type Host, startHost, traces, waitForEvent, widgetFrame } from './host-page.ts';

let host: Host;
let page: Page;

beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host?.close());

async function openWidget(token = host.token()): Promise<void> {
  await page.evaluate((token) => {
    document.querySelector<HTMLElement>('#opener')?.focus();
    window.handle = window.Inlay.open({ token, onEvent: window.record });
  }, token);
}

const dialog = () => page.locator('inlay-widget dialog');
const focused = () => page.evaluate(() => document.activeElement?.id);

it('shows the widget in a dialog once it is ready, and puts the focus into it', async () => {
  page = await host.openPage();
  await openWidget();
  await waitForEvent(page, 'ready');

  expect(await dialog().getAttribute('aria-label')).toBe('Connect your data');
  const frame = page.locator('inlay-widget iframe');
  expect(await frame.isVisible()).toBe(true);
  expect(await frame.getAttribute('title')).toBe('Connect your data');
  expect(await frame.getAttribute('allow')).toBe('clipboard-write');
  expect(await frame.getAttribute('sandbox')).toBeNull();
  expect(await frame.getAttribute('referrerpolicy')).toBe('no-referrer');
  expect(await (await widgetFrame(page)).evaluate(() => document.hasFocus())).toBe(true);
});

it('keeps the frame hidden and says that it loads until the widget is ready', async () => {
  page = await host.openPage();
  await openWidget(host.token({ silent: true }));

  const frame = await widgetFrame(page);
  expect(await dialog().getByRole('status').textContent()).toBe('Loading…');
  expect(await page.locator('inlay-widget iframe').isVisible()).toBe(false);
  expect(await page.getByRole('button', { name: 'Try again' }).isVisible()).toBe(false);

  await frame.evaluate(() => window.say({ type: 'ready' }));
  await waitForEvent(page, 'ready');
  expect(await page.locator('inlay-widget iframe').isVisible()).toBe(true);
  expect(await page.getByText('Loading…').isVisible()).toBe(false);
});

const waysToClose: Record<string, () => Promise<void>> = {
  'the handle': () => page.evaluate(() => window.handle.close()),
  'the button': () => page.getByRole('button', { name: 'Close' }).click(),
  'Escape in the page': async () => {
    await page.getByRole('button', { name: 'Close' }).focus();
    await page.keyboard.press('Escape');
  },
  'Escape in the widget': async () => {
    await (await widgetFrame(page)).locator('#inside').focus();
    await page.keyboard.press('Escape');
  },
  'a click on the backdrop': () => page.mouse.click(5, 5),
};

it.each(Object.keys(waysToClose))('closes by %s, gives the focus back and leaves nothing behind', async (way) => {
  page = await host.openPage({ viewport: { width: 1000, height: 800 } });
  const before = await traces(page);
  await openWidget();
  await waitForEvent(page, 'ready');
  expect(await traces(page)).not.toEqual(before);

  await waysToClose[way]?.();
  await waitForEvent(page, 'closed');
  expect(await traces(page)).toEqual(before);
  await expect.poll(focused).toBe('opener');
  expect(await eventTypes(page)).toEqual(['ready', 'closed']);

  // Closing again, by every method, does no harm.
  await page.evaluate((token) => {
    window.handle.close();
    window.handle.destroy();
    window.handle.updateToken(token);
    window.handle.updateToken('not even a token');
  }, host.token());
  expect(await traces(page)).toEqual(before);
  expect(await eventTypes(page)).toEqual(['ready', 'closed']);
});

it('does not close by a press that begins in the dialog and ends beside it', async () => {
  page = await host.openPage({ viewport: { width: 1000, height: 800 } });
  await openWidget();
  await waitForEvent(page, 'ready');
  const box = await dialog().boundingBox();
  if (!box) throw new Error('The dialog has no box.');
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(5, 5);
  await page.mouse.up();
  await page.mouse.click(box.x + 20, box.y + 20);
  expect(await dialog().isVisible()).toBe(true);
  expect(await eventTypes(page)).toEqual(['ready']);
});

it('destroys in silence, also while it loads', async () => {
  page = await host.openPage();
  const before = await traces(page);
  await openWidget(host.token({ silent: true }));
  await page.evaluate(() => window.handle.destroy());
  expect(await traces(page)).toEqual(before);
  await expect.poll(focused).toBe('opener');
  expect(await eventTypes(page)).toEqual([]);
});

it('keeps the page from scrolling while any dialog is open, whichever closes first', async () => {
  page = await host.openPage({ viewport: { width: 1000, height: 800 } });
  const before = await traces(page);
  await page.evaluate((token) => {
    const first = window.Inlay.open({ token });
    const second = window.Inlay.open({ token });
    window.handle = second;
    first.close();
  }, host.token());
  expect((await traces(page)).overflow).toBe('hidden');
  await page.mouse.wheel(0, 500);
  expect(await page.evaluate(() => window.scrollY)).toBe(0);
  await page.evaluate(() => window.handle.close());
  expect(await traces(page)).toEqual(before);
});

it('opens a second one above the first, and Escape closes one at a time', async () => {
  page = await host.openPage();
  await page.evaluate((token) => {
    for (const name of ['first', 'second']) {
      window.Inlay.open({
        token,
        onEvent: (event) => window.record({ ...event, name } as unknown as typeof event),
      });
    }
  }, host.token());
  await waitForEvent(page, 'ready', 2);
  await page.keyboard.press('Escape');
  await waitForEvent(page, 'closed');
  expect(await page.locator('inlay-widget').count()).toBe(1);
  expect(await page.evaluate(() => window.events.at(-1))).toEqual({ type: 'closed', name: 'second' });
  await page.getByRole('button', { name: 'Close' }).click();
  await waitForEvent(page, 'closed', 2);
  expect(await page.locator('inlay-widget').count()).toBe(0);
});

it('is as high as the widget up to the window: a card in a wide one, a sheet from below in a narrow one', async () => {
  page = await host.openPage({ viewport: { width: 1000, height: 900 }, reducedMotion: 'reduce' });
  await openWidget();
  await waitForEvent(page, 'ready');
  const frame = await widgetFrame(page);
  const grow = async (height: number) => {
    await frame.evaluate((height) => window.say({ type: 'resize', height }), height);
    await frame.evaluate(() => window.say({ type: 'token_expired' }));
    await page.waitForFunction(() => window.events.splice(0).some(({ type }) => type === 'token_expired'));
  };
  const frameHeight = async () => (await page.locator('inlay-widget iframe').boundingBox())?.height;
  /** The height of the strip with the button above the widget. */
  const strip = 36;

  await grow(364);
  expect(await dialog().boundingBox()).toEqual({ x: 220, y: 72, width: 560, height: 364 + strip });
  expect(await frameHeight()).toBe(364);
  await grow(5_000);
  expect(await dialog().boundingBox()).toEqual({ x: 220, y: 72, width: 560, height: 756 });
  expect(await frameHeight()).toBe(756 - strip);

  await page.setViewportSize({ width: 320, height: 640 });
  expect(await dialog().boundingBox()).toEqual({ x: 0, y: 0, width: 320, height: 640 });
  expect(await frameHeight()).toBe(640 - strip);
  await grow(300);
  expect(await dialog().boundingBox()).toEqual({ x: 0, y: 640 - 336, width: 320, height: 336 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
});

it('is covered as a whole by a question of the widget', async () => {
  page = await host.openPage({ viewport: { width: 1000, height: 800 } });
  await openWidget();
  await waitForEvent(page, 'ready');
  const frame = await widgetFrame(page);
  const atButton = () =>
    page.evaluate(() => {
      const root = document.querySelector('inlay-widget')?.shadowRoot;
      const { left, top } = root?.querySelector('.close')?.getBoundingClientRect() ?? { left: 0, top: 0 };
      return root?.elementFromPoint(left + 20, top + 10)?.className;
    });
  const strip = () => dialog().evaluate((element) => getComputedStyle(element, '::before').backgroundColor);
  expect(await atButton()).toBe('close');
  await frame.evaluate(() => window.say({ type: 'cover', covered: true }));
  await expect.poll(strip).toBe('rgba(10, 13, 20, 0.5)');
  expect(await atButton()).not.toBe('close');
  await frame.evaluate(() => window.say({ type: 'cover', covered: false }));
  await expect.poll(strip).toBe('rgba(0, 0, 0, 0)');
  await page.getByRole('button', { name: 'Close' }).click();
  await waitForEvent(page, 'closed');
});

it('speaks the language that the page asks for, or English', async () => {
  page = await host.openPage({ locale: 'pt-BR' });
  for (const [locale, close, title] of [
    ['de-AT', 'Schließen', 'Daten verbinden'],
    ['fr', 'Fermer', 'Connecter vos données'],
    ['es', 'Cerrar', 'Conectar sus datos'],
    ['ja', '閉じる', 'データを接続'],
    ['pt', 'Close', 'Connect your data'],
  ] as const) {
    await page.evaluate(
      ([token, locale]) => {
        window.handle?.destroy();
        window.handle = window.Inlay.open({ token, locale });
      },
      [host.token({ locale: 'fr' }), locale] as const,
    );
    expect(await page.getByRole('button', { name: close }).isVisible()).toBe(true);
    expect(await page.locator('inlay-widget iframe').getAttribute('title')).toBe(title);
  }
});

it("speaks the token's language, or else the browser's", async () => {
  page = await host.openPage({ locale: 'es-MX' });
  await openWidget(host.token({ locale: 'ja' }));
  await waitForEvent(page, 'ready');
  expect(await page.getByRole('button', { name: '閉じる' }).isVisible()).toBe(true);
  await page.evaluate((token) => {
    window.handle.close();
    window.Inlay.open({ token });
  }, host.token());
  expect(await page.getByRole('button', { name: 'Cerrar' }).isVisible()).toBe(true);
});

it('wears the colors of the theme while it loads, and ignores what is no color', async () => {
  page = await host.openPage({ colorScheme: 'dark' });
  const background = () => dialog().evaluate((element) => getComputedStyle(element).backgroundColor);
  await openWidget(host.token({ silent: true, theme: { background_color: 'rgb(1, 2, 3)' } }));
  expect(await background()).toBe('rgb(1, 2, 3)');
  await page.evaluate(
    (token) => {
      window.handle.close();
      window.handle = window.Inlay.open({ token, theme: { color_scheme: 'light', background_color: 'url(/x)' } });
    },
    host.token({ silent: true }),
  );
  expect(await background()).toBe('rgb(255, 255, 255)');
  await page.evaluate(
    (token) => {
      window.handle.close();
      window.handle = window.Inlay.open({ token });
    },
    host.token({ silent: true }),
  );
  expect(await background()).toBe('rgb(20, 22, 28)');
});
