/** Pages that change automatically: tabs, streams that are cut, pauses, and how much can happen at a time. */
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { isLongRun, itInLongRun } from '../../scripts/long-run.ts';
import { logOfTest } from '../../server/test/security/support.ts';
import { words } from '../src/words/words.ts';
import { useOwnService } from './support/own-service.ts';

const own = useOwnService();
const state = (page: Page) => page.locator('.c-live-text').innerText();
const names = (page: Page) => page.locator('tbody th a').allInnerTexts();
const { gone, waiting } = words.list;

/** A customer whose name no other test uses. */
let customers = 0;
async function customer(): Promise<{ name: string; id: string }> {
  customers += 1;
  const name = `Customer ${customers}`;
  const id = await own.test.workspaceId(name);
  await own.tell();
  return { name, id };
}

async function remove(id: string): Promise<void> {
  expect((await own.test.request('DELETE', `/api/v1/workspaces/${id}`)).status).toBe(200);
  await own.tell();
}

/** A tab whose timers the test moves on. */
async function openWithClock(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(`${own.url}/console/${path}`);
  await page.waitForSelector('h1');
  return page;
}

/** Lets the time of the page pass until this is so. */
const inTime = (page: Page, look: () => Promise<unknown>) =>
  expect.poll(async () => {
    await page.clock.fastForward(1_000);
    return await look();
  });

async function pause(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Pause updates' }).click();
  expect(await state(page)).toBe('Paused');
}
const resume = (page: Page) => page.getByRole('button', { name: 'Resume updates' }).click();

describe('Tabs of one browser', () => {
  itInLongRun(
    'share one stream; the tab that is left reads on where the other was, and nothing is lost or repeated',
    async () => {
      const { context } = await own.signedIn();
      const first = await own.open(context, 'customers');
      await expect.poll(() => state(first)).toBe('Live');
      const second = await own.open(context, 'customers');
      await expect.poll(() => state(second)).toBe('Live');
      expect(own.openStreams()).toBe(1);
      const { name } = await customer();
      for (const page of [first, second]) await expect.poll(() => names(page)).toContain(name);

      await pause(second);
      await own.happen(3);
      await expect.poll(() => state(second)).toBe('Paused · 3 new');
      await Promise.all([first.close(), own.happen(4)]);
      await own.happen(5);
      await expect.poll(() => state(second)).toBe('Paused · 12 new');
      expect(own.openStreams()).toBe(1);
    },
  );

  it('have one session: who signs out in one, or in as someone else, does so in all', async () => {
    const { context, token } = await own.signedIn();
    const [first, second] = [await own.open(context, 'customers'), await own.open(context, 'jobs')];
    await first.locator('summary').click();
    await first.getByRole('button', { name: 'Sign out' }).click();
    for (const page of [first, second]) await page.getByLabel('Operator token').waitFor();
    await second.getByLabel('Operator token').fill(token);
    await second.getByRole('button', { name: 'Sign in' }).click();
    await first.getByRole('heading', { name: 'Customers' }).waitFor();
    await second.getByRole('heading', { name: 'Jobs' }).waitFor();
  });
});

