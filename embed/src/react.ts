/**
 * The widget for React: `<InlayWidget>` in the page, `useInlay` for the dialog. Callbacks may change with every render; the
 * widget always calls the latest ones. A new `token` is passed to the widget; a new theme, locale, template or source
 * recreates it.
 */
import { createElement, type ReactElement, type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { type InlayHandle, type InlayOptions, mount, open } from './inlay-embed.ts';

export interface InlayWidgetProps extends InlayOptions {
  /** Class of the element around the widget. */
  className?: string;
}

/** The widget inside the page. Waits until it has a `token` or `getToken`. */
export function InlayWidget({ className, ...options }: InlayWidgetProps): ReactElement {
  const element = useRef<HTMLDivElement>(null);
  const handle = useRef<InlayHandle>(undefined);
  const latest = useLatest(options);
  const theme = JSON.stringify(options.theme);
  const canAsk = options.getToken !== undefined;
  const canStart = canAsk || options.token !== undefined;

  // Must run before the next effect, so that a widget created with a token doesn't receive it twice.
  useNewToken(handle, options.token);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of these recreates the widget
  useEffect(() => {
    if (!canStart || !element.current) return;
    const mounted = mount(element.current, following(latest));
    handle.current = mounted;
    return () => mounted.destroy();
  }, [theme, options.locale, options.template, options.source, canAsk, canStart]);

  return createElement('div', { ref: element, className });
}

/** The widget in a dialog, removed with the component. */
export function useInlay(options: InlayOptions): { open(): void; close(): void; isOpen: boolean } {
  const handle = useRef<InlayHandle>(undefined);
  const latest = useLatest(options);
  const [isOpen, setIsOpen] = useState(false);

  useEffect(
    () => () => {
      handle.current?.destroy();
      handle.current = undefined;
      setIsOpen(false);
    },
    [],
  );
  useNewToken(handle, options.token);

  return {
    isOpen,
    open: useCallback(() => {
      if (handle.current) return;
      const followed = following(latest);
      handle.current = open({
        ...followed,
        onEvent(event) {
          if (event.type === 'closed') {
            handle.current = undefined;
            setIsOpen(false);
          }
          followed.onEvent?.(event);
        },
      });
      setIsOpen(true);
    }, [latest]),
    close: useCallback(() => handle.current?.close(), []),
  };
}

function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}

function useNewToken(handle: RefObject<InlayHandle | undefined>, token: string | undefined): void {
  const known = useRef(token);
  useEffect(() => {
    if (token !== undefined && token !== known.current) handle.current?.updateToken(token);
    known.current = token;
  }, [handle, token]);
}

/** The current options, with callbacks that call those of the latest render. */
function following(latest: RefObject<InlayOptions>): InlayOptions {
  const { getToken } = latest.current;
  return {
    ...latest.current,
    onEvent: (event) => latest.current.onEvent?.(event),
    getToken: getToken && (() => (latest.current.getToken ?? getToken)()),
  };
}
