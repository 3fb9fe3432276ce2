/** Starts the console: takes a one-time code out of the address, loads the language, and draws. */
import '@inlay/ui/style/tokens.css';
import '@inlay/ui/style/controls.css';
import './style/base.css';
import './style/parts.css';
import './style/screens.css';
import './style/management.css';
import './style/frames.css';
import { createFormatting } from '@inlay/ui/words/formatting.ts';
import { render } from 'preact';
import { App } from './app.tsx';
import { applyScheme, savedScheme } from './scheme.ts';
import { takeLinkCode } from './screens/sign-in/link-code.ts';
import { takeWayBack } from './screens/sign-in/way-back.ts';
import { chooseLanguage, loadWords, WordsContext } from './words/words.ts';

async function start(root: HTMLElement): Promise<void> {
  // First of all: neither the history nor a copied address may hold the code.
  const code = takeLinkCode(location, history);
  takeWayBack();
  applyScheme(savedScheme());
  const { language, tag } = chooseLanguage();
  document.documentElement.lang = language;
  const words = await loadWords(language);
  render(
    <WordsContext.Provider value={words}>
      <App formatting={createFormatting(tag)} code={code} />
    </WordsContext.Provider>,
    root,
  );
}

function makeRoot(): HTMLElement {
  return document.body.appendChild(document.createElement('div'));
}

void start(document.getElementById('inlay') ?? makeRoot());
