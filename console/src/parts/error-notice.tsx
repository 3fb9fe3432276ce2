/** A failure: the service's own text, its code, the id of the request, and what the page about errors says. */
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api/client.ts';
import { words } from '../words/words.ts';
import { CopyButton } from './copy-button.tsx';

export interface ErrorNoticeProps {
  error: unknown;
  onTryAgain?: () => void;
  takesFocus?: boolean;
}

export function ErrorNotice({ error, onTryAgain, takesFocus = false }: ErrorNoticeProps) {
  const [help, setHelp] = useState<string | undefined>(undefined);
  const failure = error instanceof ApiError ? error : undefined;
  const code = failure?.code ?? 'unreadable';
  useEffect(() => {
    let isWanted = true;
    // Loaded only where something has failed. If even that fails, the rest of the notice stands.
    import('../api/error-help.ts').then(
      ({ errorHelp }) => isWanted && setHelp(errorHelp[code]),
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [code]);
  const ours = code === 'unreachable' ? words.errors.unreachable : words.errors.unreadable;
  return (
    <Notice
      kind="danger"
      title={failure?.message || (code in { unreachable: 1, unreadable: 1 } ? ours : words.errors.title)}
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
