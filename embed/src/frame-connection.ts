/**
 * The connection to one widget in its frame. Accepts messages only from that frame and the widget's origin, and sends only
 * to that origin. No messages are received after `close`.
 */
import type { MessageToHost, MessageToWidget } from '@inlay/contract/embedding';
import { readMessage } from './messages.ts';
import type { WidgetToken } from './widget-token.ts';

export interface FrameConnection {
  /** The token held by the widget in the frame. */
  readonly token: WidgetToken;
  /** `isReload`: the frame was reloaded and has lost its token. */
  give(token: WidgetToken, isReload?: boolean): void;
  close(): void;
}

export interface FrameListener {
  onMessage(message: MessageToHost): void;
  /** Called when the page's own content policy blocks the frame. */
  onBlocked(): void;
}

export function connectFrame(
  frame: HTMLIFrameElement,
  first: WidgetToken,
  { onMessage, onBlocked }: FrameListener,
): FrameConnection {
  const { origin } = first.url;
  let token = first;

  function hear({ source, origin: sender, data }: MessageEvent): void {
    if (!source || source !== frame.contentWindow || sender !== origin) return;
    const message = readMessage(data);
    if (message) onMessage(message);
  }

  function seeViolation({ disposition, effectiveDirective, blockedURI }: SecurityPolicyViolationEvent): void {
    const isOfFrame = effectiveDirective === 'frame-src' && `${blockedURI}/`.startsWith(`${origin}/`);
    if (isOfFrame && disposition === 'enforce') onBlocked();
  }

  addEventListener('message', hear);
  document.addEventListener('securitypolicyviolation', seeViolation);

  return {
    get token() {
      return token;
    },
    give(next, isReload) {
      if (next === token && !isReload) return;
      token = next;
      const message: MessageToWidget = { inlay: 1, type: 'token', token: token.token };
      frame.contentWindow?.postMessage(message, origin);
    },
    close() {
      removeEventListener('message', hear);
      document.removeEventListener('securitypolicyviolation', seeViolation);
    },
  };
}
