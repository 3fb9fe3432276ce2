/**
 * The frame of a screen, with one heading, also used as document title. The heading is focused when the customer comes from
 * another screen, so that keyboards and screen readers continue there.
 */

import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** Whether the customer has moved between screens: the first screen must not take the focus away from the page. */
export const HasMovedContext = createContext(false);

export type ScreenName =
  | 'choose'
  | 'form'
  | 'connected'
  | 'list'
  | 'source'
  | 'empty'
  | 'error'
  | 'expired'
  | 'loading';

export interface ScreenProps {
  name: ScreenName;
  title: string;
  lead?: ComponentChildren;
  /** Shown beside the heading. */
  icon?: ComponentChildren;
  status?: ComponentChildren;
  actions?: ComponentChildren;
  back?: { label: string; onClick(): void } | undefined;
  isCentered?: boolean;
  children?: ComponentChildren;
}

export function Screen({ name, title, lead, icon, status, actions, back, isCentered = false, children }: ScreenProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const hasMoved = useContext(HasMovedContext);
  // Before the paint: a key that is pressed at once counts for the new screen.
  useLayoutEffect(() => {
    if (!hasMoved) return;
    // Inline, this brings the heading into view in the page around; elsewhere the widget scrolls itself.
    heading.current?.focus();
    window.scrollTo(0, 0);
  }, []);
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <main class={`inlay-screen${isCentered ? ' inlay-screen-centered' : ''}`} data-screen={name}>
      {back && (
        <button type="button" class="inlay-back" onClick={back.onClick}>
          <Glyph name="back" />
          <span>{back.label}</span>
        </button>
      )}
      <div class="inlay-heading">
        {icon}
        <div class="inlay-heading-text">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <p class="inlay-lead">{lead}</p>}
        </div>
        {status}
        {actions && <div class="inlay-heading-actions">{actions}</div>}
      </div>
      {children}
    </main>
  );
}
