/**
 * What the widget and the page around it agree on: the widget's languages, its theme, what its address contains, and
 * the messages between the two windows. This file imports nothing, because both sides run in a customer's browser.
 */

export const widgetLocales = ['en', 'de', 'fr', 'es', 'ja'] as const;
export type WidgetLocale = (typeof widgetLocales)[number];

export const colorSchemes = ['light', 'dark', 'auto'] as const;

/** How the widget looks. A value that is left out keeps its default. */
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
 * The part of the widget's address after the token, in the fragment, written like a query. It never reaches a server.
 * `modal`: the page shows the widget in a dialog, which Escape closes; `inline`: the widget is part of the page. In
 * both cases the page follows the height of the widget.
 */
export interface WidgetFragment {
  mode?: 'modal' | 'inline';
  /** The page gets another token by itself when this one is no longer accepted. */
  renews?: '1';
  locale?: string;
  /** JSON */
  theme?: string;
  /** The id of a source template: the widget opens on its form. */
  template?: string;
  /** The id of a source: the widget opens on it. */
  source?: string;
  /** The id of a sign-in with a provider: the widget goes on with it, unless another template or source is asked for. */
  sign_in?: string;
}

interface NamedSource {
  id: string;
  name: string;
  source_template_id: string;
}

/** A sign-in with a provider. The page is told neither who signed in nor what was granted. */
interface NamedSignIn {
  source_template_id: string;
  /** The source that is connected again; null: the source is yet to be made. */
  source_id: string | null;
}

/**
 * Why a sign-in did not succeed. `cancelled`: the customer has cancelled it in the widget. `denied`: the customer did not agree.
 * `expired`: it took too long. `refused`: the provider refused. `unreachable`: the provider does not answer. `scopes_missing`:
 * less was granted than is needed. `other_account`: another account than before, which has to be confirmed. `not_possible`:
 * nobody can sign in at the moment. The API knows the same failures, but for `cancelled` (oauth-flows.ts).
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

/** The events that the page gets. */
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
  /** Another account than before has signed in, and the customer is asked whether it is to be used. */
  | { type: 'sign_in_unconfirmed'; sign_in: NamedSignIn }
  | { type: 'sign_in_succeeded'; sign_in: NamedSignIn }
  | { type: 'sign_in_failed'; sign_in: NamedSignIn & { code: SignInFailureCode } }
  /** Something the customer was told of; `code` is stable, `message` is in the customer's language. */
  | { type: 'error'; error: { code: WidgetErrorCode; message: string } }
  /** The token is no longer accepted. The widget goes on once it gets another. */
  | { type: 'token_expired' };

export const widgetErrorCodes = ['check_failed', 'request_failed', 'offline', 'access_denied', 'rate_limited'] as const;
export type WidgetErrorCode = (typeof widgetErrorCodes)[number];

/** A message from the widget to the page around it, sent only to `allowedOrigin`. `inlay` marks our messages. */
export type MessageToHost = { inlay: 1 } & (
  | WidgetEvent
  /** The height of the widget's content, in CSS pixels. */
  | { type: 'resize'; height: number }
  /** Whether a dialog covers the whole widget. If so, the page also covers its own parts beside the widget. */
  | { type: 'cover'; covered: boolean }
  /** Escape was pressed in the widget, and nothing in the widget used it. */
  | { type: 'close' }
  /** The sign-in to go on with after a reload; null: there is none. */
  | { type: 'sign_in'; id: string | null }
);

/** From the console to the page that shows templates that are not saved yet. A widget with a token ignores it. */
export interface PreviewMessage {
  inlay: 1;
  type: 'preview';
  /** As a customer would be offered them. */
  templates: unknown[];
}

/** From the page to the widget: a new scoped token for the same workspace. */
export type MessageToWidget = { inlay: 1; type: 'token'; token: string };