describe('A stream', () => {
  it('that is cut reconnects and continues where it was', async () => {
    const { context } = await own.signedIn();
    const page = await openWithClock(context, 'customers');
    await expect.poll(() => state(page)).toBe('Live');
    await pause(page);
    await own.happen(2);
    await expect.poll(() => state(page)).toBe('Paused · 2 new');
    for (let cuts = 1; cuts <= 2; cuts++) {
      const held = own.hold('GET', /events\/stream/);
      own.cutStreams();
      await inTime(page, async () => held.count()).toBe(1);
      await own.happen(3);
      held.release();
      await expect.poll(() => state(page)).toBe(`Paused · ${2 + 3 * cuts} new`);
    }
    await resume(page);
    expect(await state(page)).toBe('Live');
  });

  // A proxy that keeps answers back is the hardest to notice.
  it.each(isLongRun ? (['refuse', 'reset', 'keep back'] as const) : (['keep back'] as const))(
    'The console asks where something between does this to its stream (%s), and streams again when it can',
    async (treatment) => {
      own.streams = treatment;
      const { context } = await own.signedIn();
      const page = await openWithClock(context, 'customers');
      await inTime(page, () => state(page)).toBe(words.shell.live.polling);
      const { name } = await customer();
      await inTime(page, () => names(page)).toContain(name);
      own.streams = 'pass';
      await inTime(page, () => state(page)).toBe('Live');
      expect(own.openStreams()).toBe(1);
    },
  );

  itInLongRun('starts over where its position is unknown, and the page looks at everything again', async () => {
    const { context } = await own.signedIn();
    const page = await openWithClock(context, 'customers');
    await expect.poll(() => state(page)).toBe('Live');
    const { name } = await customer();
    await inTime(page, () => names(page)).toContain(name);
    // As after a restored backup.
    let refusals = 0;
    await page.route('**/events/stream?*', async (route) => {
      refusals += 1;
      if (refusals > 1) return await route.continue();
      await own.test.app.store.db
        .updateTable('workspaces')
        .set({ name: 'Restored' })
        .where('name', '=', name)
        .execute();
      return await route.fulfill({ status: 409, headers: { 'x-inlay-error': 'events_ahead' }, body: '{}' });
    });
    own.cutStreams();
    await inTime(page, () => names(page)).toContain('Restored');
    await expect.poll(() => state(page)).toBe('Live');
  });

  it('ends when the token is revoked, and every tab asks for a sign-in over its page', async () => {
    const { context, tokenId } = await own.signedIn();
    const pages = [await own.open(context, 'customers'), await own.open(context, 'jobs')];
    for (const page of pages) await expect.poll(() => state(page)).toBe('Live');
    const sessionOf = async (page: Page): Promise<string> =>
      (await (await page.request.get(`${own.url}/console/session`)).json()).id;
    const ended = await sessionOf(pages[0] as Page);
    await own.test.app.operatorTokens.revoke(own.test.organizationId, tokenId);
    for (const page of pages) await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    expect(own.openStreams()).toBe(0);

    const { token } = await own.test.app.operatorTokens.create(own.test.organizationId, { name: 'the next' });
    const [first, second] = pages as [Page, Page];
    await first.getByLabel('Operator token').fill(token);
    await first.getByRole('button', { name: 'Sign in' }).click();
    for (const page of pages) {
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
      await expect.poll(() => state(page)).toBe('Live');
    }
    expect(await second.getByRole('heading', { name: 'Jobs' }).count()).toBe(1);
    expect(own.openStreams()).toBe(1);

    // A late word of the old session ends nothing; one of this session does.
    const say = (session: string) =>
      first.evaluate(async (id) => {
        const [speaker, listener] = [new BroadcastChannel('inlay-console'), new BroadcastChannel('inlay-console')];
        const heard = new Promise((resolve) => listener.addEventListener('message', resolve));
        speaker.postMessage({ ended: id });
        await heard;
        for (const channel of [speaker, listener]) channel.close();
      }, session);
    await say(ended);
    expect(await first.getByRole('dialog').count()).toBe(0);
    await say(await sessionOf(first));
    for (const page of pages) await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  });
});

