/** Starts the console: takes a one-time code out of the address, and draws. */
import '@inlay/ui/style/tokens.css';
import '@inlay/ui/style/controls.css';
import './style/base.css';
import './style/parts.css';
import './style/screens.css';
import './style/management.css';
import './style/frames.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { applyScheme, savedScheme } from './scheme.ts';
import { takeLinkCode } from './screens/sign-in/link-code.ts';
import { takeWayBack } from './screens/sign-in/way-back.ts';

function start(root: HTMLElement): void {
  // Must come first: the code must not end up in the history or in a copied URL.
  const code = takeLinkCode(location, history);
  takeWayBack();
  applyScheme(savedScheme());
  render(<App code={code} />, root);
}

function makeRoot(): HTMLElement {
  return document.body.appendChild(document.createElement('div'));
}

start(document.getElementById('inlay') ?? makeRoot());
