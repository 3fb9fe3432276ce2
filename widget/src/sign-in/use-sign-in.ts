/**
 * One sign-in from the click to its end. Only the service reports the outcome: a closed window or a message from it proves
 * nothing, and pages with a cross-origin opener policy hide a window that is still open.
 *
 * Invariants: one sign-in at a time, however often the customer clicks; a reload resumes it.
 */

import type { EnteredSource } from '@inlay/contract/credentials/oauth-flows';
import type { SignInFailureCode, WidgetEvent } from '@inlay/contract/embedding';
import { useEffect, useRef, useState } from 'preact/hooks';
import { failureOf, RequestFailure } from '../api/failure.ts';
import { longerPauseMs, pause } from '../sources/pausing.ts';
import { useWidget } from '../widget.ts';
import { confirmSignIn, findUnused, getSignIn, type SignIn, startSignIn } from './endpoints.ts';
import { canRemember, remember } from './memory.ts';

export interface Connected {
  credentialId: string;
  account: string | null;
}

/**
 * The sign-in window. `closed`: reported closed by the browser, and the customer is back on this page. `unknown`: no handle,
 * because it did not open, the page was reloaded, or an opener policy cut the link.
 */
export type WindowState = 'open' | 'closed' | 'unknown';

export type SignInPhase =
  | { is: 'open' }
  /** Waiting for the service. */
  | { is: 'starting' }
  /** `startUrl`: URL to open until the service reports it as opened. */
  | { is: 'waiting'; startUrl?: string | undefined; isBack: boolean }
  | { is: 'unconfirmed'; signIn: SignIn; isConfirming: boolean }
  | ({ is: 'connected' } & Connected)
  | { is: 'failed'; code: SignInFailureCode; missingScopes: readonly string[] }
  | { is: 'error'; error: unknown };

export interface SignInWish {
  templateId: string;
  /** The source to reconnect. */
  sourceId?: string | undefined;
  /** The source's current credential. */
  credential?: Connected | undefined;
  onConnected(connected: Connected): void;
}

export interface SignInRequest {
  values: Record<string, string> | undefined;
  /** Entries of the form. */
  entered: EnteredSource | undefined;
  /** Navigates the whole page to the provider, which returns to this URL. */
  returnTo?: string | undefined;
}

export interface SignInControl {
  phase: SignInPhase;
  window: WindowState;
  /** The credential in use until another sign-in succeeds. */
  last: Connected | undefined;
  start(request: SignInRequest): void;
  /** Reopens the window, for the same sign-in if this page started it. */
  reopen(request: SignInRequest): void;
  /** Brings the window to the front. */
  show(): void;
  cancel(): void;
  confirm(): void;
}

const windowFeatures = 'popup,width=640,height=760';
const lookEveryMs = 500;
const firstPauseMs = 1_000;
const lastPauseMs = 10_000;
const forgottenPauseMs = 5_000;

type SignInEvent = Extract<WidgetEvent, { type: `sign_in_${string}` }>;

const isWithProvider = ({ state }: SignIn) => state === 'created' || state === 'started';

