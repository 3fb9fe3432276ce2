/**
 * The parts that a test of the widget needs: the product as a process, a host page on its own origin, and Chromium.
 * Every request of the browser to anywhere else fails the test, and so does every error in the widget's console.
 */
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { createTestDatabase, type TestDatabase } from '../../../server/test/support/databases.ts';
import { localFiles, sampleData } from '../../../server/test/support/pipelines.ts';
import { type Service, startService } from '../../../server/test/support/service.ts';
import { sharedBrowser } from './shared-browser.ts';

const operatorToken = 'an operator token only for these tests'.replaceAll(' ', '-');
const pictures = fileURLToPath(new URL('../../../.artifacts/widget/', import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
type Answer = any;

export interface WidgetToken {
  /** A widget token, as the operator's backend gets it. */
  whole: string;
  token: string;
  widgetUrl: string;
}

export interface Stage {
  service: Service;
  /** The service's public URL, the origin of the widget. */
  publicUrl: string;
  dataDir: string;
  /** The origin of the host page. */
  origin: string;
  /** Another origin with the same pages. */
  otherOrigin: string;
  operator(method: string, path: string, body?: object): Promise<Answer>;
  widgetToken(request?: object): Promise<WidgetToken>;
  sourceTemplate(body?: object): Promise<string>;
  connectionTemplate(body?: object): Promise<string>;
  /** Puts a page onto the host and gives its path. `body` is HTML. */
  hostPage(body: string, headers?: Record<string, string>): string;
  /** A new page of a new browser profile, which ends with the test. */
  newPage(options?: BrowserContextOptions): Promise<Page>;
  /** Problems that the browser has reported since the page was opened; a test that expects some removes them. */
  takeProblems(): string[];
}

/** `env` as for the service. One stage a file. */
export function useStage(env: Record<string, string> = {}): Stage {
  const pages = new Map<string, { text: string; headers: Record<string, string> }>();
  const contexts: BrowserContext[] = [];
  let problems: string[] = [];
  let host: Server;
  let database: TestDatabase | undefined;
  let browser: Browser;
  let names = 0;

  const stage = {
    async operator(method, path, body) {
      const response = await fetch(`${stage.service.url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const answer: Answer = await response.json();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
      return answer;
    },
    async widgetToken(request = {}) {
      names += 1;
      const body = { workspace_name: `customer ${names}`, allowed_origin: stage.origin, ...request };
      const { token: whole } = await stage.operator('POST', '/embedded/widget-token', body);
      return { whole, ...JSON.parse(Buffer.from(whole, 'base64').toString()) };
    },
    async sourceTemplate(body = {}) {
      const defaults = { actor_definition_id: sampleData, name: 'Demo shop', partial_default_config: { seed: 7 } };
      return (await stage.operator('POST', '/integrations/templates/sources', { ...defaults, ...body })).id;
    },
    async connectionTemplate(body = {}) {
      const defaults = {
        destination_name: 'Warehouse',
        destination_definition_id: localFiles,
        destination_config: { path: 'exports' },
        skip_check: true,
        // Not hourly, the default: a scheduled sync could start during a test.
        cron_expression: null,
        namespace_format: '',
      };
      return (await stage.operator('POST', '/integrations/templates/connections', { ...defaults, ...body })).id;
    },
    hostPage(body, headers = {}) {
      const path = `/${pages.size}`;
      const text = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title><body>${body}`;
      pages.set(path, { text, headers });
      return path;
    },
    async newPage(options = {}) {
      const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce', ...options });
      context.setDefaultTimeout(300_000);
      contexts.push(context);
      const page = await context.newPage();
      const ours = [stage.publicUrl, stage.origin, stage.otherOrigin].map((url) => new URL(url).host);
      page.on('request', (request) => {
        const { host, protocol } = new URL(request.url());
        if (protocol.startsWith('http') && !ours.includes(host)) problems.push(`a request to ${host}`);
      });
      page.on('pageerror', (error) => problems.push(`an exception: ${error.stack ?? error.message}`));
      page.on('console', (message) => {
        // Incomplete drafts in the template editor are rejected, which the editor shows.
        const isOfDraft = /\/templates\/(sources|connections)\/preview$/.test(message.location().url);
        if (message.type() === 'error' && !isOfDraft) problems.push(`an error in the console: ${message.text()}`);
      });
      return page;
    },
    takeProblems() {
      const taken = problems;
      problems = [];
      return taken;
    },
  } as Stage;

  beforeAll(async () => {
    host = createServer((request, response) => {
      const page = pages.get(new URL(request.url ?? '/', 'http://host').pathname);
      // Chromium requests it automatically.
      if (!page) return void response.writeHead(request.url === '/favicon.ico' ? 204 : 404).end();
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...page.headers }).end(page.text);
    }).listen(0, '127.0.0.1');
    await new Promise((done) => host.once('listening', done));
    const { port } = host.address() as AddressInfo;
    stage.origin = `http://127.0.0.1:${port}`;
    stage.otherOrigin = `http://localhost:${port}`;
    database = await createTestDatabase('sqlite', { migrated: true });
    stage.dataDir = database.dataDir;
    stage.service = await startService({
      dataDir: database.dataDir,
      env: { INLAY_OPERATOR_TOKEN: operatorToken, INLAY_ALLOW_PRIVATE_NETWORKS: 'true', ...env },
    });
    stage.publicUrl = `http://localhost:${stage.service.port}`;
    browser = await sharedBrowser();
  });

  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(stage.takeProblems()).toEqual([]);
  });

  afterAll(async () => {
    await stage.service?.stop();
    host?.close();
    host?.closeAllConnections();
    await database?.drop();
  });

  return stage;
}

/** The widget in a page, without any script. */
export function frameOf(widgetUrl: string, style = 'width: 500px; height: 700px'): string {
  return `<iframe title="Widget" style="${style}" src="${widgetUrl.replaceAll('&', '&amp;')}"></iframe>`;
}

/** The frame of the widget on a host page, once it shows a screen. */
export async function widgetFrame(page: Page, index = 0): Promise<Frame> {
  const element = page.locator('iframe').nth(index);
  const frame = await (await element.elementHandle())?.contentFrame();
  if (!frame) throw new Error('The page has no such frame.');
  await frame.waitForSelector('[data-screen]');
  return frame;
}

/**
 * Saves a screenshot below .artifacts for people to review. Chromium renders in software, which is slow, so screenshots are taken
 * only in the long run or on request.
 */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!process.env.INLAY_PICTURES && !isLongRun) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}
