import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectHost, isTokenMessage } from './host.ts';

const origin = 'https://app.example.com';

/** A fake ResizeObserver, triggered by hand. */
let sizesChange: () => void = () => {};
beforeEach(() => {
  const listeners: (() => void)[] = [];
  sizesChange = () => {
    for (const listener of listeners) listener();
  };
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(listener: () => void) {
        listeners.push(listener);
      }
      observe() {}
    },
  );
  vi.useFakeTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A window in a frame, as far as messages and heights go. */
function framedWindow() {
  const posted: [unknown, string][] = [];
  const height = { content: 300 };
  const document = {
    body: { getBoundingClientRect: () => ({ height: height.content }) },
    documentElement: { dataset: {} as Record<string, string> },
  };
  const parent = { postMessage: (message: unknown, target: string) => posted.push([message, target]) };
  const window = Object.assign(new EventTarget(), { parent, document, innerHeight: 700 });
  const receive = (data: unknown, from: { source?: unknown; origin?: string } = {}) =>
    window.dispatchEvent(Object.assign(new Event('message'), { data, source: parent, origin, ...from }));
  const press = (key: string, more: object = {}) =>
    window.dispatchEvent(Object.assign(new Event('keydown', { cancelable: true }), { key, ...more }));
  return { window: window as unknown as Window, posted, receive, press, height };
}

describe('what it reports', () => {
  it('goes to the allowed origin only', () => {
    const { window, posted } = framedWindow();
    connectHost({ window, allowedOrigin: origin, mode: 'plain', onToken() {} }).tell({ type: 'ready' });
    expect(posted).toEqual([[{ inlay: 1, type: 'ready' }, origin]]);
  });

  it('goes nowhere without one', () => {
    const { window, posted } = framedWindow();
    connectHost({ window, allowedOrigin: undefined, mode: 'plain', onToken() {} }).tell({ type: 'ready' });
    expect(posted).toEqual([]);
  });

  it('goes nowhere outside a frame', () => {
    const { window, posted } = framedWindow();
    Object.assign(window, { parent: window, postMessage: (message: unknown) => posted.push([message, '']) });
    connectHost({ window, allowedOrigin: origin, mode: 'plain', onToken() {} }).tell({ type: 'ready' });
    expect(posted).toEqual([]);
  });
});

describe('a new token', () => {
  const message = { inlay: 1, type: 'token', token: 'a.b.c' };

  it('is taken from the page around', () => {
    const { window, receive } = framedWindow();
    const tokens: string[] = [];
    connectHost({ window, allowedOrigin: origin, mode: 'plain', onToken: (token) => tokens.push(token) });
    receive(message);
    expect(tokens).toEqual(['a.b.c']);
  });

  it.each([
    ['another window', { source: {} }],
    ['another origin', { origin: 'https://evil.example' }],
  ])('is not taken from %s', (_who, from) => {
    const { window, receive } = framedWindow();
    const tokens: string[] = [];
    connectHost({ window, allowedOrigin: origin, mode: 'plain', onToken: (token) => tokens.push(token) });
    receive(message, from);
    expect(tokens).toEqual([]);
  });

  it.each([
    null,
    'token',
    {},
    { ...message, inlay: 2 },
    { ...message, type: 'x' },
    { ...message, token: 7 },
    { ...message, token: '' },
  ])('is not seen in %j', (data) => {
    expect(isTokenMessage(data)).toBe(false);
  });
});

describe('Escape', () => {
  const close = [{ inlay: 1, type: 'close' }, origin];

  it('closes the dialog around the widget', () => {
    const { window, posted, press } = framedWindow();
    connectHost({ window, allowedOrigin: origin, mode: 'modal', onToken() {} });
    press('Enter');
    press('Escape');
    expect(posted).toEqual([close]);
  });

  it('stays inside while it means something there', () => {
    const { window, posted, press } = framedWindow();
    let isMenuOpen = false;
    window.addEventListener('keydown', (event) => isMenuOpen && event.preventDefault());
    connectHost({ window, allowedOrigin: origin, mode: 'modal', onToken() {} });
    press('Escape', { isComposing: true });
    isMenuOpen = true;
    press('Escape');
    expect(posted).toEqual([]);
  });

  it('closes nothing where there is no dialog', () => {
    const { window, posted, press } = framedWindow();
    connectHost({ window, allowedOrigin: origin, mode: 'plain', onToken() {} });
    press('Escape');
    expect(posted).toEqual([]);
  });
});

describe('the height of the content', () => {
  it.each(['modal', 'inline'] as const)('is reported to the page around, once each: %s', (mode) => {
    const { window, posted, height } = framedWindow();
    connectHost({ window, allowedOrigin: origin, mode, onToken() {} });
    sizesChange();
    sizesChange();
    height.content = 412.3;
    sizesChange();
    expect(posted).toEqual([
      [{ inlay: 1, type: 'resize', height: 300 }, origin],
      [{ inlay: 1, type: 'resize', height: 413 }, origin],
    ]);
  });

  it('is reported to nobody in a plain frame', () => {
    const { window, posted } = framedWindow();
    connectHost({ window, allowedOrigin: origin, mode: 'plain', onToken() {} });
    sizesChange();
    expect(posted).toEqual([]);
  });

  it('makes a dialog scroll only when it stays higher than the frame', () => {
    const { window, height } = framedWindow();
    connectHost({ window, allowedOrigin: origin, mode: 'modal', onToken() {} });
    const { dataset } = window.document.documentElement;
    height.content = 900;
    sizesChange();
    expect(dataset.scrolls).toBeUndefined();
    Object.assign(window, { innerHeight: 900 });
    window.dispatchEvent(new Event('resize'));
    vi.runAllTimers();
    expect(dataset.scrolls).toBe('false');
    height.content = 1_000;
    sizesChange();
    vi.runAllTimers();
    expect(dataset.scrolls).toBe('true');
  });
});
