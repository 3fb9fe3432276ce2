/**
 * A short text in a box: what went wrong, or what to know. The notice of a failure also informs the page around the
 * widget.
 */
import type { WidgetErrorCode } from '@inlay/contract/embedding';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { failureOf, type RequestFailure } from '../api/failure.ts';
import { useWidget } from '../widget.ts';
import type { Formatting } from '../words/formatting.ts';
import { reasonInWords } from '../words/reasons.ts';
import { useWords, type Words } from '../words/words.ts';
import { Glyph, type GlyphName } from './glyph.tsx';

export interface NoticeProps {
  kind?: 'danger' | 'warning' | 'info' | 'success';
  title?: string;
  children?: ComponentChildren;
  /** Below the text. */
  actions?: ComponentChildren;
  /** Set when the notice is the result of something the customer just did: then it gets the focus. */
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

export function FailureNotice({ error, ...props }: { error: unknown } & Pick<NoticeProps, 'actions' | 'takesFocus'>) {
  const { title, text } = useFailureWords(error);
  return (
    <Notice kind="danger" title={title} {...props}>
      <p>{text}</p>
    </Notice>
  );
}

/** The words for a failure. A component that shows them also informs the page around the widget. */
export function useFailureWords(error: unknown): { title: string; text: string } {
  const words = useWords();
  const { host, formatting } = useWidget();
  const failure = useMemo(() => failureOf(error), [error]);
  const { title, text } = textOf(failure, words, formatting);
  useEffect(() => {
    // The banner tells the page about a missing network, so it is not told twice.
    if (failure.kind === 'offline') return;
    host.tell({ type: 'error', error: { code: codeOf(failure), message: `${title}: ${text}` } });
  }, [host, failure.kind]);
  return { title, text };
}

function textOf({ kind, retryAfterMs, reason }: RequestFailure, words: Words, formatting: Formatting) {
  const { title, text } = words.failures[kind];
  if (reason !== undefined) return { title, text: reasonInWords(reason, words, formatting) };
  const mayComeBack = retryAfterMs !== undefined && retryAfterMs > 0 && kind === 'rate_limited';
  return { title, text: mayComeBack ? words.retryIn(formatting.duration(Math.ceil(retryAfterMs / 1000))) : text };
}

function codeOf({ kind }: RequestFailure): WidgetErrorCode {
  return kind === 'offline' || kind === 'access_denied' || kind === 'rate_limited' ? kind : 'request_failed';
}
