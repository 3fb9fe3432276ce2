/** Every screen and state as a customer sees it: accessible, in five languages, light and dark, narrow and wide. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLongRun } from '../../scripts/long-run.ts';
import { fileSource, httpApi, postgresSource } from '../../server/test/support/pipelines.ts';
import words from '../src/words/en.ts';
import { expectAccessible, expectToFit } from './support/looks.ts';
import { frameOf, takePicture, useStage, widgetFrame } from './support/stage.ts';

const stage = useStage();

const theme = { primary_color: '#ffd400', radius: 0, font_family: 'serif' };
const looks: Record<string, BrowserContextOptions & { theme?: object }> = isLongRun
  ? {
      light: { colorScheme: 'light', viewport: { width: 560, height: 760 } },
      dark: { colorScheme: 'dark', viewport: { width: 560, height: 760 } },
      wide: { colorScheme: 'dark', viewport: { width: 1100, height: 760 } },
      narrow: { colorScheme: 'light', viewport: { width: 320, height: 640 } },
      branded: {
        colorScheme: 'light',
        viewport: { width: 560, height: 760 },
        theme: { ...theme, background_color: '#fff8e7', text_color: '#3b2f0b' },
      },
      'branded, dark and narrow': { colorScheme: 'dark', viewport: { width: 320, height: 640 }, theme },
    }
  : // One look that has most of what the others have.
    { 'branded, dark and narrow': { colorScheme: 'dark', viewport: { width: 320, height: 640 }, theme } };

/** An API whose list is one level further down than a customer expects. */
const api = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json').end('{"data": {"orders": [{"id": 1}, {"id": 2}]}}');
});

const redSquare = 'data:image/gif;base64,R0lGODlhAQABAIAAAP8AAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==';

beforeAll(async () => {
  await new Promise<void>((listening) => api.listen(0, '127.0.0.1', listening));
  const base_url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const offers: [string, string, object][] = [
    ['Nested list', httpApi, { base_url }],
    ['PostgreSQL', postgresSource, {}],
    ['Web API', httpApi, {}],
    ['Files', fileSource, {}],
  ];
  for (const [name, actor_definition_id, partial_default_config] of offers) {
    await stage.sourceTemplate({ name, actor_definition_id, partial_default_config, tags: ['many'] });
  }
  for (const name of ['Demo shop', 'Café Zürich', 'Second shop', 'Third shop']) {
    // How a customer sees the difference between templates of one connector.
    const looks = name === 'Second shop' ? { description: 'The shop in Berlin', icon: redSquare } : {};
    const category = name === 'Demo shop' ? null : 'Shops';
    await stage.sourceTemplate({ name, category, ...looks, tags: ['many', ...(name === 'Demo shop' ? ['one'] : [])] });
  }
  const customer_may_change = { streams: true, schedule: { shortest_minutes: 60 } };
  await stage.connectionTemplate({ customer_may_change });
});

afterAll(() => {
  api.close();
});

/** In a frame that fills the window. */
async function show(page: Page, widgetUrl: string): Promise<Frame> {
  const style = 'position: fixed; inset: 0; width: 100%; height: 100%; border: 0';
  await page.goto(stage.origin + stage.hostPage(frameOf(widgetUrl, style)));
  return await widgetFrame(page);
}

async function open(page: Page, request: object): Promise<Frame> {
  return await show(page, (await stage.widgetToken(request)).widgetUrl);
}

