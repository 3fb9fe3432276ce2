/**
 * The console's root: signs in, keeps the session, and shows the screen of the current URL.
 *
 * Invariants: without a session only the sign-in is shown; when a session ends, the page stays behind the sign-in dialog, so
 * no input is lost.
 */
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError, callSession } from './api/client.ts';
import { type Console, ConsoleContext, type ConsoleSession } from './console.ts';
import { KeyList } from './keys/key-list.tsx';
import { useKeys } from './keys/keys.ts';
import { openLive } from './live/live.ts';
import { InfoDialog } from './parts/dialogs/info-dialog.tsx';
import { ErrorNotice } from './parts/error-notice.tsx';
import { Bones } from './parts/page.tsx';
import { leaveSignIn, usePlace } from './router/router.ts';
import { ScreenOf } from './screens/screens.tsx';
import { takeLinkCode } from './screens/sign-in/link-code.ts';
import { SignIn } from './screens/sign-in/sign-in.tsx';
import { Shell } from './shell.tsx';
import { words } from './words/words.ts';

export function App({ code }: { code: string | undefined }) {
  const [session, setSession] = useState<ConsoleSession | 'none' | undefined>(undefined);
  const [failure, setFailure] = useState<unknown>(undefined);
  const [linkCode, setLinkCode] = useState(code);
  const look = useCallback(() => {
    setFailure(undefined);
    findSession().then(setSession, setFailure);
  }, []);
  useEffect(look, []);
  // All tabs of a browser share one session.
  const notifyOthers = useOtherTabs(() => {
    // If the service doesn't answer, this tab's next request finds out.
    findSession().then(setSession, () => undefined);
  });
  const setOwnSession = (changed: ConsoleSession | 'none') => {
    setSession(changed);
    notifyOthers();
  };
  // Pasting a link into an open console does not reload the page.
  useEffect(() => {
    const take = () => setLinkCode((before) => takeLinkCode(location, history) ?? before);
    addEventListener('hashchange', take);
    return () => removeEventListener('hashchange', take);
  }, []);

  if (failure !== undefined) {
    return (
      <main class="c-alone">
        <ErrorNotice error={failure} onTryAgain={look} />
      </main>
    );
  }
  if (session === undefined) {
    return (
      <main class="c-alone">
        <Bones />
      </main>
    );
  }
  if (session === 'none' || linkCode !== undefined) {
    return (
      <main class="c-alone">
        <SignIn
          code={linkCode}
          key={linkCode}
          onSignedIn={(made) => {
            setLinkCode(undefined);
            leaveSignIn();
            setOwnSession(made);
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
      onSession={setOwnSession}
      onSignedOut={() => setOwnSession('none')}
    />
  );
}

async function findSession(): Promise<ConsoleSession | 'none'> {
  try {
    return await callSession<ConsoleSession>('GET');
  } catch (error) {
    if (error instanceof ApiError && error.isSignedOut) return 'none';
    throw error;
  }
}

/** Returns a function that notifies the other tabs of a sign-in or sign-out. */
function useOtherTabs(onNotified: () => void): () => void {
  const channel = useMemo(() => new BroadcastChannel('inlay-console-session'), []);
  useEffect(() => {
    channel.onmessage = onNotified;
    return () => channel.close();
  }, []);
  return () => channel.postMessage('changed');
}

interface SignedInProps {
  session: ConsoleSession;
  onSession(session: ConsoleSession): void;
  onSignedOut(): void;
}

/** How long announcements are shown. */
const announcedMs = 6_000;

function SignedIn({ session, onSession, onSignedOut }: SignedInProps) {
  const place = usePlace();
  const [endedId, setEndedId] = useState<string | undefined>(undefined);
  const hasEnded = endedId === session.id;
  const [announced, announce] = useState('');
  const [showsKeys, setShowsKeys] = useState(false);
  const onEnded = useCallback(() => setEndedId(session.id), [session.id]);
  const live = useMemo(() => openLive(session.id, onEnded), [session.id]);
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
      live,
      epoch: session.id,
      mayWrite: session.permission !== 'read',
      isAdmin: session.permission === 'full',
      hasEnded,
      onSignedOut: onEnded,
      announce,
    }),
    [session, live, hasEnded],
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
          <SignIn isWithin onSignedIn={onSession} />
        </InfoDialog>
      )}
    </ConsoleContext.Provider>
  );
}
