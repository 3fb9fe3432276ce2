/**
 * What the widget is told by its own address. The query is signed by the service; the fragment holds the token and, from
 * the embed library, what the page wishes, which wins over the query. Pure: who reads the fragment also removes it.
 */
import { serialiseOrigin } from '@inlay/contract/origins';

export type WidgetMode = 'modal' | 'inline' | 'plain';

export interface WidgetPage {
  /** Undefined when the frame was reloaded: the token was in a fragment that is no longer there. */
  token: string | undefined;
  /** The one origin that is talked to. Undefined when the address is not one of the service's. */
  allowedOrigin: string | undefined;
  mode: WidgetMode;
  /** Whether the page around gets another token by itself. */
  renews: boolean;
  /** Language tags, best first, as far as the address names any. */
  locales: string[];
  /** JSON of a theme, not looked at yet. */
  theme: string | undefined;
}

const looksLikeToken = /^[\w-]+(\.[\w-]+)*$/;

export function readPage(search: string, hash: string): WidgetPage {
  const query = new URLSearchParams(search);
  const [token = '', ...rest] = hash.replace(/^#/, '').split('&');
  const wishes = new URLSearchParams(rest.join('&'));
  const mode = wishes.get('mode');
  return {
    token: looksLikeToken.test(token) ? token : undefined,
    allowedOrigin: serialiseOrigin(query.get('allowedOrigin') ?? ''),
    mode: mode === 'modal' || mode === 'inline' ? mode : 'plain',
    renews: wishes.get('renews') === '1',
    locales: [wishes.get('locale'), query.get('locale')].filter((tag) => tag !== null),
    theme: wishes.get('theme') ?? query.get('theme') ?? undefined,
  };
}
