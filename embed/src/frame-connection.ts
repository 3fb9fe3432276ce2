/**
 * The connection to one widget in its frame. Only messages from exactly that frame and from the widget's own origin
 * count, and messages are sent only to that origin. After `close` no message is received any more.
 */
import type { MessageToHost, MessageToWidget } from '@inlay/contract/embedding';
import { readMessage } from './messages.ts';
import type { WidgetToken } from './widget-token.ts';

export interface FrameConnection {
  /** The token that the widget in the frame has. */
  readonly token: WidgetToken;
  /** `isAnew`: the frame was reloaded, and has no token any more. */
  give(token: WidgetToken, isAnew?: boolean): void;
  close(): void;
}

export interface FrameListener {
  onMessage(message: MessageToHost): void;
  /** Called when the page's own content policy does not let the frame load. */
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
    give(next, isAnew) {
      if (next === token && !isAnew) return;
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
