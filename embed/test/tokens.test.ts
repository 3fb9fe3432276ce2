import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chooseWords } from '../src/words.ts';
import { eventTypes, type Host, startHost, traces, waitForEvent, widgetFrame } from './host-page.ts';

declare global {
  interface Window {
    /** Number of token requests, and the pending answers. */
    askedCount: number;
    answers: { resolve(token: string): void; reject(error: Error): void }[];
  }
}

let host: Host;
let page: Page;

beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host?.close());

/** Opens with a `getToken` that a test answers. */
async function openAsking(token?: string): Promise<void> {
  await page.evaluate((token) => {
    window.askedCount = 0;
    window.answers = [];
    window.handle = window.Inlay.open({
      token,
      getToken: () =>
        new Promise((resolve, reject) => {
          window.askedCount += 1;
          window.answers.push({ resolve, reject });
        }),
      onEvent: window.record,
    });
  }, token);
}

const answer = (token: string) => page.evaluate((token) => window.answers.shift()?.resolve(token), token);
const refuse = () => page.evaluate(() => window.answers.shift()?.reject(new Error('The backend is down.')));
const askedCount = () => page.evaluate(() => window.askedCount);
const expire = async () => (await widgetFrame(page)).evaluate(() => window.say({ type: 'token_expired' }));
const messageThrownBy = (token: string | undefined) =>
  page.evaluate((token) => {
    try {
      window.Inlay.open({ token });
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }, token);
/** The page runs on a virtual clock. */
async function stopClock(): Promise<void> {
  await page.clock.install();
  await page.reload();
  await page.clock.pauseAt(Date.now() + 3_600_000);
}
const retry = () => page.getByRole('button', { name: 'Try again' });

it('gives the widget its token, mode, language, theme and what it opens on in the fragment', async () => {
  page = await host.openPage();
  await page.evaluate((token) => {
    window.Inlay.open({
      token,
      locale: 'de',
      theme: { primary_color: '#c026d3', font_family: 'A & B, "C"' },
      template: 'a template',
      source: 'a source',
      onEvent: window.record,
    });
  }, host.token());
  await waitForEvent(page, 'ready');
  const fragment = await (await widgetFrame(page)).evaluate(() => window.fragment);
  const [jwt, ...rest] = fragment.slice(1).split('&');
  expect(jwt).toBe('first.jwt.token');
  const { theme = '', ...others } = Object.fromEntries(new URLSearchParams(rest.join('&')));
  expect(others).toEqual({ mode: 'modal', locale: 'de', template: 'a template', source: 'a source' });
  expect(JSON.parse(theme)).toEqual({ primary_color: '#c026d3', font_family: 'A & B, "C"' });
});

it('leaves language and theme to the widget token when the page says nothing', async () => {
  page = await host.openPage();
  await page.evaluate(
    (token) => {
      window.Inlay.mount(document.querySelector('#place') as HTMLElement, { token, onEvent: window.record });
    },
    host.token({ locale: 'ja', theme: { radius: 4 } }),
  );
  await waitForEvent(page, 'ready');
  expect(await (await widgetFrame(page)).evaluate(() => window.fragment)).toBe('#first.jwt.token&mode=inline');
});

it.each([
  ['URL-safe', (token: string) => token.replaceAll('+', '-').replaceAll('/', '_')],
  ['without padding', (token: string) => token.replace(/=+$/, '')],
])('takes a widget token that is %s', async (_, change) => {
  page = await host.openPage();
  // Long enough, and of such bytes, that every character of the alphabet is in it.
  const token = change(host.token({ jwt: `a.${'>?~ÿ>?~û'.repeat(20)}.c` }));
  await page.evaluate((token) => window.Inlay.open({ token, onEvent: window.record }), token);
  await waitForEvent(page, 'ready');
  expect(await eventTypes(page)).toEqual(['ready']);
});

const wrap = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64');

it('refuses what is no widget token, before anything is in the page', async () => {
  page = await host.openPage();
  const before = await traces(page);
  const refused = {
    'no base64': '%%%',
    empty: '',
    'a scoped token': 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2ln',
    'JSON of another shape': wrap({ token: 'x' }),
    null: wrap(null),
    'a scoped token that is no text': wrap({ token: 1, widgetUrl: host.widgetOrigin }),
    'an address that would run': wrap({ token: 'x', widgetUrl: 'javascript:alert(1)' }),
    'an address of data': wrap({ token: 'x', widgetUrl: 'data:text/html,hello' }),
  };
  for (const [what, token] of Object.entries(refused)) {
    expect(await messageThrownBy(token), what).toMatch(/^Invalid widget token\. Pass the `token`/);
    expect(await traces(page), what).toEqual(before);
  }
});

it('says so when it gets neither token nor getToken', async () => {
  page = await host.openPage();
  expect(await messageThrownBy(undefined)).toBe('Pass a `token` or `getToken`.');
});

it('asks for a token, and only once it has it loads the widget', async () => {
  page = await host.openPage();
  await openAsking();
  expect(await page.locator('inlay-widget iframe').count()).toBe(0);
  expect(await page.getByText('Loading…').isVisible()).toBe(true);
  await answer(host.token());
  await waitForEvent(page, 'ready');
  expect(await askedCount()).toBe(1);
});

it('shows a failure to get a token, and tries again when asked', async () => {
  page = await host.openPage();
  await openAsking();
  await refuse();
  await waitForEvent(page, 'error');
  expect(
    await page.evaluate(() => {
      const [event] = window.events;
      if (event?.type !== 'error') return undefined;
      return { ...event.error, cause: (event.error.cause as Error).message };
    }),
  ).toEqual({ code: 'token_failed', message: chooseWords([]).failed, cause: 'The backend is down.' });
  expect(await page.getByRole('status').textContent()).toBe(chooseWords([]).failed);

  await retry().click();
  expect(await retry().isVisible()).toBe(false);
  await answer('not a token');
  await waitForEvent(page, 'error', 2);
  await retry().click();
  await answer(host.token());
  await waitForEvent(page, 'ready');
  expect(await page.locator('inlay-widget iframe').isVisible()).toBe(true);
  expect(await (await widgetFrame(page)).evaluate(() => document.hasFocus())).toBe(true);
});

it('treats a getToken that throws at once like a failed one, after open has returned', async () => {
  page = await host.openPage();
  await page.evaluate(() => {
    let hasReturned = false;
    window.handle = window.Inlay.open({
      getToken: () => {
        throw new Error('broken');
      },
      onEvent: (event) => window.record({ ...event, hasReturned } as unknown as typeof event),
    });
    hasReturned = true;
  });
  await waitForEvent(page, 'error');
  expect(await page.evaluate(() => window.events[0])).toMatchObject({
    hasReturned: true,
    error: { code: 'token_failed' },
  });
});

it('shows a widget that does not appear as failed, and still takes it when it does', async () => {
  page = await host.openPage();
  await stopClock();
  await page.evaluate(
    (token) => {
      window.handle = window.Inlay.open({ token, onEvent: window.record });
    },
    host.token({ silent: true }),
  );
  const frame = await widgetFrame(page);
  await page.clock.fastForward(19_000);
  expect(await eventTypes(page)).toEqual([]);
  await page.clock.fastForward(1_000);
  expect(await page.evaluate(() => window.events)).toEqual([
    { type: 'error', error: { code: 'load_failed', message: chooseWords([]).failed } },
  ]);
  expect(await retry().isVisible()).toBe(true);

  await frame.evaluate(() => window.say({ type: 'ready' }));
  await waitForEvent(page, 'ready');
  expect(await retry().isVisible()).toBe(false);
  await page.clock.fastForward(60_000);
  expect(await eventTypes(page)).toEqual(['error', 'ready']);
});

it('reloads the frame when asked to try again', async () => {
  page = await host.openPage();
  await stopClock();
  await page.evaluate(
    (token) => {
      window.handle = window.Inlay.open({ token, onEvent: window.record });
    },
    host.token({ silent: true }),
  );
  const old = await widgetFrame(page);
  await page.clock.fastForward(20_000);
  await retry().click();
  const frame = await widgetFrame(page);
  expect(old.isDetached()).toBe(true);
  await frame.evaluate(() => window.say({ type: 'ready' }));
  await waitForEvent(page, 'ready');
});

it('does nothing with a token that comes after the end', async () => {
  page = await host.openPage();
  const before = await traces(page);
  await openAsking();
  await page.evaluate(() => window.handle.destroy());
  await answer(host.token());
  await openAsking();
  await page.evaluate(() => window.handle.close());
  await refuse();
  expect(await traces(page)).toEqual(before);
  expect(await eventTypes(page)).toEqual(['closed']);
});

it('does nothing with a token that comes after updateToken', async () => {
  page = await host.openPage();
  await openAsking();
  await page.evaluate((token) => window.handle.updateToken(token), host.token({ jwt: 'updated.jwt.token' }));
  await answer(host.token({ workspaceId: 'late' }));
  await waitForEvent(page, 'ready');
  const frame = await widgetFrame(page);
  expect(new URL(frame.url()).searchParams.get('workspaceId')).toBe('w1');
  expect(await frame.evaluate(() => window.fragment)).toContain('updated.jwt.token');
});

it('renews an expired token automatically, one request at a time', async () => {
  page = await host.openPage();
  await openAsking(host.token());
  await waitForEvent(page, 'ready');
  expect(await askedCount()).toBe(0);
  await expire();
  await expire();
  await waitForEvent(page, 'token_expired', 2);
  expect(await askedCount()).toBe(1);

  await answer(host.token({ jwt: 'second.jwt.token' }));
  const frame = await widgetFrame(page);
  await frame.waitForFunction(() => window.received.length > 0);
  expect(await frame.evaluate(() => window.received)).toEqual([{ inlay: 1, type: 'token', token: 'second.jwt.token' }]);
  expect(await eventTypes(page)).toEqual(['ready', 'token_expired', 'token_expired']);
});

it('reports a failed renewal, keeps the widget, and asks again the next time', async () => {
  page = await host.openPage();
  await openAsking(host.token());
  await waitForEvent(page, 'ready');
  await expire();
  await waitForEvent(page, 'token_expired');
  await refuse();
  await waitForEvent(page, 'error');
  expect(await page.locator('inlay-widget iframe').isVisible()).toBe(true);

  await expire();
  await waitForEvent(page, 'token_expired', 2);
  await answer(host.token({ jwt: 'second.jwt.token' }));
  const frame = await widgetFrame(page);
  await frame.waitForFunction(() => window.received.length > 0);
});

it('does not ask for ever when new tokens are refused at once', async () => {
  page = await host.openPage();
  await stopClock();
  await openAsking(host.token());
  await waitForEvent(page, 'ready');
  await expire();
  await waitForEvent(page, 'token_expired');
  await answer(host.token({ jwt: 'second.jwt.token' }));
  await expire();
  await waitForEvent(page, 'error');
  expect(await askedCount()).toBe(1);

  await page.clock.fastForward(1_000);
  await expire();
  await waitForEvent(page, 'token_expired', 3);
  expect(await askedCount()).toBe(2);
});

it('without getToken waits for updateToken, and hands the new token on', async () => {
  page = await host.openPage();
  await page.evaluate((token) => {
    window.handle = window.Inlay.open({ token, onEvent: window.record });
  }, host.token());
  await waitForEvent(page, 'ready');
  await expire();
  await waitForEvent(page, 'token_expired');
  await page.evaluate((token) => window.handle.updateToken(token), host.token({ jwt: 'second.jwt.token' }));
  const frame = await widgetFrame(page);
  await frame.waitForFunction(() => window.received.length > 0);
  expect(await frame.evaluate(() => window.received)).toEqual([{ inlay: 1, type: 'token', token: 'second.jwt.token' }]);
  expect(await eventTypes(page)).toEqual(['ready', 'token_expired']);
});

it('hands a token on to a widget that was still loading, as soon as it listens', async () => {
  page = await host.openPage();
  await page.evaluate(
    (token) => {
      window.handle = window.Inlay.open({ token, onEvent: window.record });
    },
    host.token({ silent: true }),
  );
  const frame = await widgetFrame(page);
  await page.evaluate(
    (token) => window.handle.updateToken(token),
    host.token({ silent: true, jwt: 'second.jwt.token' }),
  );
  await frame.evaluate(() => window.say({ type: 'ready' }));
  await frame.waitForFunction(() => window.received.length > 0);
  expect(await frame.evaluate(() => window.received)).toEqual([{ inlay: 1, type: 'token', token: 'second.jwt.token' }]);
});

it('reloads for another workspace', async () => {
  page = await host.openPage();
  await page.evaluate((token) => {
    window.handle = window.Inlay.open({ token, onEvent: window.record });
  }, host.token());
  await waitForEvent(page, 'ready');
  const old = await widgetFrame(page);
  await page.evaluate((token) => window.handle.updateToken(token), host.token({ workspaceId: 'w2' }));
  await waitForEvent(page, 'ready', 2);
  expect(old.isDetached()).toBe(true);
  const frame = await widgetFrame(page);
  expect(new URL(frame.url()).searchParams.get('workspaceId')).toBe('w2');
  expect(await page.locator('inlay-widget iframe').count()).toBe(1);
});

it('refuses a malformed token in updateToken and continues as before', async () => {
  page = await host.openPage();
  const thrown = await page.evaluate((token) => {
    window.handle = window.Inlay.open({ token, onEvent: window.record });
    try {
      window.handle.updateToken('nonsense');
    } catch (error) {
      return (error as Error).message;
    }
  }, host.token());
  expect(thrown).toMatch(/^Invalid widget token/);
  await waitForEvent(page, 'ready');
});

const firstError = () =>
  page.evaluate(() => {
    const [event] = window.events;
    if (event?.type !== 'error') return undefined;
    return { ...event.error, cause: (event.error.cause as Error).message };
  });

it('says at once which origin the token allows and which the page has, and tries again with another token', async () => {
  page = await host.openPage();
  await stopClock();
  await page.evaluate(
    (token) => {
      window.handle = window.Inlay.open({ token, onEvent: window.record });
      window.events.push({ type: 'opened' } as never);
    },
    host.token({ allowedOrigin: 'https://app.example:443' }),
  );
  await page.clock.runFor(1);
  const reason = `The widget token allows https://app.example, but this page is on ${host.origin}.`;
  expect(await page.evaluate(() => window.events.splice(0, 1))).toEqual([{ type: 'opened' }]);
  expect(await firstError()).toEqual({ code: 'wrong_origin', message: chooseWords([]).failed, cause: reason });
  expect(await page.getByText(reason).isVisible()).toBe(true);
  expect(await page.locator('inlay-widget iframe').count()).toBe(0);

  await page.evaluate((token) => window.handle.updateToken(token), host.token());
  await waitForEvent(page, 'ready');
  expect(await page.getByText(reason).isVisible()).toBe(false);
});

it('leaves nothing behind when it is closed before it has reported a wrong origin', async () => {
  page = await host.openPage();
  const before = await traces(page);
  await page.evaluate(
    (token) => window.Inlay.open({ token, onEvent: window.record }).destroy(),
    host.token({ allowedOrigin: 'https://app.example' }),
  );
  expect(await traces(page)).toEqual(before);
  expect(await eventTypes(page)).toEqual([]);
});

it.each([
  ['has no frame-src', ''],
  ['allows frames of others only', 'frame-src https://app.example;'],
])('says at once what to add to a content policy that %s', async (_, frameSource) => {
  page = await host.openPageWithPolicy(frameSource);
  await page.evaluate((token) => window.Inlay.open({ token, onEvent: window.record }), host.token({ silent: true }));
  await waitForEvent(page, 'error');
  const reason = `Add ${host.widgetOrigin} to frame-src in this page’s Content-Security-Policy.`;
  expect(await firstError()).toEqual({ code: 'frame_blocked', message: chooseWords([]).failed, cause: reason });
  expect(await page.getByText(reason).isVisible()).toBe(true);
  // The error that the browser reported to the page itself.
  expect(await page.evaluate(() => window.errors.splice(0).join())).toMatch(/^frame-src /);
});

it('informs the widget whether the page renews tokens automatically', async () => {
  page = await host.openPage();
  await openAsking(host.token());
  await waitForEvent(page, 'ready');
  expect(await (await widgetFrame(page)).evaluate(() => window.fragment)).toBe('#first.jwt.token&mode=modal&renews=1');
});
