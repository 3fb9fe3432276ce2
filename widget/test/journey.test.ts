/** The whole way of a customer, in Chromium, in a plain frame without any script on the page around it. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInLongRun } from '../../scripts/long-run.ts';
import { httpApi } from '../../server/test/support/pipelines.ts';
import words from '../src/words/en.ts';
import { frameOf, takePicture, useStage, widgetFrame } from './support/stage.ts';

const stage = useStage();
const patience = { timeout: 300_000, interval: 200 };

/** An API that wants a key, which its owner may change. */
let api: Server;
let apiUrl: string;
let key = 'first-key-of-the-api';

beforeAll(async () => {
  api = createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${key}`) return void response.writeHead(401).end('{}');
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify([
        { id: 1, name: 'Ada' },
        { id: 2, name: 'Grace' },
      ]),
    );
  }).listen(0, '127.0.0.1');
  await new Promise((done) => api.once('listening', done));
  apiUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  await stage.connectionTemplate();
});
afterAll(() => {
  api.close();
  api.closeAllConnections();
});

async function openFrame(page: Page, request: object): Promise<Frame> {
  const { widgetUrl } = await stage.widgetToken(request);
  await page.goto(stage.origin + stage.hostPage(frameOf(widgetUrl)));
  return await widgetFrame(page);
}

/** The lines of a stream at the destination. */
function delivered(stream: string): unknown[] {
  return readdirSync(join(stage.dataDir, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl') && entry.parentPath.includes(stream))
    .flatMap((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line));
}

const screen = (frame: Frame, name: string) => frame.waitForSelector(`[data-screen="${name}"]`);

describe('A customer', () => {
  it('goes from the cards to rows at the destination, edits, and disconnects', async () => {
    const tags = ['journey'];
    await stage.sourceTemplate({ name: 'Demo shop', tags });
    await stage.sourceTemplate({ name: 'Second shop', tags });
    const page = await stage.newPage();
    const frame = await openFrame(page, { workspace_name: 'journey', selected_source_template_tags: tags });

    await screen(frame, 'choose');
    await takePicture(page, 'plain-frame');
    await frame.getByRole('button', { name: /^Demo shop/ }).click();
    await screen(frame, 'form');
    await frame.getByLabel('Name').fill('Our shop');
    await frame.getByLabel('Users').fill('200');
    await frame.getByRole('button', { name: 'Test and connect' }).click();

    await screen(frame, 'connected');
    await frame.getByText(/620 rows synced/).waitFor({ timeout: 300_000 });
    expect(delivered('our_shop_users')).toHaveLength(200);
    await frame.getByRole('button', { name: 'Done' }).click();

    await screen(frame, 'list');
    await frame.getByRole('button', { name: /Our shop/ }).click();
    await screen(frame, 'source');
    await frame
      .getByText(/620 rows/)
      .first()
      .waitFor();

    // More users: saved after another test, and there with the next sync.
    await frame.getByRole('tab', { name: 'Settings' }).click();
    expect(await frame.getByLabel('Users').inputValue()).toBe('200');
    await frame.getByLabel('Users').fill('300');
    await frame.getByRole('button', { name: 'Test and save' }).click();
    await frame.getByText(words.source.saved).waitFor({ timeout: 300_000 });
    await frame.getByRole('tab', { name: 'Activity' }).click();
    await frame.getByRole('button', { name: 'Sync now' }).click();
    await expect.poll(() => delivered('our_shop_users').length, patience).toBe(300);

    await frame.getByRole('tab', { name: 'Settings' }).click();
    await frame.getByRole('button', { name: 'Disconnect' }).click();
    const dialog = frame.getByRole('dialog');
    await dialog.getByText('Disconnect Our shop?').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await screen(frame, 'source');
    await frame.getByRole('button', { name: 'Disconnect' }).click();
    await dialog.getByRole('button', { name: 'Disconnect' }).click();
    await screen(frame, 'choose');
    expect(delivered('our_shop_users')).toHaveLength(300);
  });

  itInLongRun('shows beside the field what to fix, and reconnects after the key has changed', async () => {
    const tags = ['api'];
    await stage.sourceTemplate({
      actor_definition_id: httpApi,
      name: 'Ledger',
      tags,
      partial_default_config: {
        base_url: apiUrl,
        authentication: { type: 'bearer' },
        streams: [{ name: 'people', path: '/people', primary_key: ['id'] }],
      },
    });
    const page = await stage.newPage();
    const frame = await openFrame(page, { workspace_name: 'ledger', selected_source_template_tags: tags });

    // One template and no source: straight to its form.
    await screen(frame, 'form');
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    const field = frame.getByLabel('Token', { exact: true });
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);

    await field.fill('a wrong one');
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    // The message names the authentication, so it is shown once, there, and the field inside has the focus.
    const fault = frame.locator('.inlay-field-fault');
    await fault.waitFor({ timeout: 300_000 });
    await takePicture(page, 'check-failed');
    expect(await fault.count()).toBe(1);
    expect(await frame.locator('.inlay-notice, .inlay-fault-summary').count()).toBe(0);
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await field.inputValue()).toBe('a wrong one');
    await field.fill(key);
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    await screen(frame, 'connected');
    await frame.getByText(/2 rows synced/).waitFor({ timeout: 300_000 });
    await frame.getByRole('button', { name: 'Done' }).click();

    key = 'second-key-of-the-api';
    await frame.getByRole('button', { name: /Ledger/ }).click();
    await frame.getByRole('button', { name: 'Sync now' }).click();
    await frame.getByText('Failed').first().waitFor({ timeout: 300_000 });
    await frame.getByRole('tab', { name: 'Settings' }).click();
    expect(await frame.content()).not.toContain('first-key-of-the-api');
    await frame.getByRole('button', { name: 'Test and save' }).click();
    await fault.waitFor({ timeout: 300_000 });
    await field.fill(key);
    await frame.getByRole('button', { name: 'Test and save' }).click();
    await frame.getByText(words.source.saved).waitFor({ timeout: 300_000 });
    await frame.getByRole('tab', { name: 'Activity' }).click();
    await frame.getByRole('button', { name: 'Sync now' }).click();
    await expect.poll(async () => await frame.getByText('Completed').count(), patience).toBeGreaterThanOrEqual(2);
  });

  itInLongRun('enters a secret again when the address changes that the secret goes to', async () => {
    const tags = ['movable'];
    await stage.sourceTemplate({
      actor_definition_id: httpApi,
      name: 'Movable',
      tags,
      partial_default_config: {
        authentication: { type: 'bearer' },
        streams: [{ name: 'people', path: '/people', primary_key: ['id'] }],
      },
    });
    const page = await stage.newPage();
    const frame = await openFrame(page, { workspace_name: 'movable', selected_source_template_tags: tags });
    await screen(frame, 'form');
    const [address, token] = [frame.getByLabel('Base URL'), frame.getByLabel('Token', { exact: true })];
    await address.fill(apiUrl);
    await token.fill(key);
    await frame.getByRole('button', { name: 'Test and connect' }).click();
    await frame.getByText(/2 rows synced/).waitFor({ timeout: 300_000 });
    await frame.getByRole('button', { name: 'Done' }).click();
    await frame.getByRole('button', { name: /Movable/ }).click();
    await frame.getByRole('tab', { name: 'Settings' }).click();

    await address.fill(apiUrl.replace('127.0.0.1', 'localhost'));
    await frame.getByRole('button', { name: 'Test and save' }).click();
    const fault = frame.getByText(words.form.reenterSecret);
    await fault.waitFor({ timeout: 300_000 });
    await takePicture(page, 'secret-again');
    // Chromium reports the refusal.
    expect(stage.takeProblems()).toEqual([expect.stringContaining('status of 422')]);
    expect(await frame.locator('.inlay-field-fault').count()).toBe(1);
    await expect.poll(() => token.getAttribute('aria-invalid')).toBe('true');
    expect(await token.getAttribute('placeholder')).not.toBe(words.form.saved);
    await expect.poll(() => token.evaluate((element) => element === document.activeElement)).toBe(true);
    await token.fill(key);
    await frame.getByRole('button', { name: 'Test and save' }).click();
    await frame.getByText(words.source.saved).waitFor({ timeout: 300_000 });
  });

  it('needs only the keyboard', async () => {
    const tags = ['keyboard'];
    await stage.sourceTemplate({ name: 'First', tags });
    await stage.sourceTemplate({ name: 'Second', tags });
    const page = await stage.newPage();
    const frame = await openFrame(page, { workspace_name: 'keyboard', selected_source_template_tags: tags });
    const focused = () =>
      frame.evaluate(() => {
        const element = document.activeElement === document.body ? null : document.activeElement;
        return element?.textContent || element?.getAttribute('aria-label') || element?.id || '';
      });
    /** Presses Tab until the focus is there. */
    const tabTo = async (pattern: RegExp) => {
      for (let presses = 0; presses < 40; presses += 1) {
        if (pattern.test(await focused())) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`${pattern} was not reached; the focus is on ${await focused()}`);
    };

    await tabTo(/Second/);
    await page.keyboard.press('Enter');
    await screen(frame, 'form');
    // The heading has the focus, so that screen readers announce the screen.
    await expect.poll(() => frame.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    await tabTo(/Test and connect/);
    await page.keyboard.press('Enter');
    await screen(frame, 'connected');
    await frame.getByText(/rows synced/).waitFor({ timeout: 300_000 });
    await tabTo(/^Done/);
    await page.keyboard.press('Space');
    await screen(frame, 'list');
    await tabTo(/Second/);
    await page.keyboard.press('Enter');
    await screen(frame, 'source');
    await tabTo(/Activity/);
    await page.keyboard.press('ArrowRight');
    await tabTo(/^Disconnect$/);
    await page.keyboard.press('Enter');
    await frame.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await frame.getByRole('dialog').waitFor({ state: 'hidden' });
    await expect.poll(focused).toMatch(/^Disconnect$/);
    await page.keyboard.press('Enter');
    await frame.getByRole('dialog').waitFor();
    await tabTo(/^Disconnect$/);
    await page.keyboard.press('Enter');
    await screen(frame, 'choose');
  });
});
