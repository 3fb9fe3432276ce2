/**
 * The elements around the widget's frame: a dialog or a plain block, which can also show that it is loading or has
 * failed. It lives in a shadow root with a constructed stylesheet, so the page's styles do not reach it, its own do not
 * reach the page, and a strict `style-src` of the page allows it. `remove` takes everything away.
 */
import type { WidgetTheme } from '@inlay/contract/embedding';
import style from './view.css';
import { chooseWords, type Words } from './words.ts';

export type Mode = 'modal' | 'inline';
export type ViewState = 'loading' | 'ready' | 'failed';

export interface View {
  readonly words: Words;
  /** Sets colours and language as soon as they are known. Before that it is light or dark like the page. */
  dress(theme: WidgetTheme | undefined, locale: string | undefined): void;
  /** Shows a new frame for this address and removes the frame before it. */
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
  // Holds the focus until there is a frame to give it to.
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
      // Closing gives the focus back to where it was.
      dialog?.close();
      host.remove();
      unlock?.();
    },
  };
}

/**
 * Shows the dialog above everything and stops the page from scrolling. Returns a function that lets it scroll again.
 */
function openDialog(dialog: HTMLDialogElement, button: HTMLButtonElement, onClose: () => void): () => void {
  button.onclick = onClose;

  // A click on the backdrop has the dialog as its target. The press must begin there too: a reader may select text in
  // the dialog and let go outside.
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

  // Each dialog has its own stylesheet. So dialogs may be closed in any order, and none has to restore an earlier
  // state.
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
