/**
 * The widget as a whole: which screen is shown, and what is shown above any screen (no network, an ended session, a
 * failure).
 *
 * Invariants: one screen at a time; a screen is kept while the session is renewed, so that entries survive; data is refreshed
 * only while its screen is shown.
 */

import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import type { Formatting } from '@inlay/ui/words/formatting.ts';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Api, Offer } from './api/api.ts';
import { RequestFailure } from './api/failure.ts';
import type { Session } from './api/session.ts';
import type { Wish } from './page/address.ts';
import type { Host } from './page/host.ts';
import { FailureNotice } from './parts/failure-notice.tsx';
import { HasMovedContext } from './parts/screen.tsx';
import { ChooseScreen } from './screens/choose-screen.tsx';
import { ConnectScreen } from './screens/connect-screen.tsx';
import { ConnectedScreen } from './screens/connected-screen.tsx';
import { ListScreen } from './screens/list-screen.tsx';
import { EmptyScreen, ErrorScreen, ExpiredScreen, GoneScreen, LoadingScreen } from './screens/notice-screens.tsx';
import { SourceScreen } from './screens/source-screen.tsx';
import type { SignIn } from './sign-in/endpoints.ts';
import { isSignInEnded } from './sign-in/lazy.tsx';
import { prefetchForm } from './sources/lazy-form.ts';
import { connectionsOf, finishedSyncs, type Pipelines } from './sources/progress.ts';
import { usePipelines } from './sources/use-pipelines.ts';
import { useIsExpired, useIsOnline, useRefusedLinks } from './use-surroundings.ts';
import { type Route, type Widget, WidgetContext } from './widget.ts';
import { useWords } from './words/words.ts';

export interface AppProps {
  api: Api;
  session: Session;
  host: Host;
  allowedOrigin: string | undefined;
  formatting: Formatting;
  logo: string | undefined;
  /** What the page asked to open on. */
  wish: Wish | undefined;
  /** The sign-in that was pending when the page was left. */
  signInId: string | undefined;
  /** Whether an operator is viewing the customer's widget. */
  isView: boolean;
}

const onlyView = new RequestFailure('only_view');
const nothingYet: { offers: readonly Offer[]; pipelines: Pipelines } = {
  offers: [],
  pipelines: { sources: [], connections: [] },
};

