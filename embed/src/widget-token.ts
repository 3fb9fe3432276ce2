/**
 * Widget tokens as Inlay returns them: base64 of JSON with a scoped token and the widget's signed URL. The page's additions go
 * into the URL fragment, which servers never see and the signature doesn't cover.
 */
import type { WidgetFragment, WidgetTheme } from '@inlay/contract/embedding';

export interface WidgetToken {
  /** The scoped token it contains. */
  token: string;
  url: URL;
  /** Origin of the pages that may show the widget, in the browser's notation. */
  allowedOrigin: string | undefined;
  /** The theme requested by the backend. */
  theme: WidgetTheme | undefined;
  locale: string | undefined;
}

/** Base64 or its URL-safe form, with or without padding. */
export function readWidgetToken(text: string): WidgetToken {
  try {
    const bytes = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
    const { token, widgetUrl } = JSON.parse(
      new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))),
    );
    const url = new URL(widgetUrl);
    // A frame would run a URL such as javascript: with the page's privileges.
    if (typeof token !== 'string' || !/^https?:$/.test(url.protocol)) throw new TypeError();
    const { theme, locale, allowedOrigin } = Object.fromEntries(url.searchParams);
    return {
      token,
      url,
      allowedOrigin: allowedOrigin && new URL(allowedOrigin).origin,
      theme: theme ? JSON.parse(theme) : undefined,
      locale,
    };
  } catch (cause) {
    throw new Error('Invalid widget token. Pass the `token` from POST /api/v1/embedded/widget-token unchanged.', {
      cause,
    });
  }
}

/** Whether a frame with one token can switch to the other: same workspace, origin, filters and theme. */
export function isSameWidget(one: WidgetToken, other: WidgetToken): boolean {
  return withoutSignature(one.url) === withoutSignature(other.url);
}

function withoutSignature(url: URL): string {
  const rest = new URL(url);
  rest.searchParams.delete('sig');
  rest.hash = '';
  return rest.href;
}

/** The frame's URL. JSON omits undefined members. */
export function frameAddress(
  { url, token }: WidgetToken,
  fragment: { [K in keyof WidgetFragment]: WidgetFragment[K] | undefined },
): string {
  const address = new URL(url);
  address.hash = `${token}&${new URLSearchParams(JSON.parse(JSON.stringify(fragment)))}`;
  return address.href;
}
