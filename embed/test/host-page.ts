/**
 * A page that embeds a widget, on one loopback origin, and a stand-in for the widget on another, in a real Chromium.
 * The page has a very strict content policy: no inline style, no inline script, trusted types. The stand-in only
 * reports that it is ready; a test makes it send the other messages.
 */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Frame, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { sharedBrowser } from '../../widget/test/support/shared-browser.ts';
import { buildScript } from '../build.mjs';
import type { InlayEvent, InlayHandle, InlayOptions } from '../src/inlay-embed.ts';

declare global {
  interface Window {
    Inlay: { open(options: InlayOptions): InlayHandle; mount(element: Element, options: InlayOptions): InlayHandle };
    handle: InlayHandle;
    /** The events that `onEvent` got, and every message that reached the page, from any window. */
    events: InlayEvent[];
    record(event: InlayEvent): void;
    messageCount: number;
    /** What the library has not removed: its listeners on window and document, and all timers. */
    listeners: string[];
    timers: Set<unknown>;
    errors: string[];
    /** The messages that the stand-in received. */
    received: unknown[];
    fragment: string;
    say(message: object): void;
  }
}

export interface Host {
  readonly origin: string;
  readonly widgetOrigin: string;
  /** An origin that no token allows. */
  readonly strangeOrigin: string;
  openPage(options?: BrowserContextOptions): Promise<Page>;
  /** A widget token; `silent`: the stand-in does not say that it is ready. */
  token(of?: {
    workspaceId?: string;
    allowedOrigin?: string;
    jwt?: string;
    silent?: boolean;
    theme?: object;
    locale?: string;
  }): string;
  /** Opens the page under a content policy with the given `frame-src`, or without one. */
  openPageWithPolicy(frameSource: string): Promise<Page>;
  /** What the page runs beside the library; nothing at first. */
  setProgram(script: string): void;
  close(): Promise<void>;
}

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Host</title>
<link rel="stylesheet" href="/host.css">
<main><h1>Host</h1><button id="opener">Open</button><div id="place"></div><div id="other-place"></div><p id="tall"></p></main>
<script src="/host.js"></script>
<script src="/embed.js"></script>
<script src="/program.js"></script>
</html>`;

// Styles that would break the widget if they reached it.
const hostStyle = `
  * { letter-spacing: 1px }
  dialog, iframe, button { display: none !important; opacity: 0.5 !important }
  #opener { display: inline !important }
  #tall { height: 3000px }
`;

const hostScript = `
  window.events = [];
  window.record = (event) => events.push(event);
  window.messageCount = 0;
  addEventListener('message', () => { messageCount += 1; });
  window.errors = [];
  addEventListener('error', (event) => errors.push(event.message));
  addEventListener('unhandledrejection', (event) => errors.push(String(event.reason)));
  addEventListener('securitypolicyviolation', (event) => errors.push(event.violatedDirective + ' ' + event.blockedURI));

  window.listeners = [];
  for (const target of [window, document]) {
    const { addEventListener, removeEventListener } = target;
    const known = [];
    target.addEventListener = function (type, listener, ...rest) {
      // The browser's driver listens as well.
      if (/\\/(embed|program)\\.js/.test(new Error().stack)) {
        known.push([type, listener]);
        listeners.push(type);
      }
      return addEventListener.call(this, type, listener, ...rest);
    };
    target.removeEventListener = function (type, listener, ...rest) {
      const at = known.findIndex(([t, l]) => t === type && l === listener);
      if (at >= 0) { known.splice(at, 1); listeners.splice(listeners.indexOf(type), 1); }
      return removeEventListener.call(this, type, listener, ...rest);
    };
  }
  window.timers = new Set();
  const { setTimeout, clearTimeout } = window;
  window.setTimeout = (callback, ms) => {
    const id = setTimeout(() => { timers.delete(id); callback(); }, ms);
    timers.add(id);
    return id;
  };
  window.clearTimeout = (id) => { timers.delete(id); clearTimeout(id); };
`;

const standIn = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Stand-in</title>
<button id="inside">Inside</button>
<script>
  window.received = [];
  window.fragment = location.hash;
  const parameters = new URLSearchParams(location.search);
  addEventListener('message', ({ data }) => received.push(data));
  window.say = (message) => parent.postMessage({ inlay: 1, ...message }, parameters.get('allowedOrigin') ?? '*');
  addEventListener('keydown', ({ key }) => { if (key === 'Escape') say({ type: 'close' }); });
  if (parameters.has('workspaceId') && !parameters.has('silent')) say({ type: 'ready' });
</script>
</html>`;

