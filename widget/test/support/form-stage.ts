/**
 * A page with one form and nothing else, bundled as the widget is and served under the same policy, in Chromium. Every
 * error in its console fails the test.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { page as formPage } from '../form-page.tsx';
import { sharedBrowser } from './shared-browser.ts';

type Shown = Parameters<(typeof formPage)['show']>[0];

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'";

interface Look {
  language?: string;
  width?: number;
  colorScheme?: 'light' | 'dark';
}

export interface FormStage {
  /** Reloads the page, with the form. */
  open(form: Shown, look?: Look): Promise<Page>;
  /** The errors in the console; a test that expects some removes them. */
  takeProblems(): string[];
}

/** One stage a file. */
export function useFormStage(): FormStage {
  const directory = mkdtempSync(join(tmpdir(), 'inlay-form-'));
  let problems: string[] = [];
  let page: Page;
  let server: Server;
  let url: string;

  const takeProblems = () => {
    const taken = problems;
    problems = [];
    return taken;
  };

  beforeAll(async () => {
    const { script, style } = await bundle(directory);
    server = createServer((request, response) => {
      const path = join(directory, new URL(request.url ?? '/', 'http://page').pathname);
      if (request.url === '/') {
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy });
        response.end(
          '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Form</title>' +
            `<link rel="stylesheet" href="${style}"><main><h1>Form</h1><div id="inlay"></div></main>` +
            `<script type="module" src="${script}"></script>`,
        );
      } else if (existsSync(path)) {
        const type = path.endsWith('.css') ? 'text/css' : 'text/javascript';
        response.writeHead(200, { 'content-type': type }).end(readFileSync(path));
      } else {
        // Chromium requests an icon automatically.
        response.writeHead(204).end();
      }
    }).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    page = await (await sharedBrowser()).newPage({ locale: 'en-US', reducedMotion: 'reduce' });
    page.setDefaultTimeout(300_000);
    page.on('pageerror', (error) => problems.push(error.stack ?? error.message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
  });

  afterEach(() => expect(takeProblems()).toEqual([]));

  afterAll(async () => {
    await page?.close();
    server?.close();
    server?.closeAllConnections();
    rmSync(directory, { recursive: true, force: true });
  });

  return {
    takeProblems,
    async open(form, { language = 'en', width = 900, colorScheme = 'light' } = {}) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await page.goto(url);
      await page.waitForFunction(() => 'page' in window);
      await show(page, form, 'first', language);
      return page;
    },
  };
}

async function bundle(directory: string): Promise<{ script: string; style: string }> {
  const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  await build({
    configFile: file('../../vite.config.ts'),
    logLevel: 'error',
    build: { outDir: directory, emptyOutDir: false, rollupOptions: { input: file('../form-page.tsx') } },
  });
  const manifest: Record<string, { file: string; isEntry?: boolean }> = JSON.parse(
    readFileSync(join(directory, 'manifest.json'), 'utf8'),
  );
  const files = Object.values(manifest);
  const script = files.find(({ isEntry }) => isEntry)?.file;
  const style = files.find((one) => one.file.endsWith('.css'))?.file;
  if (!script || !style) throw new Error('The bundle lacks its script or its style.');
  return { script, style };
}

/** The same key keeps the form, a new one replaces it. */
export async function show(page: Page, form: Shown, key = 'first', language = 'en'): Promise<void> {
  await page.evaluate(([props, of, locale]) => window.page.show(props, of, locale), [form, key, language] as const);
}

/** What the form submitted when its button was pressed; undefined if it submitted nothing. */
export async function submit(page: Page): Promise<unknown> {
  await page.getByRole('button', { name: 'Test and connect' }).click();
  return takeSubmitted(page);
}

export async function takeSubmitted(page: Page): Promise<unknown> {
  return page.evaluate(() => window.page.submitted.splice(0)[0]);
}