describe('Rows', () => {
  it('stay as they are while the page is paused, whatever was on its way, and come afterwards', async () => {
    const { context } = await own.signedIn();
    const page = await openWithClock(context, 'customers');
    await expect.poll(() => state(page)).toBe('Live');
    await page.clock.fastForward(10_000);
    const before = await names(page);
    const held = own.hold('GET', /integrations\/workspaces/);
    const early = await customer();
    await inTime(page, async () => held.count()).toBe(1);
    await pause(page);
    held.release();
    const { name } = await customer();
    await inTime(page, () => state(page)).toMatch(/^Paused · \d new$/);
    await page.clock.fastForward(60_000);
    expect(await names(page)).toEqual(before);
    await resume(page);
    await inTime(page, () => names(page)).toEqual([name, early.name, ...before].slice(0, 50));
  });

  itInLongRun('do not move under the pointer; one that is gone says so, and leaves with the pointer', async () => {
    const [kept, doomed] = [await customer(), await customer()];
    const { context } = await own.signedIn();
    const page = await openWithClock(context, 'customers');
    await expect.poll(() => state(page)).toBe('Live');
    const row = page.getByRole('row').filter({ hasText: kept.name });
    await row.hover();
    const place = await row.boundingBox();
    const added = await customer();
    await remove(doomed.id);
    await inTime(page, () => page.getByText(waiting).count()).toBe(1);
    await inTime(page, () => page.getByRole('row').filter({ hasText: doomed.name }).innerText()).toContain(gone);
    expect(await page.getByText(gone).count()).toBe(1);
    expect(await names(page)).not.toContain(added.name);
    expect(await row.boundingBox()).toEqual(place);

    await page.getByRole('heading', { name: 'Customers' }).hover();
    await expect.poll(() => names(page)).toContain(added.name);
    expect(await names(page)).not.toContain(doomed.name);
  });

  itInLongRun('of causes do not move under the pointer either: each has a button that starts syncs', async () => {
    const page = await openOverview({ causes: ['a', 'b'] });
    const messages = () => page.locator('.c-cause-message').allInnerTexts();
    const last = page.getByRole('button', { name: 'Retry all' }).last();
    await last.hover();
    const place = await last.boundingBox();
    overview.causes = ['c', 'b'];
    await own.happen(1);
    await inTime(page, () => page.locator('.c-gone').count()).toBe(1);
    expect(await messages()).toEqual(['a', 'b']);
    expect(await last.boundingBox()).toEqual(place);
    await page.getByRole('heading', { name: 'Overview' }).hover();
    await expect.poll(messages).toEqual(['c', 'b']);
  });

  itInLongRun('of customers stay under the pointer while causes and notices come and go above them', async () => {
    const page = await openOverview({ causes: ['a'], unwell: ['Acme', 'Globex'] });
    const row = page.getByRole('row').filter({ hasText: 'Globex' });
    await row.hover();
    const place = await row.boundingBox();
    Object.assign(overview, { causes: ['a', 'b'], examples: 3, isComplete: false, failing: 3 });
    await own.happen(1);
    const failing = () => page.locator('.c-tile-count').first().innerText();
    await inTime(page, failing).toBe('3');
    expect(await row.boundingBox()).toEqual(place);
    Object.assign(overview, { causes: [], unwell: [], failing: 0 });
    await own.happen(1);
    await inTime(page, failing).toBe('0');
    expect(await row.boundingBox()).toEqual(place);
    await page.getByRole('heading', { name: 'Overview' }).hover();
    await expect.poll(() => row.count()).toBe(0);
    expect(await page.locator('.c-cause').count()).toBe(0);
  });

  itInLongRun('come although each answer takes longer than the next event', async () => {
    const { context } = await own.signedIn();
    const page = await openWithClock(context, 'customers');
    await expect.poll(() => state(page)).toBe('Live');
    const held = own.hold('GET', /integrations\/workspaces/);
    const { name } = await customer();
    await inTime(page, async () => held.count()).toBe(1);
    await pauseOfEvents(page);
    expect(held.count()).toBe(1);
    held.release();
    await inTime(page, () => names(page)).toContain(name);
  });

  if (isLongRun) {
    it('Rows are right after a thousand events a second, and the page still answers', async () => {
      const seconds = 20;
      const { context } = await own.signedIn();
      const page = await own.open(context, 'customers');
      await expect.poll(() => state(page)).toBe('Live');
      await page.evaluate(() => {
        const seen = { longestMs: 0, frames: 0, clicks: 0 };
        Object.assign(window, { seen });
        new PerformanceObserver((list) => {
          for (const { duration } of list.getEntries()) seen.longestMs = Math.max(seen.longestMs, duration);
        }).observe({ type: 'longtask' });
        const count = () => {
          seen.frames += 1;
          requestAnimationFrame(count);
        };
        requestAnimationFrame(count);
      });
      const began = performance.now();
      const burst = (async () => {
        for (let tenths = 0; tenths < seconds * 10; tenths++) {
          await manyEvents(100);
          const aheadMs = (tenths + 1) * 100 - (performance.now() - began);
          if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs));
        }
      })();
      await page.getByRole('link', { name: 'Jobs' }).click();
      await page.getByRole('heading', { name: 'Jobs' }).waitFor();
      await page.getByRole('link', { name: 'Customers' }).click();
      await page.getByRole('heading', { name: 'Customers' }).waitFor();
      await burst;
      const tookMs = performance.now() - began;
      const { name } = await customer();
      await expect.poll(() => names(page)).toContain(name);
      const seen = await page.evaluate(() => (window as unknown as { seen: object }).seen);
      console.log('a thousand events a second', { ...seen, seconds, tookMs });
    });
  }
});