export async function startHost(): Promise<Host> {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-embed-'));
  const scriptFile = join(folder, 'embed.js');
  await buildScript(scriptFile);
  const files = new Map<string, [type: string, content: string | Buffer]>([
    ['/', ['text/html', page]],
    ['/host.css', ['text/css', hostStyle]],
    ['/host.js', ['text/javascript', hostScript]],
    ['/embed.js', ['text/javascript', await readFile(scriptFile)]],
    ['/program.js', ['text/javascript', '']],
  ]);
  const [widget, strange] = await Promise.all([listen(sendStandIn), listen(sendStandIn)]);
  const policy =
    `default-src 'none'; script-src 'self'; style-src 'self'; frame-src ${widget.origin} ${strange.origin}; ` +
    "base-uri 'none'; require-trusted-types-for 'script'";
  const host = await listen((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://host');
    const [type, content] = files.get(pathname) ?? [];
    const frameSource = searchParams.get('frame-source');
    response.writeHead(content === undefined ? 404 : 200, {
      'content-type': `${type}; charset=utf-8`,
      'content-security-policy': frameSource === null ? policy : policy.replace(/frame-src [^;]*;/, frameSource),
    });
    response.end(content);
  });
  const browser = await sharedBrowser();

  return {
    origin: host.origin,
    widgetOrigin: widget.origin,
    strangeOrigin: strange.origin,
    openPage: (options) => openPage(browser, `${host.origin}/`, options),
    openPageWithPolicy: (frameSource) =>
      openPage(browser, `${host.origin}/?${new URLSearchParams({ 'frame-source': frameSource })}`),
    token({ workspaceId = 'w1', allowedOrigin = host.origin, jwt = 'first.jwt.token', silent, theme, locale } = {}) {
      const query = new URLSearchParams({
        workspaceId,
        allowedOrigin,
        ...(silent && { silent: '1' }),
        ...(theme && { theme: JSON.stringify(theme) }),
        ...(locale && { locale }),
        sig: `k.${jwt}`,
      });
      const widgetUrl = `${widget.origin}/widget?${query}#${jwt}`;
      return Buffer.from(JSON.stringify({ token: jwt, widgetUrl })).toString('base64');
    },
    setProgram: (script) => void files.set('/program.js', ['text/javascript', script]),
    async close() {
      for (const { server } of [host, widget, strange]) {
        server.closeAllConnections();
        server.close();
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Opens a page that is closed after the test. The test fails if anything in the page failed. */
async function openPage(browser: Browser, address: string, options?: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-US', ...options });
  const opened = await context.newPage();
  onTestFinished(async () => {
    const errors = await opened.evaluate(() => window.errors);
    await context.close();
    expect(errors).toEqual([]);
  });
  opened.setDefaultTimeout(300_000);
  await opened.goto(address);
  return opened;
}

function sendStandIn(_: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(standIn);
}

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ server: Server; origin: string }> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** The types of the events so far. */
export function eventTypes(page: Page): Promise<string[]> {
  return page.evaluate(() => window.events.map(({ type }) => type));
}

/** Resolves once the page has received `count` events of that type. */
export async function waitForEvent(page: Page, type: InlayEvent['type'], count = 1): Promise<void> {
  await page.waitForFunction(
    ([wanted, least]) => window.events.filter((event) => event.type === wanted).length >= least,
    [type, count] as const,
  );
}

/** The stand-in for the widget, once it has loaded. */
export async function widgetFrame(page: Page, nth = 0): Promise<Frame> {
  const element = await page.locator('inlay-widget iframe').nth(nth).elementHandle();
  const frame = await element?.contentFrame();
  if (!frame) throw new Error('The frame has no document.');
  await frame.waitForFunction(() => window.say !== undefined);
  return frame;
}

/** Everything that a widget could leave behind. */
export function traces(page: Page) {
  return page.evaluate(() => ({
    document: document.documentElement.outerHTML,
    sheets: document.adoptedStyleSheets.length,
    listeners: [...window.listeners],
    timers: window.timers.size,
    frames: window.frames.length,
    overflow: getComputedStyle(document.documentElement).overflow,
  }));
}
