/** A short text in a box: what went wrong, or what to know. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Glyph, type GlyphName } from './glyph.tsx';

export interface NoticeProps {
  kind?: 'danger' | 'warning' | 'info' | 'success';
  title?: string;
  children?: ComponentChildren;
  /** Below the text. */
  actions?: ComponentChildren;
  /** Set when the notice is the result of something the person just did: then it gets the focus. */
  takesFocus?: boolean;
}

const glyphs: Record<NonNullable<NoticeProps['kind']>, GlyphName> = {
  danger: 'alert',
  warning: 'alert',
  info: 'clock',
  success: 'check',
};

export function Notice({ kind = 'info', title, children, actions, takesFocus = false }: NoticeProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (takesFocus) box.current?.focus();
  }, [takesFocus]);
  return (
    <div
      class={`inlay-notice inlay-notice-${kind}`}
      ref={box}
      role={kind === 'danger' ? 'alert' : 'status'}
      tabIndex={takesFocus ? -1 : undefined}
    >
      <Glyph name={glyphs[kind]} />
      <div class="inlay-notice-body">
        {title && <p class="inlay-notice-title">{title}</p>}
        {children && <div class="inlay-notice-text">{children}</div>}
        {actions && <div class="inlay-actions">{actions}</div>}
      </div>
    </div>
  );
}
