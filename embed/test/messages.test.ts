import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Host, startHost, waitForEvent, widgetFrame } from './host-page.ts';

let host: Host;
let page: Page;

const source = { id: 's1', name: 'Shop', source_template_id: 't1' };
const created = { inlay: 1, type: 'source_created', source };

beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host?.close());
beforeEach(async () => {
  page = await host.openPage();
  await page.evaluate((token) => {
    window.handle = window.Inlay.open({ token, onEvent: window.record });
  }, host.token());
  await waitForEvent(page, 'ready');
});

/** Waits until every message to the page has arrived, so that no further events follow. */
async function eventsAfter(messages: number): Promise<unknown[]> {
  await page.waitForFunction((count) => window.messageCount === count, messages + 1);
  return page.evaluate(() => window.events.slice(1));
}

it('reports every event to the page with the fields it has and no others', async () => {
  const events = [
    { type: 'source_created', source },
    { type: 'source_updated', source },
    { type: 'source_deleted', source },
    { type: 'sync_finished', sync: { connection_id: 'c', source_id: 's', status: 'succeeded', rows: 12 } },
    { type: 'sync_finished', sync: { connection_id: 'c', source_id: 's', status: 'failed', rows: null } },
    { type: 'sign_in_started', sign_in: { source_template_id: 't', source_id: null } },
    { type: 'sign_in_unconfirmed', sign_in: { source_template_id: 't', source_id: 's' } },
    { type: 'sign_in_succeeded', sign_in: { source_template_id: 't', source_id: 's' } },
    { type: 'sign_in_failed', sign_in: { source_template_id: 't', source_id: null, code: 'denied' } },
    { type: 'error', error: { code: 'offline', message: 'Sie sind offline.' } },
    { type: 'token_expired' },
  ];
  await (await widgetFrame(page)).evaluate((events) => {
    for (const event of events) {
      const { sign_in } = event;
      window.say({ ...event, ...(sign_in && { sign_in: { ...sign_in, account: 'ada' } }), extra: 'x' });
    }
  }, events);
  expect(await eventsAfter(events.length)).toEqual(events);
});

it('does not take anything else for a message', async () => {
  const frame = await widgetFrame(page);
  const sent = await frame.evaluate((source) => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const odd = [
      null,
      undefined,
      0,
      'source_created',
      [],
      [1, 'ready'],
      circular,
      new Map([['inlay', 1]]),
      { type: 'ready' },
      { inlay: '1', type: 'ready' },
      { inlay: 2, type: 'ready' },
      { inlay: 1 },
      { inlay: 1, type: '__proto__' },
      { inlay: 1, type: 'constructor' },
      { inlay: 1, type: 'hasOwnProperty' },
      { inlay: 1, type: ['ready'] },
      { inlay: 1, type: 'toString', source },
      { inlay: 1, type: 'something_new' },
      { inlay: 1, type: 'source_created' },
      { inlay: 1, type: 'source_created', source: null },
      { inlay: 1, type: 'source_created', source: { ...source, id: 7 } },
      { inlay: 1, type: 'sync_finished', sync: { connection_id: 'c', source_id: 's', status: 'lost', rows: 1 } },
      { inlay: 1, type: 'sync_finished', sync: { connection_id: 'c', source_id: 's', status: 'failed', rows: -1 } },
      { inlay: 1, type: 'error', error: 'offline' },
      { inlay: 1, type: 'sign_in_started', sign_in: { source_template_id: 't' } },
      { inlay: 1, type: 'sign_in_failed', sign_in: { source_template_id: 't', source_id: 's' } },
      JSON.parse('{"inlay":1,"type":"source_created","__proto__":{"source":{"id":"a"}}}'),
      { inlay: 1, type: 'x'.repeat(5_000_000) },
    ];
    for (const message of odd) parent.postMessage(message, '*');
    return odd.length;
  }, source);
  expect(await eventsAfter(sent)).toEqual([]);
  expect(await page.evaluate(() => [window.errors, ({} as { source?: unknown }).source])).toEqual([[], undefined]);
});

it('copies what it receives, without anything from a prototype', async () => {
  await (await widgetFrame(page)).evaluate(() => {
    parent.postMessage(
      JSON.parse(
        '{"inlay":1,"type":"source_created","__proto__":{"bad":1},' +
          '"source":{"id":"s1","name":"n","source_template_id":"t","__proto__":{"bad":1}}}',
      ),
      '*',
    );
  });
  await waitForEvent(page, 'source_created');
  const seen = await page.evaluate(() => {
    const event = window.events[1] as unknown as { bad?: unknown; source: { bad?: unknown } };
    return [event.bad, event.source.bad, Object.keys(event), Object.keys(event.source)];
  });
  expect(seen).toEqual([undefined, undefined, ['type', 'source'], ['id', 'name', 'source_template_id']]);
});

