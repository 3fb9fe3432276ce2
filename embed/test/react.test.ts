import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { InlayWidgetProps } from '../src/react.ts';
import { eventTypes, type Host, startHost, traces, waitForEvent, widgetFrame } from './host-page.ts';

declare global {
  interface Window {
    /** Renders one of the two below; undefined takes it out of the page. */
    render(what: 'widget' | 'dialog' | undefined, props?: InlayWidgetProps): void;
    openDialog(): void;
    isOpen: boolean;
  }
}

const program = `
  import { createElement, StrictMode } from 'react';
  import { flushSync } from 'react-dom';
  import { createRoot } from 'react-dom/client';
  import { InlayWidget, useInlay } from '../src/react.ts';

  function Dialog(props) {
    const inlay = useInlay(props);
    window.openDialog = inlay.open;
    window.isOpen = inlay.isOpen;
    return createElement('button', { onClick: inlay.open, id: 'react-opener' }, 'Open');
  }

  const root = createRoot(document.querySelector('#place'));
  window.render = (what, props) => flushSync(() => root.render(createElement(
    StrictMode,
    null,
    what && createElement(what === 'widget' ? InlayWidget : Dialog, props),
  )));
`;

let host: Host;
let page: Page;

beforeAll(async () => {
  host = await startHost();
  const { outputFiles } = await esbuild.build({
    stdin: { contents: program, resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'iife',
    loader: { '.css': 'text' },
    // Where StrictMode runs effects twice.
    define: { 'process.env.NODE_ENV': '"development"' },
  });
  host.setProgram(outputFiles[0]?.text ?? '');
});
afterAll(() => host?.close());

const frames = () => page.locator('inlay-widget iframe').count();

it('mounts one widget in strict mode, and none is left when it goes', async () => {
  page = await host.openPage();
  const before = await traces(page);
  await page.evaluate((token) => window.render('widget', { token, onEvent: window.record }), host.token());
  await waitForEvent(page, 'ready');
  expect(await frames()).toBe(1);
  await page.evaluate(() => window.render(undefined));
  expect(await traces(page)).toEqual(before);
  expect(await eventTypes(page)).toEqual(['ready']);
});

it('lives on when callbacks change, and calls the latest', async () => {
  page = await host.openPage();
  await page.evaluate((token) => window.render('widget', { token, onEvent: () => {} }), host.token());
  const frame = await widgetFrame(page);
  await page.evaluate((token) => window.render('widget', { token, onEvent: window.record }), host.token());
  await frame.evaluate(() => window.say({ type: 'token_expired' }));
  await waitForEvent(page, 'token_expired');
  expect(frame.isDetached()).toBe(false);
});

it('waits for a token, hands a new one to the widget, and recreates it for another theme', async () => {
  page = await host.openPage();
  await page.evaluate(() => window.render('widget', { onEvent: window.record }));
  expect(await frames()).toBe(0);
  await page.evaluate((token) => window.render('widget', { token, onEvent: window.record }), host.token());
  await waitForEvent(page, 'ready');

  const frame = await widgetFrame(page);
  const second = host.token({ jwt: 'second.jwt.token' });
  await page.evaluate((token) => window.render('widget', { token, onEvent: window.record }), second);
  await frame.waitForFunction(() => window.received.length > 0);
  expect(await frame.evaluate(() => window.received)).toEqual([{ inlay: 1, type: 'token', token: 'second.jwt.token' }]);

  await page.evaluate(
    (token) => window.render('widget', { token, onEvent: window.record, theme: { radius: 2 } }),
    second,
  );
  await waitForEvent(page, 'ready', 2);
  expect(frame.isDetached()).toBe(true);
  expect(await frames()).toBe(1);
});

it('opens one dialog, knows whether it is open, and takes it along when it goes', async () => {
  page = await host.openPage();
  const before = await traces(page);
  await page.evaluate((token) => {
    window.render('dialog', { token, onEvent: window.record });
    window.openDialog();
    window.openDialog();
  }, host.token());
  await waitForEvent(page, 'ready');
  expect(await page.evaluate(() => [window.isOpen, document.querySelectorAll('inlay-widget').length])).toEqual([
    true,
    1,
  ]);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !window.isOpen);

  await page.evaluate(() => window.openDialog());
  await waitForEvent(page, 'ready', 2);
  await page.evaluate(() => window.render(undefined));
  expect(await traces(page)).toEqual(before);
  expect(await eventTypes(page)).toEqual(['ready', 'closed', 'ready']);
});
