/** What the page keeps of a sign-in for the widget, whose frame may have no storage. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Host, startHost, waitForEvent, widgetFrame } from './host-page.ts';

let host: Host;
let page: Page;
const id = '6e0f3a5d-94a8-4d6c-8c41-7a3c1f1d2b90';

beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host?.close());
beforeEach(async () => {
  page = await host.openPage();
});

/** Mounts a widget, and gives what its address holds after the token. */
async function mounted(options: { template?: string } = {}, place = '#place'): Promise<URLSearchParams> {
  const count = await page.locator('inlay-widget').count();
  await page.evaluate(
    ([place, options]) => {
      const element = document.querySelector(place) as Element;
      window.handle = window.Inlay.mount(element, { ...options, onEvent: window.record });
    },
    [place, { token: host.token(), ...options }] as const,
  );
  const fragment = await (await widgetFrame(page, count)).evaluate(() => window.fragment);
  return new URLSearchParams(fragment.slice(fragment.indexOf('&')));
}

it('continues with the sign-in in the address, takes it out, and leaves the rest of the address as it is', async () => {
  await page.evaluate(() => history.replaceState({ of: 'router' }, ''));
  await page.goto(`${host.origin}/?a=%20b&on&inlay_sign_in=${id}&c=%2f#here`);
  const before = await page.evaluate(() => history.length);
  const fragment = await mounted({ template: 'another' });
  expect([fragment.get('sign_in'), fragment.get('template')]).toEqual([id, null]);
  expect(page.url()).toBe(`${host.origin}/?a=%20b&on&c=%2f#here`);
  expect(await page.evaluate(() => history.length)).toBe(before);
  // A page that mounts twice, as React does in strict mode, loses nothing.
  await page.evaluate(() => window.handle.destroy());
  const again = await mounted({ template: 'another' });
  expect([again.get('sign_in'), again.get('template')]).toEqual([id, null]);
});

it('keeps the sign-in that the widget names over a reload, until the widget says that it is over', async () => {
  expect((await mounted()).get('sign_in')).toBeNull();
  const say = async (message: object) => {
    const count = await page.evaluate(() => window.messageCount);
    await (await widgetFrame(page)).evaluate((message) => window.say(message), message);
    await page.waitForFunction((count) => window.messageCount > count, count);
  };
  await say({ type: 'sign_in', id });
  expect(await page.evaluate(() => window.events.map(({ type }) => type)), 'the page is not told').toEqual(['ready']);
  await page.reload();
  const fragment = await mounted({ template: 'wanted' });
  expect([fragment.get('sign_in'), fragment.get('template')]).toEqual([id, 'wanted']);
  await say({ type: 'sign_in', id: { not: 'a text' } });
  await page.reload();
  expect((await mounted()).get('sign_in')).toBe(id);
  await say({ type: 'sign_in', id: null });
  await page.reload();
  expect((await mounted()).get('sign_in')).toBeNull();
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
});

it('gives its token again to a frame that was reloaded', async () => {
  await mounted();
  const frame = await widgetFrame(page);
  await frame.evaluate(() => location.reload());
  await waitForEvent(page, 'ready', 2);
  await expect
    .poll(async () => (await widgetFrame(page)).evaluate(() => window.received))
    .toEqual([{ inlay: 1, type: 'token', token: 'first.jwt.token' }]);
});
