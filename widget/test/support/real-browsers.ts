/**
 * Browsers as customers have them: with their own defaults about cookies, storage and popups, which automation libraries
 * switch off. Tests describe what a person does and sees; chromium.ts and firefox.ts drive each browser.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** A page, or a frame within it. */
export interface Place {
  /** Runs a script. Unlike a click it is no gesture of a person, so that the browser blocks its popups. */
  evaluate(expression: string): Promise<unknown>;
  /** Clicks in the middle of an element, as a person does. */
  click(selector: string, times: number): Promise<void>;
}

export interface Window {
  id: string;
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  close(): Promise<void>;
  /** The page first. */
  places(): Promise<Place[]>;
}

export interface Engine {
  name: string;
  newWindow(): Promise<Window>;
  windows(): Promise<Window[]>;
  close(): Promise<void>;
}

export interface EngineOptions {
  /** These names lead to this machine. */
  hosts: readonly string[];
  /** The certificate that is trusted, as PEM. */
  certificate: string;
  blocksThirdPartyCookies: boolean;
  /** A host that may store nothing at all in frames of pages of another host. */
  deniedStorage?: { host: string; inPagesOf: string } | undefined;
}

/** Generous: it only stops tests that hang. */
const deadlineMs = 120_000;
const lookEveryMs = 100;

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (error) {
      // The page is just being left, or its window was closed.
      last = error;
    }
    await delay(lookEveryMs);
  }
  throw new Error(`The browser did not come to this: ${what}`, { cause: last });
}

const named = (name: string) =>
  `[...document.querySelectorAll('button, a[href], [role=tab]')].find((one) => one.checkVisibility() && !one.disabled &&
    one.textContent.includes(${JSON.stringify(name)}))`;
const shown = (text: string) => `document.body !== null && document.body.innerText.includes(${JSON.stringify(text)})`;

/** A window, as the person before it knows it. */
export class Tab {
  constructor(
    readonly engine: Engine,
    readonly window: Window,
  ) {}

  static async open(engine: Engine, url: string): Promise<Tab> {
    const tab = new Tab(engine, await engine.newWindow());
    await tab.window.goto(url);
    return tab;
  }

  async shows(text: string): Promise<boolean> {
    for (const place of await this.window.places()) if (await place.evaluate(shown(text))) return true;
    return false;
  }

  async see(text: string): Promise<void> {
    await until(`“${text}” is shown`, async () => (await this.shows(text)) || undefined).catch(async (error) => {
      const places = await this.window.places().catch(() => []);
      const texts = places.map((place) => place.evaluate('document.body.innerText').catch(String));
      throw new Error(`${error.message}\n${(await Promise.all(texts)).join('\n---\n')}`, { cause: error });
    });
  }

  /** Where a button, a link or a tab with this name is. */
  private async findPlace(name: string): Promise<Place> {
    return await until(`there is “${name}” to click`, async () => {
      for (const place of await this.window.places())
        if (await place.evaluate(`${named(name)} !== undefined`)) return place;
      return undefined;
    });
  }

  async click(name: string, times = 1): Promise<void> {
    const place = await this.findPlace(name);
    await place.evaluate(`for (const one of document.querySelectorAll('[data-aim]')) delete one.dataset.aim;
      ${named(name)}.dataset.aim = ''`);
    await place.click('[data-aim]', times);
  }

  async clickByScript(name: string): Promise<void> {
    const place = await this.findPlace(name);
    await place.evaluate(`${named(name)}.click()`);
  }

  /** Does something that opens a window, and gives the window. */
  async opened(act: () => Promise<void>): Promise<Tab> {
    const known = (await this.engine.windows()).map(({ id }) => id);
    await act();
    const window = await until('a window has opened', async () =>
      (await this.engine.windows()).find(({ id }) => !known.includes(id)),
    );
    return new Tab(this.engine, window);
  }

  /** The value of an expression in the page, or in its frame. */
  async value(expression: string, where: 'page' | 'frame' = 'page'): Promise<unknown> {
    const place = (await this.window.places())[where === 'page' ? 0 : 1];
    if (!place) throw new Error('The page has no frame.');
    return await place.evaluate(expression);
  }
}
