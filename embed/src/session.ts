/**
 * One widget from its first token to its end: asks for tokens, loads the frame, passes on what the widget says. After the
 * end nothing acts any more, whatever answer is still on its way. Widgets share nothing.
 */
import type { MessageToHost, WidgetEvent, WidgetTheme } from '@inlay/contract/embedding';
import { connectFrame, type FrameConnection } from './frame-connection.ts';
import type { InlayErrorCode, InlayEvent } from './messages.ts';
import { createTokenRequests } from './token-requests.ts';
import { createView, type Mode, type ViewState } from './view.ts';
import { frameAddress, isSameWidget, readWidgetToken, type WidgetToken } from './widget-token.ts';

export interface InlayOptions {
  /** A widget token, as the backend got it. */
  token?: string | undefined;
  /** Asks the backend for a widget token: at first if there is no `token`, and whenever one has expired. */
  getToken?: (() => Promise<string>) | undefined;
  onEvent?: ((event: InlayEvent) => void) | undefined;
  /** Instead of the theme that the backend asked for. */
  theme?: WidgetTheme | undefined;
  /** Instead of the locale that the backend asked for, or of the browser. */
  locale?: string | undefined;
}

/** Every call may be repeated; after `close` or `destroy` none does anything. */
export interface InlayHandle {
  /** Takes the widget away and tells `onEvent`. */
  close(): void;
  /** Goes on with another token. One for another workspace or other filters loads the widget anew. */
  updateToken(token: string): void;
  /** Takes the widget away and tells nobody. */
  destroy(): void;
}

/** For a token and the first word of the frame. */
const readyTimeoutMs = 20_000;
/** A token that is refused so soon was never good: asking again and again would not help. */
const renewalPauseMs = 1_000;

export function startSession(mode: Mode, parent: Element, options: InlayOptions): InlayHandle {
  const { getToken, theme, locale } = options;
  if (options.token === undefined && !getToken) throw new TypeError('Inlay needs a `token`, or `getToken`.');
  // Read before anything is in the page: what is wrong with it is thrown at the caller.
  let current = options.token === undefined ? undefined : readWidgetToken(options.token);
  let connection: FrameConnection | undefined;
  let state: ViewState = 'loading';
  let hasEnded = false;
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const requests =
    getToken &&
    createTokenRequests(getToken, {
      onToken(token) {
        if (connection) renewedAtMs = performance.now();
        use(token);
      },
      onFailure: (cause) => fail('token_failed', cause),
    });
  const view = createView(mode, parent, { onRetry: () => begin(getToken ? undefined : current), onClose: close });
  view.dress(theme, locale);
  begin(current);

  /** With this token, or with a new one. */
  function begin(token: WidgetToken | undefined): void {
    disconnect();
    timer = setTimeout(() => fail('load_failed'), readyTimeoutMs);
    change('loading');
    if (token) load(token);
    else requests?.ask();
  }

  function load(token: WidgetToken): void {
    current = token;
    view.dress(theme ?? token.theme ?? {}, locale ?? token.locale);
    if (token.allowedOrigin && token.allowedOrigin !== origin) {
      // The browser would refuse to show the frame, and tell nobody why. Not before `open` has returned.
      clearTimeout(timer);
      timer = setTimeout(() =>
        blame('wrong_origin', `The widget token allows pages of ${token.allowedOrigin}. This page is of ${origin}.`),
      );
      return;
    }
    const frame = view.showFrame(
      frameAddress(token, {
        mode,
        ...(getToken && { renews: '1' }),
        ...(locale && { locale }),
        ...(theme && { theme: JSON.stringify(theme) }),
      }),
    );
    connection = connectFrame(frame, token, {
      onMessage: hear,
      onBlocked: () =>
        blame('frame_blocked', `Add ${token.url.origin} to frame-src in the Content-Security-Policy of this page.`),
    });
  }

  function disconnect(): void {
    clearTimeout(timer);
    requests?.forget();
    connection?.close();
    connection = undefined;
  }

  function use(token: WidgetToken): void {
    if (!connection || state === 'failed' || !isSameWidget(connection.token, token)) {
      begin(token);
      return;
    }
    requests?.forget();
    current = token;
    // A frame that still loads is told once it listens.
    if (state === 'ready') connection.give(token);
  }

  function hear(message: MessageToHost): void {
    if (message.type === 'resize') {
      view.setHeight(message.height);
    } else if (message.type === 'cover') {
      view.cover(message.covered);
    } else if (message.type === 'close') {
      if (mode === 'modal') close();
    } else {
      pass(message);
    }
  }

  function pass(event: WidgetEvent): void {
    clearTimeout(timer);
    if (state !== 'ready') change('ready');
    if (current) connection?.give(current);
    emit(event);
    if (event.type !== 'token_expired' || hasEnded) return;
    if (performance.now() - renewedAtMs < renewalPauseMs) fail('token_failed');
    else requests?.ask();
  }

  /** Fails for what the page's developer can mend. No customer of a page that works ever reads the reason. */
  function blame(code: InlayErrorCode, reason: string): void {
    fail(code, new Error(reason), reason);
  }

  function fail(code: InlayErrorCode, cause?: unknown, reason?: string): void {
    requests?.forget();
    clearTimeout(timer);
    // A widget that is there stays: it asks again when it needs to.
    if (state !== 'ready') change('failed', reason);
    emit({ type: 'error', error: { code, message: view.words.failed, ...(cause !== undefined && { cause }) } });
  }

  function change(next: ViewState, reason?: string): void {
    state = next;
    view.setState(next, reason);
  }

  function emit(event: InlayEvent): void {
    try {
      options.onEvent?.(event);
    } catch (error) {
      reportError(error);
    }
  }

  function end(): boolean {
    if (hasEnded) return false;
    hasEnded = true;
    disconnect();
    view.remove();
    return true;
  }

  function close(): void {
    if (end()) emit({ type: 'closed' });
  }

  return {
    close,
    updateToken(token) {
      if (!hasEnded) use(readWidgetToken(token));
    },
    destroy() {
      end();
    },
  };
}
