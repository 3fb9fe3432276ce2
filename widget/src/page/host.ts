/**
 * The host page. The only file that exchanges messages with another window.
 *
 * Invariants: messages are sent only to the allowed origin, and accepted only from the parent window, that origin and in the
 * agreed shape. Without an allowed origin, or outside a frame, none are sent.
 */
import type { MessageToHost, MessageToWidget, WidgetEvent } from '@inlay/contract/embedding';
import type { WidgetMode } from './address.ts';

export interface Host {
  mode: WidgetMode;
  /** Whether the page automatically renews rejected tokens. */
  renews: boolean;
  tell(event: WidgetEvent): void;
  /** Has the page store the id of a sign-in, to resume after a reload; null clears it. */
  keepSignIn(id: string | null): void;
  /** Asks the page to close the dialog it has put around the widget. */
  close(): void;
  /** Reports whether a dialog covers the widget, so that the page covers its own parts beside it too. */
  cover(isCovered: boolean): void;
}

export interface HostConnection {
  window: Window;
  allowedOrigin: string | undefined;
  mode: WidgetMode;
  renews?: boolean;
  onToken(token: string): void;
}

export function connectHost({ window, allowedOrigin, mode, renews = false, onToken }: HostConnection): Host {
  const { parent } = window;
  const isFramed = parent !== window;

  function post(message: MessageToHost): void {
    if (isFramed && allowedOrigin !== undefined) parent.postMessage(message, allowedOrigin);
  }

  window.addEventListener('message', (event: MessageEvent) => {
    if (!isFramed || event.source !== parent || event.origin !== allowedOrigin) return;
    if (isTokenMessage(event.data)) onToken(event.data.token);
  });

  if (mode !== 'plain') followHeight(window, (height) => post({ inlay: 1, type: 'resize', height }));
  if (mode === 'modal') {
    scrollOnceSettled(window);
    window.addEventListener('keydown', (event) => {
      // While a word is being composed, Escape belongs to the input method. A dialog or menu that used Escape has
      // prevented the default.
      if (event.key === 'Escape' && !event.defaultPrevented && !event.isComposing) post({ inlay: 1, type: 'close' });
    });
  }

  return {
    mode,
    renews,
    tell: (event) => post({ inlay: 1, ...event }),
    keepSignIn: (id) => post({ inlay: 1, type: 'sign_in', id }),
    close: () => post({ inlay: 1, type: 'close' }),
    cover: (covered) => post({ inlay: 1, type: 'cover', covered }),
  };
}

export function isTokenMessage(data: unknown): data is MessageToWidget {
  if (typeof data !== 'object' || data === null) return false;
  const { inlay, type, token } = data as Partial<MessageToWidget>;
  return inlay === 1 && type === 'token' && typeof token === 'string' && token !== '';
}

/** Measures the body: the root element is as high as the frame, even where its content is not. */
function followHeight({ document: { body } }: Window, onHeight: (height: number) => void): void {
  let told: number | undefined;
  new ResizeObserver(() => {
    const height = Math.ceil(body.getBoundingClientRect().height);
    if (height !== told) onHeight(height);
    told = height;
  }).observe(body);
}

/** Longer than the page needs to apply the height. */
const settlingMs = 300;

/**
 * A dialog is as high as its content until it fills the window. Until the page has applied a new height, a scrollbar would
 * flicker and shift the layout, so one is shown only if the content remains higher than the frame.
 */
function scrollOnceSettled(window: Window): void {
  const { body, documentElement: root } = window.document;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Debounced: a height is measured once it stops changing. */
  const look = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      root.dataset.scrolls = String(body.getBoundingClientRect().height > window.innerHeight);
    }, settlingMs);
  };
  new ResizeObserver(look).observe(body);
  window.addEventListener('resize', look);
}
