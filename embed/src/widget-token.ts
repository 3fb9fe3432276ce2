/**
 * Widget tokens as the backend gets them: base64 of JSON with a scoped token and the signed address of the widget. What
 * the page adds to the address goes into its fragment, which no server sees and no signature covers.
 */
import type { WidgetFragment, WidgetTheme } from '@inlay/contract/embedding';

export interface WidgetToken {
  /** The scoped token inside. */
  token: string;
  url: URL;
  /** The origin of the pages that may show the widget, as browsers write origins. */
  allowedOrigin: string | undefined;
  /** The theme that the backend has asked for. */
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
    // A frame would run an address such as javascript: with the rights of the page.
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

/** Whether a frame with one token can go on with the other: same workspace, origin, filters and theme. */
export function isSameWidget(one: WidgetToken, other: WidgetToken): boolean {
  return withoutSignature(one.url) === withoutSignature(other.url);
}

function withoutSignature(url: URL): string {
  const rest = new URL(url);
  rest.searchParams.delete('sig');
  rest.hash = '';
  return rest.href;
}

/** The address for the frame. JSON leaves out what is undefined. */
export function frameAddress(
  { url, token }: WidgetToken,
  fragment: { [K in keyof WidgetFragment]: WidgetFragment[K] | undefined },
): string {
  const address = new URL(url);
  address.hash = `${token}&${new URLSearchParams(JSON.parse(JSON.stringify(fragment)))}`;
  return address.href;
}