export function useSignIn({ templateId, sourceId, credential, onConnected }: SignInWish): SignInControl {
  const { api, host, resumed } = useWidget();
  // In effect until another sign-in succeeds.
  const last = useRef(credential);
  const atRest = (): SignInPhase => (last.current ? { is: 'connected', ...last.current } : { is: 'open' });
  const [phase, setPhase] = useState(atRest);
  const [windowState, setWindowState] = useState<WindowState>('unknown');
  const running = useRef<AbortController | undefined>(undefined);
  const popup = useRef<Window | null>(null);
  /** The pending sign-in, with a start URL if this page started it. */
  const current = useRef<SignIn | undefined>(undefined);
  const named = { source_template_id: templateId, source_id: sourceId ?? null };
  const tell = (type: Exclude<SignInEvent['type'], 'sign_in_failed'>) => host.tell({ type, sign_in: named });

  function fail(code: SignInFailureCode, missingScopes: readonly string[] = []): void {
    host.tell({ type: 'sign_in_failed', sign_in: { ...named, code } });
    setPhase({ is: 'failed', code, missingScopes });
  }

  function keep(signIn: SignIn | undefined): void {
    if (signIn?.id !== current.current?.id) remember(host, signIn?.id ?? null);
    current.current = signIn;
  }

  /** Runs one thing at a time, until it has ended or is cancelled. */
  async function run(act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (running.current) return;
    const controller = new AbortController();
    running.current = controller;
    try {
      await act(controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return;
      // The sign-in is gone or can no longer be confirmed.
      if (error instanceof RequestFailure && ['not_found', 'conflict'].includes(error.kind)) fail('expired');
      else setPhase({ is: 'error', error });
    }
    if (running.current === controller) running.current = undefined;
  }

  function stop(): void {
    running.current?.abort();
    running.current = undefined;
  }

  function open(url: string): void {
    popup.current = window.open(url, '_blank', windowFeatures);
    // The provider's page must not be able to navigate this page.
    if (popup.current) popup.current.opener = null;
    setWindowState(popup.current ? 'open' : 'unknown');
  }

  /** Polls the service until the sign-in has ended or needs a confirmation. */
  async function follow(first: SignIn, signal: AbortSignal): Promise<void> {
    let signIn = first;
    let pauseMs = firstPauseMs;
    while (isWithProvider(signIn) || signIn.state === 'exchanging') {
      setPhase({
        is: 'waiting',
        startUrl: signIn.state === 'created' ? first.start_url : undefined,
        isBack: signIn.state === 'exchanging',
      });
      const askedAt = Date.now();
      try {
        const { state } = signIn;
        signIn = await getSignIn(api, first.id, state, signal);
        if (signIn.state === state) await pause(Math.max(0, askedAt + firstPauseMs - Date.now()), signal);
        pauseMs = firstPauseMs;
      } catch (error) {
        signal.throwIfAborted();
        const failure = failureOf(error);
        if (!failure.isPassing) throw failure;
        await pause(Math.max(pauseMs, failure.retryAfterMs ?? 0), signal);
        pauseMs = longerPauseMs(pauseMs, lastPauseMs);
      }
    }
    if (signIn.state === 'unconfirmed') {
      setPhase({ is: 'unconfirmed', signIn, isConfirming: false });
      tell('sign_in_unconfirmed');
    } else end(signIn);
  }

  function end({ state, failure, missing_scopes, credential_id, account }: SignIn): void {
    if (state !== 'connected' || credential_id === null) {
      keep(undefined);
      fail(failure ?? 'refused', missing_scopes);
      return;
    }
    succeed({ credentialId: credential_id, account });
  }

  function succeed(connected: Connected): void {
    last.current = connected;
    setPhase(atRest());
    tell('sign_in_succeeded');
    onConnected(connected);
  }

  /** Without any storage, polls for a sign-in that the customer finishes in its window after a reload. */
  async function waitForForgotten(signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(forgottenPauseMs, signal);
      const found = await findUnused(api, templateId, signal).catch((error) => {
        if (!failureOf(error).isPassing) throw error;
      });
      if (found) return succeed({ credentialId: found.id, account: found.account });
    }
  }

  useEffect(() => {
    const known = resumed.current;
    if (known?.source_template_id === templateId && known.source_id === named.source_id) {
      resumed.current = null;
      current.current = known;
      void run((signal) => follow(known, signal));
    }
    return () => {
      stop();
      // Runs when the customer leaves the screen, but not on a reload.
      keep(undefined);
    };
  }, []);
  useEffect(() => {
    if (phase.is !== 'waiting') return;
    const look = () => {
      if (!popup.current?.closed) return;
      // With the link cut by the provider's opener policy, an open window seems closed, so say nothing while it is in front.
      setWindowState((before) => (document.hasFocus() || before === 'closed' ? 'closed' : 'unknown'));
    };
    const timer = setInterval(look, lookEveryMs);
    return () => clearInterval(timer);
  }, [phase.is]);

  useEffect(() => {
    if (phase.is !== 'open' || sourceId !== undefined || canRemember(host)) return;
    const leaving = new AbortController();
    // The customer can still sign in if this fails.
    waitForForgotten(leaving.signal).catch(() => {});
    return () => leaving.abort();
  }, [phase.is]);

  function start({ values, entered, returnTo }: SignInRequest): void {
    void run(async (signal) => {
      setPhase({ is: 'starting' });
      const signIn = await startSignIn(
        api,
        {
          source_template_id: templateId,
          ...(sourceId && { source_id: sourceId }),
          ...(values && { values }),
          ...(entered && { entered }),
          ...(returnTo && { return_to: returnTo }),
          ...(!canRemember(host) && { offer_later: true }),
        },
        signal,
      );
      tell('sign_in_started');
      keep(signIn);
      // The answer is fast enough that the browser still counts this as user activation. A blank window opened earlier
      // would remain blank where the browser gives no handle to it.
      if (returnTo === undefined) open(signIn.start_url ?? '');
      else window.open(signIn.start_url, '_top');
      await follow(signIn, signal);
    });
  }

  return {
    phase,
    window: windowState,
    last: last.current,
    start,
    reopen(request) {
      const signIn = current.current;
      if (signIn?.start_url) return open(signIn.start_url);
      stop();
      void run(async (signal) => {
        // Only the page that started a sign-in knows its start URL, so start another unless this one has just ended.
        const now = signIn && (await getSignIn(api, signIn.id, undefined, signal));
        if (now && !isWithProvider(now)) return await follow(now, signal);
        running.current = undefined;
        start(request);
      });
    },
    show: () => popup.current?.focus(),
    cancel() {
      stop();
      popup.current?.close();
      keep(undefined);
      host.tell({ type: 'sign_in_failed', sign_in: { ...named, code: 'cancelled' } });
      setPhase(atRest());
    },
    confirm() {
      if (phase.is !== 'unconfirmed') return;
      const { signIn } = phase;
      void run(async (signal) => {
        setPhase({ is: 'unconfirmed', signIn, isConfirming: true });
        end(await confirmSignIn(api, signIn.id, signal));
      });
    },
  };
}
