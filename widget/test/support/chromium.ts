/** Chromium without the flags that the automation library adds. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CDPSession, chromium, type Frame, type Page } from 'playwright-core';
import { chromiumArguments, findChromium } from '../../../scripts/chromium.mjs';
import type { Engine, EngineOptions, Place, Window } from './real-browsers.ts';
import { chromiumArgumentsForSites } from './sites.ts';

export async function launchChromium(options: EngineOptions & { whole: boolean }): Promise<Engine> {
  const { hosts, certificate, blocksThirdPartyCookies, deniedStorage, whole } = options;
  const profile = mkdtempSync(join(tmpdir(), 'inlay-chromium-'));
  mkdirSync(join(profile, 'Default'));
  const cookies = deniedStorage && {
    [`https://${deniedStorage.host},https://${deniedStorage.inPagesOf}`]: { setting: 2 },
  };
  const preferences = {
    profile: {
      cookie_controls_mode: blocksThirdPartyCookies ? 1 : 0,
      ...(cookies && { content_settings: { exceptions: { cookies } } }),
    },
  };
  writeFileSync(join(profile, 'Default/Preferences'), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: await findChromium({ install: true, whole }),
    ignoreDefaultArgs: true,
    args: [
      ...chromiumArguments,
      '--headless=new',
      '--remote-debugging-pipe',
      `--user-data-dir=${profile}`,
      '--no-proxy-server',
      ...chromiumArgumentsForSites(certificate, hosts),
      'about:blank',
    ],
    viewport: null,
  });
  const ids = new Map<Page, string>();

  function windowOf(page: Page): Window {
    const id = ids.get(page) ?? String(ids.size);
    ids.set(page, id);
    return {
      id,
      goto: async (url) => void (await page.goto(url)),
      reload: async () => void (await page.reload()),
      close: () => page.close(),
      places: async () =>
        page.frames().map(
          (frame): Place => ({
            evaluate: (expression) => evaluateIn(page, frame, expression),
            click: (selector, clickCount) => frame.locator(selector).click({ clickCount }),
          }),
        ),
    };
  }

  /** The library's own way to run scripts counts as a gesture. */
  async function evaluateIn(page: Page, frame: Frame, expression: string): Promise<unknown> {
    const session = await sessionOf(page, frame);
    try {
      const contextId = session.isOfPage && frame !== page.mainFrame() ? await worldOf(session.cdp, frame) : undefined;
      const { result, exceptionDetails } = await session.cdp.send('Runtime.evaluate', {
        ...{ expression, returnByValue: true, awaitPromise: true, userGesture: false },
        ...(contextId !== undefined && { contextId }),
      });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    } finally {
      await session.cdp.detach().catch(() => {});
    }
  }

  /** A frame of another site may have a process, and then a session, of its own. */
  async function sessionOf(page: Page, frame: Frame): Promise<{ cdp: CDPSession; isOfPage: boolean }> {
    if (frame !== page.mainFrame()) {
      const own = await context.newCDPSession(frame).catch(() => undefined);
      if (own) return { cdp: own, isOfPage: false };
    }
    return { cdp: await context.newCDPSession(page), isOfPage: true };
  }

  async function worldOf(cdp: CDPSession, frame: Frame): Promise<number> {
    const { frameTree } = await cdp.send('Page.getFrameTree');
    const child = frameTree.childFrames?.find((one) => one.frame.url === frame.url().replace(/#.*/, ''));
    if (!child) throw new Error('The frame is just being loaded.');
    return (await cdp.send('Page.createIsolatedWorld', { frameId: child.frame.id })).executionContextId;
  }

  return {
    name: 'Chromium',
    newWindow: async () => windowOf(await context.newPage()),
    windows: async () => context.pages().map(windowOf),
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}
