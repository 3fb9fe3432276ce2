/**
 * The widget as a customer sees it, read-only.
 *
 * What always holds: the token is in no address, so neither a history nor a log has it; the frame goes when the session
 * ends.
 */
import type { ViewToken, ViewTokenRequest } from '@inlay/contract/console';
import type { MessageToHost } from '@inlay/contract/embedding';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useAnswer } from '../api/use-loaded.ts';
import { useConsole } from '../console.ts';
import { useWords } from '../words/words.ts';
import { ErrorNotice } from './error-notice.tsx';
import { frameWords } from './frame-words.ts';
import { Bones } from './page.tsx';
import { SandboxedFrame, type Send } from './sandboxed-frame.tsx';
import { createTokenGiver } from './token-giver.ts';
import { fragmentOf, type WidgetLook } from './widget-look.ts';

export interface WidgetFrameProps {
  workspaceId: string;
  title: string;
  look: WidgetLook;
  /** Which templates are offered; without it, all. */
  filters?: Omit<ViewTokenRequest, 'theme' | 'locale'>;
  /** In a dialog, which Escape closes. */
  onClose?: () => void;
}

export function WidgetFrame({ workspaceId, filters = {}, ...props }: WidgetFrameProps) {
  const { hasEnded } = useConsole();
  const path = `/workspaces/${encodeURIComponent(workspaceId)}/view-token`;
  const { data: view, error, reload } = useAnswer<ViewToken>({ method: 'POST', path, body: filters });
  if (hasEnded) return <Notice kind="warning" title={frameWords.get().ended} />;
  return (
    <>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!view && !error && <Bones />}
      {view && <View {...props} view={view} onRenew={reload} key={JSON.stringify([workspaceId, filters])} />}
    </>
  );
}

interface ViewProps extends Omit<WidgetFrameProps, 'workspaceId' | 'filters'> {
  view: ViewToken;
  /** Always the same function. */
  onRenew(): void;
}

function View({ view, title, look, onRenew, onClose }: ViewProps) {
  const words = frameWords.get();
  const { tryAgain } = useWords();
  const { token } = view;
  const [isRefused, setRefused] = useState(false);
  // A renewed token is for the same page.
  const [page] = useState(() => view.widget_url.split('#')[0]);
  const address = `${page}#${fragmentOf({ ...look, mode: onClose ? 'modal' : 'inline' })}`;
  const giver = useMemo(
    () =>
      createTokenGiver({
        renew: onRenew,
        onRefused: () => setRefused(true),
        isSeen: () => document.visibilityState === 'visible',
      }),
    [],
  );
  useEffect(() => giver.stop, []);
  useEffect(() => {
    setRefused(false);
    giver.use(token);
  }, [token]);

  function onMessage(message: MessageToHost, send: Send): void {
    if (message.type === 'close') onClose?.();
    // The frame has loaded without a token, and says so.
    if (message.type === 'token_expired') giver.asked(send);
  }

  return (
    <>
      {isRefused && (
        <Notice kind="danger" title={words.refused} actions={<Button onClick={onRenew}>{tryAgain}</Button>} />
      )}
      <SandboxedFrame address={address} title={title} onMessage={onMessage} />
    </>
  );
}
