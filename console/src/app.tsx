/**
 * The console as a whole: signs in, keeps the session, and shows the screen that the address names.
 *
 * What always holds: without a session nothing but the sign-in is shown; when a session ends, the page stays behind the
 * sign-in, so nothing that was entered is lost.
 */
import type { Formatting } from '@inlay/ui/words/formatting.ts';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError, callSession } from './api/client.ts';
import { type Console, ConsoleContext, type ConsoleSession } from './console.ts';
import { KeyList } from './keys/key-list.tsx';
import { useKeys } from './keys/keys.ts';
import { openLive } from './live/live.ts';
import { ErrorNotice } from './parts/error-notice.tsx';
import { InfoDialog } from './parts/info-dialog.tsx';
import { usePlace } from './router/router.ts';
import { ScreenOf } from './screens/screens.tsx';
import { SignIn } from './screens/sign-in/sign-in.tsx';
import { Shell } from './shell.tsx';
import { useWords } from './words/words.ts';

export function App({ formatting, code }: { formatting: Formatting; code: string | undefined }) {
  const [session, setSession] = useState<ConsoleSession | 'none' | undefined>(undefined);
  const [failure, setFailure] = useState<unknown>(undefined);
  const [linkCode, setLinkCode] = useState(code);
  const look = useCallback(() => {
    setFailure(undefined);
    callSession<ConsoleSession>('GET').then(setSession, (error: unknown) => {
      if (error instanceof ApiError && error.isSignedOut) setSession('none');
      else setFailure(error);
    });
  }, []);
  useEffect(look, []);

  if (failure !== undefined) {
    return (
      <main class="c-alone">
        <ErrorNotice error={failure} onTryAgain={look} />
      </main>
    );
  }
  if (session === undefined) return null;
  if (session === 'none' || linkCode !== undefined) {
    return (
      <main class="c-alone">
        <SignIn
          code={linkCode}
          onSignedIn={(made) => {
            setLinkCode(undefined);
            setSession(made);
          }}
          onLeaveLink={() => setLinkCode(undefined)}
        />
      </main>
    );
  }
  return (
    <SignedIn
      key={session.organization.id}
      session={session}
      formatting={formatting}
      onSession={setSession}
      onSignedOut={() => setSession('none')}
    />
  );
}

interface SignedInProps {
  session: ConsoleSession;
  formatting: Formatting;
  onSession(session: ConsoleSession): void;
  onSignedOut(): void;
}

/** Texts are said for so long. */
const announcedMs = 6_000;

function SignedIn({ session, formatting, onSession, onSignedOut }: SignedInProps) {
  const words = useWords();
  const place = usePlace();
  const [hasEnded, setEnded] = useState(false);
  const [epoch, setEpoch] = useState(0);
  const [announced, announce] = useState('');
  const [showsKeys, setShowsKeys] = useState(false);
  const live = useMemo(() => openLive(() => setEnded(true)), [epoch]);
  useEffect(() => () => live.close(), [live]);
  useKeys(useCallback(() => setShowsKeys(true), []));
  useEffect(() => {
    if (announced === '') return;
    const timer = setTimeout(() => announce(''), announcedMs);
    return () => clearTimeout(timer);
  }, [announced]);

  const console = useMemo<Console>(
    () => ({
      session,
      formatting,
      live,
      epoch,
      mayWrite: session.permission !== 'read',
      isAdmin: session.permission === 'full',
      hasEnded,
      onSignedOut: () => setEnded(true),
      announce,
    }),
    [session, live, epoch, hasEnded],
  );

  return (
    <ConsoleContext.Provider value={console}>
      <Shell place={place} onShowKeys={() => setShowsKeys(true)} onSignedOut={onSignedOut}>
        <ScreenOf place={place} />
      </Shell>
      <div class={announced ? 'c-announced' : 'inlay-unseen'} role="status">
        {announced}
      </div>
      {showsKeys && <KeyList onClose={() => setShowsKeys(false)} />}
      {hasEnded && (
        <InfoDialog title={words.signIn.endedTitle}>
          <p class="c-muted">{words.signIn.endedText}</p>
          <SignIn
            isWithin
            onSignedIn={(made) => {
              setEnded(false);
              setEpoch((count) => count + 1);
              onSession(made);
            }}
          />
        </InfoDialog>
      )}
    </ConsoleContext.Provider>
  );
}