export function App({ api, session, host, allowedOrigin, formatting, logo, isView, ...props }: AppProps) {
  const words = useWords();
  /** Undefined: not decided yet, or nothing to show. */
  const [route, setRoute] = useState<Route | undefined>(undefined);
  // The page's wish ends once the customer navigates.
  const [wish, setWish] = useState(props.wish);
  const [isResuming, setResuming] = useState(props.signInId !== undefined);
  const resumed = useRef<SignIn | null>(null);
  const [moves, setMoves] = useState(0);
  const [announced, announce] = useState('');
  const isOnline = useIsOnline();
  const isExpired = useIsExpired(session, host.mode);
  const isLinkRefused = useRefusedLinks(isView);

  const { seen, failure, change, look, withoutLooks } = usePipelines(api, route?.screen !== 'form', (before, now) => {
    for (const sync of finishedSyncs(before, now)) host.tell({ type: 'sync_finished', sync });
  });
  useEffect(() => {
    // Decided once: later data must not take the customer away from a screen.
    const home = !isResuming && seen && homeOf(seen, wish, resumed.current);
    if (home && home !== 'empty') setRoute((current) => current ?? home);
  }, [seen, route, isResuming]);
  useEffect(() => {
    const { signInId } = props;
    if (signInId === undefined) return;
    const find = async () => {
      const { resume } = await import('./sign-in/sign-in.tsx');
      const found = await resume({ api, host }, signInId, props.wish);
      if (found) setWish(found.wish);
      resumed.current = found?.signIn ?? null;
    };
    // If the script fails to load, the widget opens without the sign-in; a form that needs the script shows the failure.
    const goOn = () => setResuming(false);
    find().then(goOn, goOn);
  }, []);
  useEffect(() => {
    if (seen) prefetchForm();
  }, [seen !== undefined]);
  useEffect(() => {
    if (!isOnline) host.tell({ type: 'error', error: { code: 'offline', message: words.offlineBanner } });
  }, [isOnline]);

  const widget = useMemo<Widget>(() => {
    const go = (next: Route | undefined) => {
      setRoute(next);
      setWish(undefined);
      resumed.current = null;
      setMoves((count) => count + 1);
      announce('');
    };
    return {
      ...(seen ?? nothingYet),
      ...{ api, host, allowedOrigin, formatting, resumed, announce, change, look, withoutLooks },
      go,
      goHome: () => go(undefined),
    };
  }, [seen, change, look, withoutLooks]);

  function screenOf(): ComponentChildren {
    if (!seen && failure) return <ErrorScreen error={failure} onTryAgain={look} key={moves} />;
    if (!seen || isResuming) return <LoadingScreen />;
    if (failure && !failure.isPassing) return <ErrorScreen error={failure} onTryAgain={look} />;
    const shown = route ?? homeOf(seen, wish, resumed.current);
    if (shown === 'empty') return <EmptyScreen />;
    switch (shown.screen) {
      case 'choose':
        return <ChooseScreen key={moves} />;
      case 'form':
        return <ConnectScreen offer={shown.offer} canGoBack={canChoose(seen)} key={moves} />;
      case 'list':
        return <ListScreen key={moves} />;
      default: {
        const source = seen.pipelines.sources.find(({ id }) => id === shown.sourceId);
        if (!source) return <GoneScreen onLeave={widget.goHome} />;
        if (shown.screen === 'connected') {
          return <ConnectedScreen source={source} warnings={shown.warnings} key={moves} />;
        }
        return <SourceScreen source={source} {...(shown.part ? { part: shown.part } : {})} key={moves} />;
      }
    }
  }

  return (
    <WidgetContext.Provider value={widget}>
      <HasMovedContext.Provider value={moves > 0}>
        {logo && (
          <header class="inlay-header">
            <img class="inlay-logo" src={logo} alt="" />
          </header>
        )}
        {!isOnline && (
          <div class="inlay-banner" role="status">
            <Glyph name="offline" />
            {words.offlineBanner}
          </div>
        )}
        {isExpired && <ExpiredScreen isRenewing={host.renews} />}
        <div hidden={isExpired}>
          {screenOf()}
          {isLinkRefused && <FailureNotice error={onlyView} />}
          {seen && isOnline && failure?.isPassing && <Notice kind="warning">{words.stale}</Notice>}
        </div>
        <div class="inlay-unseen" aria-live="polite">
          {announced}
        </div>
      </HasMovedContext.Provider>
    </WidgetContext.Provider>
  );
}

interface Seen {
  offers: readonly Offer[];
  pipelines: Pipelines;
}

function homeOf({ offers, pipelines }: Seen, wish: Wish | undefined, signIn: SignIn | null): Route | 'empty' {
  const { sources } = pipelines;
  const wanted = sources.find(({ id }) => id === wish?.source);
  if (wanted) {
    // A source has two places to sign in.
    const isInSettings = signIn !== null && !isSignInEnded(wanted, connectionsOf(pipelines, wanted.id));
    return { screen: 'source', sourceId: wanted.id, ...(isInSettings && { part: 'settings' }) };
  }
  const asked = offers.find(({ id }) => id === wish?.template);
  if (asked) return { screen: 'form', offer: asked };
  if (sources.length > 0) return { screen: 'list' };
  const [offer] = offers;
  if (!offer) return 'empty';
  return offers.length === 1 ? { screen: 'form', offer } : { screen: 'choose' };
}

/** Whether there is anything to go back to from a form. */
function canChoose({ offers, pipelines: { sources } }: Seen): boolean {
  return offers.length > 1 || sources.length > 0;
}