/** What the overview shows in these tests. It is no new organization: the first steps are not above. */
let overview: { causes: string[]; examples: number; unwell: string[]; failing: number; isComplete: boolean };

/** The overview in a tab whose timers the test moves on. */
async function openOverview(told: Partial<typeof overview>, options?: BrowserContextOptions): Promise<Page> {
  overview = { causes: [], examples: 0, unwell: [], failing: 2, isComplete: true, ...told };
  await customer();
  const { context } = await own.signedIn(options);
  const page = await context.newPage();
  await page.clock.install();
  const connection = { source_name: 'Shop', job_id: null, last_good_at: null };
  await page.route('**/integrations/overview?*', async (route) => {
    const answer = await (await route.fetch()).json();
    const causes = overview.causes.map((message) => ({
      ...{ cause: message.repeat(32), message, kind: 'system_error', origin: 'source', attention_by: null },
      ...{ connections: 1, since: null },
      examples: Array.from({ length: overview.examples }, (_, index) => ({
        ...{ ...connection, connection_id: `${message}${index}`, since: null },
        ...{ workspace_id: crypto.randomUUID(), workspace_name: `Example ${index}` },
      })),
    }));
    const unwell = overview.unwell.map((name) => ({
      ...{ workspace_id: name, workspace_name: name, health: 'failing', since: null, first_error: null, connection },
    }));
    await route.fulfill({
      json: {
        ...{ ...answer, causes, unwell, counts_are_complete: overview.isComplete },
        connections: { ...answer.connections, healthy: 1 },
        workspaces: { ...answer.workspaces, failing: overview.failing },
      },
    });
  });
  await page.addInitScript(() => {
    const moved = { score: 0 };
    Object.assign(window, { moved });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) moved.score += (entry as unknown as { value: number }).value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(`${own.url}/console/`);
  await page.locator('.c-tiles').waitFor();
  await expect.poll(() => state(page)).toBe('Live');
  return page;
}

/** How far from the beginning of the page. */
const placeOf = (row: Locator) => row.evaluate((element) => element.getBoundingClientRect().top + scrollY);

describe.each(isLongRun ? [1280, 320] : [320])('The overview, %d pixels wide', (width) => {
  it('keeps the place of what comes later: nothing moves when it comes', async () => {
    const health = own.hold('GET', /integrations\/health/);
    const page = await openOverview(
      { causes: ['a'], examples: 2, unwell: ['Acme', 'Globex'] },
      { viewport: { width, height: 900 } },
    );
    const row = page.getByRole('row').filter({ hasText: 'Acme' });
    await row.hover();
    const place = await placeOf(row);
    await expect.poll(() => health.count()).toBe(1);
    health.release();
    await page.getByText(/^Database OK/).waitFor();
    expect(await placeOf(row)).toBe(place);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const moved = await page.evaluate(() => (window as unknown as { moved: { score: number } }).moved.score);
    expect(moved).toBeLessThan(0.01);
  });
});

/** Events come while an answer is awaited. */
async function pauseOfEvents(page: Page): Promise<void> {
  for (let times = 0; times < 5; times++) {
    await own.happen(1);
    await page.clock.fastForward(3_500);
  }
}

async function manyEvents(count: number): Promise<void> {
  const { app, organizationId } = own.test;
  const entries = Array.from({ length: count }, () => ({
    type: 'workspace.activated' as const,
    workspaceId: crypto.randomUUID(),
    data: { workspace: { id: organizationId, name: 'Somebody' } },
    change: { before: { status: 'inactive' }, after: { status: 'active' } },
  }));
  await app.store.transaction((tx) => logOfTest.journal.record(tx, organizationId, ...(entries as never[])));
  await own.tell();
}

describe('A slow network', () => {
  itInLongRun('is seen: the page says that it loads, and a button that it works; nothing is sent twice', async () => {
    const { id, name } = await customer();
    const { context } = await own.signedIn();
    const page = await context.newPage();
    const session = own.hold('GET', /console\/session$/);
    await page.goto(`${own.url}/console/customers/${id}`);
    await page.getByText('Loading…').waitFor();
    session.release();
    await page.getByRole('heading', { name }).waitFor();

    const writes = own.hold('PUT', /workspaces/);
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('New name').fill(`${name} Europe`);
    const button = dialog.getByRole('button', { name: 'Rename' });
    await button.dblclick();
    await dialog.getByLabel('New name').press('Enter');
    await button.evaluate((element: HTMLButtonElement) => {
      element.click();
      element.form?.requestSubmit();
    });
    await expect.poll(() => button.getAttribute('aria-disabled')).toBe('true');
    writes.release();
    await page.getByRole('heading', { name: `${name} Europe` }).waitFor();
    expect(writes.count()).toBe(1);

    const suspend = own.hold('PUT', /workspaces/);
    await page.getByRole('button', { name: 'Suspend', exact: true }).evaluate((element: HTMLButtonElement) => {
      element.click();
      element.click();
    });
    await expect.poll(() => suspend.count()).toBe(1);
    suspend.release();
    await page.getByRole('button', { name: 'Reactivate', exact: true }).waitFor();
    expect(suspend.count()).toBe(1);
  });

  itInLongRun('does not take back who has gone elsewhere meanwhile: what was done is said there', async () => {
    const { id, name } = await customer();
    const { context } = await own.signedIn();
    const page = await own.open(context, `customers/${id}`);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill(name);
    const deletion = own.hold('DELETE', /workspaces/);
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => deletion.count()).toBe(1);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Health' }).click();
    deletion.release();
    await page.getByText('Customer deleted').waitFor({ state: 'attached' });
    expect(new URL(page.url()).pathname).toBe('/console/health');
  });

  it('does not make a sign-out look done that was not', async () => {
    const { context } = await own.signedIn();
    const page = await own.open(context, 'customers');
    await page.route('**/console/session', (route) =>
      route.request().method() === 'DELETE' ? route.abort() : route.continue(),
    );
    await page.locator('summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText(words.errors.unreachable).waitFor();
    expect(await page.getByRole('heading', { name: 'Customers' }).count()).toBe(1);
    await page.unroute('**/console/session');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Operator token').waitFor();
  });
});

it('The search says what the list shows, after filters were cleared as well', async () => {
  const { name } = await customer();
  const { context } = await own.signedIn();
  const page = await own.open(context, 'customers');
  await page.getByPlaceholder('Search by name').fill(name);
  await page.waitForURL(/name_contains/);
  await expect.poll(() => names(page)).toEqual([name]);
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await expect.poll(() => page.getByPlaceholder('Search by name').inputValue()).toBe('');
  await expect.poll(async () => (await names(page)).length).toBeGreaterThan(1);
});
