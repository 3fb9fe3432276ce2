/**
 * Adds the Inlay widget to a page: in a dialog (`open`) or in an element (`mount`). Importing this file touches neither
 * window nor document, so it works in server-side rendering.
 */
import { type InlayHandle, type InlayOptions, startSession } from './session.ts';

export type { WidgetTheme as InlayTheme } from '@inlay/contract/embedding';
export type { InlayErrorCode, InlayEvent } from './messages.ts';
export type { InlayHandle, InlayOptions } from './session.ts';

/** Shows the widget in a dialog above the page. */
export function open(options: InlayOptions): InlayHandle {
  return startSession('modal', document.body, options);
}

/** Shows the widget in an element: as wide as the element, and as high as the widget's content. */
export function mount(element: Element, options: InlayOptions): InlayHandle {
  if (!(element instanceof Element)) throw new TypeError('mount() needs the element that the widget goes into.');
  return startSession('inline', element, options);
}
