/** Screens without content: loading, empty, failed, session expired. */

import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph, type GlyphName, Spinner } from '@inlay/ui/parts/glyph.tsx';
import type { ComponentChildren } from 'preact';
import { failureOf } from '../api/failure.ts';
import { useFailureWords } from '../parts/failure-notice.tsx';
import { Screen, type ScreenName } from '../parts/screen.tsx';
import { CardsSkeleton } from '../parts/skeletons.tsx';
import { useWords } from '../words/words.ts';

interface MessageProps {
  name: ScreenName;
  glyph: GlyphName;
  title: string;
  text: string;
  children?: ComponentChildren;
}

function MessageScreen({ name, glyph, title, text, children }: MessageProps) {
  return (
    <Screen
      name={name}
      title={title}
      lead={text}
      isCentered
      icon={
        <span class="inlay-emblem">
          <Glyph name={glyph} />
        </span>
      }
    >
      {children && <div class="inlay-actions">{children}</div>}
    </Screen>
  );
}

/** Shown before anything is known about the customer. */
export function LoadingScreen() {
  return (
    <main class="inlay-screen" data-screen="loading">
      <h1 class="inlay-unseen">{useWords().loading}</h1>
      <CardsSkeleton />
    </main>
  );
}

export function EmptyScreen() {
  const { title, text } = useWords().empty;
  return <MessageScreen name="empty" glyph="inbox" title={title} text={text} />;
}

export function ErrorScreen({ error, onTryAgain }: { error: unknown; onTryAgain(): void }) {
  const { title, text } = useFailureWords(error);
  const { kind } = failureOf(error);
  const glyph = kind === 'offline' ? 'offline' : kind === 'access_denied' ? 'lock' : 'alert';
  return (
    <MessageScreen name="error" glyph={glyph} title={title} text={text}>
      <Button kind="primary" onClick={onTryAgain}>
        {useWords().tryAgain}
      </Button>
    </MessageScreen>
  );
}

/** `isRenewing`: the page around the widget can get another token. */
export function ExpiredScreen({ isRenewing }: { isRenewing: boolean }) {
  const { title, renewing, reload } = useWords().expired;
  return (
    <MessageScreen name="expired" glyph="lock" title={title} text={isRenewing ? renewing : reload}>
      {isRenewing && <Spinner />}
    </MessageScreen>
  );
}

export function GoneScreen({ onLeave }: { onLeave(): void }) {
  const words = useWords();
  return (
    <MessageScreen name="error" glyph="inbox" title={words.source.goneTitle} text={words.source.goneText}>
      <Button kind="primary" onClick={onLeave}>
        {words.back}
      </Button>
    </MessageScreen>
  );
}
