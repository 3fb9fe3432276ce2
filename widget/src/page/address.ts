/**
 * What the widget reads from its own URL. The query is signed by the service. The fragment holds the token and the embed
 * library's options, which override the query. Pure: the caller removes the fragment.
 */
import { serializeOrigin } from '@inlay/contract/text/origins';

export type WidgetMode = 'modal' | 'inline' | 'plain';

export interface WidgetPage {
  /** Undefined when the frame was reloaded: the token was in a fragment that is no longer there. */
  token: string | undefined;
  /** The only origin that the widget talks to. Undefined when the service did not make the address. */
  allowedOrigin: string | undefined;
  mode: WidgetMode;
  /** Whether the host page renews tokens automatically. */
  renews: boolean;
  /** Language tags, best first, as far as the address names any. */
  locales: string[];
  /** The JSON of a theme, not checked yet. */
  theme: string | undefined;
  wish: Wish | undefined;
  /** Id of the sign-in to resume. */
  signInId: string | undefined;
  /** Whether an operator is viewing the customer's widget, with a read-only token. */
  isView: boolean;
}

/** What the widget opens on: the id of a source template, or of a source. */
export interface Wish {
  template?: string | undefined;
  source?: string | undefined;
}

const looksLikeId = /^[\da-f-]{36}$/i;
const looksLikeToken = /^[\w-]+(\.[\w-]+)*$/;

export function readPage(search: string, hash: string): WidgetPage {
  const query = new URLSearchParams(search);
  const [token = '', ...rest] = hash.replace(/^#/, '').split('&');
  const wishes = new URLSearchParams(rest.join('&'));
  const mode = wishes.get('mode');
  const [template, source] = ['template', 'source'].map((name) => wishes.get(name) ?? undefined);
  return {
    token: looksLikeToken.test(token) ? token : undefined,
    allowedOrigin: serializeOrigin(query.get('allowedOrigin') ?? ''),
    mode: mode === 'modal' || mode === 'inline' ? mode : 'plain',
    renews: wishes.get('renews') === '1',
    locales: [wishes.get('locale'), query.get('locale')].filter((tag) => tag !== null),
    theme: wishes.get('theme') ?? query.get('theme') ?? undefined,
    wish: template || source ? { template, source } : undefined,
    signInId: looksLikeId.exec(wishes.get('sign_in') ?? '')?.[0],
    isView: query.get('view') === 'true',
  };
}
