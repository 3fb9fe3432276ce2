/**
 * The elements around the widget's frame: a dialog or a plain block, with loading and failed states. They live in a shadow
 * root with a constructed stylesheet, which isolates styles in both directions and satisfies a strict `style-src`. `remove`
 * removes everything.
 */
import type { WidgetTheme } from '@inlay/contract/embedding';
import style from './view.css';
import { chooseWords, type Words } from './words.ts';

export type Mode = 'modal' | 'inline';
export type ViewState = 'loading' | 'ready' | 'failed';

export interface View {
  readonly words: Words;
  /** Sets colors and language once known. Until then, light or dark follows the page. */
  dress(theme: WidgetTheme | undefined, locale: string | undefined): void;
  /** Replaces the frame with one for this URL. */
  showFrame(address: string): HTMLIFrameElement;
  /** `reason`: shown below the message of a failure, for the page's developer. */
  setState(state: ViewState, reason?: string): void;
  /** The height of the widget's content. */
  setHeight(height: number): void;
  /** Whether a dialog of the widget covers everything. */
  cover(isCovered: boolean): void;
  remove(): void;
}

export function createView(mode: Mode, parent: Element, actions: { onRetry(): void; onClose(): void }): View {
  const host = document.createElement('inlay-widget');
  const root = host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = [sheet(style)];

  const dialog = mode === 'modal' ? make('dialog', 'panel') : undefined;
  const panel: HTMLElement = dialog ?? make('div', 'panel');
  // Holds the focus until the frame exists.
  panel.tabIndex = -1;
  const notice = make('div', 'notice');
  const text = make('p', '');
  text.role = 'status';
  const retry = make('button', 'retry');
  retry.onclick = () => {
    panel.focus();
    actions.onRetry();
  };
  const why = make('p', 'why');
  notice.append(make('div', 'spinner'), text, why, retry);
  const close = make('button', 'close');
  if (dialog) panel.append(close);
  panel.append(notice);
  root.append(panel);

  let words = chooseWords(navigator.languages);
  let frame: HTMLIFrameElement | undefined;
  let state: ViewState = 'loading';

  function say(): void {
    panel.dataset.state = state;
    text.textContent = state === 'failed' ? words.failed : words.loading;
    retry.textContent = words.retry;
    close.ariaLabel = words.close;
    if (dialog) dialog.ariaLabel = words.title;
    if (frame) frame.title = words.title;
  }

  say();
  parent.append(host);
  const unlock = dialog && openDialog(dialog, close, actions.onClose);

  return {
    get words() {
      return words;
    },
    dress(theme, locale) {
      host.style.colorScheme = theme ? (theme.color_scheme ?? 'auto').replace('auto', 'light dark') : '';
      panel.style.backgroundColor = theme?.background_color ?? '';
      panel.style.color = theme?.text_color ?? '';
      panel.style.fontFamily = theme?.font_family ?? '';
      panel.style.setProperty('--radius', theme?.radius === undefined ? '' : `${theme.radius}px`);
      words = chooseWords([...(locale ? [locale] : []), ...navigator.languages]);
      say();
    },
    showFrame(address) {
      frame?.remove();
      frame = make('iframe', '');
      frame.allow = 'clipboard-write';
      frame.referrerPolicy = 'no-referrer';
      frame.src = address;
      panel.append(frame);
      say();
      return frame;
    },
    setState(next, reason = '') {
      state = next;
      why.textContent = reason;
      say();
      if (state === 'ready' && root.activeElement === panel) frame?.focus();
    },
    setHeight(height) {
      panel.style.setProperty('--height', `${Math.ceil(height)}px`);
    },
    cover(isCovered) {
      close.inert = isCovered;
    },
    remove() {
      // Closing restores the focus.
      dialog?.close();
      host.remove();
      unlock?.();
    },
  };
}

/** Shows the dialog above everything and locks the page's scrolling. Returns a function that unlocks it. */
function openDialog(dialog: HTMLDialogElement, button: HTMLButtonElement, onClose: () => void): () => void {
  button.onclick = onClose;

  // A click on the backdrop targets the dialog. The press must start there too, since a text selection in the dialog may end
  // outside.
  let isPressedOutside = false;
  dialog.onpointerdown = ({ target, clientX, clientY }) => {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    isPressedOutside = target === dialog && (clientX < left || clientX > right || clientY < top || clientY > bottom);
  };
  dialog.onclick = ({ target }) => {
    if (target === dialog && isPressedOutside) onClose();
  };
  // This also runs after Escape.
  dialog.onclose = onClose;

  // One stylesheet per dialog, so that dialogs can close in any order without restoring an earlier state.
  const hasScrollbar = innerWidth > document.documentElement.clientWidth;
  const lock = sheet(`html { overflow: hidden !important; ${hasScrollbar ? 'scrollbar-gutter: stable' : ''} }`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, lock];
  dialog.showModal();
  dialog.focus();
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== lock);
  };
}

function make<K extends keyof HTMLElementTagNameMap>(tag: K, className: string): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = className;
  return element;
}

function sheet(text: string): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(text);
  return made;
}