describe.each(Object.keys(looks))('%s', (look) => {
  it('every screen is accessible and fits', async () => {
    const { theme, ...options } = looks[look] ?? {};
    const page = await stage.newPage(options);
    let count = 0;
    const lookAt = async (frame: Frame, name: string) => {
      count += 1;
      await takePicture(page, `${look}-${String(count).padStart(2, '0')}-${name}`);
      await expectAccessible(frame, `${look}: ${name}`);
      await expectToFit(frame, `${look}: ${name}`);
    };
    const workspace_name = `screens ${look}`;
    const many = { workspace_name, selected_source_template_tags: ['many'], theme };
    const screen = (name: string) => frame.waitForSelector(`[data-screen="${name}"]`);

    let frame = await open(page, { workspace_name, selected_source_template_tags: ['no such tag'], theme });
    await screen('empty');
    await lookAt(frame, 'empty');

    frame = await open(page, many);
    await screen('choose');
    const second = frame.getByRole('button', { name: /Second shop The shop in Berlin/ });
    expect(await second.locator('img').getAttribute('src')).not.toBe(
      await frame
        .getByRole('button', { name: /Third shop/ })
        .locator('img')
        .getAttribute('src'),
    );
    expect(await frame.locator('h2').allTextContents()).toEqual(['Shops']);
    expect(await frame.getByRole('list', { name: 'Shops' }).getByRole('button').count()).toBe(3);
    await lookAt(frame, 'choose');
    await frame.getByRole('searchbox').fill('cafe zur');
    await expect.poll(() => frame.getByRole('button', { name: /shop/ }).count()).toBe(0);
    expect(await frame.getByRole('button', { name: /Café Zürich/ }).count()).toBe(1);
    await lookAt(frame, 'search');
    await frame.getByRole('searchbox').fill('');

    for (const name of ['PostgreSQL', 'Web API', 'Files']) {
      await frame.getByRole('button', { name: new RegExp(name) }).click();
      await frame.waitForSelector('form fieldset, form input');
      await frame.getByRole('button', { name: 'Test and connect' }).waitFor();
      await lookAt(frame, `form-${name.toLowerCase().replace(' ', '-')}`);
      await frame.getByRole('button', { name: 'Test and connect' }).click();
      await frame.waitForSelector('[aria-invalid="true"]');
      await lookAt(frame, `faults-${name.toLowerCase().replace(' ', '-')}`);
      await frame.getByRole('button', { name: 'Back' }).click();
      const discard = frame.getByRole('button', { name: 'Discard' });
      if (await discard.isVisible()) await discard.click();
      await screen('choose');
    }

    await frame.getByRole('button', { name: /Demo shop/ }).click();
    await frame.getByLabel('Users').fill('50');
    await frame.getByRole('button', { name: 'Back' }).click();
    await frame.getByRole('dialog').waitFor();
    await lookAt(frame, 'discard');
    await frame.getByRole('button', { name: 'Keep editing' }).click();
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    await screen('connected');
    await frame.getByText(/rows synced/).waitFor({ timeout: 300_000 });
    await lookAt(frame, 'connected');
    await frame.getByRole('button', { name: 'Connect another source' }).click();
    await frame.getByRole('button', { name: /Nested list/ }).click();
    const stream = frame.getByRole('group', { name: 'Streams' });
    await stream.getByLabel('Name').fill('orders');
    await stream.getByLabel('Path', { exact: true }).fill('orders');
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    await frame.getByText(words.check.warnings).waitFor();
    await frame.getByText(/The list is probably at “data\.orders”/).waitFor();
    await lookAt(frame, 'connected-with-warning');
    await frame.getByRole('button', { name: 'Done' }).click();
    await screen('list');
    await lookAt(frame, 'list');
    await frame.getByRole('button', { name: /Demo shop/ }).click();
    await screen('source');
    await frame.getByText(/rows/).first().waitFor();
    await lookAt(frame, 'source');
    await frame.getByRole('button', { name: 'Data and schedule' }).click();
    await frame.getByLabel(words.choice.often).waitFor();
    await lookAt(frame, 'choice');
    await frame.getByRole('button', { name: 'Cancel', exact: true }).click();
    await frame.getByRole('tab', { name: 'Settings' }).click();
    await frame.getByLabel('Users').waitFor();
    await lookAt(frame, 'settings');
    await frame.getByRole('button', { name: 'Disconnect' }).click();
    await frame.getByRole('dialog').waitFor();
    await lookAt(frame, 'disconnect');
    await frame.getByRole('button', { name: 'Cancel' }).click();

    // What goes wrong: the network, the service, the session.
    await page.context().setOffline(true);
    await frame.getByText(words.offlineBanner).first().waitFor();
    await lookAt(frame, 'offline');
    await page.context().setOffline(false);
    await frame.getByText(words.offlineBanner).first().waitFor({ state: 'hidden' });

    await page.route('**/api/v1/embedded/**', (route) =>
      route.fulfill({ status: 503, json: { detail: 'Storage is unavailable' } }),
    );
    frame = await open(page, many);
    await screen('error');
    await lookAt(frame, 'error');
    // The screen also retries automatically, which would remove the button once the service answers.
    const retried = page.waitForRequest('**/api/v1/embedded/**');
    await frame.getByRole('button', { name: 'Try again' }).click();
    await retried;
    await page.unroute('**/api/v1/embedded/**');
    await screen('list');

    const { widgetUrl, whole } = await stage.widgetToken({ ...many });
    await stage.operator('POST', '/embedded/tokens/revoke', { token: whole });
    frame = await show(page, widgetUrl);
    await screen('expired');
    await frame.getByText(words.expired.reload).waitFor();
    await lookAt(frame, 'expired');
    // The console reports every answer that is no success. The test expects these.
    stage.takeProblems();
  }, 240_000);
});

