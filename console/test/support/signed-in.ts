/** Pages of the console in Chromium, signed in with a role, and what every screen has to be. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { isLongRun } from '../../../server/test/support/long-run.ts';
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

/**
 * Accessible, not cut off at 320 pixels, in both themes. Pictures are for a person who looks at the run; `shown` is what they
 * are of, where that is not the beginning of the page.
 */
export async function expectGoodLooks(page: Page, name: string, shown?: Locator): Promise<void> {
  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 320],
  ] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    // Colours on their way to another theme are no colours of a theme.
    await page.evaluate(async () => {
      const changes = document.getAnimations().filter((one) => one instanceof CSSTransition);
      await Promise.allSettled(changes.map(({ finished }) => finished));
    });
    const frame = page.mainFrame();
    await expectAccessible(frame, `${name} ${scheme} ${width}`, {
      of: scheme === 'dark' || isLongRun ? 'all' : 'colors',
    });
    await expectToFit(frame, `${name} ${scheme} ${width}`);
    if (process.env.INLAY_PICTURES || process.env.INLAY_LONG_TESTS) {
      mkdirSync(pictures, { recursive: true });
      await shown?.scrollIntoViewIfNeeded();
      await page.screenshot({ path: join(pictures, `${name}-${scheme}-${width}.png`) });
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}
