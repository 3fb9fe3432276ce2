/**
 * One widget from its first token to its end: asks for tokens, loads the frame, listens to it and speaks to it. Only
 * messages of that very frame from the widget's own origin are heard, and only that origin is spoken to. After the end
 * nothing acts any more, whatever answer is still on its way. Widgets share nothing.
 */
import type { MessageToWidget, WidgetEvent, WidgetTheme } from '@inlay/contract/embedding';
import { type InlayErrorCode, type InlayEvent, readMessage } from './messages.ts';
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
  /** What the frame has. */
  let given: WidgetToken | undefined;
  let frame: HTMLIFrameElement | undefined;
  let state: ViewState = 'loading';
  let hasEnded = false;
  /** The request for a token that counts; an answer to any other is late. */
  let asking: object | undefined;
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const view = createView(mode, parent, { onRetry: () => begin(getToken ? undefined : current), onClose: close });
  view.dress(theme, locale);
  addEventListener('message', hear);
  begin(current);

  /** With this token, or with a new one. */
  function begin(token: WidgetToken | undefined): void {
    frame = given = asking = undefined;
    clearTimeout(timer);
    timer = setTimeout(() => fail('load_failed'), readyTimeoutMs);
    change('loading');
    if (!token) {
      ask();
      return;
    }
    current = given = token;
    view.dress(theme ?? token.theme ?? {}, locale ?? token.locale);
    frame = view.showFrame(
      frameAddress(token, { mode, ...(locale && { locale }), ...(theme && { theme: JSON.stringify(theme) }) }),
    );
  }

  function ask(): void {
    if (asking || !getToken) return;
    const mine = {};
    asking = mine;
    new Promise<string>((resolve) => resolve(getToken())).then(readWidgetToken).then(
      (token) => {
        if (asking !== mine) return;
        if (given) renewedAtMs = performance.now();
        use(token);
      },
      (cause) => {
        if (asking === mine) fail('token_failed', cause);
      },
    );
  }

  function use(token: WidgetToken): void {
    if (!given || state === 'failed' || !isSameWidget(given, token)) {
      begin(token);
      return;
    }
    asking = undefined;
    current = token;
    // A frame that still loads is told once it listens.
    if (state === 'ready') tell();
  }

  function tell(): void {
    if (!current || current === given) return;
    given = current;
    const message: MessageToWidget = { inlay: 1, type: 'token', token: given.token };
    frame?.contentWindow?.postMessage(message, given.url.origin);
  }

  function hear({ source, origin, data }: MessageEvent): void {
    if (!frame || source !== frame.contentWindow || origin !== given?.url.origin) return;
    const message = readMessage(data);
    if (!message) return;
    if (message.type === 'resize') {
      view.setHeight(message.height);
    } else if (message.type === 'close') {
      if (mode === 'modal') close();
    } else {
      pass(message);
    }
  }

  function pass(event: WidgetEvent): void {
    clearTimeout(timer);
    if (state !== 'ready') change('ready');
    tell();
    emit(event);
    if (event.type !== 'token_expired' || hasEnded) return;
    if (performance.now() - renewedAtMs < renewalPauseMs) fail('token_failed');
    else ask();
  }

  function fail(code: InlayErrorCode, cause?: unknown): void {
    asking = undefined;
    clearTimeout(timer);
    // A widget that is there stays: it asks again when it needs to.
    if (state !== 'ready') change('failed');
    emit({ type: 'error', error: { code, message: view.words.failed, ...(cause !== undefined && { cause }) } });
  }

  function change(next: ViewState): void {
    state = next;
    view.setState(next);
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
    frame = asking = undefined;
    clearTimeout(timer);
    removeEventListener('message', hear);
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