describe('Languages', () => {
  /** A title of the widget, and a field of the connector. */
  const titles = {
    en: ['Connect a source', 'Database'],
    de: ['Quelle', 'Datenbank'],
    fr: ['source', 'Base de données'],
    es: ['fuente', 'Base de datos'],
    ja: ['ソース', 'データベース'],
  };

  const tried = isLongRun ? Object.entries(titles) : Object.entries({ de: titles.de, ja: titles.ja });

  it.each(tried)('The widget speaks %s throughout, by the token or by the browser', async (locale, words) => {
    const [title = '', field = ''] = words;
    const page = await stage.newPage({ locale: locale === 'en' ? 'en-GB' : 'en-US' });
    const frame = await open(page, {
      workspace_name: `speaks ${locale}`,
      selected_source_template_tags: ['many'],
      locale,
    });
    await frame.waitForSelector('[data-screen="choose"]');
    expect(await frame.locator('h1').textContent()).toContain(title);
    expect(await frame.evaluate(() => document.documentElement.lang)).toBe(locale);
    await takePicture(page, `language-${locale}-choose`);
    await frame.getByRole('button', { name: /PostgreSQL/ }).click();
    await frame.waitForSelector('form input');
    expect(await frame.getByLabel(field, { exact: true }).count()).toBe(1);
    await takePicture(page, `language-${locale}-form`);
    if (!isLongRun && locale !== 'ja') return;
    await expectAccessible(frame, locale);

    const byBrowser = await stage.newPage({ locale });
    const other = await open(byBrowser, {
      workspace_name: `speaks ${locale}`,
      selected_source_template_tags: ['many'],
    });
    await other.waitForSelector('[data-screen="choose"]');
    expect(await other.locator('h1').textContent()).toContain(title);
  });
});

describe('Texts of others', () => {
  it('are shown as text, however they are written', async () => {
    const nasty = `<img src=x onerror="window.broken=1"><script>window.broken=1</script>`;
    await stage.sourceTemplate({ name: nasty, description: nasty, tags: ['nasty'] });
    await stage.sourceTemplate({ name: 'x'.repeat(255), tags: ['nasty'] });
    const page = await stage.newPage({ viewport: { width: 320, height: 640 } });
    const frame = await open(page, { workspace_name: nasty, selected_source_template_tags: ['nasty'] });
    await frame.waitForSelector('[data-screen="choose"]');
    await frame.getByText(nasty).first().waitFor();
    await expectToFit(frame, 'long names');
    await takePicture(page, 'names-of-others');
    await frame.getByText(nasty).first().click();
    await frame.waitForSelector('[data-screen="form"]');
    expect(await frame.evaluate(() => 'broken' in window)).toBe(false);
    expect(await frame.locator('img[src="x"]').count()).toBe(0);
  });
});
