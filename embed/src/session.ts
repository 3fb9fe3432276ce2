/**
 * One widget from its first token to its end: requests tokens, loads the frame, forwards the widget's events. Late answers
 * are ignored after the end. Widgets share no state.
 */
import type { MessageToHost, WidgetEvent, WidgetTheme } from '@inlay/contract/embedding';
import { connectFrame, type FrameConnection } from './frame-connection.ts';
import { isReturned, keepSignIn, keptSignIn } from './kept-sign-in.ts';
import type { InlayErrorCode, InlayEvent } from './messages.ts';
import { createTokenRequests } from './token-requests.ts';
import { createView, type Mode, type ViewState } from './view.ts';
import { frameAddress, isSameWidget, readWidgetToken, type WidgetToken } from './widget-token.ts';

export interface InlayOptions {
  /** A widget token, exactly as Inlay returned it to the backend. */
  token?: string | undefined;
  /** Fetches a widget token from the backend: initially if there is no `token`, and whenever a token has expired. */
  getToken?: (() => Promise<string>) | undefined;
  onEvent?: ((event: InlayEvent) => void) | undefined;
  /** Overrides the theme requested by the backend. */
  theme?: WidgetTheme | undefined;
  /** Overrides the locale requested by the backend, and the browser's. */
  locale?: string | undefined;
  /** ID of a source template. The widget opens on its form. */
  template?: string | undefined;
  /** ID of one of the customer's sources. The widget opens on it. */
  source?: string | undefined;
}

/** All calls are idempotent, and do nothing after `close` or `destroy`. */
export interface InlayHandle {
  /** Removes the widget and sends the event `closed`. */
  close(): void;
  /** Switches to another token. A token for another workspace or other filters reloads the widget. */
  updateToken(token: string): void;
  /** Removes the widget without an event. */
  destroy(): void;
}

/** Time limit for the token and the frame's first message together. */
const readyTimeoutMs = 20_000;
/** A token rejected this soon never worked, so retrying would loop. */
const renewalPauseMs = 1_000;

export function startSession(mode: Mode, parent: Element, options: InlayOptions): InlayHandle {
  const { getToken, theme, locale } = options;
  // A sign-in the customer returns from takes precedence over the page's other options.
  const { template, source }: InlayOptions = isReturned() ? {} : options;
  if (options.token === undefined && !getToken) throw new TypeError('Pass a `token` or `getToken`.');
  // Parse the token before touching the page, so that an invalid one throws at the caller.
  let current = options.token === undefined ? undefined : readWidgetToken(options.token);
  let connection: FrameConnection | undefined;
  let state: ViewState = 'loading';
  let hasEnded = false;
  /** Initially long ago. */
  let renewedAtMs = -renewalPauseMs;
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

  /** Starts with this token, or requests one. */
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
      // The browser would block the frame without a reason, so report it here. The timer lets `open` return first.
      clearTimeout(timer);
      timer = setTimeout(() =>
        blame('wrong_origin', `The widget token allows ${token.allowedOrigin}, but this page is on ${origin}.`),
      );
      return;
    }
    const frame = view.showFrame(
      frameAddress(token, {
        mode,
        renews: getToken && '1',
        locale,
        theme: theme && JSON.stringify(theme),
        template,
        source,
        sign_in: keptSignIn(),
      }),
    );
    connection = connectFrame(frame, token, {
      onMessage: hear,
      onBlocked: () =>
        blame('frame_blocked', `Add ${token.url.origin} to frame-src in this page’s Content-Security-Policy.`),
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
    // A frame that is still loading gets the token once ready.
    if (state === 'ready') connection.give(token);
  }

  function hear(message: MessageToHost): void {
    if (message.type === 'resize') {
      view.setHeight(message.height);
    } else if (message.type === 'cover') {
      view.cover(message.covered);
    } else if (message.type === 'sign_in') {
      keepSignIn(message.id);
    } else if (message.type === 'close') {
      if (mode === 'modal') close();
    } else {
      pass(message);
    }
  }

  function pass(event: WidgetEvent): void {
    clearTimeout(timer);
    const isReloaded = event.type === 'ready' && state === 'ready';
    if (state !== 'ready') change('ready');
    if (current) connection?.give(current, isReloaded);
    emit(event);
    if (event.type !== 'token_expired' || hasEnded) return;
    if (performance.now() - renewedAtMs < renewalPauseMs) fail('token_failed');
    else requests?.ask();
  }

  /** Fails for a reason the page's developer has to fix. Customers never see it on a working page. */
  function blame(code: InlayErrorCode, reason: string): void {
    fail(code, new Error(reason), reason);
  }

  function fail(code: InlayErrorCode, cause?: unknown, reason?: string): void {
    requests?.forget();
    clearTimeout(timer);
    // Keep a widget that is already shown. It requests a token again when it needs one.
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
