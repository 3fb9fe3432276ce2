/**
 * A failure: the service's message, its code, the request id and help from the error reference. While Inlay can't be reached,
 * what failed to load is loaded again automatically.
 */
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api/client.ts';
import { words } from '../words/words.ts';
import { CopyButton } from './copy-button.tsx';

export interface ErrorNoticeProps {
  error: unknown;
  onTryAgain?: () => void;
  takesFocus?: boolean;
}

const retryMs = 5_000;
/** Answered by a proxy: the service itself names its errors. */
const gatewayCode = /^http_(502|503|504)$/;

/** Undefined: the service answered. */
function outageText({ code, status }: ApiError, isRetrying: boolean): string | undefined {
  const { unreachable, notResponding, retrying, checkConnection, tryLater } = words.errors;
  if (code === 'unreachable') return `${unreachable} ${isRetrying ? retrying : checkConnection}`;
  return gatewayCode.test(code) ? `${notResponding(status)} ${isRetrying ? retrying : tryLater}` : undefined;
}

export function ErrorNotice({ error, onTryAgain, takesFocus = false }: ErrorNoticeProps) {
  const [help, setHelp] = useState<string | undefined>(undefined);
  const failure = error instanceof ApiError ? error : undefined;
  const code = failure?.code ?? 'unreadable';
  const outage = failure && outageText(failure, onTryAgain !== undefined);
  const retry = useRef(onTryAgain);
  retry.current = onTryAgain;
  useEffect(() => {
    if (outage === undefined) return;
    const timer = setTimeout(() => retry.current?.(), retryMs);
    return () => clearTimeout(timer);
  }, [error]);
  useEffect(() => {
    let isWanted = true;
    // Loaded on demand. The notice works without it.
    import('../api/error-help.ts').then(
      ({ errorHelp }) => isWanted && setHelp(errorHelp[code]),
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [code]);
  return (
    <Notice
      kind="danger"
      title={failure?.message || outage || (code === 'unreadable' ? words.errors.unreadable : words.errors.title)}
      takesFocus={takesFocus}
      actions={onTryAgain && <Button onClick={onTryAgain}>{words.tryAgain}</Button>}
    >
      {help && <p>{help}</p>}
      <p class="c-facts">
        <span>
          {words.errors.code} <code>{code}</code>
        </span>
        {failure?.requestId && (
          <span>
            {words.errors.request} <code>{failure.requestId}</code>{' '}
            <CopyButton text={failure.requestId} label={words.errors.copyId} />
          </span>
        )}
      </p>
    </Notice>
  );
}
