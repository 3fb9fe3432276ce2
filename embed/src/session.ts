/**
 * One widget from its first token to its end: asks for tokens, loads the frame, passes the widget's events on. After
 * the end nothing happens any more, even if an answer still arrives. Widgets share nothing.
 */
import type { MessageToHost, WidgetEvent, WidgetTheme } from '@inlay/contract/embedding';
import { connectFrame, type FrameConnection } from './frame-connection.ts';
import { isReturned, keepSignIn, keptSignIn } from './kept-sign-in.ts';
import type { InlayErrorCode, InlayEvent } from './messages.ts';
import { createTokenRequests } from './token-requests.ts';
import { createView, type Mode, type ViewState } from './view.ts';
import { frameAddress, isSameWidget, readWidgetToken, type WidgetToken } from './widget-token.ts';

export interface InlayOptions {
  /** A widget token, as the backend got it. */
  token?: string | undefined;
  /** Asks the backend for a widget token: at the start if there is no `token`, and whenever a token has expired. */
  getToken?: (() => Promise<string>) | undefined;
  onEvent?: ((event: InlayEvent) => void) | undefined;
  /** Replaces the theme that the backend asked for. */
  theme?: WidgetTheme | undefined;
  /** Replaces the locale that the backend asked for, and the browser's. */
  locale?: string | undefined;
  /** The id of a source template: the widget opens on its form. */
  template?: string | undefined;
  /** The id of a source of the customer: the widget opens on it. */
  source?: string | undefined;
}

/** Every call may be repeated. After `close` or `destroy`, calls do nothing. */
export interface InlayHandle {
  /** Removes the widget and sends the event `closed`. */
  close(): void;
  /** Goes on with another token. A token for another workspace or other filters loads the widget anew. */
  updateToken(token: string): void;
  /** Removes the widget without an event. */
  destroy(): void;
}

/** How long the token and the first message of the frame may take together. */
const readyTimeoutMs = 20_000;
/** A token that is refused this soon never worked. Asking again and again would not help. */
const renewalPauseMs = 1_000;

export function startSession(mode: Mode, parent: Element, options: InlayOptions): InlayHandle {
  const { getToken, theme, locale } = options;
  // The customer comes back from a provider: the widget goes on with that, whatever else the page wants.
  const { template, source }: InlayOptions = isReturned() ? {} : options;
  if (options.token === undefined && !getToken) throw new TypeError('Pass a `token` or `getToken`.');
  // Read the token before anything is in the page, so that the caller gets the error of a wrong token.
  let current = options.token === undefined ? undefined : readWidgetToken(options.token);
  let connection: FrameConnection | undefined;
  let state: ViewState = 'loading';
  let hasEnded = false;
  /** At first, long enough ago. */
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

  /** Begins with this token, or asks for a new one. */
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
      // The browser would refuse to show the frame and give no reason, so we give it. The timer lets `open` return
      // first.
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
    // A frame that is still loading gets the token when it is ready.
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

  /** Fails for a reason that the page's developer can fix. On a page that works, no customer ever sees it. */
  function blame(code: InlayErrorCode, reason: string): void {
    fail(code, new Error(reason), reason);
  }

  function fail(code: InlayErrorCode, cause?: unknown, reason?: string): void {
    requests?.forget();
    clearTimeout(timer);
    // A widget that is already shown stays. It asks again when it needs a token.
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
