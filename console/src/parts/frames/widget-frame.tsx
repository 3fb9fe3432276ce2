/**
 * The widget as a customer sees it, read-only.
 *
 * Invariants: the token is never in a URL, so no history or log contains it; the frame is removed when the session ends.
 */

import type { MessageToHost } from '@inlay/contract/embedding';
import type { ViewToken, ViewTokenRequest } from '@inlay/contract/tenancy/console';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { words as common } from '../../words/words.ts';
import { ErrorNotice } from '../error-notice.tsx';
import { Bones } from '../page.tsx';
import { words } from './frame-words.ts';
import { SandboxedFrame, type Send } from './sandboxed-frame.tsx';
import { createTokenGiver } from './token-giver.ts';
import { fragmentOf, type WidgetLook } from './widget-look.ts';

export interface WidgetFrameProps {
  workspaceId: string;
  title: string;
  look: WidgetLook;
  /** Which templates are offered; without it, all. */
  filters?: Omit<ViewTokenRequest, 'theme' | 'locale'>;
  /** Set in a dialog, which Escape closes. */
  onClose?: () => void;
}

export function WidgetFrame({ workspaceId, filters = {}, ...props }: WidgetFrameProps) {
  const { hasEnded } = useConsole();
  const {
    data: view,
    error,
    reload,
  } = useAnswer(requestTo('POST /workspaces/{workspace_id}/view-token', { ids: [workspaceId], body: filters }));
  if (hasEnded) return <Notice kind="warning" title={words.ended} />;
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
    // A frame loads without a token and then asks for one.
    if (message.type === 'token_expired') giver.asked(send);
  }

  return (
    <>
      {isRefused && (
        <Notice kind="danger" title={words.refused} actions={<Button onClick={onRenew}>{common.tryAgain}</Button>} />
      )}
      <SandboxedFrame address={address} title={title} onMessage={onMessage} />
    </>
  );
}
