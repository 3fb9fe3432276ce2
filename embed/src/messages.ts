/**
 * The page's events, and how messages from the widget's window become events. Messages are copied field by field into a fixed
 * shape; messages of any other shape are ignored, unknown fields dropped.
 */
import type { MessageToHost, WidgetErrorCode, WidgetEvent } from '@inlay/contract/embedding';

/**
 * `token_failed`: getToken failed or returned no widget token; `load_failed`: the widget did not load; `wrong_origin`:
 * the token allows a different origin than the page's; `frame_blocked`: the page's content policy blocks the frame.
 */
export type InlayErrorCode = WidgetErrorCode | 'token_failed' | 'load_failed' | 'wrong_origin' | 'frame_blocked';

export type InlayEvent =
  | Exclude<WidgetEvent, { type: 'error' }>
  /** A problem shown to the customer. `code` is stable, `message` is in the customer's language. */
  | { type: 'error'; error: { code: InlayErrorCode; message: string; cause?: unknown } }
  /** The widget was removed from the page. */
  | { type: 'closed' };

type Shape = { [field: string]: Shape | ((value: unknown) => boolean) };

const orNull = (is: (value: unknown) => boolean) => (value: unknown) => value === null || is(value);
const isText = (value: unknown) => typeof value === 'string';
const isCount = (value: unknown) => Number.isFinite(value) && (value as number) >= 0;
/** The limit is higher than any page, and low enough for a browser to lay out. */
const isHeight = (value: unknown) => isCount(value) && (value as number) <= 1e5;

const source: Shape = { source: { id: isText, name: isText, source_template_id: isText } };

const signedIn = { source_template_id: isText, source_id: orNull(isText) };
const signIn: Shape = { sign_in: signedIn };

const shapes: Record<MessageToHost['type'], Shape> = {
  ready: {},
  source_created: source,
  source_updated: source,
  source_deleted: source,
  sync_finished: {
    sync: {
      connection_id: isText,
      source_id: isText,
      status: (value) => ['succeeded', 'failed', 'cancelled'].includes(value as string),
      rows: orNull(isCount),
    },
  },
  sign_in_started: signIn,
  sign_in_unconfirmed: signIn,
  sign_in_succeeded: signIn,
  sign_in_failed: { sign_in: { ...signedIn, code: isText } },
  error: { error: { code: isText, message: isText } },
  token_expired: {},
  resize: { height: isHeight },
  cover: { covered: (value) => typeof value === 'boolean' },
  close: {},
  sign_in: { id: orNull(isText) },
};

/** Parses a message; undefined if it isn't one of the widget's. */
export function readMessage(data: unknown): MessageToHost | undefined {
  const { inlay, type } = (data ?? {}) as { inlay?: unknown; type?: unknown };
  if (inlay !== 1 || !isText(type) || !Object.hasOwn(shapes, type as string)) return undefined;
  const fields = copy(data, shapes[type as MessageToHost['type']]);
  return fields && ({ type, ...fields } as MessageToHost);
}

function copy(value: unknown, shape: Shape): object | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const copied: Record<string, unknown> = {};
  for (const [field, expected] of Object.entries(shape)) {
    const given = (value as Record<string, unknown>)[field];
    if (typeof expected === 'function') {
      if (!expected(given)) return undefined;
      copied[field] = given;
    } else {
      const inner = copy(given, expected);
      if (!inner) return undefined;
      copied[field] = inner;
    }
  }
  return copied;
}