it('does not hear the page itself', async () => {
  await page.evaluate((message) => window.postMessage(message, '*'), created);
  expect(await eventsAfter(1)).toEqual([]);
});

/** Another frame in the page, with a document of the widget's origin. */
async function addFrame(sandbox?: string): Promise<Frame> {
  const element = await page.evaluateHandle(
    ([url, sandbox]) => {
      const frame = document.createElement('iframe');
      if (sandbox) frame.setAttribute('sandbox', sandbox);
      frame.src = url;
      document.body.append(frame);
      return frame;
    },
    [`${host.widgetOrigin}/other`, sandbox] as const,
  );
  const frame = await element.contentFrame();
  if (!frame) throw new Error('The frame has no document.');
  await frame.waitForFunction(() => window.say !== undefined);
  return frame;
}

it("does not hear another window of the widget's own origin", async () => {
  const frame = await addFrame();
  await frame.evaluate((message) => {
    for (let i = 0; i < 500; i += 1) parent.postMessage(message, '*');
  }, created);
  expect(await eventsAfter(500)).toEqual([]);
});

it('does not hear a window without an origin', async () => {
  const frame = await addFrame('allow-scripts');
  expect(await frame.evaluate(() => window.origin)).toBe('null');
  await frame.evaluate((message) => parent.postMessage(message, '*'), created);
  expect(await eventsAfter(1)).toEqual([]);
});

it('neither receives from nor sends to its own frame once that shows another origin', async () => {
  const frame = await widgetFrame(page);
  await frame.goto(`${host.strangeOrigin}/elsewhere`);
  await frame.evaluate((message) => parent.postMessage(message, '*'), created);
  expect(await eventsAfter(1)).toEqual([]);
  await page.evaluate((token) => window.handle.updateToken(token), host.token({ jwt: 'secret.jwt.token' }));
  // When a later message has arrived, the earlier one had enough time, too.
  await page.evaluate(
    (origin) =>
      document
        .querySelector('inlay-widget')
        ?.shadowRoot?.querySelector('iframe')
        ?.contentWindow?.postMessage('last', origin),
    host.strangeOrigin,
  );
  await frame.waitForFunction(() => window.received.includes('last'));
  expect(await frame.evaluate(() => window.received)).toEqual(['last']);
});

it('hears every message of a flood, in order', async () => {
  const frame = await widgetFrame(page);
  await frame.evaluate((source) => {
    for (let i = 0; i < 2_000; i += 1) window.say({ type: 'source_updated', source: { ...source, id: String(i) } });
  }, source);
  const events = (await eventsAfter(2_000)) as { source: { id: string } }[];
  expect(events.map((event) => event.source.id)).toEqual(Array.from({ length: 2_000 }, (_, i) => String(i)));
});

it('continues when onEvent throws, and reports what it threw', async () => {
  await page.evaluate((token) => {
    window.handle.close();
    window.handle = window.Inlay.open({
      token,
      onEvent(event) {
        window.record(event);
        throw new Error(`thrown on ${event.type}`);
      },
    });
  }, host.token());
  await waitForEvent(page, 'ready', 2);
  await page.evaluate(() => window.handle.close());
  await waitForEvent(page, 'closed', 2);
  expect(await page.evaluate(() => window.errors.splice(0))).toEqual([
    'Uncaught Error: thrown on ready',
    'Uncaught Error: thrown on closed',
  ]);
  expect(await page.locator('inlay-widget').count()).toBe(0);
});

it('may be ended from within onEvent', async () => {
  await page.evaluate((token) => {
    window.handle.close();
    let asked = 0;
    const handle = window.Inlay.open({
      token,
      getToken: async () => {
        asked += 1;
        return token;
      },
      onEvent(event) {
        window.record(event);
        if (event.type === 'token_expired') handle.destroy();
        Object.assign(window, { asked });
      },
    });
  }, host.token());
  await waitForEvent(page, 'ready', 2);
  await (await widgetFrame(page)).evaluate(() => window.say({ type: 'token_expired' }));
  await waitForEvent(page, 'token_expired');
  expect(await page.evaluate(() => [(window as unknown as { asked: number }).asked, window.frames.length])).toEqual([
    0, 0,
  ]);
});
