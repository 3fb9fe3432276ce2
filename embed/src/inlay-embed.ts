/**
 * Puts the Inlay widget into a page: in a dialog (`open`) or in an element (`mount`). Importing this touches neither
 * window nor document, so it may be part of what a server renders.
 */
import { type InlayHandle, type InlayOptions, startSession } from './session.ts';

export type { WidgetTheme as InlayTheme } from '@inlay/contract/embedding';
export type { InlayErrorCode, InlayEvent } from './messages.ts';
export type { InlayHandle, InlayOptions } from './session.ts';

/** Shows the widget in a dialog above the page. */
export function open(options: InlayOptions): InlayHandle {
  return startSession('modal', document.body, options);
}

/** Shows the widget in an element, as wide as that and as high as it needs. */
export function mount(element: Element, options: InlayOptions): InlayHandle {
  if (!(element instanceof Element)) throw new TypeError('mount() needs the element that the widget goes into.');
  return startSession('inline', element, options);
}
