/**
 * Starts the widget: reads the address, applies the theme, loads the customer's language, and draws. The token is
 * removed from the address at once, so that neither a copied address nor the history contains it.
 */
import { FormWordsContext } from '@inlay/ui/form/form-words.ts';
import '@inlay/ui/style/tokens.css';
import './style/base.css';
import '@inlay/ui/style/controls.css';
import './style/screens.css';
import { createFormatting } from '@inlay/ui/words/formatting.ts';
import { render } from 'preact';
import { type Api, createApi } from './api/api.ts';
import { createSession } from './api/session.ts';
import { App } from './app.tsx';
import { readPage } from './page/address.ts';
import { connectHost } from './page/host.ts';
import { applyLook, logoOf, lookOf, parseTheme, readCssColor } from './page/theme.ts';
import { rememberedHere } from './sign-in/storage.ts';
import { chooseLocale, loadWords, WordsContext } from './words/words.ts';

async function start(root: HTMLElement): Promise<void> {
  const page = readPage(location.search, location.hash);
  // Keep the page's wishes in the URL for a reload of the frame.
  history.replaceState(null, '', location.hash.replace(/^[^&]*/, '#'));

  const theme = parseTheme(page.theme);
  applyLook(lookOf(theme, readCssColor), document.documentElement);
  document.documentElement.dataset.mode = page.mode;

  const { language, tag } = chooseLocale([...page.locales, ...navigator.languages]);
  document.documentElement.lang = language;

  const session = createSession(page.token, () => host.tell({ type: 'token_expired' }));
  const { mode, renews, wish } = page;
  // The page for templates that are not saved yet has no signed address. Only our own pages can frame it.
  const isPreview = root.dataset.preview !== undefined;
  const allowedOrigin = isPreview ? location.origin : page.allowedOrigin;
  const isView = isPreview || page.isView;
  const host = connectHost({ window, allowedOrigin, mode, renews, onToken: session.accept });
  const words = await loadWords(language);
  const formatting = createFormatting(tag);
  const draw = (api: Api, into: HTMLElement) =>
    render(
      <WordsContext.Provider value={words}>
        <FormWordsContext.Provider value={words}>
          <App
            {...{ api, session, host, allowedOrigin, formatting, wish, isView }}
            signInId={page.signInId ?? rememberedHere()}
            logo={logoOf(theme, allowedOrigin)}
          />
        </FormWordsContext.Provider>
      </WordsContext.Provider>,
      into,
    );
  if (isPreview) (await import('./preview/preview.ts')).followDrafts({ root, allowedOrigin, draw });
  else draw(createApi(session, document.baseURI, isView), root);
  host.tell({ type: 'ready' });
}

const root = document.getElementById('inlay');
if (root) void start(root);
