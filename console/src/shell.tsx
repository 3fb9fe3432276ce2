/** The frame around every screen: navigation, live status and the user's settings. */
import { Spinner } from '@inlay/ui/parts/glyph.tsx';
import type { ComponentChildren } from 'preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { callSession } from './api/client.ts';
import { useConsole } from './console.ts';
import { ErrorNotice } from './parts/error-notice.tsx';
import { Mark } from './parts/mark.tsx';
import { Link } from './router/link.tsx';
import { namedScreens, type Place, pathTo } from './router/router.ts';
import { savedScheme, saveScheme, schemes } from './scheme.ts';
import { words } from './words/words.ts';

const entries = ['overview', 'customers', 'connections', 'jobs', ...namedScreens] as const;
/** A detail screen belongs to its list's entry. */
const entryOf = (screen: Place['screen']) => ({ customer: 'customers', job: 'jobs' })[screen as string] ?? screen;

interface ShellProps {
  place: Place;
  children: ComponentChildren;
  onShowKeys(): void;
  onSignedOut(): void;
}

export function Shell({ place, children, onShowKeys, onSignedOut }: ShellProps) {
  const nav = useRef<HTMLElement>(null);
  // On a narrow page the navigation is one scrolling line. Keeps the current entry in view.
  useEffect(() => {
    const line = nav.current;
    const entry = line?.querySelector<HTMLElement>('[aria-current=page]');
    if (line && entry) line.scrollLeft = entry.offsetLeft - (line.clientWidth - entry.offsetWidth) / 2;
  }, [place.screen]);
  const { session } = useConsole();
  return (
    <div class="c-shell">
      <a class="c-skip" href="#main">
        {words.skip}
      </a>
      <header class="c-side">
        <div class="c-brand">
          <span class="c-brand-mark" aria-hidden="true" />
          <span class="c-brand-text">
            <span class="c-brand-name">Inlay</span>
            <span class="c-brand-place">{session.organization.name}</span>
          </span>
        </div>
        <nav class="c-nav" aria-label={words.navigation} ref={nav}>
          {entries.map((entry) => (
            <Link to={pathTo(entry)} class="c-nav-link" isCurrent={entryOf(place.screen) === entry} key={entry}>
              <Mark name={entry} />
              <span>{words.nav[entry]}</span>
            </Link>
          ))}
        </nav>
        <LiveSwitch />
        <Settings onShowKeys={onShowKeys} onSignedOut={onSignedOut} />
      </header>
      <main class="c-main" id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function LiveSwitch() {
  const { live } = useConsole();
  const [, look] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    // Another tab may have reported the state before this component mounted.
    look(undefined);
    return live.watchState(() => look(undefined));
  }, [live]);
  const isPaused = live.isPaused();
  const text = isPaused ? words.shell.paused : words.shell.live[live.state()];
  return (
    <div class="c-live">
      <span class={`c-live-dot c-live-${isPaused ? 'paused' : live.state()}`} aria-hidden="true" />
      <span class="c-live-text">
        {text}
        {live.held() > 0 && <span class="c-live-held"> · {words.shell.held(live.held())}</span>}
      </span>
      <button
        type="button"
        class="c-icon-button"
        aria-label={isPaused ? words.shell.resume : words.shell.pause}
        title={isPaused ? words.shell.resume : words.shell.pause}
        onClick={() => live.pause(!isPaused)}
      >
        <Mark name={isPaused ? 'play' : 'pause'} />
      </button>
    </div>
  );
}

function Settings({ onShowKeys, onSignedOut }: Pick<ShellProps, 'onShowKeys' | 'onSignedOut'>) {
  const { session } = useConsole();
  const [scheme, setScheme] = useState(savedScheme);
  const [isLeaving, setLeaving] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const signOut = () => {
    if (isLeaving) return;
    setLeaving(true);
    setError(undefined);
    // If this fails, the browser is still signed in, which the user must know.
    callSession('DELETE')
      .then(onSignedOut, setError)
      .finally(() => setLeaving(false));
  };
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const isOutside =
        event instanceof KeyboardEvent ? event.key === 'Escape' : !box.current?.contains(event.target as Node);
      if (isOutside && box.current?.open) box.current.open = false;
    };
    addEventListener('pointerdown', close);
    addEventListener('keydown', close);
    return () => {
      removeEventListener('pointerdown', close);
      removeEventListener('keydown', close);
    };
  }, []);
  return (
    <details class="c-settings" ref={box}>
      <summary>
        <Mark name="settings" />
        <span class="inlay-unseen">{words.account}</span>
        <span class="c-settings-who">
          <span>{session.label}</span>
          <span class="c-muted">{words.shell.roles[session.permission]}</span>
        </span>
      </summary>
      <div class="c-settings-box">
        <label>
          {words.shell.theme}
          <select
            class="c-control"
            value={scheme}
            onChange={({ currentTarget }) => {
              const chosen = schemes.find((one) => one === currentTarget.value) ?? 'system';
              saveScheme(chosen);
              setScheme(chosen);
            }}
          >
            {schemes.map((one) => (
              <option value={one} key={one}>
                {words.shell.themes[one]}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="c-menu-button" onClick={onShowKeys}>
          {words.shell.shortcuts} <kbd>?</kbd>
        </button>
        {error !== undefined && <ErrorNotice error={error} takesFocus />}
        <button type="button" class="c-menu-button" aria-disabled={isLeaving || undefined} onClick={signOut}>
          {isLeaving && <Spinner />}
          {words.shell.signOut}
        </button>
      </div>
    </details>
  );
}
