/** The notice of a failure. It also informs the page around the widget. */
import type { WidgetErrorCode } from '@inlay/contract/embedding';
import { Notice, type NoticeProps } from '@inlay/ui/parts/notice.tsx';
import type { Formatting } from '@inlay/ui/words/formatting.ts';
import { useEffect, useMemo } from 'preact/hooks';
import { failureOf, RequestFailure } from '../api/failure.ts';
import { useWidget } from '../widget.ts';
import { quotaInWords } from '../words/reasons.ts';
import { useWords, type Words } from '../words/words.ts';

export function FailureNotice({ error, ...props }: { error: unknown } & Pick<NoticeProps, 'actions' | 'takesFocus'>) {
  const { title, text } = useFailureWords(error);
  const isView = error instanceof RequestFailure && error.kind === 'only_view';
  return (
    <Notice kind={isView ? 'info' : 'danger'} title={title} {...props}>
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
    // The offline banner already reports this to the page.
    if (failure.kind === 'offline') return;
    host.tell({ type: 'error', error: { code: codeOf(failure), message: `${title}: ${text}` } });
  }, [host, failure.kind]);
  return { title, text };
}

function textOf({ kind, retryAfterMs, quota }: RequestFailure, words: Words, formatting: Formatting) {
  const { title, text } = words.failures[kind];
  if (quota) {
    const ending = quota.quota === 'concurrent_syncs' ? 'too_many' : 'no_room';
    return { title, text: quotaInWords(quota, ending, words, formatting) ?? quota.text };
  }
  const mayComeBack = retryAfterMs !== undefined && retryAfterMs > 0 && kind === 'rate_limited';
  return { title, text: mayComeBack ? words.retryIn(formatting.duration(Math.ceil(retryAfterMs / 1000))) : text };
}

function codeOf({ kind }: RequestFailure): WidgetErrorCode {
  return kind === 'offline' || kind === 'access_denied' || kind === 'rate_limited' ? kind : 'request_failed';
}
