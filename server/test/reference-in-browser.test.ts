/** The API reference as a reader uses it, in a real Chromium. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedBrowser } from '../../widget/test/support/shared-browser.ts';
import { startTestApp, type TestApp } from './support/app.ts';

let test: TestApp;
let page: Page;
let address: string;
/** Every answer that failed, and every error in the page. */
const problems: string[] = [];

beforeAll(async () => {
  test = await startTestApp('sqlite');
  await test.app.http.listen({ host: '127.0.0.1', port: 0 });
  address = `http://127.0.0.1:${(test.app.http.server.address() as AddressInfo).port}`;
  const browser = await sharedBrowser();
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
  page = await context.newPage();
  page.setDefaultTimeout(300_000);
  page.on('response', (answer) => answer.status() >= 400 && problems.push(`${answer.status()} ${answer.url()}`));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(`${address}/docs`);
});
afterAll(async () => {
  await page?.context().close();
  await test?.stop();
});

const shownEntries = () => page.locator('.contents-group li:visible').allTextContents();

it('finds an endpoint by words of its title, path or fields, and opens the page it is on', async () => {
  await page.keyboard.press('/');
  await page.keyboard.type('allowed_origin');
  expect((await shownEntries()).map((text) => text.trim())).toEqual(['POST Generate widget token']);
  await page.keyboard.type(' nowhere');
  expect(await shownEntries()).toEqual([]);
  expect(await page.locator('#nothing-found').isVisible()).toBe(true);
  await page.getByRole('searchbox').fill('all tokens of a workspace');
  await page.keyboard.press('Enter');
  await page.locator('#revoke-all-tokens-of-workspace').waitFor();
  expect(page.url()).toBe(`${address}/docs/tokens#revoke-all-tokens-of-workspace`);
  await page.getByRole('searchbox').fill('');
});

it('copies an example', async () => {
  const example = page.locator('#generate-scoped-token figure', { hasText: 'curl' });
  await example.getByRole('button', { name: 'Copy' }).click();
  await example.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^curl -X POST .*scoped-token/);
});

it('sends a request with a token that stays in memory from page to page, and nowhere else', async () => {
  const issue = page.locator('#generate-scoped-token');
  await issue.getByText('Try it').click();
  await issue.getByLabel('Operator token').fill(test.operatorToken);
  await issue.getByLabel('Body').fill('{"workspace_name": "tried"}');
  await issue.getByRole('button', { name: 'Send POST' }).click();
  await issue.locator('output', { hasText: /^200 OK/ }).waitFor();

  await page.locator('.contents .title a', { hasText: /^Workspaces$/ }).click();
  const list = page.locator('#list-workspaces');
  await list.getByText('Try it').click();
  expect(await list.getByLabel('Operator token').inputValue()).toBe(test.operatorToken);
  await list.getByLabel('name_contains').fill('TRIED');
  await list.getByRole('button', { name: 'Send GET' }).click();
  await list.locator('output', { hasText: '"name": "tried"' }).waitFor();

  expect(await page.context().storageState()).toEqual({ cookies: [], origins: [] });
  expect(page.url()).not.toContain(test.operatorToken);
  await page.reload();
  await list.getByText('Try it').click();
  expect(await list.getByLabel('Operator token').inputValue()).toBe('');
});

it('goes back to the page before', async () => {
  await page.locator('.contents .title a', { hasText: 'Definitions' }).click();
  await page.getByRole('heading', { level: 1, name: 'Definitions' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Workspaces' }).waitFor();
});

it('is accessible: axe-core finds nothing in the overview and in the page of a group', async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const run = "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id }) => id))";
  for (const path of ['docs', 'docs/tokens']) {
    await page.goto(`${address}/${path}`);
    await page.evaluate(axe);
    expect(await page.evaluate(run), path).toEqual([]);
  }
});

it('asks for nothing that is not there', () => {
  expect(problems).toEqual([]);
});
