/**
 * The service in the test's own process, and Chromium. Between the two is a proxy that does what proxies and networks do: it
 * cuts streams, refuses them or keeps them back, and lets an answer wait until the test says so.
 */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { logOfTest } from '../../../server/test/security/support.ts';
import { startTestApp, type TestApp } from '../../../server/test/support/app.ts';
import { sharedBrowser } from '../../../widget/test/support/shared-browser.ts';

type Treatment = 'pass' | 'refuse' | 'reset' | 'keep back';

export interface Held {
  /** How many such requests have come since. */
  count(): number;
  /** Releases them, and all that come later. */
  release(): void;
}

export interface OwnService {
  test: TestApp;
  url: string;
  /** What happens to streams of events from now on. */
  streams: Treatment;
  openStreams(): number;
  cutStreams(): void;
  /** Requests with this method and path wait from now on. */
  hold(method: string, path: RegExp): Held;
  /** A new browser profile. It has a session of a new operator token, whose id is given. */
  signedIn(options?: BrowserContextOptions): Promise<{ context: BrowserContext; tokenId: string; token: string }>;
  context(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Another tab of that profile. */
  open(context: BrowserContext, path: string): Promise<Page>;
  /** Reports so many events that change nothing. */
  happen(count: number): Promise<void>;
  /** What was done by the API is reported from now on. */
  tell(): Promise<void>;
  /** Exceptions, and errors in consoles, except those about a response. */
  problems: string[];
}

export function useOwnService(): OwnService {
  const streams = new Set<ServerResponse>();
  const holds = new Set<{ method: string; path: RegExp; waiting: (() => void)[]; count: number }>();
  const contexts: BrowserContext[] = [];
  let proxy: Server;
  let browser: Browser;
  let names = 0;

  async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = asked;
    for (const hold of holds) {
      if (hold.method !== method || !hold.path.test(url)) continue;
      hold.count += 1;
      await new Promise<void>((resolve) => hold.waiting.push(resolve));
    }
    const isStream = url.startsWith('/console/api/v1/events/stream');
    if (isStream && own.streams === 'refuse') return void response.writeHead(502).end('<h1>Bad gateway</h1>');
    if (isStream && own.streams === 'reset') return void response.destroy();
    const { port } = own.test.app.http.server.address() as AddressInfo;
    const onward = request({ host: '127.0.0.1', port, path: url, method, headers: asked.headers }, (answered) => {
      // Until the end, which never comes.
      if (isStream && own.streams === 'keep back') return void answered.resume();
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(response);
      if (!isStream || answered.statusCode !== 200) return;
      streams.add(response);
      response.on('close', () => streams.delete(response));
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    asked.pipe(onward);
  }

  const own = {
    streams: 'pass',
    problems: [],
    openStreams: () => streams.size,
    cutStreams() {
      for (const stream of streams) stream.destroy();
    },
    hold(method, path) {
      const hold = { method, path, waiting: [] as (() => void)[], count: 0 };
      holds.add(hold);
      return {
        count: () => hold.count,
        release() {
          holds.delete(hold);
          for (const go of hold.waiting.splice(0)) go();
        },
      };
    },
    async context(options = {}) {
      const context = await browser.newContext({
        locale: 'en-US',
        reducedMotion: 'reduce',
        viewport: { width: 1280, height: 900 },
        ...options,
      });
      context.setDefaultTimeout(300_000);
      context.on('page', (page) => {
        page.on('pageerror', (error) => own.problems.push(String(error.stack ?? error.message)));
        page.on('console', (message) => {
          // Chromium writes one for every answer that is an error; these tests provoke many.
          if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) {
            own.problems.push(message.text());
          }
        });
      });
      contexts.push(context);
      return context;
    },
    async signedIn(options) {
      names += 1;
      const { app, organizationId } = own.test;
      const { id, token } = await app.operatorTokens.create(organizationId, { name: `person ${names}` });
      const context = await own.context(options);
      const headers = { 'x-inlay-console': '1', 'sec-fetch-site': 'same-origin' };
      const made = await context.request.post(`${own.url}/console/session`, { headers, data: { token } });
      expect(made.status()).toBe(200);
      await own.tell();
      return { context, tokenId: id, token };
    },
    async open(context, path) {
      const page = await context.newPage();
      await page.goto(`${own.url}/console/${path}`);
      await page.waitForSelector('h1');
      return page;
    },
    async happen(count) {
      const { app, organizationId } = own.test;
      const entries = Array.from({ length: count }, () => ({
        type: 'tag.deleted' as const,
        data: { tag: { id: organizationId, name: 'crm' } },
        change: { before: { name: 'crm' }, after: undefined },
      }));
      await app.store.transaction((tx) => logOfTest.journal.record(tx, organizationId, ...entries));
      await own.tell();
    },
    tell: async () => void (await own.test.app.workers.sequencer.pass()),
    // The rest is known when the service has started.
  } as Omit<OwnService, 'test' | 'url'> as OwnService;

  beforeAll(async () => {
    proxy = createServer((asked, response) => void answer(asked, response)).listen(0, '127.0.0.1');
    await new Promise((done) => proxy.once('listening', done));
    own.url = `http://localhost:${(proxy.address() as AddressInfo).port}`;
    own.test = await startTestApp('sqlite', { env: { INLAY_PUBLIC_URL: own.url } });
    await own.test.app.http.listen({ host: '127.0.0.1', port: 0 });
    browser = await sharedBrowser();
  });

  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    for (const { waiting } of holds) for (const go of waiting) go();
    holds.clear();
    own.streams = 'pass';
    expect(own.problems.splice(0)).toEqual([]);
  });

  afterAll(async () => {
    await own.test?.stop();
    proxy?.close();
    proxy?.closeAllConnections();
  });

  return own;
}
