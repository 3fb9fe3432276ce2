/**
 * What the widget and the page around it agree on: the languages it speaks, how it looks, what its address carries, and
 * the messages between the two windows. Free of any dependency, because both run in a customer's browser.
 */

export const widgetLocales = ['en', 'de', 'fr', 'es', 'ja'] as const;
export type WidgetLocale = (typeof widgetLocales)[number];

export const colorSchemes = ['light', 'dark', 'auto'] as const;

/** How the widget looks. Everything left out is as designed. */
export interface WidgetTheme {
  /** `auto` follows the customer's own setting. */
  color_scheme?: (typeof colorSchemes)[number];
  /** Buttons, links and focus. Colours are CSS colours by number or name. */
  primary_color?: string;
  background_color?: string;
  text_color?: string;
  /** Roundness of corners in pixels, 0 to 32. */
  radius?: number;
  /** Fonts of the customer's machine, as in CSS. None is downloaded. */
  font_family?: string;
  /** An image above the widget, on the origin that embeds it. From elsewhere it is not loaded. */
  logo_url?: string;
}

/**
 * What stands in the fragment of the widget's address after the token, as in a query: it never reaches a server.
 * `modal`: the page has put a dialog around the widget, which Escape closes; `inline`: the widget is part of the
 * page. In both the page follows the height of the widget.
 */
export interface WidgetFragment {
  mode?: 'modal' | 'inline';
  /** The page gets another token by itself when this one is no longer accepted. */
  renews?: '1';
  locale?: string;
  /** JSON */
  theme?: string;
}

interface NamedSource {
  id: string;
  name: string;
  source_template_id: string;
}

/** What the page is told. */
export type WidgetEvent =
  | { type: 'ready' }
  | { type: 'source_created'; source: NamedSource }
  | { type: 'source_updated'; source: NamedSource }
  | { type: 'source_deleted'; source: NamedSource }
  | {
      type: 'sync_finished';
      sync: {
        connection_id: string;
        source_id: string;
        status: 'succeeded' | 'failed' | 'cancelled';
        rows: number | null;
      };
    }
  /** Something the customer was told of; `code` is stable, `message` is in the customer's language. */
  | { type: 'error'; error: { code: WidgetErrorCode; message: string } }
  /** The token is no longer accepted. The widget goes on once it gets another. */
  | { type: 'token_expired' };

export const widgetErrorCodes = ['check_failed', 'request_failed', 'offline', 'access_denied', 'rate_limited'] as const;
export type WidgetErrorCode = (typeof widgetErrorCodes)[number];

/** From the widget to the page around it, and only to `allowedOrigin`. `inlay` tells them from other messages. */
export type MessageToHost = { inlay: 1 } & (
  | WidgetEvent
  /** How high its content is, in CSS pixels. */
  | { type: 'resize'; height: number }
  /** Whether a question lies over the whole widget; what the page has beside the widget is covered as well. */
  | { type: 'cover'; covered: boolean }
  /** Escape was pressed in the widget and nothing in it took it. */
  | { type: 'close' }
);

/** From the page to the widget: a new scoped token for the same workspace. */
export type MessageToWidget = { inlay: 1; type: 'token'; token: string };
