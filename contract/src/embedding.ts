/**
 * What the widget and the page around it agree on: the widget's languages, its theme, what its address contains, and
 * the messages between the two windows. This file imports nothing, because both sides run in a customer's browser.
 */

export const widgetLocales = ['en', 'de', 'fr', 'es', 'ja'] as const;
export type WidgetLocale = (typeof widgetLocales)[number];

export const colorSchemes = ['light', 'dark', 'auto'] as const;

/** Theme of the widget. Omitted values keep their defaults. */
export interface WidgetTheme {
  /** `auto` follows the customer's own setting. */
  color_scheme?: (typeof colorSchemes)[number];
  /** Buttons, links and focus rings. Any CSS color value or name. */
  primary_color?: string;
  background_color?: string;
  text_color?: string;
  /** Roundness of corners in pixels, 0 to 32. */
  radius?: number;
  /** Fonts of the customer's machine, as in CSS. None is downloaded. */
  font_family?: string;
  /** An image above the widget. Only loaded from the embedding origin. */
  logo_url?: string;
}

/**
 * The URL fragment of the widget after the token, encoded like a query. Never sent to a server. `modal`: the page shows
 * the widget in a dialog that Escape closes. `inline`: the widget is part of the page. In both modes, the page follows
 * the height of the widget.
 */
export interface WidgetFragment {
  mode?: 'modal' | 'inline';
  /** The page renews the token automatically when this one expires. */
  renews?: '1';
  locale?: string;
  /** JSON */
  theme?: string;
  /** ID of a source template whose form the widget opens. */
  template?: string;
  /** ID of a source that the widget opens. */
  source?: string;
  /** ID of a sign-in that the widget continues, unless a template or source is given. */
  sign_in?: string;
}

interface NamedSource {
  id: string;
  name: string;
  source_template_id: string;
}

/** A sign-in with a provider. The page learns neither the account nor the granted scopes. */
interface NamedSignIn {
  source_template_id: string;
  /** The source being reconnected. Null for a new source. */
  source_id: string | null;
}

/**
 * Why a sign-in failed. `cancelled`: cancelled by the customer in the widget. `denied`: the customer did not agree.
 * `expired`: it took too long. `refused`: rejected by the provider. `unreachable`: the provider does not respond.
 * `scopes_missing`: required scopes were not granted. `other_account`: a different account that needs confirmation.
 * `not_possible`: sign-in is currently unavailable. The API has the same codes except `cancelled` (oauth-flows.ts).
 */
export const signInFailureCodes = [
  'cancelled',
  'denied',
  'expired',
  'refused',
  'unreachable',
  'scopes_missing',
  'other_account',
  'not_possible',
] as const;
export type SignInFailureCode = (typeof signInFailureCodes)[number];

/** Events that the page receives. */
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
  | { type: 'sign_in_started'; sign_in: NamedSignIn }
  /** A different account signed in, and the customer has to confirm it. */
  | { type: 'sign_in_unconfirmed'; sign_in: NamedSignIn }
  | { type: 'sign_in_succeeded'; sign_in: NamedSignIn }
  | { type: 'sign_in_failed'; sign_in: NamedSignIn & { code: SignInFailureCode } }
  /** A message shown to the customer. `code` is stable, `message` is localised. */
  | { type: 'error'; error: { code: WidgetErrorCode; message: string } }
  /** The token expired. The widget continues once it receives a new one. */
  | { type: 'token_expired' };

export const widgetErrorCodes = ['check_failed', 'request_failed', 'offline', 'access_denied', 'rate_limited'] as const;
export type WidgetErrorCode = (typeof widgetErrorCodes)[number];

/** A message from the widget to the page around it, sent only to `allowedOrigin`. `inlay` marks our messages. */
export type MessageToHost = { inlay: 1 } & (
  | WidgetEvent
  /** The height of the widget's content, in CSS pixels. */
  | { type: 'resize'; height: number }
  /**
   * Whether a dialog covers the whole widget, in which case the page covers its own controls next to the widget, too.
   */
  | { type: 'cover'; covered: boolean }
  /** Escape was pressed and the widget did not handle it. */
  | { type: 'close' }
  /** The sign-in to resume after a reload. Null if there is none. */
  | { type: 'sign_in'; id: string | null }
);

/** From the console to the page that previews unsaved templates. Ignored by a widget with a token. */
export interface PreviewMessage {
  inlay: 1;
  type: 'preview';
  /** Templates as a customer would see them. */
  templates: unknown[];
}

/** From the page to the widget: a new scoped token for the same workspace. */
export type MessageToWidget = { inlay: 1; type: 'token'; token: string };
