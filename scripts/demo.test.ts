/** The demo as a process, on an empty data directory and on a used one, and its page in Chromium. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible } from '../widget/test/support/looks.ts';
import { sharedBrowser } from '../widget/test/support/shared-browser.ts';
import { freePort } from './disposable.mjs';
import { isLongRun, itInLongRun } from './long-run.ts';

const program = fileURLToPath(new URL('demo.mjs', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'inlay-demo-'));

interface Demo {
  pageUrl: string;
  inlayUrl: string;
  consoleLink: string;
  child: ChildProcess;
  /** The output of the demo and its exit code. */
  ended: Promise<{ code: number | null; output: string }>;
}

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGTERM');
  rmSync(dataDir, { recursive: true, force: true });
});

/** An option counts more than the environment. */
function run(args: string[], { PORT = '1' } = {}) {
  // A deployment's own settings, which must not reach the demo.
  const env = { ...process.env, INLAY_DATABASE_URL: 'postgres://nowhere/', PORT, LOG_LEVEL: 'silent' };
  const child = spawn(process.execPath, [program, '--no-build', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child);
    return { code: code as number | null, output };
  });
  return { child, ended, output: () => output };
}

async function startDemo({ portBy = 'option' } = {}): Promise<Demo> {
  const [port, pagePort, providerPort] = [await freePort(), await freePort(), await freePort()];
  const { child, ended, output } = run(
    [
      ...['--data-dir', dataDir, '--page-port', String(pagePort)],
      // The next start finds the provider where it was.
      ...(portBy === 'option' ? ['--port', String(port), '--provider-port', String(providerPort)] : []),
    ],
    portBy === 'option' ? {} : { PORT: String(port) },
  );
  const hasEnded = ended.then(({ output }) => {
    throw new Error(`The demo ended before it was ready.\n${output}`);
  });
  hasEnded.catch(() => {}); // While the demo starts, the race below reports its end. Later the test itself ends it.
  while (!output().includes('Press Ctrl+C')) {
    await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), hasEnded]);
  }
  const pageUrl = `http://localhost:${pagePort}`;
  expect(output()).toContain(`Open  ${pageUrl}\n`);
  const inlayUrl = `http://localhost:${port}`;
  const consoleLink = output().match(/Open {2}(\S+\/console\/sign-in#code=\S+)\n/)?.[1] ?? '';
  expect(consoleLink.startsWith(inlayUrl)).toBe(true);
  return { pageUrl, inlayUrl, consoleLink, child, ended };
}

async function stop({ child, ended, inlayUrl, pageUrl }: Demo): Promise<void> {
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
  await expect(fetch(`${inlayUrl}/health/live`)).rejects.toThrow('fetch failed');
  await expect(fetch(pageUrl)).rejects.toThrow('fetch failed');
}

/** The names of the templates that a customer is offered with the widget token that the page would get. */
async function offered({ pageUrl, inlayUrl }: Demo, plan: string): Promise<string[]> {
  const answer = await fetch(`${pageUrl}/api/widget-token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ customer: 'kestrel-coffee', plan, theme: 'brand', locale: 'de' }),
  });
  expect(answer.status).toBe(200);
  const { token: widgetToken } = (await answer.json()) as { token: string };
  const { token, widgetUrl } = JSON.parse(Buffer.from(widgetToken, 'base64').toString());

  const page = await fetch(widgetUrl);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-security-policy')).toContain(`frame-ancestors ${pageUrl}`);

  const templates = await fetch(`${inlayUrl}/api/v1/embedded/source-templates`, {
    headers: { authorization: `Bearer ${token}`, origin: pageUrl },
  });
  return ((await templates.json()) as { data: { name: string }[] }).data.map(({ name }) => name);
}

describe('the demo', () => {
  let demo: Demo;
  let browser: Browser;

  beforeAll(async () => {
    demo = await startDemo();
    browser = await sharedBrowser();
  });

  async function openPage(width: number): Promise<{ page: Page; faults: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, locale: 'en-US' });
    page.setDefaultTimeout(60_000);
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(demo.pageUrl);
    return { page, faults };
  }

  it('offers a plan what its tags say', async () => {
    const free = ['Online shop', 'Loyalty program', 'Cash register', 'CSV or JSON file'];
    expect(await offered(demo, 'free')).toEqual([...free, 'Ledgerline']);
    expect(await offered(demo, 'pro')).toEqual([...free, 'PostgreSQL', 'JSON API', 'Ledgerline']);
  });

  it('keeps its operator token to itself', async () => {
    const file = join(dataDir, 'operator-token');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const token = readFileSync(file, 'utf8');
    for (const path of ['/', '/page.js', '/api/widget-token']) {
      expect(await (await fetch(demo.pageUrl + path)).text()).not.toContain(token);
    }
  });

  it('prints a link that signs in to the console', async () => {
    const page = await browser.newPage({ locale: 'en-US' });
    page.setDefaultTimeout(60_000);
    await page.goto(demo.consoleLink);
    await page.getByRole('button', { name: 'Use link' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.close();
  });

  it('opens the widget in a dialog and in the page, and lists the events', async () => {
    const { page, faults } = await openPage(1100);
    const events = page.locator('#events li');
    await page.getByRole('button', { name: 'Connect your data' }).click();
    await events.filter({ hasText: 'ready' }).waitFor({ state: 'attached' });
    await page.keyboard.press('Escape');
    await events.filter({ hasText: 'closed' }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();

    await page.getByRole('button', { name: 'Show inline' }).click();
    const widget = page.frameLocator('#place iframe');
    await widget.getByText('Online shop').waitFor();
    expect(await widget.getByText('PostgreSQL').count()).toBe(0);
    await page.getByText('Pro', { exact: true }).click();
    await widget.getByText('PostgreSQL').waitFor();
    await page.getByLabel('Widget language').selectOption('de');
    await page.locator('#place iframe[title="Daten verbinden"]').waitFor();

    await page.locator('.place').getByRole('button', { name: 'Close' }).click();
    await events.filter({ hasText: 'closed' }).waitFor();
    expect(await page.locator('inlay-widget').count()).toBe(0);
    expect(faults).toEqual([]);
    await page.close();
  });

  const looks = isLongRun ? ['light', 'dark', 'brand'] : ['brand'];
  it.each(looks)('The page of the demo is accessible and fits a small window: %s', async (look) => {
    const { page, faults } = await openPage(320);
    await page.locator(`input[value=${look}]`).check({ force: true });
    await expectAccessible(page.mainFrame(), look);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    expect(faults).toEqual([]);
    await page.close();
  });

  if (isLongRun) {
    it('The demo has a customer who has to sign in again, because the account has removed the app', async () => {
      const headers = { authorization: `Bearer ${readFileSync(join(dataDir, 'operator-token'), 'utf8')}` };
      const read = async (path: string) =>
        await (await fetch(`${demo.inlayUrl}/api/v1/integrations/${path}`, { headers })).json();
      const needing = async () =>
        ((await read('connections?attention_by=customer')) as { data: { workspace_name: string }[] }).data.map(
          ({ workspace_name }) => workspace_name,
        );
      await expect.poll(needing, { timeout: 240_000, interval: 1_000 }).toContain('falcon-couriers');
      const { data } = (await read('credentials')) as { data: object[] };
      expect(data).toMatchObject([{ state: 'needs_attention', reason: 'revoked', account: 'noor@falcon.example' }]);
    });
  }

  itInLongRun('ends on a signal and leaves nothing running, and starts again with what it had', async () => {
    await stop(demo);
    const again = await startDemo({ portBy: 'environment' });
    expect(await offered(again, 'pro')).toHaveLength(7);
    await stop(again);
  });

  if (isLongRun) {
    it('The demo starts again although the port of its provider is taken, and configures the service with the new address', async () => {
      const { port } = JSON.parse(readFileSync(join(dataDir, 'test-provider.json'), 'utf8'));
      const taken = createServer().listen(Number(port), '127.0.0.1');
      await once(taken, 'listening');
      const again = await startDemo({ portBy: 'environment' });
      const { port: next } = JSON.parse(readFileSync(join(dataDir, 'test-provider.json'), 'utf8'));
      expect(next).not.toBe(port);
      const headers = { authorization: `Bearer ${readFileSync(join(dataDir, 'operator-token'), 'utf8')}` };
      const read = async (path: string) =>
        await (await fetch(`${again.inlayUrl}/api/v1/integrations/${path}`, { headers })).json();
      expect((await read('oauth/clients')).data).toMatchObject([
        { needs_secret: false, endpoints: { token_url: expect.stringMatching(new RegExp(`:${next}/token$`)) } },
      ]);
      const templates: { id: string; name: string }[] = (await read('templates/sources')).data;
      const ledgerline = templates.find(({ name }) => name === 'Ledgerline');
      expect((await read(`templates/sources/${ledgerline?.id}`)).partial_default_config).toMatchObject({
        base_url: expect.stringContaining(`:${next}`),
      });
      taken.close();
      await stop(again);
    });
  }
});

it('ends on a signal while it is still starting', async () => {
  const freshDir = join(dataDir, 'fresh');
  const port = await freePort();
  const ports = ['--port', String(port), '--page-port', String(await freePort())];
  const { child, ended } = run(['--data-dir', freshDir, ...ports]);
  // The service is a process by now, and far from ready.
  await expect.poll(() => existsSync(join(freshDir, 'service.log')), { timeout: 60_000 }).toBe(true);
  child.kill('SIGTERM');
  const { code, output } = await ended;
  expect({ code, output }).toEqual({ code: 0, output: '' });
  await expect(fetch(`http://localhost:${port}/health/live`)).rejects.toThrow('fetch failed');
});

it.each([
  [['--help'], /^Unknown option '--help'.*\n.*--port, --page-port, --provider-port, --data-dir, --no-build\n$/],
  [['--data-dir', join(program, 'data')], /^.* \S+\/data\. ENOTDIR.*\n.*--data-dir\.\n$/],
])('says what to do about %j, without a stack trace', async (args, output) => {
  const [port, pagePort] = [await freePort(), await freePort()];
  expect(await run([...args, '--port', String(port), '--page-port', String(pagePort)]).ended).toEqual({
    code: 1,
    output: expect.stringMatching(output),
  });
});

it('says what to do when a port is in use', async () => {
  const taken = createServer().listen(await freePort(), '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  const byOption = run(['--data-dir', dataDir, '--port', String(port)]).ended;
  const byEnvironment = run(['--data-dir', dataDir], { PORT: String(port) }).ended;
  const output = expect.stringMatching(new RegExp(`^Port ${port} .*--port or PORT\\.\n$`));
  expect(await byOption).toEqual({ code: 1, output });
  expect(await byEnvironment).toEqual({ code: 1, output });
  taken.close();
});

it('says what a valid port is when it gets something else', async () => {
  const { code, output } = await run(['--data-dir', dataDir], { PORT: 'http' }).ended;
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringMatching(/^"http" .*65535.*--port or PORT\.\n$/),
  });
});
