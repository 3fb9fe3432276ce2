/** Pages of the console in Chromium, signed in with a role, and what every screen has to be. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { expectAccessible, expectToFit } from '../../../widget/test/support/looks.ts';
import type { Stage } from '../../../widget/test/support/stage.ts';

const pictures = fileURLToPath(new URL('../../../.artifacts/console/', import.meta.url));

export interface Visit extends BrowserContextOptions {
  permission?: 'read' | 'operator' | 'full';
}

let tokens = 0;

/** A new browser profile on that screen. `path` is below the console. */
export async function openConsole(stage: Stage, path: string, { permission = 'full', ...options }: Visit = {}) {
  tokens += 1;
  const body = { name: `person ${tokens}`, permission };
  const { token } = await stage.operator('POST', '/operator-tokens', body);
  const page = await stage.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  const made = await page.context().request.post(`${stage.publicUrl}/console/session`, {
    headers: { 'x-inlay-console': '1', 'sec-fetch-site': 'same-origin' },
    data: { token },
  });
  expect(made.status()).toBe(200);
  await page.goto(`${stage.publicUrl}/console/${path}`);
  await page.waitForSelector('h1');
  return page;
}

const looks = [
  ['light', 1280],
  ['dark', 320],
] as const;

/**
 * Accessible, not cut off at 320 pixels, in both themes. A short run tries one of the two, chosen by the name, so that each
 * theme gets about half of the screens. Pictures are for a person who looks at the run; `shown` is what they are of, where
 * that is not the beginning of the page.
 */
export async function expectGoodLooks(page: Page, name: string, shown?: Locator): Promise<void> {
  const isWhole = isLongRun || process.env.INLAY_PICTURES;
  for (const [scheme, width] of isWhole ? looks : [looks[name.length % 2 === 0 ? 0 : 1]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    // Colors on their way to another theme are no colors of a theme.
    await page.evaluate(async () => {
      const changes = document.getAnimations().filter((one) => one instanceof CSSTransition);
      await Promise.allSettled(changes.map(({ finished }) => finished));
    });
    const frame = page.mainFrame();
    await expectAccessible(frame, `${name} ${scheme} ${width}`);
    await expectToFit(frame, `${name} ${scheme} ${width}`);
    if (isWhole) {
      mkdirSync(pictures, { recursive: true });
      await shown?.scrollIntoViewIfNeeded();
      await page.screenshot({ path: join(pictures, `${name}-${scheme}-${width}.png`) });
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}
